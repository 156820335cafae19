package source

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/codec"
	"infeed/core/csvtext"
	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/record"
	"infeed/core/spec"
	"infeed/core/vfs"
	"infeed/core/vfs/faultfs"
	"infeed/core/vfs/memfs"
)

// intAndText are the columns of the tests.
func intAndText() []csvtext.Column {
	return []csvtext.Column{{DType: spec.DType{Kind: 'i', Size: 4}}, {DType: spec.Text}}
}

// rowsOf writes the rows of a dataset of intAndText, "1,a" each; errors are "!" and
// what they say.
func rowsOf(t testing.TB, fs vfs.FS, c CSV) []string {
	t.Helper()
	if c.Columns == nil {
		c.Columns = intAndText()
	}
	if c.Paths == nil {
		c.Paths = []string{"x"}
	}
	d, err := Csv(c)
	require.NoError(t, err)
	out := []string{}
	for _, e := range datasettest.ReadAll(t, on{d, fs}, dataset.PassKey(0), 1<<40) {
		if e.Err != "" {
			out = append(out, "!"+e.Err)
		} else {
			out = append(out, fmt.Sprintf("%d,%s", int32(binary.LittleEndian.Uint32(e.Data[0])), e.Texts[0][0]))
		}
	}
	return out
}

// What rows there are, and which are wrong, is as tensorflow 2.21's CsvDataset says,
// but for the byte order mark.
func TestCsvReadsWhatTensorFlowReads(t *testing.T) {
	for _, c := range []struct {
		text string
		csv  CSV
		want string // rows; a wrong one is what its error has, behind a "!"
	}{
		{"1,a\n2,b\n", CSV{}, "1,a|2,b"},
		{"1,a\r\n2,b", CSV{}, "1,a|2,b"},
		{"h,h\n1,a\n", CSV{Header: true}, "1,a"},
		{"\"h\nq\",h\n1,a\n", CSV{Header: true}, "1,a"},
		{"h\"x,h\n1,a\n", CSV{Header: true}, "!x at byte 0|1,a"},
		{"h,h", CSV{Header: true}, ""},
		{"", CSV{Header: true}, "!the file is empty"},
		{"", CSV{}, ""},
		{"1,a\n2\n3,c\n4,d,e\n5,f\n", CSV{}, "1,a|!x at byte 4|3,c|!x at byte 10|5,f"},
		{"1,a\nx,b\n3,c\n", CSV{}, "1,a|!x at byte 4|3,c"},
		{"1,a\n2,\"b", CSV{}, "1,a|!x at byte 4"},
		{"1,a\n2,\"b\n3,c\n", CSV{}, "1,a|!x at byte 4"},
		{"1,a,9\n2,b,8\n", CSV{Selected: []int{0, 2}}, "1,9|2,8"},
		{"1,9,a\n2,8,b,5\n3,7,c\n", CSV{Excluded: []int{1}}, "1,a|!x at byte 6|3,c"},
		{"1,a\n\n2,b\n", CSV{}, "1,a|!x at byte 4|2,b"},
		{"1;a\n", CSV{Dialect: csvtext.Dialect{Delim: ';'}}, "1,a"},
		{"1,\"a\"\n", CSV{Dialect: csvtext.Dialect{Plain: true}}, "1,\"a\""},
		{"1,\"a\nb\"\n", CSV{}, "1,a\nb"},
		{"\xef\xbb\xbf1,a\n", CSV{}, "1,a"},
		{"\xef\xbb\xbf\"1\",a\n", CSV{}, "1,a"},
		{"\xff\xfe1\x00,\x00", CSV{}, "!UTF-16"},
		{"1,a\x00b\n", CSV{}, "1,a\x00b"},
		{"NA,NA\n", CSV{Dialect: csvtext.Dialect{Missing: "NA"}, Columns: []csvtext.Column{
			{DType: spec.DType{Kind: 'i', Size: 4}, Default: []byte{5, 0, 0, 0}}, {DType: spec.Text, Default: []byte("x")}}}, "5,x"},
	} {
		fs := memfs.New()
		fs.Set("x", []byte(c.text))
		got := rowsOf(t, fs, c.csv)
		want := strings.Split(c.want, "|")
		if c.want == "" {
			want = nil
		}
		require.Len(t, got, len(want), "%q: %q", c.text, got)
		for i, w := range want {
			if text, wrong := strings.CutPrefix(w, "!"); wrong {
				require.Contains(t, got[i], text, "%q", c.text)
				require.Equal(t, byte('!'), got[i][0])
			} else {
				require.Equal(t, w, got[i], "%q", c.text)
			}
		}
	}
}

// manyRows writes n rows with quotes, line ends in fields and wrong ones.
func manyRows(name string, n int) string {
	var b strings.Builder
	b.WriteString("number,text\n")
	for i := range n {
		switch i % 5 {
		case 3:
			fmt.Fprintf(&b, "%d,\"%s\r\n%d\"\"\"\r\n", i, name, i)
		case 4:
			fmt.Fprintf(&b, "x%d,wrong\n", i)
		default:
			fmt.Fprintf(&b, "%d,%s\n", i, strings.Repeat(name, 1+i%7))
		}
	}
	return b.String()
}

func TestCsvKeepsTheContracts(t *testing.T) {
	for _, kind := range []codec.Kind{codec.None, codec.Gzip} {
		fs := memfs.New()
		fs.Set("a", pack(t, kind, manyRows("a", 7)))
		fs.Set("b", pack(t, kind, manyRows("b", 1)))
		fs.Set("empty", nil)
		for _, policy := range []record.Policy{record.Raise, record.Skip, record.Truncate} {
			d, err := Csv(CSV{Files: Files{Paths: []string{"a", "b", "absent", "empty", "a"}, Compression: kind, Errors: policy}, Columns: intAndText(), Header: true})
			require.NoError(t, err)
			require.Equal(t, dataset.Unknown, d.Cardinality())
			datasettest.Check(t, on{d, fs}, 30)
			if policy == record.Skip {
				counts(t, on{d, fs}, 2, "a at byte 39", "a at byte 39")
			}
		}
	}
}

func TestCsvOfManyRowsIsTheSameInAllPieces(t *testing.T) {
	fs := memfs.New()
	text := manyRows("word ", 20_000)
	fs.Set("x", []byte(text))
	want := rowsOf(t, fs, CSV{Header: true})
	require.Len(t, want, 20_000)
	require.True(t, reflect.DeepEqual(want, rowsOf(t, fs, CSV{Header: true, Files: Files{BufferBytes: math.MaxInt64}})))
	fs.Set("x", pack(t, codec.Zlib, text))
	require.True(t, reflect.DeepEqual(want, rowsOf(t, fs, CSV{Header: true, Files: Files{Compression: codec.Auto, BufferBytes: 1}})))
	for i, row := range want {
		if i%5 == 4 {
			require.Contains(t, row, "!csv: x at byte ")
		} else {
			require.True(t, strings.HasPrefix(row, fmt.Sprintf("%d,", i)), row)
		}
	}
}

func TestCsvLongRows(t *testing.T) {
	fs := memfs.New()
	long := strings.Repeat("long ", 2<<20)
	fs.Set("x", []byte("1,"+long+"\n2,b\n"))
	require.Equal(t, []string{"1," + long, "2,b"}, rowsOf(t, fs, CSV{}))
	fs.Set("x", append([]byte("1,a\n2,\""), make([]byte, mostRow+1<<20)...))
	fs.Set("y", []byte("3,c\n"))
	got := rowsOf(t, fs, CSV{Files: Files{Paths: []string{"x", "y"}}})
	require.Len(t, got, 3)
	require.Contains(t, got[1], "at byte 4 of x")
	require.Contains(t, got[1], "a quote that is not closed")
}

func TestCsvPolicies(t *testing.T) {
	fs := memfs.New()
	fs.Set("x", []byte("1,a\n2\n3,c\n4"))
	fs.Set("y", []byte("5,e\n"))
	files := func(p record.Policy) CSV { return CSV{Files: Files{Paths: []string{"x", "y"}, Errors: p}} }
	require.Equal(t, []string{"1,a", "3,c", "5,e"}, rowsOf(t, fs, files(record.Skip)))
	got := rowsOf(t, fs, files(record.Truncate))
	require.Len(t, got, 4)
	require.Contains(t, got[1], "x at byte 4")
	cut := pack(t, codec.Gzip, manyRows("a", 2000))
	fs.Set("x", cut[:len(cut)/2])
	for policy, wrong := range map[record.Policy]int{record.Raise: 1, record.Skip: 0, record.Truncate: 0} {
		c := files(policy)
		c.Compression, c.Header = codec.Auto, true
		got := rowsOf(t, fs, c)
		n := 0
		for _, row := range got {
			if strings.Contains(row, "cut") {
				n++
			}
		}
		require.Equal(t, wrong, n)
		require.Greater(t, len(got), 100)
	}
}

func TestCsvRefusesWhatMakesNoSense(t *testing.T) {
	for text, c := range map[string]CSV{
		"select_cols and exclude_cols": {Columns: intAndText(), Selected: []int{0, 1}, Excluded: []int{2}},
		"not rising":                   {Columns: intAndText(), Selected: []int{1, 0}},
		"describe each selected":       {Columns: intAndText(), Selected: []int{0}},
		"one at least":                 {},
		"cannot be bool":               {Columns: []csvtext.Column{{DType: spec.DType{Kind: 'b', Size: 1}}}},
		"buffer_size is -1":            {Columns: intAndText(), Files: Files{BufferBytes: -1}},
		"also ends rows":               {Columns: intAndText(), Dialect: csvtext.Dialect{Delim: '\n'}},
	} {
		_, err := Csv(c)
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err), text)
		require.ErrorContains(t, err, text)
	}
	fs := memfs.New()
	fs.Set("x", []byte("1,a\n"))
	d, err := Csv(CSV{Files: Files{Paths: []string{"x"}}, Columns: intAndText()})
	require.NoError(t, err)
	for _, token := range []*dataset.Token{dataset.Over(dataset.At(2, 0), 0), dataset.Over(dataset.At(0, 0), 2), dataset.Over(dataset.At(1, 0), 1)} {
		s := dataset.NewScope(fs, 0)
		_, err := d.Iterate(s, dataset.PassKey(0), token)
		require.Equal(t, errs.StateMismatch, errs.KindOf(err), "%s", asJSON(t, token))
		s.Close()
	}
	s := dataset.NewScope(fs, 0)
	defer s.Close()
	it, err := d.Iterate(s, dataset.PassKey(0), dataset.Over(dataset.At(0, 99), 0))
	require.NoError(t, err)
	_, err = it.Next(1, &block.Buffer{})
	require.Equal(t, errs.StateMismatch, errs.KindOf(err))
}

func TestEveryFileOperationOfCsvCanFail(t *testing.T) {
	want := []string(nil)
	for n := 0; ; n++ {
		fs := memfs.New()
		fs.Set("a", []byte(manyRows("a", 4)))
		fs.Set("b", pack(t, codec.Gzip, manyRows("b", 4)))
		c := CSV{Files: Files{Paths: []string{"a", "b"}, Compression: codec.Auto}, Header: true}
		if want == nil {
			want = rowsOf(t, fs, c)
		}
		faulty := faultfs.New(fs, n)
		got := rowsOf(t, faulty, c)
		if !faulty.Failed() {
			require.Equal(t, want, got)
			require.Greater(t, n, 6)
			return
		}
		if fmt.Sprint(got) != fmt.Sprint(want) { // else it was the closing of a file
			require.Contains(t, strings.Join(got, "\n"), "injected fault", "operation %d", n)
		}
	}
}

func TestCsvFileThatIsCutWhileItIsRead(t *testing.T) {
	fs := memfs.New()
	text := manyRows("abcdefgh", 5000)
	fs.Set("x", []byte(text))
	d, err := Csv(CSV{Files: Files{Paths: []string{"x"}}, Columns: intAndText(), Header: true})
	require.NoError(t, err)
	s := dataset.NewScope(fs, 0)
	defer s.Close()
	it, err := d.Iterate(s, dataset.PassKey(0), nil)
	require.NoError(t, err)
	_, err = it.Next(1, &block.Buffer{})
	require.NoError(t, err)
	fs.Set("x", []byte(text[:len(text)/2]))
	all, _ := datasettest.Take(t, it, 100, 5000)
	require.Contains(t, all[len(all)-1].Err, "cut short while it was read")
}

// TestCsvPiecesAreCutBetweenRows compares rows of text that is mostly wrong, read in
// small pieces, with what one call makes of all of it.
func TestCsvPiecesAreCutBetweenRows(t *testing.T) {
	columns := []csvtext.Column{{DType: spec.Text, Default: []byte{}}, {DType: spec.Text, Default: []byte{}}}
	format, err := csvtext.NewFormat(csvtext.Dialect{}, columns, nil)
	require.NoError(t, err)
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		text := make([]byte, 30_000)
		for i := range text {
			text[i] = "aaaabc,,,,\"\"\n\r\n "[r.IntN(16)]
			if seed%2 == 0 && i%50 == 49 { // shorter quoted parts
				text[i] = '\n'
			}
		}
		want := []string{}
		for base := 0; base < len(text); {
			values := make([]csvtext.Values, 2)
			n, next, bad := format.Parse(text[base:], len(text), values)
			for i := range n {
				for _, v := range values {
					want = append(want, string(v.Data[v.Starts[i]:v.Ends[i]]))
				}
			}
			if bad != nil {
				e := bad.In("x", int64(base))
				if before := text[:e.Offset]; bytes.Count(before, []byte("\r")) == bytes.Count(before, []byte("\r\n")) {
					e.Text = fmt.Sprintf("line %d: %s", 1+bytes.Count(before, []byte("\n")), e.Text)
				}
				want = append(want, e.Error())
			}
			base += next
		}
		fs := memfs.New()
		fs.Set("x", text)
		d, err := Csv(CSV{Files: Files{Paths: []string{"x"}, BufferBytes: 1}, Columns: columns})
		require.NoError(t, err)
		got := []string{}
		for _, e := range datasettest.ReadAll(t, on{d, fs}, dataset.PassKey(0), 1<<40) {
			if e.Err != "" {
				got = append(got, e.Err)
			} else {
				got = append(got, e.Texts[0][0], e.Texts[1][0])
			}
		}
		require.Equal(t, len(want), len(got), "seed %d", seed)
		for i := range want {
			require.Equal(t, want[i], got[i], "seed %d, %d", seed, i)
		}
	}
}
