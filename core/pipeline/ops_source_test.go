package pipeline

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/codec"
	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/record"
	"infeed/core/vfs"
)

// listed writes the elements of a dataset of one component.
func listed(t *testing.T, d *Dataset, limit int64) string {
	t.Helper()
	var out []string
	for _, e := range datasettest.ReadAll(t, d.def, dataset.PassKey(0), limit) {
		switch {
		case e.Err != "":
			out = append(out, "!")
		case e.Texts != nil:
			out = append(out, filepath.Base(e.Texts[0][0]))
		case len(e.Data[0]) == 8:
			out = append(out, fmt.Sprint(e.Int64s()[0]))
		default:
			out = append(out, fmt.Sprintf("%x", e.Data[0]))
		}
	}
	return strings.Join(out, " ")
}

// recordFiles writes two TFRecord files and a text file and returns their folder.
func recordFiles(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range []string{"a", "b"} {
		w, err := record.NewWriter(vfs.Local(), filepath.Join(folder, name), codec.Gzip, codec.DefaultLevel)
		if name == "b" {
			w, err = record.NewWriter(vfs.Local(), filepath.Join(folder, name), codec.None, codec.DefaultLevel)
		}
		require.NoError(t, err)
		for i := range 2 {
			require.NoError(t, w.Write(fmt.Append(nil, name, i)))
		}
		require.NoError(t, w.Close())
	}
	f, err := vfs.Local().Create(filepath.Join(folder, "text"))
	require.NoError(t, err)
	_, err = f.Write([]byte("hxxyyf\n"))
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return folder
}

func TestSources(t *testing.T) {
	folder := recordFiles(t)
	for _, c := range []struct {
		op, args    string
		cardinality int64
		elements    string
		text        string
	}{
		{"range", `{"start": 5, "stop": 0, "step": -2, "output_type": "<i8"}`, 3, "5 3 1", "range(5, 0, -2)"},
		{"range", `{"start": 0, "stop": 3, "step": 1, "output_type": "|u1"}`, 3, "00 01 02", "range(0, 3, 1)"},
		{"counter", `{"start": 9223372036854775807, "step": -1, "dtype": "<i8"}`, -1, "9223372036854775807 9223372036854775806", "counter(9223372036854775807, -1)"},
		{"counter", `{"start": 1, "step": 0.5, "dtype": "<f4"}`, -1, "0000803f 0000c03f", "counter(1, 0.5)"},
		{"counter", `{"start": 1.5, "step": 1, "dtype": "<f4"}`, -1, "0000c03f 00002040", "counter(1.5, 1)"},
		{"random", `{"seed": 3, "rerandomize_each_iteration": false}`, -1, "", "random(seed=3, rerandomize_each_iteration=False)"},
		{"random", `{"seed": 3, "drawn": true, "rerandomize_each_iteration": true}`, -1, "", "random(seed=None, rerandomize_each_iteration=True)"},
		{"list_files", `{"file_pattern": ["FOLDER/*"], "shuffle": false}`, 3, "a b text", "list_files(shuffle=False, seed=0)"},
		{"list_files", `{"file_pattern": ["FOLDER/[a]"], "shuffle": true, "seed": 4, "drawn": true}`, 1, "a", "list_files(shuffle=True, seed=None)"},
		{"TFRecordDataset", `{"filenames": ["FOLDER/a", "FOLDER/b"], "compression_type": "AUTO", "buffer_size": 100}`, -2, "a0 a1 b0 b1",
			`TFRecordDataset(compression_type="AUTO", num_parallel_reads=None, errors="")`},
		{"TFRecordDataset", `{"filenames": ["FOLDER/a", "FOLDER/b"], "compression_type": "AUTO", "num_parallel_reads": 2}`, -2, "a0 b0 a1 b1",
			`TFRecordDataset(compression_type="AUTO", num_parallel_reads=2, errors="")`},
		{"TFRecordDataset", `{"filenames": ["FOLDER/a", "FOLDER/b"], "num_parallel_reads": -1, "errors": "skip"}`, -2, "b0 b1",
			`TFRecordDataset(compression_type="", num_parallel_reads=None, errors="skip")`},
		{"TextLineDataset", `{"filenames": ["FOLDER/text", "FOLDER/absent"]}`, -2, "hxxyyf !", `TextLineDataset(compression_type="", num_parallel_reads=None, errors="")`},
		{"FixedLengthRecordDataset", `{"filenames": ["FOLDER/text"], "record_bytes": 2, "header_bytes": 1, "footer_bytes": 2}`, -2, "xx yy",
			`FixedLengthRecordDataset(record_bytes=2, header_bytes=1, footer_bytes=2, compression_type="", num_parallel_reads=None, errors="")`},
		{"CsvDataset", `{"filenames": ["FOLDER/text"], "record_defaults": [{"dtype": "|O8"}], "use_quote_delim": true}`, -2, "hxxyyf",
			`CsvDataset(record_defaults=[object required], header=False, field_delim=",", use_quote_delim=True, na_value="", select_cols=None, exclude_cols=None, compression_type="", errors="")`},
		{"CsvDataset", `{"filenames": ["FOLDER/text"], "record_defaults": [{"dtype": "|O8"}, {"dtype": "<i8", "default": "AQAAAAAAAAA="}], "field_delim": "x", "select_cols": [0, 1], "na_value": "-", "errors": "skip"}`, -2, "h",
			`CsvDataset(record_defaults=[object required, int64], header=False, field_delim="x", use_quote_delim=False, na_value="-", select_cols=[0 1], exclude_cols=None, compression_type="", errors="skip")`},
		{"CsvDataset", `{"filenames": ["FOLDER/text", "FOLDER/b"], "record_defaults": [{"dtype": "|O8"}], "header": true, "exclude_cols": [1]}`, -2, "",
			`CsvDataset(record_defaults=[object required], header=True, field_delim=",", use_quote_delim=False, na_value="", select_cols=None, exclude_cols=[1], compression_type="", errors="")`},
	} {
		d, err := definitionOf(t, fmt.Sprintf(`{"op": %q, "args": %s}`, c.op, strings.ReplaceAll(c.args, "FOLDER", folder)), nil)
		require.NoError(t, err, c.op)
		require.Equal(t, c.cardinality, d.Cardinality(), "%s %s", c.op, c.args)
		require.Equal(t, c.text, d.structure()[0])
		if c.op != "random" {
			require.Equal(t, c.elements, listed(t, d, max(2, c.cardinality, -2*c.cardinality)), "%s %s", c.op, c.args)
		}
	}
}

func TestSourcesRefuseNonsense(t *testing.T) {
	for want, text := range map[string]string{
		"step is 0":                    `{"op": "range", "args": {"start": 0, "stop": 1, "step": 0, "output_type": "<i8"}}`,
		`"i8" is not a dtype`:          `{"op": "range", "args": {"start": 0, "stop": 1, "step": 1, "output_type": "i8"}}`,
		`"" is no number`:              `{"op": "counter", "args": {"step": 1, "dtype": "<i8"}}`,
		"need a dtype of floats":       `{"op": "counter", "args": {"start": 0.5, "step": 1, "dtype": "<i8"}}`,
		`"LZ4" is none of`:             `{"op": "TFRecordDataset", "args": {"filenames": [], "compression_type": "LZ4"}}`,
		`"ignore" is none of`:          `{"op": "TextLineDataset", "args": {"filenames": [], "errors": "ignore"}}`,
		"num_parallel_reads is 0":      `{"op": "TextLineDataset", "args": {"filenames": [], "num_parallel_reads": 0}}`,
		"buffer_size is -1":            `{"op": "TextLineDataset", "args": {"filenames": [], "buffer_size": -1}}`,
		"record_bytes is 0":            `{"op": "FixedLengthRecordDataset", "args": {"filenames": []}}`,
		"no files match":               `{"op": "list_files", "args": {"file_pattern": ["/absent/*"]}}`,
		"it is for TFRecordDataset":    `{"op": "indexed", "args": {}, "inputs": [{"op": "random", "args": {}}]}`,
		"length is -1":                 `{"op": "from_indexable", "args": {"name": "f", "call": 1, "spec": {"structure": null, "components": []}, "length": -1}}`,
		"field_delim is ';;'":          `{"op": "CsvDataset", "args": {"filenames": [], "field_delim": ";;", "record_defaults": [{"dtype": "<i4"}]}}`,
		"one at least":                 `{"op": "CsvDataset", "args": {"filenames": [], "record_defaults": []}}`,
		"select_cols and exclude_cols": `{"op": "CsvDataset", "args": {"filenames": [], "record_defaults": [{"dtype": "<i4"}], "select_cols": [0], "exclude_cols": [1]}}`,
		"has 1 bytes; int32 has 4":     `{"op": "CsvDataset", "args": {"filenames": [], "record_defaults": [{"dtype": "<i4", "default": "AQ=="}]}}`,
		"elements with a state were e": `{"op": "from_generator", "args": {"name": "f", "call": 1, "stateful": true, "spec": {}}}`,
	} {
		_, err := definitionOf(t, text, nil)
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err), want)
		require.ErrorContains(t, err, want)
	}
}

func TestIndexedLooksThroughFilesOnce(t *testing.T) {
	path := filepath.Join(recordFiles(t), "b")
	index := &Indexed{}
	d := open(t, &TFRecord{Files{Filenames: []string{path}}}, index)
	require.EqualValues(t, 2, d.Cardinality())
	require.True(t, d.Indexed())
	again := open(t, &TFRecord{Files{Filenames: []string{path}}}, index)
	require.Same(t, uncounted(d.def), uncounted(again.def))
	require.Equal(t, "b0 b1", listed(t, again, 2))
}
