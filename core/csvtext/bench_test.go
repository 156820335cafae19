package csvtext

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/spec"
)

var words = []string{"alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliet"}

// table makes rows of six floats, two integers and two texts. digits is how many the
// floats have, 0 for all they need; quote goes around texts.
func table(rows, digits int, quote string) []byte {
	r := rand.New(rand.NewPCG(1, 1))
	var b []byte
	for range rows {
		for _, scale := range []float64{1, 10, 100, 1, 1, 1000} {
			precision := digits
			if digits == 0 {
				precision = -1
			}
			b = strconv.AppendFloat(b, r.NormFloat64()*scale, 'g', precision, 64)
			b = append(b, ',')
		}
		b = fmt.Appendf(b, "%d,%d,%s%s%s,%sid%06d%s\n", r.IntN(100), r.IntN(2e9)-1e9, quote, words[r.IntN(10)], quote, quote, r.IntN(1e6), quote)
	}
	return b
}

func columns(float, integer spec.DType) []Column {
	var out []Column
	for range 6 {
		out = append(out, Column{DType: float})
	}
	return append(out, Column{DType: integer}, Column{DType: integer}, Column{DType: spec.Text}, Column{DType: spec.Text})
}

func reset(out []Values) {
	for i := range out {
		out[i] = Values{out[i].Data[:0], out[i].Starts[:0], out[i].Ends[:0]}
	}
}

// BenchmarkParse parses blocks that fit in a core's own cache, on one core.
func BenchmarkParse(b *testing.B) {
	f32, f64, i32, i64 := spec.DType{Kind: 'f', Size: 4}, spec.DType{Kind: 'f', Size: 8}, spec.DType{Kind: 'i', Size: 4}, spec.DType{Kind: 'i', Size: 8}
	const rows = 3000
	for _, c := range []struct {
		name     string
		data     []byte
		columns  []Column
		selected []int
		plain    bool
	}{
		{"six digits/32", table(rows, 6, ""), columns(f32, i32), nil, false},
		{"six digits/64", table(rows, 6, ""), columns(f64, i64), nil, false},
		{"six digits/unquoted", table(rows, 6, ""), columns(f32, i32), nil, true},
		{"all digits/32", table(rows, 0, ""), columns(f32, i32), nil, false},
		{"all digits/64", table(rows, 0, ""), columns(f64, i64), nil, false},
		{"quoted texts/32", table(rows, 6, `"`), columns(f32, i32), nil, false},
		{"two of ten", table(rows, 6, ""), []Column{{DType: f32}, {DType: i32}}, []int{1, 7}, false},
	} {
		b.Run(c.name, func(b *testing.B) {
			f, err := NewFormat(Dialect{Plain: c.plain}, c.columns, c.selected)
			require.NoError(b, err)
			out := make([]Values, len(c.columns))
			b.SetBytes(int64(len(c.data)))
			b.ReportAllocs()
			for b.Loop() {
				reset(out)
				n, _, bad := f.Parse(c.data, 1<<20, out)
				if n != rows || bad != nil {
					b.Fatal(n, bad)
				}
			}
			b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}

// BenchmarkParseRecords parses rows that are strings of their own.
func BenchmarkParseRecords(b *testing.B) {
	const rows = 3000
	data := table(rows, 6, "")
	var starts, ends []int64
	at := 0
	for line := range bytes.Lines(data) {
		starts, ends = append(starts, int64(at)), append(ends, int64(at+len(line)-1))
		at += len(line)
	}
	f, err := NewFormat(Dialect{}, columns(spec.DType{Kind: 'f', Size: 4}, spec.DType{Kind: 'i', Size: 4}), nil)
	require.NoError(b, err)
	out := make([]Values, 10)
	b.ReportAllocs()
	for b.Loop() {
		reset(out)
		n, bad := f.ParseRecords(data, starts, ends, out)
		if n != rows || bad != nil {
			b.Fatal(n, bad)
		}
	}
	b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

// BenchmarkSplit finds where rows end, in chunks of 256 KiB.
func BenchmarkSplit(b *testing.B) {
	for _, c := range []struct {
		name string
		data []byte
		d    Dialect
	}{
		{"unquoted", table(30000, 6, ""), Dialect{Plain: true}},
		{"no quotes", table(30000, 6, ""), Dialect{}},
		{"quoted texts", table(30000, 6, `"`), Dialect{}},
		{"all short and quoted", bytes.Repeat([]byte("\"1\",\"2\",\"3\"\n"), 300000), Dialect{}},
		{"one long line", bytes.Repeat([]byte("abcdefgh"), 1<<20), Dialect{Plain: true}},
	} {
		b.Run(c.name, func(b *testing.B) {
			s, err := NewSplitter(c.d)
			require.NoError(b, err)
			b.SetBytes(int64(len(c.data)))
			for b.Loop() {
				s.Reset()
				for p := 0; p < len(c.data); p += 256 << 10 {
					s.Next(c.data[p:min(p+256<<10, len(c.data))])
				}
			}
		})
	}
}
