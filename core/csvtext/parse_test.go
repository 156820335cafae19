package csvtext

import (
	"bytes"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/errs"
	"infeed/core/spec"
)

var texts3 = []Column{{DType: spec.Text}, {DType: spec.Text}, {DType: spec.Text}}

func format(t testing.TB, d Dialect, c []Column, selected []int) *Format {
	t.Helper()
	f, err := NewFormat(d, c, selected)
	require.NoError(t, err)
	return f
}

func TestNewFormatRefuses(t *testing.T) {
	text, i4 := Column{DType: spec.Text}, Column{DType: dtypes["i4"]}
	for want, c := range map[string]struct {
		d        Dialect
		columns  []Column
		selected []int
	}{
		`the delimiter "\n" also ends rows`:                {Dialect{Delim: '\n'}, []Column{text}, nil},
		`the delimiter "\r" also ends rows`:                {Dialect{Delim: '\r'}, []Column{text}, nil},
		`the delimiter "\"" also ends rows`:                {Dialect{Delim: '"'}, []Column{text}, nil},
		"0 columns are described and 0 selected":           {Dialect{}, nil, nil},
		"1 columns are described and 2 selected":           {Dialect{}, []Column{text}, []int{0, 1}},
		"the selected columns [2 0] are not rising":        {Dialect{}, []Column{text, text}, []int{2, 0}},
		"the selected columns [1 1] are not rising":        {Dialect{}, []Column{text, text}, []int{1, 1}},
		"the selected columns [-1] are not":                {Dialect{}, []Column{text}, []int{-1}},
		"the selected columns [99999999] are not":          {Dialect{}, []Column{text}, []int{99999999}},
		"column 0 cannot be uint8":                         {Dialect{}, []Column{{DType: spec.DType{Kind: 'u', Size: 1}}}, nil},
		"the default of column 1 has 8 bytes; int32 has 4": {Dialect{}, []Column{i4, {DType: i4.DType, Default: make([]byte, 8)}}, nil},
	} {
		_, err := NewFormat(c.d, c.columns, c.selected)
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err), want)
		require.ErrorContains(t, err, want)
	}
	_, err := NewSplitter(Dialect{Delim: '\n'})
	require.ErrorContains(t, err, "also ends rows")
	format(t, Dialect{Delim: '"', Plain: true}, []Column{text}, nil)
}

func TestFaultsSayWhatAndWhere(t *testing.T) {
	long := strings.Repeat("x", 100)
	f := format(t, Dialect{}, []Column{{DType: dtypes["i4"]}, {DType: spec.Text}, {DType: dtypes["f4"], Default: make([]byte, 4)}}, nil)
	for data, want := range map[string]Fault{
		"1,a,2\n1,b\n":          {1, 6, -1, `the row "1,b" has 2 fields, and 3 are expected; correct it, or the list of columns`},
		"1,a,2,5,6\"\n":         {0, 0, -1, `the row "1,a,2,5,6\"" has 5 fields, and 3 are expected; correct it, or the list of columns`},
		"1,a,2,5,6\n":           {0, 0, -1, `the row "1,a,2,5,6" has 5 fields, and 3 are expected; correct it, or the list of columns`},
		"1,a,\n2147483648,a,\n": {1, 5, 0, `field 0 is not a valid int32: "2147483648"; correct it, or read the column as bytes`},
		"1,a," + long:           {0, 0, 2, `field 2 is not a valid float32: "` + long[:60] + `"...; correct it, or read the column as bytes`},
		"1,,2\n":                {0, 0, 1, `field 1 is required but missing; give it a value, or its column a default`},
		"1,a,2\r\n\r\n":         {1, 7, 0, `field 0 is required but missing; give it a value, or its column a default`},
		"1,a\"b,2\n":            {0, 0, 1, `field 1, "a\"b", has a quote inside, and does not begin with one; put it in quotes and write quotes in it twice, or read without quotes (use_quote_delim=False)`},
		"1,\"a\"b\",2\n":        {0, 0, 1, `field 1, "a\"b", has a quote inside that is not written twice; write it twice`},
		"1,\"a,2\n1,a,2\n":      {0, 0, 1, `field 1, "\"a,2\n1,a,2\n", begins with a quote and has none at its end; add it, write quotes inside twice, or read without quotes (use_quote_delim=False)`},
	} {
		out := make([]Values, 3)
		rows, _, bad := f.Parse([]byte(data), 10, out)
		require.NotNil(t, bad, "%q", data)
		require.Equal(t, want, *bad)
		require.Equal(t, want.Row, rows)
		for c, v := range out {
			require.Len(t, v.Data, rows*[]int{4, 1, 4}[c], "%q", data)
		}
	}
	some := format(t, Dialect{}, texts3[:1], []int{2})
	_, _, bad := some.Parse([]byte("a,b\n"), 1, make([]Values, 1))
	require.Equal(t, `the row "a,b" has 2 fields, and 3 at least are needed for the selected columns; correct it, or the list of columns`, bad.Text)
	require.Equal(t, "a.csv at byte 1002: "+bad.Text, strings.TrimPrefix((&Fault{Offset: 2, Text: bad.Text}).In("a.csv", 1000).Error(), "csv: "))
	_, bad = f.ParseRecords([]byte("1,a,2\n"), []int64{0}, []int64{6}, make([]Values, 3))
	require.Contains(t, bad.Text, `field 2, "2", has a line end inside and is not in quotes; give one row a string, without its line end`)
}

func TestMark(t *testing.T) {
	for head, want := range map[string]int{"": 0, "a,b": 0, "\xef\xbb\xbfa": 3, "\xef\xbb": 0, "\xff": 0} {
		n, err := Mark([]byte(head))
		require.NoError(t, err)
		require.Equal(t, want, n, "%q", head)
	}
	for head, want := range map[string]string{"\xff\xfea\x00": "UTF-16", "\xfe\xff\x00a": "UTF-16", "\xff\xfe\x00\x00": "UTF-32", "\x00\x00\xfe\xff": "UTF-32"} {
		_, err := Mark([]byte(head))
		require.ErrorContains(t, err, "byte order mark of "+want+"; convert it to UTF-8")
	}
}

func TestFields(t *testing.T) {
	for data, want := range map[string][]string{
		"a,b\r\n1,2\n": {"a", "b"}, "\"a\"\"x\ny\",,b": {"a\"x\ny", "", "b"}, "": {""}, "\n1": {""}, "a,": {"a", ""},
	} {
		texts, next, bad := Fields(Dialect{}, []byte(data))
		require.Nil(t, bad)
		require.Equal(t, want, texts, "%q", data)
		require.Equal(t, map[string]int{"a,b\r\n1,2\n": 5, "\n1": 1}[data]+map[bool]int{true: len(data)}[data != "a,b\r\n1,2\n" && data != "\n1"], next)
	}
	texts, _, bad := Fields(Dialect{Plain: true, Delim: ';'}, []byte("\"a;b\""))
	require.Nil(t, bad)
	require.Equal(t, []string{`"a`, `b"`}, texts)
	_, next, bad := Fields(Dialect{}, []byte("a,b\"x,c\n1"))
	require.Equal(t, 1, bad.Column)
	require.Equal(t, 8, next)
}

// Splitting at any size of chunk gives the rows of the whole.
func TestChunksGiveTheRowsOfTheWhole(t *testing.T) {
	data := []byte("\"a\"\"\n\",b,c\r\nd,e,f\r\rg,\"h\"i\n\",j\n\"k\",\"l,\r\n\",m\n,,\n\"n\",\"o\",\"\"\"\"\n p\"q,r,s\n\"t\",u,v")
	for _, d := range []Dialect{{}, {Plain: true}, {Delim: ';'}} {
		f := format(t, d, texts3, nil)
		want := all(t, f, data)
		for size := 1; size <= len(data); size++ {
			s, err := NewSplitter(d)
			require.NoError(t, err)
			var kept []byte
			got := []any{}
			for chunk := range chunks(data, size) {
				if n := s.Next(chunk); n >= 0 {
					got = append(got, all(t, f, append(kept, chunk[:n]...))...)
					kept, chunk = nil, chunk[n:]
				}
				kept = append(kept, chunk...)
			}
			got = append(got, all(t, f, kept)...)
			require.Equal(t, want, got, "chunks of %d", size)
		}
	}
}

func chunks(data []byte, size int) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for p := 0; p < len(data) && yield(data[p:min(p+size, len(data))]); p += size {
		}
	}
}

func TestSplitterBeginsAgain(t *testing.T) {
	s, err := NewSplitter(Dialect{})
	require.NoError(t, err)
	require.Equal(t, -1, s.Next(nil))
	require.Equal(t, -1, s.Next([]byte("\"a\n")))
	s.Reset()
	require.Equal(t, 2, s.Next([]byte("a\nb")))
	require.Equal(t, -1, s.Next([]byte("\r")))
	require.Equal(t, -1, s.Next(nil))
	require.Equal(t, 0, s.Next([]byte("c")))
}

// What was in columns before stays there, also when nothing is added.
func TestParseAppends(t *testing.T) {
	f := format(t, Dialect{}, []Column{{DType: dtypes["i4"]}, {DType: spec.Text}}, nil)
	out := make([]Values, 2)
	for range 3 {
		for _, data := range []string{"1,aa\n2,b\n", "", "x,c\n", "3,d\n4,\n"} {
			rows, _, _ := f.Parse([]byte(data), 10, out)
			require.Equal(t, map[string]int{"1,aa\n2,b\n": 2, "3,d\n4,\n": 1}[data], rows)
		}
	}
	require.Equal(t, bytes.Repeat([]byte{1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0}, 3), out[0].Data)
	require.Equal(t, "aabdaabdaabd", string(out[1].Data))
	require.Equal(t, []int64{0, 2, 3, 4, 6, 7, 8, 10, 11}, out[1].Starts)
	require.Equal(t, []int64{2, 3, 4, 6, 7, 8, 10, 11, 12}, out[1].Ends)
}

// An empty record has no field, not even one that takes its column's default.
func TestRecordsTakeTheRoomOfTheirTexts(t *testing.T) {
	f := format(t, Dialect{}, []Column{{spec.Text, []byte("none")}}, nil)
	out := make([]Values, 1)
	rows, bad := f.ParseRecords([]byte("a\nbb"), []int64{0, 1, 3, 0, 4}, []int64{1, 3, 4, 1, 4}, out)
	require.Equal(t, 4, rows)
	require.Equal(t, 4, bad.Row)
	require.Contains(t, bad.Text, `the row "" has 0 fields, and 1 are expected`)
	require.Equal(t, Values{[]byte("abba"), []int64{0, 1, 2, 3}, []int64{1, 2, 3, 4}}, Values{out[0].Data, out[0].Starts, out[0].Ends})
}

func TestNothingIsAllocatedForRows(t *testing.T) {
	f := format(t, Dialect{}, columns(dtypes["f4"], dtypes["i8"]), nil)
	data := table(2000, 6, `"`)
	out := make([]Values, 10)
	allocated := testing.AllocsPerRun(10, func() {
		reset(out)
		rows, _, bad := f.Parse(data, math.MaxInt, out)
		require.Nil(t, bad)
		require.Equal(t, 2000, rows)
	})
	require.LessOrEqual(t, allocated, 8.0)
}

// A line of 100 MB takes the memory of its text, once more where it is kept, and that
// is all; so does one that is a number of 100 MB.
func TestLongLine(t *testing.T) {
	const size = 16 << 20
	line := bytes.Repeat([]byte("0123456789abcdef"), size/16)
	line[size-1] = '\n'
	for name, c := range map[string]struct {
		columns  []Column
		selected []int
		first    string
		most     uint64
		wrong    bool
	}{
		"text": {texts3[:1], nil, "0", 2 * size, false}, "quoted, never ended": {texts3[:1], nil, `"`, 1 << 20, true},
		"not selected": {texts3[:1], []int{1}, "0", 1 << 20, true}, "number": {[]Column{{DType: dtypes["f8"]}}, nil, "0", 1 << 20, true},
	} {
		line[0] = c.first[0]
		f := format(t, Dialect{}, c.columns, c.selected)
		s, err := NewSplitter(Dialect{})
		require.NoError(t, err)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for chunk := range chunks(line, 256<<10) {
			s.Next(chunk)
		}
		out := make([]Values, 1)
		rows, next, bad := f.Parse(line, 10, out)
		runtime.ReadMemStats(&after)
		require.Equal(t, c.wrong, bad != nil, name)
		require.Equal(t, c.wrong, rows == 0)
		require.Equal(t, size, next, name)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, c.most, name)
		if bad != nil {
			require.Less(t, len(bad.Text), 500)
		}
	}
}

// Numbers of all sizes and lengths are those of the standard library.
func TestNumbersAreRoundedOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	var text []byte
	for range 40_000 {
		text = someNumber(r, text[:0])
		for _, name := range []string{"f4", "f8"} {
			d := dtypes[name]
			want, out := valueOf(d, string(text)), make([]Values, 1)
			_, _, bad := format(t, Dialect{}, []Column{{DType: d}}, nil).Parse(append(text, "\n1,2,3,4,5,6,7,8,9,10,11,12,13"...), 1, out)
			require.Nil(t, bad, "%s", text)
			require.Equal(t, want, out[0].Data, "%s as %s", text, name)
		}
	}
}
