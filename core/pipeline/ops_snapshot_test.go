package pipeline

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// numbersOf returns the numbers that a dataset of int64 scalars gives in a pass.
func numbersOf(t *testing.T, d *Dataset, o Options) []int64 {
	t.Helper()
	it, err := d.Iterate(o)
	require.NoError(t, err)
	defer it.Close()
	return rest(t, it, -1)
}

// rest takes the next count elements; -1: all.
func rest(t *testing.T, it *Iterator, count int) (out []int64) {
	t.Helper()
	for len(out) != count {
		g, err := it.Next()
		if err != nil {
			require.ErrorContains(t, err, "EOF")
			break
		}
		for r := range g.Block.Rows {
			out = append(out, int64(g.Block.Columns[0].Data[8*r]))
		}
		g.Release()
	}
	return out
}

func shuffledKept(folder string, seed uint64) *Node {
	ten := int64(10)
	return Chain(&Range{Stop: 20000, Step: 1, OutputType: "<i8"}, &Shuffle{BufferSize: &ten, Seed: seed, Drawn: true}, &Snapshot{Stored: Stored{Path: folder}})
}

// A snapshot of a shuffled dataset is one order for ever: that of the run which began it,
// also where it was broken off and another run, with another seed, goes on.
func TestSnapshotKeepsTheOrderThatItBeganWith(t *testing.T) {
	plain, err := New(shuffledKept(filepath.Join(t.TempDir(), "g"), 1))
	require.NoError(t, err)
	want := numbersOf(t, plain, Options{})
	require.Len(t, want, 20000)

	for _, workers := range []int{0, 2} {
		for _, stateFirst := range []bool{false, true} {
			folder := filepath.Join(t.TempDir(), "f")
			one, err := New(shuffledKept(folder, 1))
			require.NoError(t, err)
			it, err := one.Iterate(Options{GroupBytes: 8})
			require.NoError(t, err)
			require.Equal(t, want[:15], rest(t, it, 15))
			state, err := it.State(15)
			require.NoError(t, err)
			it.Close()
			require.NoFileExists(t, filepath.Join(folder, "manifest.json"), "there is something left to make")

			two, err := New(shuffledKept(folder, 2))
			require.NoError(t, err)
			if stateFirst {
				require.Equal(t, want[15:], numbersOf(t, two, Options{State: &state, Workers: workers}))
			}
			require.Equal(t, want, numbersOf(t, two, Options{Workers: workers}))
			loaded, err := New(Chain(&Load{Path: folder}))
			require.NoError(t, err)
			require.True(t, loaded.Indexed())
			require.Equal(t, want, numbersOf(t, loaded, Options{Workers: 2}))
			require.Equal(t, want[15:], numbersOf(t, two, Options{State: &state}), "a state of before is one of now")
		}
	}
}

func TestSaveIsAnOperation(t *testing.T) {
	folder := t.TempDir()
	text := `{"op": "save", "args": {"path": "` + folder + `", "compression": "ZSTD"}, "inputs": [{"op": "range", "args": {"start": 0, "stop": 7, "step": 1, "output_type": "<i8"}}]}`
	d, err := definitionOf(t, text, nil)
	require.NoError(t, err)
	require.Equal(t, []int64{7}, numbersOf(t, d, Options{Workers: 1}))
	d, err = definitionOf(t, `{"op": "load", "args": {"path": "`+folder+`"}}`, nil)
	require.NoError(t, err)
	require.Equal(t, []int64{0, 1, 2, 3, 4, 5, 6}, numbersOf(t, d, Options{}))
}
