package record

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/codec"
	"infeed/core/errs"
	"infeed/core/vfs"
	"infeed/core/vfs/memfs"
)

// walk reads all records from a token on, rows at a time, checking on the way that
// the token of each block gives the same block again.
func walk(t testing.TB, fs vfs.FS, paths []string, format Format, o Options, from Token, rows int) (records []string, damage Damage, err error) {
	t.Helper()
	r, err := NewReader(fs, paths, format, o, from)
	require.NoError(t, err)
	defer r.Close()
	var b Block
	for {
		at := r.Token()
		err := r.Next(&b, rows)
		if err == nil || err == io.EOF {
			require.Equal(t, at, b.Token)
		}
		if err == nil {
			require.NotZero(t, b.Len(), "a block without records")
			require.LessOrEqual(t, b.Len(), rows)
			err = b.Verify()
		}
		damage.merge(b.Damage)
		for i := range b.Len() {
			records = append(records, string(b.Record(i)))
		}
		if err == io.EOF {
			return records, damage, nil
		} else if err != nil {
			return records, damage, err
		}
	}
}

// frames returns a TFRecord file.
func frames(t testing.TB, records ...string) []byte {
	t.Helper()
	return packed(t, codec.None, records...)
}

func packed(t testing.TB, kind codec.Kind, records ...string) []byte {
	t.Helper()
	fs := memfs.New()
	w, err := NewWriter(fs, "x", kind, codec.DefaultLevel)
	require.NoError(t, err)
	for _, r := range records {
		require.NoError(t, w.Write([]byte(r)))
	}
	require.NoError(t, w.Close())
	return fs.Bytes("x")
}

// sizes returns a file of sized records.
func sizes(records ...string) (b []byte) {
	for _, r := range records {
		b = append(binary.LittleEndian.AppendUint64(b, uint64(len(r))), r...)
	}
	return b
}

// sample returns n records of 0 to 59 bytes, some of them far longer.
func sample(n int) []string {
	r := rand.New(rand.NewPCG(3, uint64(n)))
	out := make([]string, n)
	for i := range out {
		size := r.IntN(60)
		if i%50 == 20 {
			size = 5000
		}
		text := make([]byte, size)
		for j := range text {
			text[j] = byte('a' + r.IntN(26))
		}
		out[i] = fmt.Sprint(i, string(text))
	}
	return out
}

// form is a format with a way to write it.
type form struct {
	name   string
	format Format
	write  func(t testing.TB, records []string) []byte
	same   int // length of all records, 0 when they differ
}

func forms(t testing.TB) []form {
	fixed, err := FixedLength(7, 3, 2)
	require.NoError(t, err)
	return []form{
		{"tfrecord", TFRecord(), func(t testing.TB, records []string) []byte { return frames(t, records...) }, 0},
		{"lines", Lines(), func(_ testing.TB, records []string) []byte {
			var b bytes.Buffer
			for i, r := range records {
				b.WriteString(r + []string{"\n", "\r\n"}[i%2])
			}
			return b.Bytes()
		}, 0},
		{"sized", Sized(), func(_ testing.TB, records []string) []byte { return sizes(records...) }, 0},
		{"fixed", fixed, func(_ testing.TB, records []string) []byte {
			b := []byte("top")
			for _, r := range records {
				b = append(b, r...)
			}
			return append(b, "ab"...)
		}, 7},
	}
}

// shape makes records fit a form.
func (f form) shape(records []string) []string {
	if f.same == 0 {
		return records
	}
	out := make([]string, len(records))
	for i, r := range records {
		out[i] = (r + "........")[:f.same]
	}
	return out
}

func recompress(t testing.TB, kind codec.Kind, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := codec.NewWriter(&b, kind, codec.DefaultLevel)
	require.NoError(t, err)
	_, err = w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

var kinds = []codec.Kind{codec.None, codec.Gzip, codec.Zlib, codec.Zstd}

// However blocks are cut and files compressed, the records are the same.
func TestRecordsDoNotDependOnBlocks(t *testing.T) {
	for _, f := range forms(t) {
		records := f.shape(sample(300))
		data := f.write(t, records)
		parts := [][]string{records, records[:1], nil, records[100:]}
		for _, kind := range kinds {
			fs := memfs.New()
			var paths []string
			var want []string
			for i, part := range parts {
				paths = append(paths, fmt.Sprint(i))
				fs.Set(paths[i], recompress(t, kind, f.write(t, part)))
				want = append(want, part...)
			}
			for _, size := range []int{1, 30, 1000, len(data), 0} {
				for _, rows := range []int{1, 3, 1 << 20} {
					got, damage, err := walk(t, fs, paths, f.format, Options{Compression: kind, BlockBytes: size, Deferred: rows == 3}, Token{}, rows)
					name := fmt.Sprintf("%s %v block of %d, %d rows", f.name, kind, size, rows)
					require.NoError(t, err, name)
					require.Zero(t, damage, name)
					require.Equal(t, want, got, name)
				}
			}
			got, _, err := walk(t, fs, paths, f.format, Options{Compression: codec.Auto}, Token{}, 100)
			require.NoError(t, err, "%s %v as AUTO", f.name, kind)
			require.Equal(t, want, got)
		}
	}
}

// From the token of any block, in a new reader or in the same, the rest follows.
func TestReadingGoesOnFromEveryToken(t *testing.T) {
	for _, f := range forms(t) {
		records := f.shape(sample(60))
		for _, kind := range kinds {
			fs := memfs.New()
			fs.Set("a", recompress(t, kind, f.write(t, records)))
			fs.Set("b", recompress(t, kind, f.write(t, records[:9])))
			paths := []string{"a", "b", "a"}
			o := Options{Compression: kind, BlockBytes: 200}
			all, _, err := walk(t, fs, paths, f.format, o, Token{}, 4)
			require.NoError(t, err)
			require.Len(t, all, 129)
			r, err := NewReader(fs, paths, f.format, o, Token{})
			require.NoError(t, err)
			again, err := NewReader(fs, paths, f.format, o, Token{})
			require.NoError(t, err)
			var b, c Block
			for seen := 0; r.Next(&b, 4) == nil; seen += b.Len() {
				rest, _, err := walk(t, fs, paths, f.format, o, b.Token, 5)
				require.NoError(t, err)
				require.Equal(t, all[seen:], rest, "%s %v after %d", f.name, kind, seen)
				require.NoError(t, again.Seek(b.Token))
				require.NoError(t, again.Next(&c, 1))
				require.Equal(t, all[seen], string(c.Record(0)))
			}
			rest, _, err := walk(t, fs, paths, f.format, o, r.Token(), 5)
			require.NoError(t, err)
			require.Empty(t, rest)
			require.NoError(t, again.Seek(Token{File: 2}))
			require.NoError(t, again.Next(&c, 1))
			require.Equal(t, all[69], string(c.Record(0)), "back in the same file")
			r.Close()
			again.Close()
		}
	}
}

func TestTokensOfOtherFilesAreRefused(t *testing.T) {
	fs := memfs.New()
	fs.Set("a", frames(t, "x"))
	for _, token := range []Token{{-1, 0}, {2, 0}, {0, -1}} {
		_, err := NewReader(fs, []string{"a"}, TFRecord(), Options{}, token)
		require.Equal(t, errs.StateMismatch, errs.KindOf(err), "%v", token)
	}
	for _, kind := range kinds {
		fs.Set("a", packed(t, kind, "x"))
		_, _, err := walk(t, fs, []string{"a"}, TFRecord(), Options{Compression: kind}, Token{0, 1000}, 1)
		require.Equal(t, errs.StateMismatch, errs.KindOf(err), "%v", kind)
		require.ErrorContains(t, err, "byte 1000 of a, which has ")
	}
}

func TestBlocksAreAboutAsLargeAsAsked(t *testing.T) {
	fs := memfs.New()
	small := make([]string, 2000)
	for i := range small {
		small[i] = fmt.Sprintf("%050d", i)
	}
	large := make([]string, 20)
	for i := range large {
		large[i] = fmt.Sprintf("%0700d", i)
	}
	fs.Set("small", frames(t, small...))
	fs.Set("large", frames(t, large...))
	fixed, err := FixedLength(66, 0, 0)
	require.NoError(t, err)
	for name, want := range map[string][2]int{"small": {14, 16}, "large": {2, 2}, "fixed": {14, 16}} {
		path, format := name, TFRecord()
		if name == "fixed" {
			path, format = "small", fixed
		}
		r, err := NewReader(fs, []string{path}, format, Options{BlockBytes: 1000}, Token{})
		require.NoError(t, err)
		var b Block
		blocks := 0
		for r.Next(&b, 1<<20) == nil {
			blocks++
			require.LessOrEqual(t, b.Len(), want[1])
			require.LessOrEqual(t, len(b.Data), 1000+716)
		}
		require.LessOrEqual(t, blocks, map[string]int{"small": 2000, "large": 20, "fixed": 2000}[name]/want[0]+1)
	}
}

// Blocks are read into the same memory again and again.
func TestReadingDoesNotAllocate(t *testing.T) {
	fs := memfs.New()
	fs.Set("a", frames(t, sample(2000)...))
	r, err := NewReader(fs, []string{"a"}, TFRecord(), Options{BlockBytes: 4096}, Token{})
	require.NoError(t, err)
	defer r.Close()
	var b Block
	for r.Next(&b, 1000) == nil { // the largest block comes somewhere
	}
	allocs := testing.AllocsPerRun(5, func() {
		require.NoError(t, r.Seek(Token{}))
		for range 20 {
			if r.Next(&b, 1000) != nil {
				t.Fail()
			}
		}
	})
	require.Less(t, allocs, 30.0, "a block may cost an allocation, a record none")
}

func TestTFRecordBytes(t *testing.T) {
	require.Equal(t, "\x00\x00\x00\x00\x00\x00\x00\x00\x29\x03\x98\x07\xd8\xea\x82\xa2", string(frames(t, "")))
	proto := "\x08\x09\x12\x00\x22\x08\x05\x00\x00\x00\x00\x00\x00\x00"
	require.Equal(t, "\x0e\x00\x00\x00\x00\x00\x00\x00\xc5\xe5\x69\x3f"+proto+"\xcb\x7b\x09\x59", string(frames(t, proto)))
}
