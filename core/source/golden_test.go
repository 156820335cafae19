package source

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/rng"
)

// States that were saved go on in the order of then: what this test holds changes
// together with rng.OrderVersion only.
func TestGoldenOrders(t *testing.T) {
	require.EqualValues(t, 1, rng.OrderVersion)
	for _, c := range []struct {
		eachPass bool
		random   []int64
		files    string
	}{
		{false, []int64{2148305786, 3289272627, 250667051}, "1926504837"},
		{true, []int64{1567465056, 1660474436, 3182339304}, "1745398620"},
	} {
		require.Equal(t, c.random, numbersOf(t, Random(7, c.eachPass), 3))
		d, err := ListFiles(someFiles(), []string{"/w/f?.txt"}, &Shuffle{Seed: 7, EachPass: c.eachPass})
		require.NoError(t, err)
		require.Equal(t, c.files, regexp.MustCompile(`\D`).ReplaceAllString(strings.Join(texts(t, d), ""), ""))
	}
}
