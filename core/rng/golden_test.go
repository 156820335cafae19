package rng

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var writeGolden = flag.Bool("write-golden", false, "write the golden orders of a new OrderVersion; refuses to change a file")

// States saved by users name the version of the orders; the orders of a version
// may never change. A change of algorithm is a new OrderVersion and a new file.
func TestGoldenOrders(t *testing.T) {
	path := fmt.Sprintf("testdata/orders_v%d.txt", OrderVersion)
	var b strings.Builder
	for _, words := range [][]uint64{{}, {0}, {1}, {0, 0}, {1, 2, 3}} {
		k := NewKey(42, words...)
		fmt.Fprintf(&b, "key 42 %v: %d %d %d\n", words, k.Uint64(0), k.Uint64(1), k.Uint64(1<<40))
		d := k.Derive(5)
		fmt.Fprintf(&b, "derive 42 %v 5: %d\n", words, d.Uint64(0))
	}
	for _, n := range []int64{1, 2, 3, 7, 10, 100, 4096, 65535, 65536, 65537, 100000, 131072, 131073, 1e6, 1e9, 1<<40 + 1, 1<<63 - 1} {
		p := NewPermutation(n, NewKey(42, uint64(n), 1))
		first := make([]int64, min(n, 8))
		p.Fill(first, 0)
		fmt.Fprintf(&b, "order 42 [%d 1] of %d: %v middle %d last %d\n", n, n, first, p.At(n/2), p.At(n-1))
	}
	if _, err := os.Stat(path); *writeGolden && os.IsNotExist(err) {
		require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String())
}
