package snapshot

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/spec"
	"infeed/core/vfs"
	"infeed/internal/testkit"
)

// tfFixture is a folder that TensorFlow wrote, with what it gives.
type tfFixture struct {
	Name, Path, Kind, Compression, Order, Expected, Outcome string
	OpenWith                                                *string `json:"open_with"`
	Spec                                                    json.RawMessage
	Elements                                                int  `json:"num_elements"`
	Numbered                                                bool `json:"extra_index_column"`
}

func tfFixtures(t testing.TB) []tfFixture {
	t.Helper()
	var all struct {
		TF      string
		Folders []tfFixture
	}
	testkit.JSON(t, testkit.TF(t, "folders.json"), &all)
	require.Len(t, all.Folders, 55)
	return all.Folders
}

// elements returns what the elements of a fixture are like.
func (f tfFixture) elements(t testing.TB) *spec.Element {
	t.Helper()
	e := &spec.Element{}
	e.Structure = fixtureSpec(t, f.Spec, e)
	return e
}

func fixtureSpec(t testing.TB, text json.RawMessage, e *spec.Element) (s spec.Structure) {
	t.Helper()
	var form struct {
		Tuple  []json.RawMessage
		Dict   map[string]json.RawMessage
		Tensor *struct {
			DType string
			Shape []*int64
		}
	}
	require.NoError(t, json.Unmarshal(text, &form))
	switch {
	case form.Tuple != nil:
		s.Kind = spec.Tuple
		for _, item := range form.Tuple {
			s.Items = append(s.Items, fixtureSpec(t, item, e))
		}
	case form.Dict != nil:
		s.Kind = spec.Dict
		for key := range form.Dict {
			s.Keys = append(s.Keys, key)
		}
		slices.Sort(s.Keys)
		for _, key := range s.Keys {
			s.Items = append(s.Items, fixtureSpec(t, form.Dict[key], e))
		}
	default:
		require.NotNil(t, form.Tensor, "%s", text)
		c := spec.Component{DType: spec.Text, Shape: []int64{}}
		if form.Tensor.DType != "string" {
			c.DType = tfNames[form.Tensor.DType]
		}
		for _, d := range form.Tensor.Shape {
			c.Shape = append(c.Shape, *d)
		}
		e.Components = append(e.Components, c)
	}
	return s
}

var tfNames = map[string]spec.DType{"float32": {Kind: 'f', Size: 4}, "int64": {Kind: 'i', Size: 8}}

// want returns the bytes of each component of each element, of those fixtures where each
// component is an array.
func (f tfFixture) want(t testing.TB) (out []string) {
	t.Helper()
	columns := testkit.NPZ(t, testkit.TF(t, f.Expected))
	for i := range f.Elements {
		var parts []string
		for k := 0; ; k++ {
			whole, is := columns[fmt.Sprint(k)]
			one, single := columns[fmt.Sprintf("%d_%d", k, i)]
			if !is && !single {
				break
			}
			if is {
				each := len(whole) / f.Elements
				one = whole[i*each : (i+1)*each]
			}
			parts = append(parts, fmt.Sprintf("%x", one))
		}
		out = append(out, strings.Join(parts, "|"))
	}
	return out
}

// Folders that TensorFlow wrote give what they hold, however they are asked for, or an
// error of the kind that says what is wrong with them.
func TestFoldersThatTensorFlowWrote(t *testing.T) {
	kinds := map[string]errs.Kind{"no_metadata": errs.NotFound}
	for _, f := range tfFixtures(t) {
		o := TFOptions{Compression: Auto}
		if f.OpenWith != nil {
			o.Compression = None
		}
		if f.Kind == "snapshot" {
			o.Spec = f.elements(t)
		}
		d, err := LoadTF(vfs.Local(), testkit.TF(t, f.Path), o)
		var got []datasettest.Element
		if err == nil {
			s := datasettest.Scope(0)
			it, opened := d.Iterate(s, dataset.PassKey(0), nil)
			require.NoError(t, opened)
			got, err = datasettest.TakeUntil(it, 3, 1000)
			s.Close()
		}
		if f.Outcome != "ok" {
			require.Error(t, err, f.Name)
			require.Equal(t, cmp.Or(kinds[f.Outcome], errs.DataLoss), errs.KindOf(err), "%s: %v", f.Name, err)
			continue
		}
		require.NoError(t, err, f.Name)
		require.Len(t, got, f.Elements, f.Name)
		if f.Kind == "snapshot" {
			require.Equal(t, dataset.Unknown, d.Cardinality(), f.Name)
		} else {
			require.EqualValues(t, f.Elements, d.Cardinality(), f.Name)
		}
		if filepath.Ext(f.Expected) == ".npz" && f.Elements > 0 && f.Name != "unknown_rank" {
			compareTF(t, f, got)
		}
		if f.Elements > 0 && f.Elements < 20 && !strings.Contains(f.Name, "over_") {
			datasettest.Check(t, d, 20)
		}
	}
}

func compareTF(t *testing.T, f tfFixture, got []datasettest.Element) {
	t.Helper()
	want := f.want(t)
	var have []string
	for _, e := range got {
		var parts []string
		for _, data := range e.Data {
			parts = append(parts, fmt.Sprintf("%x", data))
		}
		have = append(have, strings.Join(parts, "|"))
	}
	if f.Order != "total" && !f.Numbered { // those with numbers come in their order
		slices.Sort(want)
		slices.Sort(have)
	}
	require.Equal(t, want, have, f.Name)
}

// A snapshot is found by its own folder, the one above it, and that of its run.
func TestSnapshotsOfTensorFlowByAnyOfTheirFolders(t *testing.T) {
	seen := 0
	for _, f := range tfFixtures(t) {
		if f.Kind != "snapshot" || f.Outcome != "ok" {
			continue
		}
		about, err := DescribeTF(vfs.Local(), testkit.TF(t, f.Path))
		require.NoError(t, err)
		require.Equal(t, "snapshot", about.Kind)
		o := TFOptions{Compression: Auto, Spec: f.elements(t)}
		folders := []string{testkit.TF(t, f.Path), filepath.Dir(testkit.TF(t, f.Path))}
		if len(about.Parts) > 0 {
			folders = append(folders, filepath.Join(about.Path, about.Run))
		}
		for _, folder := range folders {
			d, err := LoadTF(vfs.Local(), folder, o)
			require.NoError(t, err, folder)
			require.Len(t, read(t, vfs.Local(), d), f.Elements, folder)
			seen++
		}
	}
	require.Greater(t, seen, 30)
}

// Without a spec it is said what is stored, and that may be the elements' numbers.
func TestSnapshotsOfTensorFlowNeedASpec(t *testing.T) {
	for _, f := range tfFixtures(t) {
		if f.Name != "default_auto" {
			continue
		}
		_, err := LoadTF(vfs.Local(), testkit.TF(t, f.Path), TFOptions{Compression: Auto})
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
		require.ErrorContains(t, err, "give element_spec. It stores 3 tensors of each, int64, float32, int64; the first is the number")

		whole := &spec.Element{Structure: spec.Structure{Kind: spec.Tuple, Items: make([]spec.Structure, 3)}, Components: append([]spec.Component{numbers64()}, f.elements(t).Components...)}
		d, err := LoadTF(vfs.Local(), testkit.TF(t, f.Path), TFOptions{Compression: Auto, Spec: whole})
		require.NoError(t, err)
		var numbers []int64
		for _, e := range read(t, vfs.Local(), d) {
			numbers = append(numbers, e.Int64s()...)
		}
		require.Equal(t, []int64{0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9}, numbers, "with the numbers as a component, one shard follows the other")

		for _, other := range []*spec.Element{
			{Components: whole.Components[:1]},
			{Structure: whole.Structure, Components: []spec.Component{numbers64(), numbers64(), numbers64()}},
		} {
			_, err = LoadTF(vfs.Local(), testkit.TF(t, f.Path), TFOptions{Compression: Auto, Spec: other})
			require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
			require.ErrorContains(t, err, "stores 3 tensors of each element: int64, float32, int64")
		}
		// What the folder does not say is found when elements come.
		wide := f.elements(t)
		wide.Components[0].Shape = []int64{5}
		d, err = LoadTF(vfs.Local(), testkit.TF(t, f.Path), TFOptions{Compression: Auto, Spec: wide})
		require.NoError(t, err)
		e := read(t, vfs.Local(), d)[0]
		require.Contains(t, e.Err, "it is float32[4]; float32[5] was promised")
	}
}

// Each part is a dataset of its own: a shard, or a chunk.
func TestPartsOfWhatTensorFlowStored(t *testing.T) {
	for _, f := range tfFixtures(t) {
		if f.Outcome != "ok" || f.Kind == "save" && f.Order != "shards" {
			continue
		}
		o := TFOptions{Compression: Auto}
		if f.Kind == "snapshot" {
			o.Spec = f.elements(t)
		}
		about, err := DescribeTF(vfs.Local(), testkit.TF(t, f.Path))
		require.NoError(t, err)
		total := 0
		for i := range int64(len(about.Parts)) {
			o.Part = &i
			d, err := LoadTF(vfs.Local(), testkit.TF(t, f.Path), o)
			require.NoError(t, err)
			n := len(read(t, vfs.Local(), d))
			require.Contains(t, []int64{dataset.Unknown, int64(n)}, d.Cardinality())
			total += n
		}
		require.Equal(t, f.Elements, total, f.Name)
		beyond := int64(len(about.Parts))
		o.Part = &beyond
		_, err = LoadTF(vfs.Local(), testkit.TF(t, f.Path), o)
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
	}
}
