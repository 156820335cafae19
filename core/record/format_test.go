package record

import (
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/codec"
	"infeed/core/errs"
	"infeed/core/vfs/memfs"
)

func TestLines(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"empty":                         {"", nil},
		"one newline":                   {"\n", []string{""}},
		"no last newline":               {"a\nb", []string{"a", "b"}},
		"last newline":                  {"a\nb\n", []string{"a", "b"}},
		"empty lines":                   {"\n\na\n\n", []string{"", "", "a", ""}},
		"carriage return and newline":   {"a\r\n\r\nb\r\n", []string{"a", "", "b"}},
		"carriage return alone":         {"a\rb\nc", []string{"a\rb", "c"}},
		"two carriage returns":          {"a\r\r\n", []string{"a\r"}},
		"carriage return at the end":    {"a\nb\r", []string{"a", "b"}},
		"only a carriage return":        {"\r\n", []string{""}},
		"byte order mark":               {"\xef\xbb\xbfa\nb\n", []string{"\xef\xbb\xbfa", "b"}},
		"zero bytes and no text at all": {"a\x00b\n\xff\xfe\n", []string{"a\x00b", "\xff\xfe"}},
		"long":                          {strings.Repeat("x", 300_000) + "\ny", []string{strings.Repeat("x", 300_000), "y"}},
	} {
		for _, kind := range kinds {
			for _, size := range []int{1, 2, 3, 0} {
				fs := memfs.New()
				fs.Set("a", recompress(t, kind, []byte(c.text)))
				got, _, err := walk(t, fs, []string{"a", "a"}, Lines(), Options{Compression: kind, BlockBytes: size}, Token{}, 3)
				require.NoError(t, err, name)
				require.Equal(t, append(append([]string(nil), c.want...), c.want...), got, "%s, %v, %d", name, kind, size)
			}
		}
	}
}

func TestFixedLengthNeedsWholeRecords(t *testing.T) {
	for name, c := range map[string]struct {
		record, header, footer int64
		size                   int
		want                   int // records
		rest                   int // offset of what is no record, -1 if there is nothing
	}{
		"empty":                     {4, 0, 0, 0, 0, -1},
		"one":                       {4, 0, 0, 4, 1, -1},
		"cut":                       {4, 0, 0, 11, 2, 8},
		"header and footer":         {4, 3, 2, 17, 3, -1},
		"only header and footer":    {4, 3, 2, 5, 0, -1},
		"header and footer, cut":    {4, 3, 2, 16, 2, 11},
		"no room for the header":    {4, 9, 2, 5, 0, 0},
		"no room for the footer":    {4, 3, 2, 4, 0, 0},
		"empty with a header":       {4, 3, 0, 0, 0, 0},
		"footer longer than record": {1, 0, 10, 15, 5, -1},
		"large header":              {4, 10_000, 0, 10_008, 2, -1},
	} {
		data := strings.Repeat("0123456789", 2000)[:c.size]
		format, err := FixedLength(c.record, c.header, c.footer)
		require.NoError(t, err)
		var want []string
		for i := range c.want {
			want = append(want, data[int(c.header)+i*int(c.record):][:c.record])
		}
		for _, kind := range kinds {
			for _, size := range []int{1, 0} {
				fs := memfs.New()
				fs.Set("a", recompress(t, kind, []byte(data)))
				o := Options{Compression: kind, BlockBytes: size}
				got, _, err := walk(t, fs, []string{"a"}, format, o, Token{}, 3)
				if c.rest < 0 {
					require.NoError(t, err, "%s, %v", name, kind)
					require.Equal(t, want, got, "%s, %v", name, kind)
				} else {
					lossAt(t, err, "a", c.rest, "%s, %v", name, kind)
					if kind == codec.None {
						require.Empty(t, got, "%s: the size tells before anything is read", name)
					}
				}
				for _, o.Errors = range []Policy{Skip, Truncate} {
					got, damage, err := walk(t, fs, []string{"a", "a"}, format, o, Token{}, 3)
					require.NoError(t, err, name)
					require.Equal(t, append(append([]string(nil), want...), want...), got, "%s, %v", name, kind)
					require.Equal(t, c.rest >= 0, damage.Count == 2, "%s, %v: %v", name, kind, damage)
				}
			}
		}
	}
}

func TestFixedLengthSaysTheSizes(t *testing.T) {
	format, err := FixedLength(3073, 1, 2)
	require.NoError(t, err)
	fs := memfs.New()
	fs.Set("a", make([]byte, 61563))
	_, _, err = walk(t, fs, []string{"a"}, format, Options{}, Token{}, 3)
	require.ErrorContains(t, err, "a at byte 61461: the file has 61563 bytes; after 20 records of 3073 bytes there is a rest of 100 (header 1, footer 2)")
	for name, c := range map[string][3]int64{"no record": {0, 0, 0}, "negative": {-1, 0, 0}, "header": {1, -1, 0}, "footer": {1, 0, -1}, "huge": {1 << 40, 0, 0}} {
		_, err := FixedLength(c[0], c[1], c[2])
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err), name)
		require.ErrorContains(t, err, "_bytes is ", name)
	}
}

func TestParsePolicy(t *testing.T) {
	for name, want := range map[string]Policy{"raise": Raise, "skip": Skip, "truncate": Truncate} {
		p, err := ParsePolicy(name)
		require.NoError(t, err)
		require.Equal(t, want, p)
	}
	_, err := ParsePolicy("ignore")
	require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
}

func TestChecksumsOfLengths(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 1000 {
		length := r.Uint64() >> (i % 64)
		require.Equal(t, masked(binary.LittleEndian.AppendUint64(nil, length)), maskedLength(length))
	}
}
