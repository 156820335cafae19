package transform

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/spec"
)

func windowed(in dataset.Definition, o WindowOptions) dataset.Definition { return must(Window(in, o)) }

func TestWindowKeepsToTheContracts(t *testing.T) {
	for _, o := range []WindowOptions{{3, 3, 1, false}, {3, 1, 2, true}, {2, 5, 1, false}, {4, 2, 3, false}, {1, 1, 1, true}} {
		checkOnSome(t, func(in dataset.Definition) dataset.Definition { return windowed(in, o) })
		checkOnSome(t, func(in dataset.Definition) dataset.Definition { return windowed(stream(in), o) })
	}
	checkOnSome(t, func(in dataset.Definition) dataset.Definition {
		return batched(windowed(stream(in), WindowOptions{3, 2, 1, true}), 1)
	})
}

// contents reads the windows of a dataset, component i of each; nil for errors.
func contents(t *testing.T, d dataset.Definition, i int) [][]datasettest.Element {
	t.Helper()
	s := d.Spec().Structure
	if s.Name != DatasetName {
		s = s.Items[i]
	}
	out := [][]datasettest.Element{}
	for _, e := range datasettest.ReadAll(t, d, dataset.PassKey(0), limit) {
		if e.Err != "" {
			out = append(out, nil)
			continue
		}
		w, err := DatasetOf(s, []byte(e.Texts[i][0]))
		require.NoError(t, err)
		datasettest.Check(t, w, limit)
		out = append(out, datasettest.ReadAll(t, w, dataset.PassKey(0), limit))
	}
	return out
}

func TestWindow(t *testing.T) {
	for name, c := range map[string]struct {
		o    WindowOptions
		want string
	}{
		"one after the other": {WindowOptions{3, 3, 1, false}, "[[0 1 2] [3 4 5] [6 7 8] [9]]"},
		"stride":              {WindowOptions{3, 2, 2, false}, "[[0 2 4] [2 4 6] [4 6 8] [6 8] [8]]"},
		"whole ones":          {WindowOptions{3, 2, 2, true}, "[[0 2 4] [2 4 6] [4 6 8]]"},
		"gaps":                {WindowOptions{2, 5, 1, true}, "[[0 1] [5 6]]"},
		"too long":            {WindowOptions{11, 1, 1, true}, "[]"},
	} {
		for kind, in := range map[string]dataset.Definition{"indexed": datasettest.Range(10), "stream": stream(datasettest.Range(10))} {
			d := windowed(in, c.o)
			got := [][]int64{}
			for _, w := range contents(t, d, 0) {
				got = append(got, nil)
				for _, e := range w {
					got[len(got)-1] = append(got[len(got)-1], e.Int64s()[0])
				}
			}
			require.Equal(t, c.want, fmt.Sprint(got), "%s, %s", name, kind)
			if kind == "indexed" {
				require.EqualValues(t, len(got), d.Cardinality(), name)
			}
		}
	}
}

func TestWindowsOfStructures(t *testing.T) {
	d := windowed(stream(mixed(8)), WindowOptions{4, 4, 1, false})
	want := datasettest.ReadAll(t, mixed(8), dataset.PassKey(0), limit)
	for i := range 3 {
		w := contents(t, d, i)
		require.Len(t, w, 2)
		for k, e := range append(w[0], w[1]...) {
			switch i {
			case 0:
				require.Equal(t, want[k].Data[0], e.Data[0])
			case 1:
				require.Equal(t, want[k].Texts[0], e.Texts[0])
			case 2:
				require.Equal(t, want[k].Data[1], e.Data[0])
			}
		}
	}
	require.Equal(t, `(:dataset({"dtype":"<i8","shape":[]}=object[]), :dataset({"dtype":"|O","shape":[-1]}=object[]), :dataset({"dtype":"<i8","shape":[-1]}=object[]))`, d.Spec().String())
}

// What is no tensor is one dataset, of all its parts.
func TestWindowsOfWhatIsNoTensor(t *testing.T) {
	for name, in := range map[string]dataset.Definition{
		"ragged": raggedIn(grids(5), false), "rows": must(Unbatch(raggedIn(grids(5), true))), "windows": windowed(stream(mixed(5)), WindowOptions{2, 2, 1, false}),
	} {
		d := windowed(in, WindowOptions{2, 2, 1, false})
		t.Run(name, func(t *testing.T) { datasettest.Check(t, d, limit) })
		require.Len(t, d.Spec().Components, 3)
		datasets := d.Spec().Structure.Items
		for i, s := range datasets {
			w, err := DatasetOf(s, []byte(datasettest.ReadAll(t, d, dataset.PassKey(0), 1)[0].Texts[i][0]))
			require.NoError(t, err)
			require.Equal(t, in.Spec().Structure.Items[i], w.Spec().Structure, name)
		}
	}
	d := windowed(raggedIn(grids(6), true), WindowOptions{2, 2, 1, false})
	s := d.Spec().Structure.Items[0]
	require.Equal(t, `{"structure":{"dict":[["values",null],["shapes",null]],"name":":ragged"},"components":[{"dtype":"<i8","shape":[-1]},{"dtype":"<i4","shape":[3,2]}]}`, s.Keys[0])
	w := contents(t, d, 0)[0]
	require.Equal(t, []string{"[8], [3 2]", "[5], [3 2]"}, []string{w[0].Shapes, w[1].Shapes})
	require.Equal(t, []int64{1, 2, 1, 2, 3, 4, 5, 6}, w[0].Int64s())
	s.Keys = []string{strings.Replace(s.Keys[0], `["values",null],`, "", 1)}
	_, err := DatasetOf(s, nil)
	require.ErrorContains(t, err, "describes no component")
}

// A window is an error when one of its elements is, and no other.
func TestWindowsOfWhatFails(t *testing.T) {
	for kind, in := range map[string]dataset.Definition{"indexed": lame(9), "stream": stream(lame(9))} {
		for name, c := range map[string]struct {
			o    WindowOptions
			want []bool
		}{
			"each":    {WindowOptions{2, 1, 1, true}, []bool{false, true, true, true, false, false, false, false}},
			"between": {WindowOptions{2, 7, 1, false}, []bool{false, false}},
			"around":  {WindowOptions{1, 3, 1, false}, []bool{false, true, false}},
			"strides": {WindowOptions{2, 1, 3, true}, []bool{false, true, false, false, true, false}},
		} {
			got := []bool{}
			for _, w := range contents(t, windowed(in, c.o), 0) {
				got = append(got, w != nil)
			}
			if name == "around" && kind == "stream" { // the last element, which is in none of them
				c.want = append(c.want, false)
			}
			require.Equal(t, c.want, got, "%s, %s", name, kind)
		}
	}
}

func TestWindowRefusesNonsense(t *testing.T) {
	r := datasettest.Range(9)
	for want, o := range map[string]WindowOptions{
		"size is 0": {0, 1, 1, false}, "shift is 0": {1, 0, 1, false}, "stride is -1": {1, 1, -1, false}, "size is 4294967296": {1 << 32, 1, 1, false},
	} {
		_, err := Window(r, o)
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err), want)
		require.ErrorContains(t, err, want)
	}
	s := windowed(r, WindowOptions{3, 3, 1, false}).Spec().Structure
	good := datasettest.ReadAll(t, windowed(r, WindowOptions{3, 3, 1, false}), dataset.PassKey(0), 1)[0].Texts[0][0]
	for n := 1; n < len(good); n++ {
		_, err := DatasetOf(s, []byte(good[:n]))
		require.Equal(t, errs.StateMismatch, errs.KindOf(err), "cut after %d bytes", n)
	}
	for _, s := range []spec.Structure{{}, {Kind: spec.NamedTuple, Name: DatasetName, Keys: []string{"x"}}} {
		_, err := DatasetOf(s, nil)
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
	}
}

// flattened is flat_map's function that batches the first dataset of an element.
type flattened struct{ spec *spec.Element }

func (f flattened) Spec() *spec.Element { return f.spec }

func (f flattened) Build(_ *dataset.Scope, _ block.Block, inputs ...dataset.Definition) (dataset.Definition, error) {
	return Batch(inputs[0], 2, false)
}

func TestDatasetsOfElementsAreGivenToFunctions(t *testing.T) {
	o := WindowOptions{3, 2, 1, true}
	f := flattened{element(leaf('i', 8, -1))}
	for name, in := range map[string]dataset.Definition{
		"indexed": windowed(datasettest.Range(8), o), "stream": windowed(stream(datasettest.Range(8)), o),
		"second": zipped(datasettest.Range(3), windowed(datasettest.Range(8), o)),
	} {
		d := must(FlatMap(in, f, 1))
		datasettest.Check(t, d, limit)
		require.Equal(t, []int64{0, 1, 2, 2, 3, 4, 4, 5, 6}, values(t, d, 0), name)
	}
}
