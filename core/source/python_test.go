package source

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/spec"
)

// function stands for one of Python.
type function struct {
	spec *spec.Element
	call func(in block.Block, dst dataset.Sink) error
}

func (f *function) Spec() *spec.Element { return f.spec }
func (f *function) Calls() int          { return 1 }

func (f *function) Run(_ *dataset.Scope, in block.Block, _ dataset.Chance, dst dataset.Sink) (int64, error) {
	return 0, f.call(in, dst)
}

func int64At(b []byte, i int) int64 { return int64(binary.LittleEndian.Uint64(b[8*i:])) }

var errTen = errs.New(errs.InvalidArgument, "generator", "ValueError: ten")

// counter is a generator of the numbers from 0 to 13, three at a time at most, with an
// error instead of 10. With states, the state is the number that comes next.
type counter struct {
	live     map[int64]int64 // next number by walk
	made     int
	stateful bool
}

func (c *counter) call(in block.Block, dst dataset.Sink) error {
	walk, want := int64At(in.Columns[0].Data, 0), int64At(in.Columns[0].Data, 2)
	if _, has := c.live[walk]; !has && in.Columns[1].Text.Bytes() > 0 {
		n, err := strconv.Atoi(string(in.Columns[1].Text.At(0)))
		if err != nil {
			return err
		}
		c.live[walk] = int64(n)
	}
	for n := range min(want, 3) {
		i := c.live[walk]
		if i == 14 {
			return io.EOF
		}
		c.live[walk]++
		if i == 10 {
			return errTen
		}
		b, err := dst.Block(c.spec(), 1)
		if err != nil {
			return err
		}
		c.made++
		binary.LittleEndian.PutUint64(b.Columns[0].Data, uint64(i))
		if c.stateful && (n == min(want, 3)-1 || c.live[walk] == 10 || c.live[walk] == 14) {
			b.Columns[1].Text.Append(fmt.Append(nil, i+1))
		} else if c.stateful {
			b.Columns[1].Text.Append(nil)
		}
	}
	return nil
}

func (c *counter) spec() *spec.Element {
	if !c.stateful {
		return scalar(int64s)
	}
	return &spec.Element{
		Structure:  spec.Structure{Kind: spec.Tuple, Items: make([]spec.Structure, 2)},
		Components: []spec.Component{{DType: int64s}, {DType: spec.Text}},
	}
}

func generatorOf(t *testing.T, c *counter) dataset.Definition {
	t.Helper()
	c.live = map[int64]int64{}
	d, err := FromGenerator(Generator{&function{c.spec(), c.call}, c.stateful})
	require.NoError(t, err)
	return d
}

func TestGenerator(t *testing.T) {
	d := generatorOf(t, &counter{})
	require.Equal(t, dataset.Unknown, d.Cardinality())
	all := datasettest.ReadAll(t, d, dataset.PassKey(0), 100)
	require.Len(t, all, 14)
	require.Contains(t, all[10].Err, "ValueError: ten")
	require.Equal(t, []int64{13}, all[13].Int64s())
	datasettest.Check(t, d, 20)
}

func TestGeneratorWithStates(t *testing.T) {
	c := &counter{stateful: true}
	d := generatorOf(t, c)
	s := datasettest.Scope(0)
	defer s.Close()
	it, err := d.Iterate(s, dataset.PassKey(0), nil)
	require.NoError(t, err)
	_, tokens := datasettest.Take(t, it, 1, 100)
	require.Equal(t, "5", string(tokens[5].Data))
	c.made = 0
	it, err = d.Iterate(s, dataset.PassKey(0), datasettest.Reload(t, tokens[5]))
	require.NoError(t, err)
	rest, _ := datasettest.Take(t, it, 1, 2)
	require.Equal(t, []int64{6}, rest[1].Int64s())
	require.Equal(t, 2, c.made, "elements are made again")
}

func TestGeneratorThatGivesOtherElementsLater(t *testing.T) {
	for _, at := range []int64{15, 1 << 50} {
		s := datasettest.Scope(0)
		_, err := generatorOf(t, &counter{}).Iterate(s, dataset.PassKey(0), dataset.At(at))
		require.Equal(t, errs.StateMismatch, errs.KindOf(err), "%d", at)
		s.Close()
	}
}

func TestGeneratorThatMakesTooMany(t *testing.T) {
	d, err := FromGenerator(Generator{Function: &function{scalar(int64s), func(_ block.Block, dst dataset.Sink) error {
		_, err := dst.Block(scalar(int64s), 5)
		return err
	}}})
	require.NoError(t, err)
	s := datasettest.Scope(0)
	defer s.Close()
	it, err := d.Iterate(s, dataset.PassKey(0), nil)
	require.NoError(t, err)
	_, err = it.Next(4, &block.Buffer{})
	require.ErrorContains(t, err, "5 elements; 4 were asked for")
	_, err = FromGenerator(Generator{Function: &function{spec: scalar(int64s)}, Stateful: true})
	require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
}

func TestIndexable(t *testing.T) {
	squares := &function{scalar(int64s), func(in block.Block, dst dataset.Sink) error {
		out, err := dst.Block(scalar(int64s), in.Rows)
		for i := range int(in.Rows) {
			k := int64At(in.Columns[0].Data, i)
			if k == 4 {
				return errors.New("no fourth")
			}
			binary.LittleEndian.PutUint64(out.Columns[0].Data[8*i:], uint64(k*k))
		}
		return err
	}}
	d, err := Indexable(squares, 9)
	require.NoError(t, err)
	all := datasettest.ReadAll(t, d, dataset.PassKey(0), 20)
	require.Len(t, all, 9)
	require.Equal(t, "no fourth", all[4].Err)
	require.Equal(t, []int64{64}, all[8].Int64s())
	datasettest.Check(t, d, 20)
	_, err = Indexable(squares, -1)
	require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
}
