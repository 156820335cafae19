package source

import (
	"fmt"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/vfs/faultfs"
	"infeed/core/vfs/memfs"
)

func someFiles() *memfs.FS {
	fs := memfs.New()
	for i := range 12 {
		fs.Set(fmt.Sprintf("/w/f%d.txt", i), nil)
	}
	fs.Set("/w/other", nil)
	return fs
}

func TestListFilesSorts(t *testing.T) {
	// As tensorflow 2.21 does with several patterns.
	d, err := ListFiles(someFiles(), []string{"/w/f[12].txt", "/w/f0.txt", "/w/f1.txt", "/w/absent*"}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"/w/f0.txt", "/w/f1.txt", "/w/f1.txt", "/w/f2.txt"}, texts(t, d))
	require.EqualValues(t, 4, d.Cardinality())
	datasettest.Check(t, d, 10)
}

func TestListFilesShuffles(t *testing.T) {
	for _, each := range []bool{false, true} {
		d, err := ListFiles(someFiles(), []string{"/w/f*"}, &Shuffle{Seed: 3, EachPass: each})
		require.NoError(t, err)
		datasettest.Check(t, d, 20)
		first := texts(t, d)
		require.False(t, sort.StringsAreSorted(first))
		second := []string{}
		for _, e := range datasettest.ReadAll(t, d, dataset.PassKey(1), 20) {
			second = append(second, e.Texts[0][0])
		}
		require.ElementsMatch(t, first, second)
		require.Equal(t, each, fmt.Sprint(first) != fmt.Sprint(second))
	}
}

func TestListFilesWithoutAMatch(t *testing.T) {
	for _, patterns := range [][]string{{"/w/absent"}, {"/x/*"}, nil, {"/w/g*", "2", "3", "4", "5", "6"}} {
		_, err := ListFiles(someFiles(), patterns, nil)
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
		for _, p := range patterns[:min(len(patterns), 5)] {
			require.ErrorContains(t, err, `"`+p+`"`)
		}
	}
	_, err := ListFiles(faultfs.New(someFiles(), 0), []string{"/w/*"}, nil)
	require.ErrorContains(t, err, "injected fault")
}
