package pipeline

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/spec"
)

const (
	int64Spec = `{"structure": null, "components": [{"dtype": "<i8", "shape": []}]}`
	textSpec  = `{"structure": null, "components": [{"dtype": "|O8", "shape": []}]}`
	batchSpec = `{"structure": null, "components": [{"dtype": "<i8", "shape": [-1]}]}`
	plusOne   = `{"nodes": [{"op": "const", "attrs": {"dtype": "<i8", "shape": [], "data": "AQAAAAAAAAA="}}, {"op": "add", "in": [0, 1]}], "outputs": [2], "structure": null}`
	itself    = `{"nodes": [], "outputs": [0], "structure": null}`
	remainder = `{"nodes": [{"op": "const", "attrs": {"dtype": "<i8", "shape": [], "data": "AwAAAAAAAAA="}}, {"op": "remainder", "in": [0, 1]}], "outputs": [2], "structure": null}`
)

func rangeTo(stop string) string {
	return `{"op": "range", "args": {"start": 0, "stop": ` + stop + `, "step": 1, "output_type": "<i8"}}`
}

func on(op, args string, inputs ...string) string {
	return fmt.Sprintf(`{"op": %q, "args": {%s}, "inputs": [%s]}`, op, args, strings.Join(inputs, ", "))
}

func returning(template, program, spec string) string {
	return fmt.Sprintf(`"map_func": {"name": "f", "template": %s, "program": %s, "spec": %s}`, template, program, spec)
}

func reducing(template, program, spec string) string {
	return strings.Replace(returning(template, program, spec), "map_func", "reduce_func", 1)
}

func parse(t *testing.T, text string) *Dataset {
	t.Helper()
	d, err := definitionOf(t, text, func(handle uint64) (*Dataset, error) {
		return nil, errs.New(errs.NotFound, "test", "dataset %d", handle)
	})
	require.NoError(t, err)
	return d
}

// elementsOf reads a dataset; an error is in its place.
func elementsOf(t *testing.T, text string) []string {
	t.Helper()
	var out []string
	d := parse(t, text)
	for _, e := range datasettest.ReadAll(t, d.def, dataset.PassKey(0), 100) {
		switch {
		case e.Err != "":
			out = append(out, "error: "+e.Err)
		case len(e.Texts) > 0:
			out = append(out, strings.Join(e.Texts[0], "|"))
		default:
			out = append(out, fmt.Sprint(e.Int64s()))
		}
	}
	datasettest.Check(t, d.def, 30)
	return out
}

func TestTemplates(t *testing.T) {
	dir := t.TempDir()
	for i, text := range []string{"a\nb\n", "", "c\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), []byte(text), 0o600))
	}
	paths := on("list_files", fmt.Sprintf(`"file_pattern": [%q], "shuffle": false, "seed": 0, "drawn": false`, filepath.Join(dir, "*")))
	lines := `"compression_type": "", "buffer_size": null, "num_parallel_reads": null, "errors": "raise"`
	ofValues := `"structure": null, "values": [0]`
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"a constant":                {on("flat_map", returning(rangeTo("2"), "null", int64Spec), rangeTo("2")), []string{"[0]", "[1]", "[0]", "[1]"}},
		"a value":                   {on("flat_map", returning(rangeTo(`{"$value": 0}`), itself, int64Spec), rangeTo("3")), []string{"[0]", "[0]", "[1]"}},
		"a program":                 {on("flat_map", returning(rangeTo(`{"$value": 0}`), plusOne, int64Spec), rangeTo("2")), []string{"[0]", "[0]", "[1]"}},
		"operations on it":          {on("flat_map", returning(on("repeat", `"count": {"$value": 0}`, rangeTo("1")), itself, int64Spec), rangeTo("3")), []string{"[0]", "[0]", "[0]"}},
		"a program inside":          {on("flat_map", returning(on("map", `"map_func": {"name": "g", "program": {"nodes": [{"op": "const", "attrs": {"$const": 0}}, {"op": "add", "in": [0, 1]}], "outputs": [2], "structure": null}}`, rangeTo("2")), plusOne, int64Spec), rangeTo("2")), []string{"[1]", "[2]", "[2]", "[3]"}},
		"one element":               {on("flat_map", returning(on("tensors_of_values", ofValues), plusOne, int64Spec), rangeTo("2")), []string{"[1]", "[2]"}},
		"its rows":                  {on("flat_map", returning(on("slices_of_values", ofValues), itself, int64Spec), on("batch", `"batch_size": 2, "drop_remainder": false`, rangeTo("3"))), []string{"[0]", "[1]", "[2]"}},
		"a path":                    {on("flat_map", returning(on("TextLineDataset", `"filenames": [{"$value": 0}], `+lines), itself, textSpec), paths), []string{"a", "b", "c"}},
		"paths":                     {on("flat_map", returning(on("TextLineDataset", `"filenames": {"$value": 0}, `+lines), itself, textSpec), on("batch", `"batch_size": 2, "drop_remainder": false`, paths)), []string{"a", "b", "c"}},
		"in turn":                   {on("interleave", returning(on("TextLineDataset", `"filenames": [{"$value": 0}], `+lines), itself, textSpec)+`, "cycle_length": 2, "block_length": 1, "num_parallel_calls": -1`, paths), []string{"a", "b", "c"}},
		"in one another":            {on("flat_map", returning(on("flat_map", returning(rangeTo(`{"$value": 0}`), itself, int64Spec), rangeTo(`{"$value": 0}`)), itself, int64Spec), rangeTo("4")), []string{"[0]", "[0]", "[0]", "[1]"}},
		"groups":                    {on("group_by_window", `"key_func": {"name": "k", "program": `+remainder+`}, "window_size": 3, `+reducing(on("batch", `"batch_size": 9, "drop_remainder": false`, on("input", `"index": 0`)), "null", batchSpec), rangeTo("7")), []string{"[0 3 6]", "[1 4]", "[2 5]"}},
		"groups and their keys":     {on("group_by_window", `"key_func": {"name": "k", "program": `+remainder+`}, "window_size_func": {"name": "w", "program": `+plusOne+`}, `+reducing(on("tensors_of_values", ofValues), itself, int64Spec), rangeTo("6")), []string{"[0]", "[0]", "[1]", "[2]"}},
		"buckets":                   {on("bucket_by_sequence_length", `"element_length_func": {"name": "n", "program": `+itself+`}, "bucket_boundaries": [2], "bucket_batch_sizes": [2, 3]`, rangeTo("6")), []string{"[0 1]", "[2 3 4]", "[5]"}},
		"a value that is none":      {on("flat_map", returning(on("shard", `"num_shards": {"$value": 0}, "index": 0`, rangeTo("4")), itself, int64Spec), rangeTo("3")), []string{"error: shard: index 0 of num_shards 0; 0 <= index < num_shards is needed", "[0]", "[1]", "[2]", "[3]", "[0]", "[2]"}},
		"rows of what has none":     {on("flat_map", returning(on("slices_of_values", ofValues), itself, int64Spec), rangeTo("1")), []string{"error: from_tensor_slices: a single value of int64 cannot be sliced; give arrays of at least one dimension"}},
		"elements of another dtype": {on("flat_map", returning(rangeTo("2"), "null", textSpec), rangeTo("1")), []string{"error: flat_map: the function gave a dataset of int64[] for this element; all of its datasets must have elements like those of the first, object[]"}},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, elementsOf(t, c.text)) })
	}
}

func TestNonsenseOfTemplatesIsRefused(t *testing.T) {
	for want, text := range map[string]string{
		`there is no operation "nothing"`: on("flat_map", returning(on("nothing", ""), "null", int64Spec), rangeTo("2")),
		"the arguments of range":          on("flat_map", returning(on("range", `"begin": 1`), "null", int64Spec), rangeTo("2")),
		"has no spec":                     on("flat_map", returning(rangeTo("2"), "null", "null"), rangeTo("2")),
		"nobody knows dataset 7":          on("flat_map", returning("7", "null", int64Spec), rangeTo("2")),
		"batch_size is 0":                 on("flat_map", returning(on("batch", `"batch_size": 0, "drop_remainder": false`, rangeTo("2")), "null", int64Spec), rangeTo("2")),
		"works on 1 datasets":             on("flat_map", returning(on("batch", `"batch_size": 1, "drop_remainder": false`), "null", int64Spec), rangeTo("2")),
	} {
		_, err := definitionOf(t, text, nil)
		require.ErrorContains(t, err, want)
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
	}
	require.Equal(t, []string{"error: function: input 1 of an element with 0 datasets"}, elementsOf(t, on("flat_map", returning(on("input", `"index": 1`), "null", int64Spec), rangeTo("1"))))
	require.Contains(t, elementsOf(t, on("flat_map", returning(rangeTo(`{"$value": 3}`), itself, int64Spec), rangeTo("1")))[0], "there is no value 3")
}

// A seed that was drawn in a function is part of the state.
func TestSeedsInFunctionsAreInTheState(t *testing.T) {
	shuffle := func(seed int) string {
		return on("flat_map", returning(on("shuffle", fmt.Sprintf(`"buffer_size": {"$value": 0}, "seed": %d, "drawn": true, "same_each_pass": false`, seed), on("shuffle", fmt.Sprintf(`"buffer_size": null, "seed": %d, "drawn": true, "same_each_pass": false`, seed+1), rangeTo("50"))), plusOne, int64Spec), rangeTo("2"))
	}
	one, other := parse(t, shuffle(5)), parse(t, shuffle(8))
	s := one.State(0, 0, nil)
	require.Equal(t, []uint64{6, 5}, s.Seeds)
	again, _, err := other.resumed(&s)
	require.NoError(t, err)
	require.Equal(t, s.Seeds, again.State(0, 0, nil).Seeds)
	read := func(d *Dataset) []datasettest.Element { return datasettest.ReadAll(t, d.def, dataset.PassKey(0), 200) }
	require.Equal(t, read(one), read(again))
	require.NotEqual(t, read(one), read(other))
}

// fakeCaller plays a function of Python that returns a dataset.
type fakeCaller struct{ calls int }

func (f *fakeCaller) Call(_ *dataset.Scope, _ int64, in []block.Block, dst dataset.Sink) (int64, error) {
	f.calls++
	if f.calls == 3 {
		return 0, errs.New(errs.InvalidArgument, "", "ValueError: no")
	}
	shapes := &spec.Element{Components: []spec.Component{{DType: spec.Text}, {DType: spec.DType{Kind: 'i', Size: 8}, Shape: []int64{2}}}}
	out, err := dst.Block(shapes, 1)
	if err != nil {
		return 0, err
	}
	out.Columns[0].Text.Append([]byte(`[{"op": "slices_of_values", "args": {"structure": null, "values": [0]}}]`))
	copy(out.Columns[1].Data, in[0].Columns[0].Data)
	copy(out.Columns[1].Data[8:], in[0].Columns[0].Data)
	return 1, nil
}

func TestFunctionsOfPythonReturnDefinitions(t *testing.T) {
	d := parse(t, on("flat_map", `"map_func": {"name": "f", "call": 4, "spec": `+int64Spec+`}`, rangeTo("4")))
	s := datasettest.Scope(0)
	defer s.Close()
	s.Caller = &fakeCaller{}
	it, err := d.def.Iterate(s, dataset.PassKey(0), nil)
	require.NoError(t, err)
	got, _ := datasettest.Take(t, it, 5, 100)
	var out []string
	for _, e := range got {
		if e.Err != "" {
			out = append(out, e.Err)
		} else {
			out = append(out, fmt.Sprint(e.Int64s()))
		}
	}
	require.Equal(t, []string{"[0]", "[0]", "[1]", "[1]", "ValueError: no", "[3]", "[3]"}, out)
}

// Files are closed as soon as they were read, however many there are.
func TestManyInnerFilesWithFewDescriptors(t *testing.T) {
	dir := t.TempDir()
	const files = 10_000
	for i := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%05d", i)), []byte("x\ny\n"), 0o600))
	}
	var old syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old))
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 256, Max: old.Max}))
	defer func() { require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old)) }()
	paths := on("list_files", fmt.Sprintf(`"file_pattern": [%q], "shuffle": false, "seed": 0, "drawn": false`, filepath.Join(dir, "*")))
	lines := returning(on("TextLineDataset", `"filenames": [{"$value": 0}], "compression_type": "", "buffer_size": null, "num_parallel_reads": null, "errors": "raise"`), itself, textSpec)
	for _, text := range []string{on("flat_map", lines, paths), on("interleave", lines+`, "cycle_length": 16, "block_length": 1, "num_parallel_calls": 8`, paths)} {
		s := datasettest.Scope(4)
		it, err := parse(t, text).def.Iterate(s, dataset.PassKey(0), nil)
		require.NoError(t, err)
		got, _ := datasettest.Take(t, it, 1000, 3*files)
		require.Len(t, got, 2*files)
		for _, e := range got {
			require.Empty(t, e.Err)
		}
		s.Close()
	}
}

func TestAValueIsWrittenAsJSON(t *testing.T) {
	row := func(c spec.Component, data string) values {
		return values{block.Block{Rows: 1, Shapes: &spec.Element{Components: []spec.Component{c}}, Columns: []block.Column{{Data: []byte(data), RowBytes: int64(len(data))}}}}
	}
	for want, v := range map[string]values{
		"-2":           row(spec.Component{DType: spec.DType{Kind: 'i', Size: 1}}, "\xfe"),
		"65534":        row(spec.Component{DType: spec.DType{Kind: 'u', Size: 2}}, "\xfe\xff"),
		"-2147483648":  row(spec.Component{DType: spec.DType{Kind: 'i', Size: 4}}, "\x00\x00\x00\x80"),
		"true":         row(spec.Component{DType: spec.DType{Kind: 'b', Size: 1}}, "\x01"),
		"1.5":          row(spec.Component{DType: spec.DType{Kind: 'f', Size: 4}}, "\x00\x00\xc0\x3f"),
		"-1.5":         row(spec.Component{DType: spec.DType{Kind: 'f', Size: 8}}, "\x00\x00\x00\x00\x00\x00\xf8\xbf"),
		`"a\""`:        row(spec.Component{DType: spec.DType{Kind: 'S', Size: 4}}, "a\"\x00\x00"),
		"[1,2]":        row(spec.Component{DType: spec.DType{Kind: 'u', Size: 1}, Shape: []int64{2}}, "\x01\x02"),
		"[]":           row(spec.Component{DType: spec.DType{Kind: 'u', Size: 1}, Shape: []int64{0}}, ""),
		"is not UTF-8": row(spec.Component{DType: spec.DType{Kind: 'S', Size: 1}}, "\xff"),
		"NaN cannot":   row(spec.Component{DType: spec.DType{Kind: 'f', Size: 4}}, "\x00\x00\xc0\x7f"),
		"lists":        row(spec.Component{DType: spec.DType{Kind: 'u', Size: 1}, Shape: []int64{1, 1}}, "\x01"),
		"complex64":    row(spec.Component{DType: spec.DType{Kind: 'c', Size: 8}}, "12345678"),
	} {
		got, err := v.append(nil, 0)
		if err != nil {
			require.ErrorContains(t, err, want)
			continue
		}
		require.Equal(t, want, string(got))
		require.True(t, json.Valid(got))
	}
}
