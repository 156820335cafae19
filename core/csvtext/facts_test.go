package csvtext

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/errs"
	"infeed/core/spec"
	"infeed/internal/testkit"
)

// The files in testdata say what TensorFlow 2.21 makes of texts; each character of a
// text stands for a byte.

func raw(text string) string {
	var b []byte
	for _, r := range text {
		b = append(b, byte(r))
	}
	return string(b)
}

// dtypes are the dtypes that columns can have.
var dtypes = map[string]spec.DType{
	"i4": {Kind: 'i', Size: 4}, "i8": {Kind: 'i', Size: 8}, "f4": {Kind: 'f', Size: 4}, "f8": {Kind: 'f', Size: 8}, "O": spec.Text,
}

// little writes a number of the dtype that convert knows as o.
func little(t testing.TB, d spec.DType, text string) []byte {
	b := make([]byte, d.Size)
	require.True(t, convert(b, ops[d], []byte(text)), "%s", text)
	return b
}

func TestNumbersAsTensorFlowReadsThem(t *testing.T) {
	var facts []struct{ Text, I4, I8, F4, F8 string }
	testkit.JSON(t, filepath.Join("testdata", "numbers.json"), &facts)
	require.Greater(t, len(facts), 300)
	nan := func(b []byte) bool {
		return len(b) == 8 && math.IsNaN(math.Float64frombits(binary.LittleEndian.Uint64(b))) ||
			len(b) == 4 && math.IsNaN(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
	}
	for _, f := range facts {
		for name, want := range map[string]string{"i4": f.I4, "i8": f.I8, "f4": f.F4, "f8": f.F8} {
			d := dtypes[name]
			for _, form := range []string{f.Text + "\n", f.Text, `"` + f.Text + "\"\n", f.Text + ";"} {
				if strings.ContainsAny(f.Text, "\r\n") && form[0] != '"' {
					continue
				}
				format, err := NewFormat(Dialect{Delim: ';'}, []Column{{DType: d}}, []int{0})
				require.NoError(t, err)
				out := make([]Values, 1)
				_, next, bad := format.Parse([]byte(form), 1, out)
				require.Equal(t, len(form), next)
				if want == "" {
					require.NotNil(t, bad, "%q as %s", form, d)
					require.Contains(t, bad.Text, "is not a valid "+d.String())
					require.Empty(t, out[0].Data)
					continue
				}
				require.Nil(t, bad, "%q as %s", form, d)
				b := slices.Clone(out[0].Data)
				slices.Reverse(b)
				if wanted, err := hex.DecodeString(want); d.Kind != 'f' || err != nil || !nan(out[0].Data) {
					require.Equal(t, want, hex.EncodeToString(b), "%q as %s", form, d)
				} else {
					slices.Reverse(wanted)
					require.True(t, nan(wanted), "%q as %s", form, d)
				}
			}
		}
	}
}

// fact is what is made of a file, or of one record: rows, or what is wrong with them.
type fact struct {
	Data     string
	Columns  []any
	Want     any
	Selected []int   `json:"select_cols"`
	Quotes   *bool   `json:"use_quote_delim"`
	Delim    *string `json:"field_delim"`
	Missing  string  `json:"na_value"`
}

func facts(t *testing.T, name string, least int) []fact {
	var out []fact
	testkit.JSON(t, filepath.Join("testdata", name), &out)
	require.GreaterOrEqual(t, len(out), least)
	return out
}

func (f fact) dialect() Dialect {
	d := Dialect{Missing: raw(f.Missing), Plain: f.Quotes != nil && !*f.Quotes}
	if f.Delim != nil {
		d.Delim = (*f.Delim)[0]
	}
	return d
}

func (f fact) columns(t *testing.T) []Column {
	var out []Column
	for _, c := range f.Columns {
		if name, required := c.(string); required {
			out = append(out, Column{DType: dtypes[name]})
			continue
		}
		d, text := dtypes[c.([]any)[0].(string)], c.([]any)[1].(string)
		if d == spec.Text {
			out = append(out, Column{d, []byte(text)})
		} else {
			out = append(out, Column{d, little(t, d, text)})
		}
	}
	return out
}

// says maps what is in messages to the kinds that the facts know.
var says = map[string]string{
	"has a quote inside": "quote", "has a line end inside": "quote", "has none at its end": "quote", "fields, and": "count",
	"is required but missing": "missing", "is not a valid": "value",
}

func kindOf(t testing.TB, bad *Fault) string {
	for text, kind := range says {
		if strings.Contains(bad.Text, text) {
			require.Equal(t, errs.InvalidArgument, errs.KindOf(bad.In("a", 0)))
			return kind
		}
	}
	require.Fail(t, "no kind", bad.Text)
	return ""
}

// row gives one row of values as texts, numbers as Python writes them.
func row(columns []Column, out []Values, i int) []any {
	var texts []any
	for c, v := range out {
		d := columns[c].DType
		switch {
		case d == spec.Text:
			texts = append(texts, string(v.Data[v.Starts[i]:v.Ends[i]]))
		case d.Kind == 'i' && d.Size == 4:
			texts = append(texts, strconv.Itoa(int(int32(binary.LittleEndian.Uint32(v.Data[4*i:])))))
		case d.Kind == 'i':
			texts = append(texts, strconv.Itoa(int(binary.LittleEndian.Uint64(v.Data[8*i:]))))
		case d.Size == 4:
			texts = append(texts, float(float64(math.Float32frombits(binary.LittleEndian.Uint32(v.Data[4*i:])))))
		default:
			texts = append(texts, float(math.Float64frombits(binary.LittleEndian.Uint64(v.Data[8*i:]))))
		}
	}
	return texts
}

func float(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e16 {
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// all parses data to its end, over rows that are wrong.
func all(t testing.TB, f *Format, data []byte) []any {
	got := []any{}
	for p := 0; p < len(data); {
		out := make([]Values, len(f.columns))
		rows, next, bad := f.Parse(data[p:], math.MaxInt, out)
		for i := range rows {
			got = append(got, row(f.columns, out, i))
		}
		if bad != nil {
			require.Equal(t, rows, bad.Row)
			require.Greater(t, next, bad.Offset)
			got = append(got, kindOf(t, bad))
		}
		require.Equal(t, bad == nil, p+next == len(data) && bad == nil, "rows were left")
		p += next
	}
	return got
}

func TestFilesAsTensorFlowReadsThem(t *testing.T) {
	for _, fact := range facts(t, "files.json", 250) {
		f, err := NewFormat(fact.dialect(), fact.columns(t), fact.Selected)
		require.NoError(t, err)
		require.Equal(t, rawAll(fact.Want), all(t, f, []byte(raw(fact.Data))), "%+v", fact)
	}
}

func TestRecordsAsTensorFlowReadsThem(t *testing.T) {
	for _, fact := range facts(t, "records.json", 350) {
		f, err := NewFormat(fact.dialect(), fact.columns(t), fact.Selected)
		require.NoError(t, err)
		record := raw(fact.Data)
		data := "before" + record + "behind"
		for _, times := range []int{1, 3} {
			out := make([]Values, len(f.columns))
			starts, ends := slices.Repeat([]int64{6}, times), slices.Repeat([]int64{int64(6 + len(record))}, times)
			rows, bad := f.ParseRecords([]byte(data), starts, ends, out)
			if bad != nil {
				require.Zero(t, rows)
				require.Equal(t, fact.Want, kindOf(t, bad), "%+v", fact)
				require.Equal(t, 6, bad.Offset)
				continue
			}
			require.Equal(t, times, rows)
			require.Equal(t, rawAll(fact.Want), row(f.columns, out, times-1), "%+v", fact)
		}
	}
}

// rawAll turns texts in a fact to bytes.
func rawAll(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = rawAll(v[i])
		}
		return out
	case string:
		return raw(v)
	case json.Number:
		return v.String()
	}
	return v
}
