package csvtext

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/spec"
)

// setting is a dialect and columns, made of numbers that a fuzzer can turn.
type setting struct {
	d        Dialect
	columns  []Column
	selected []int
}

func settingOf(dialect, columns uint8) setting {
	s := setting{d: Dialect{
		Delim:   []byte{0, ';', '\t', ' ', '1', '-', 'e', '.'}[dialect&7],
		Plain:   dialect&8 != 0,
		Missing: []string{"", "NA", "-1", "a b"}[dialect>>4&3],
	}}
	if dialect&0x48 == 0x48 {
		s.d.Delim = '"'
	}
	all := []spec.DType{dtypes["f8"], dtypes["O"], dtypes["i4"], dtypes["f4"], dtypes["i8"]}
	for i := range 1 + int(columns&3) {
		c := Column{DType: all[(i+int(columns>>2&3))%len(all)]}
		if columns&16 != 0 {
			if c.Default = make([]byte, c.DType.Size); c.DType == spec.Text {
				c.Default = []byte("default")
			}
		}
		s.columns = append(s.columns, c)
		if columns&32 != 0 {
			s.selected = append(s.selected, 2*i+int(columns>>6&1))
		}
	}
	return s
}

var samples = []string{
	"1.5,a,7,1e5,9\r\n,\"b\"\"c\",-8,inf,\" 10 \"\n", "1,\"a\nb\"\r2,c\n\n", "a\"b,c\n1,2\n", "\"a\"b,\n\",c\n1,2\n", "1,\"unclosed\n2,3\n", "\"\"\"\"\r\r\n\"\"",
	"-1,NA,0x1p3,nan(1)\n16777217,0.1,3.4028236e38,1e-46\n", "12345678,123456789.5,1234567890123456,12345678901234567890\n", "1;2;3\n4;5;6", "\xef\xbb\xbf1\x00,\xff\n",
	"1.00000005960464477539,9007199254740993,1e23,2.2250738585072011e-308\n", strings.Repeat("1.25,text,", 9) + "end\n",
}

// FuzzParse parses any bytes in any setting, whole and cut by a splitter, and compares
// with the reference.
func FuzzParse(f *testing.F) {
	for i, s := range samples {
		for dialect := range uint8(4) {
			f.Add([]byte(s), dialect*17, uint8(i*29)+dialect, uint8(i+1))
			f.Add([]byte(s), uint8(8), uint8(i*29)+dialect, uint8(i+1))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, dialect, columns, chunk uint8) {
		s := settingOf(dialect, columns)
		format, err := NewFormat(s.d, s.columns, s.selected)
		require.NoError(t, err)
		want := reference(s.d, string(data))
		compare(t, format, s, data, want)
		twin := *format
		twin.inGo = true
		compare(t, &twin, s, data, want)
		compareChunks(t, format, s, data, want, 1+int(chunk))
		compareRecord(t, format, s, data)
	})
}

// compare parses whole rows, some at a time.
func compare(t *testing.T, f *Format, s setting, data []byte, want []written) {
	out := make([]Values, len(s.columns))
	kept, p := 0, 0
	for i := 0; i < len(want); {
		rows, next, bad := f.Parse(data[p:], 3, out)
		for range rows {
			require.Equal(t, values(s.d, want[i].fields, s.columns, s.selected), cells(s.columns, out, kept), "%q", data[want[i].begin:want[i].next])
			require.False(t, want[i].bad)
			kept++
			i++
		}
		if bad == nil {
			require.Positive(t, rows)
			require.Equal(t, want[i-1].next, p+next)
		} else {
			require.Equal(t, rows, bad.Row)
			require.Equal(t, want[i].begin, p+bad.Offset)
			require.Equal(t, want[i].next, p+next, "%s", bad.Text)
			if !want[i].bad {
				require.Nil(t, values(s.d, want[i].fields, s.columns, s.selected), "%s", bad.Text)
			}
			i++
		}
		p += next
	}
	require.Equal(t, len(data), p)
	for c, v := range out {
		size := int(s.columns[c].DType.Size) * kept
		for i := range v.Starts { // no room is lost between texts
			size += int(v.Ends[i] - v.Starts[i])
		}
		require.Len(t, v.Data, size)
	}
}

// compareChunks walks over data in chunks and looks at each answer.
func compareChunks(t *testing.T, f *Format, s setting, data []byte, want []written, size int) {
	splitter, err := NewSplitter(s.d)
	require.NoError(t, err)
	last := -1
	for p := 0; p < len(data); p += size {
		end := min(p+size, len(data))
		known := -1
		for _, r := range want {
			if r.ended && r.next <= end && (data[r.next-1] != '\r' || r.next < end) {
				known = r.next
			}
		}
		answer := -1
		if known > last {
			answer, last = known-p, known
		}
		require.Equal(t, answer, splitter.Next(data[p:end]), "chunk %d to %d of %q", p, end, data)
	}
}

func compareRecord(t *testing.T, f *Format, s setting, data []byte) {
	fields, wrong := referenceRecord(s.d, string(data), s.selected)
	var want [][]byte
	if !wrong {
		want = values(s.d, fields, s.columns, s.selected)
	}
	out := make([]Values, len(s.columns))
	n := int64(len(data))
	rows, bad := f.ParseRecords(data, []int64{0, 0}, []int64{n, n}, out)
	if want == nil {
		require.NotNil(t, bad, "%q", data)
		require.Zero(t, rows)
		return
	}
	require.Nil(t, bad, "%q", data)
	require.Equal(t, 2, rows)
	require.Equal(t, want, cells(s.columns, out, 0), "%q", data)
	require.Equal(t, want, cells(s.columns, out, 1), "%q", data)
}

// Plain rows are read two at a time, which shows where one of them is not plain, or where
// its end is hidden.
func TestOddRowsAmongPlainOnes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 400 {
		s := settingOf(uint8(r.Uint32()), uint8(r.Uint32()))
		odd := []string{"\"a\nb\"", "\"\"", "\"c\"", "", "x", "1.5", s.d.Missing, "7\n8", "12345678.25", "1e400", "a text longer than a register, and than two of them"}
		delim, ends := string(s.d.delim()), []string{"\n", "\n", "\n", "\r\n", "\r"}[r.IntN(4):]
		var data []byte
		for range 40 {
			var fields []string
			for i := range len(s.columns) {
				if fields = append(fields, strconv.Itoa(r.IntN(1e6))); len(s.selected) > 0 {
					fields = append(fields, "between")
				}
				if r.IntN(20) == 0 {
					fields[i] = odd[r.IntN(len(odd))]
				}
			}
			data = append(data, strings.Join(fields, delim)+ends[r.IntN(len(ends))]...)
		}
		f, err := NewFormat(s.d, s.columns, s.selected)
		require.NoError(t, err)
		compare(t, f, s, data, reference(s.d, string(data)))
	}
}

// FuzzNumber reads any text as each type of number.
func FuzzNumber(f *testing.F) {
	for _, s := range samples {
		for _, text := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(",;\r\n\"", r) }) {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.Map(func(r rune) rune {
			if strings.ContainsRune(",\r\n\"", r) {
				return '0'
			}
			return r
		}, text)
		if text == "" {
			return
		}
		for _, name := range []string{"i4", "i8", "f4", "f8"} {
			c := []Column{{DType: dtypes[name]}}
			format, err := NewFormat(Dialect{}, c, nil)
			require.NoError(t, err)
			for _, behind := range []string{"", "\n", "\n" + strings.Repeat("1", 50)} {
				out := make([]Values, 1)
				rows, _, bad := format.Parse([]byte(text+behind), 1, out)
				want := valueOf(c[0].DType, text)
				require.Equal(t, want == nil, bad != nil, "%q as %s", text, name)
				if rows == 1 {
					require.Equal(t, want, out[0].Data, "%q as %s", text, name)
				}
			}
		}
	})
}

func TestSettingsDiffer(t *testing.T) {
	names := map[string]bool{}
	for i := range math.MaxUint8 {
		_, err := NewFormat(settingOf(uint8(i), uint8(i)).d, settingOf(0, uint8(i)).columns, settingOf(0, uint8(i)).selected)
		require.NoError(t, err)
		names[settingOf(uint8(i), 0).d.Missing+string(settingOf(uint8(i), 0).d.delim())] = true
	}
	require.Len(t, names, 36)
}
