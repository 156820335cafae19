package source

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/spec"
)

func bytesOf(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i * 7)
	}
	return b
}

func two() *spec.Element {
	return &spec.Element{
		Structure:  spec.Structure{Kind: spec.Tuple, Items: make([]spec.Structure, 2)},
		Components: []spec.Component{{DType: spec.DType{Kind: 'f', Size: 4}, Shape: []int64{3}}, {DType: spec.DType{Kind: 'i', Size: 8}}},
	}
}

func TestSlices(t *testing.T) {
	x, y := bytesOf(10*12), bytesOf(10*8)
	d, err := Slices(two(), 10, [][]byte{x, y})
	require.NoError(t, err)
	require.EqualValues(t, 10, d.Cardinality())
	got := datasettest.ReadAll(t, d, dataset.PassKey(0), 10)
	for i, e := range got {
		require.Equal(t, [][]byte{x[12*i : 12*i+12], y[8*i : 8*i+8]}, e.Data)
	}
	datasettest.Check(t, d, 10)
}

func TestSlicesGathersNothingFromOutside(t *testing.T) {
	d, err := Slices(two(), 10, [][]byte{bytesOf(120), bytesOf(80)})
	require.NoError(t, err)
	s := datasettest.Scope(0)
	defer s.Close()
	access, err := d.(dataset.Indexed).Open(s, dataset.PassKey(0))
	require.NoError(t, err)
	for _, index := range [][]int64{{9, 10}, {-1, 0}, {3, 10}, {3, -1}} {
		err := access.Fetch(index, &block.Buffer{})
		require.Equal(t, errs.Internal, errs.KindOf(err), "%v", index)
	}
}

func TestSlicesAreUsedInPlace(t *testing.T) {
	x := make([]byte, 80)
	e := &spec.Element{Components: []spec.Component{{DType: spec.DType{Kind: 'i', Size: 8}}}}
	d, err := Slices(e, 10, [][]byte{x})
	require.NoError(t, err)
	binary.LittleEndian.PutUint64(x[16:], 99)
	require.Equal(t, []int64{99}, datasettest.ReadAll(t, d, dataset.PassKey(0), 10)[2].Int64s())
}

func TestSlicesOfNothing(t *testing.T) {
	e := &spec.Element{Components: []spec.Component{{DType: spec.DType{Kind: 'i', Size: 8}, Shape: []int64{0}}}}
	for name, rows := range map[string]int64{"no rows": 0, "rows without bytes": 4} {
		d, err := Slices(e, rows, [][]byte{nil})
		require.NoError(t, err, name)
		datasettest.Check(t, d, 10)
	}
}

func TestSlicesRefusesWhatIsNotThere(t *testing.T) {
	one := &spec.Element{Components: []spec.Component{{DType: spec.DType{Kind: 'i', Size: 8}}}}
	none := &spec.Element{Structure: spec.Structure{Kind: spec.Tuple}}
	huge := &spec.Element{Components: []spec.Component{{DType: spec.DType{Kind: 'i', Size: 8}, Shape: []int64{1 << 61}}}}
	for text, f := range map[string]func() (dataset.Definition, error){
		"has 8 bytes":        func() (dataset.Definition, error) { return Slices(one, 2, [][]byte{bytesOf(8)}) },
		"has 24 bytes":       func() (dataset.Definition, error) { return Slices(one, 2, [][]byte{bytesOf(24)}) },
		"1 arrays for the 2": func() (dataset.Definition, error) { return Slices(two(), 2, [][]byte{bytesOf(24)}) },
		"component[1] has 9": func() (dataset.Definition, error) { return Slices(two(), 1, [][]byte{bytesOf(12), bytesOf(9)}) },
		"no array":           func() (dataset.Definition, error) { return Slices(none, 2, nil) },
		"-1 rows":            func() (dataset.Definition, error) { return Slices(one, -1, [][]byte{nil}) },
		"has 0 bytes":        func() (dataset.Definition, error) { return Slices(huge, 8, [][]byte{nil}) },
	} {
		_, err := f()
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err), text)
		require.ErrorContains(t, err, text)
	}
}

func textOf(strings ...string) *block.Text {
	t := &block.Text{}
	for _, s := range strings {
		t.Append([]byte(s))
	}
	return t
}

func TestSlicesOfText(t *testing.T) {
	e := &spec.Element{
		Structure:  spec.Structure{Kind: spec.Tuple, Items: make([]spec.Structure, 3)},
		Components: []spec.Component{{DType: spec.Text}, {DType: spec.DType{Kind: 'i', Size: 8}}, {DType: spec.Text, Shape: []int64{2}}},
	}
	d, err := Slices(e, 3, [][]byte{nil, bytesOf(24), nil}, textOf("a", "", "ccc"), textOf("1", "2", "3", "4", "5", ""))
	require.NoError(t, err)
	datasettest.Check(t, d, 10)
	got := datasettest.ReadAll(t, d, dataset.PassKey(0), 10)
	require.Equal(t, [][]string{{"ccc"}, {"5", ""}}, got[2].Texts)
	require.Equal(t, [][]byte{bytesOf(24)[16:]}, got[2].Data)
	for name, given := range map[string][]*block.Text{
		"too few strings": {textOf("a", "", "ccc"), textOf("1")}, "too many strings": {textOf("a", "b", "c", "d"), textOf("1", "2", "3", "4", "5", "6")}, "no strings": nil,
	} {
		_, err := Slices(e, 3, [][]byte{nil, bytesOf(24), nil}, given...)
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err), name)
		require.ErrorContains(t, err, "is text; 3 rows", name)
	}
	s := datasettest.Scope(0)
	defer s.Close()
	access, err := d.(dataset.Indexed).Open(s, dataset.PassKey(0))
	require.NoError(t, err)
	require.Equal(t, errs.Internal, errs.KindOf(access.Fetch([]int64{0, 3}, &block.Buffer{})))
}

func TestTensorsAreOneElement(t *testing.T) {
	e := &spec.Element{Components: []spec.Component{{DType: spec.DType{Kind: 'i', Size: 2}, Shape: []int64{3}}}}
	d, err := Tensors(e, [][]byte{bytesOf(6)})
	require.NoError(t, err)
	require.EqualValues(t, 1, d.Cardinality())
	require.Equal(t, [][]byte{bytesOf(6)}, datasettest.ReadAll(t, d, dataset.PassKey(0), 10)[0].Data)
	datasettest.Check(t, d, 10)
	_, err = Tensors(e, [][]byte{bytesOf(5)})
	require.ErrorContains(t, err, "from_tensors")
}
