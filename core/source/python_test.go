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
	"infeed/core/rng"
	"infeed/core/spec"
)

// python stands for the other side of Caller.
type python struct {
	dataset.Definition
	call func(in block.Block, dst dataset.Sink) error
}

func (p *python) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	s.Caller = p
	return p.Definition.Iterate(s, pass, from)
}

func (p *python) Call(_ *dataset.Scope, _ int64, in block.Block, dst dataset.Sink) (int64, error) {
	return 0, p.call(in, dst)
}

// pythonIndexed is python for a dataset that is indexed.
type pythonIndexed struct{ python }

func (p *pythonIndexed) Open(s *dataset.Scope, pass rng.Key) (dataset.RandomAccess, error) {
	s.Caller = p
	return p.Definition.(dataset.Indexed).Open(s, pass)
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
		shapes := scalar(int64s)
		if c.stateful {
			shapes = &spec.Element{Components: append([]spec.Component{{DType: int64s}}, textScalar.Components...)}
		}
		b, err := dst.Block(shapes, 1)
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

func generatorOf(c *counter) dataset.Definition {
	c.live = map[int64]int64{}
	return &python{FromGenerator(Generator{Elements: scalar(int64s), Stateful: c.stateful}), c.call}
}

func TestGenerator(t *testing.T) {
	d := generatorOf(&counter{})
	require.Equal(t, dataset.Unknown, d.Cardinality())
	all := datasettest.ReadAll(t, d, dataset.PassKey(0), 100)
	require.Len(t, all, 14)
	require.Contains(t, all[10].Err, "ValueError: ten")
	require.Equal(t, []int64{13}, all[13].Int64s())
	datasettest.Check(t, d, 20)
}

func TestGeneratorWithStates(t *testing.T) {
	c := &counter{stateful: true}
	d := generatorOf(c)
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
		_, err := generatorOf(&counter{}).Iterate(s, dataset.PassKey(0), dataset.At(at))
		require.Equal(t, errs.StateMismatch, errs.KindOf(err), "%d", at)
		s.Close()
	}
}

func TestGeneratorThatMakesTooMany(t *testing.T) {
	d := &python{FromGenerator(Generator{Elements: scalar(int64s)}), func(_ block.Block, dst dataset.Sink) error {
		_, err := dst.Block(scalar(int64s), 5)
		return err
	}}
	s := datasettest.Scope(0)
	defer s.Close()
	it, err := d.Iterate(s, dataset.PassKey(0), nil)
	require.NoError(t, err)
	_, err = it.Next(4, &block.Buffer{})
	require.Equal(t, errs.Internal, errs.KindOf(err))
}

func TestIndexable(t *testing.T) {
	squares, err := Indexable(3, 9, scalar(int64s))
	require.NoError(t, err)
	d := &pythonIndexed{python{squares, func(in block.Block, dst dataset.Sink) error {
		out, err := dst.Block(scalar(int64s), in.Rows)
		for i := range int(in.Rows) {
			k := int64At(in.Columns[0].Data, i)
			if k == 4 {
				return errors.New("no fourth")
			}
			binary.LittleEndian.PutUint64(out.Columns[0].Data[8*i:], uint64(k*k))
		}
		return err
	}}}
	all := datasettest.ReadAll(t, d, dataset.PassKey(0), 20)
	require.Len(t, all, 9)
	require.Equal(t, "no fourth", all[4].Err)
	require.Equal(t, []int64{64}, all[8].Int64s())
	datasettest.Check(t, d, 20)
	_, err = Indexable(3, -1, scalar(int64s))
	require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
}
