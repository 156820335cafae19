package pipeline

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"infeed/core/arena"
	"infeed/core/par"
	"infeed/core/spec"
)

// In tests a wake-up that got lost is a hang.
func TestMain(m *testing.M) {
	idle = time.Hour
	os.Exit(m.Run())
}

// numbers is the dataset of pairs (i, three bytes made from i).
func numbers(n int64) *Slices {
	x, y := make([]byte, 8*n), make([]byte, 3*n)
	for i := range n {
		binary.LittleEndian.PutUint64(x[8*i:], uint64(i))
		for j := range int64(3) {
			y[3*i+j] = byte(i*3 + j)
		}
	}
	return &Slices{
		Rows:      n,
		Structure: spec.Structure{Kind: spec.Tuple, Items: make([]spec.Structure, 2)},
		Arrays:    []Array{{DType: "<i8", Data: x}, {DType: "|u1", Shape: []int64{3}, Data: y}},
	}
}

func open(t *testing.T, ops ...Op) *Dataset {
	t.Helper()
	d, err := New(Chain(ops...))
	require.NoError(t, err)
	return d
}

// iterate starts an iterator; when the test ends nothing of it may be left.
func iterate(t *testing.T, d *Dataset, o Options) *Iterator {
	t.Helper()
	mapped, live := arena.MappedBytes()-LastingBytes(), par.Live()
	it, err := d.Iterate(o)
	require.NoError(t, err)
	t.Cleanup(func() {
		it.Close()
		require.Equal(t, mapped, arena.MappedBytes()-LastingBytes(), "slots were left mapped")
		require.LessOrEqual(t, par.Live(), live, "workers were left running")
	})
	return it
}

// element is one element as it came: its shapes and its bytes.
type element struct {
	shapes string
	data   [2]string
}

func elements(g *Group) []element {
	out := make([]element, g.Block.Rows)
	for i := range out {
		out[i].shapes = g.Shapes.Shapes()
		for j, c := range g.Block.Slice(int64(i), int64(i)+1).Columns {
			out[i].data[j] = string(c.Data)
		}
	}
	return out
}

// read takes elements until there are count, or all when count is -1.
func read(t *testing.T, it *Iterator, count int) []element {
	t.Helper()
	out := []element{}
	for count < 0 || len(out) < count {
		g, err := it.Next()
		if errors.Is(err, io.EOF) {
			require.Less(t, count, 0, "the end came after %d of %d elements", len(out), count)
			return out
		}
		require.NoError(t, err)
		out = append(out, elements(g)...)
		g.Release()
	}
	return out[:count]
}
