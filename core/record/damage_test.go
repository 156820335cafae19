package record

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/codec"
	"infeed/core/errs"
	"infeed/core/vfs"
	"infeed/core/vfs/faultfs"
	"infeed/core/vfs/memfs"
)

// lossAt checks that err is a loss of the file at an offset.
func lossAt(t *testing.T, err error, path string, offset int, name string, args ...any) {
	t.Helper()
	name = fmt.Sprintf(name, args...)
	require.Equal(t, errs.DataLoss, errs.KindOf(err), "%s: %v", name, err)
	e := err.(*errs.Error)
	require.Equal(t, path, e.Path, name)
	require.Equal(t, int64(offset), e.Offset, "%s: %v", name, err)
	require.NotEmpty(t, e.Text, name)
}

var five = []string{"zero", "one", "", "three", "four"}

// offsets of the records of five: 0, 20, 39, 55, 76; the end is 96.
func offset(i int) int { return len(strings.Join(five[:i], "")) + 16*i }

func without(records []string, i int) []string {
	return append(append([]string{}, records[:i]...), records[i+1:]...)
}

func TestFlippedBitsAreFoundInEachField(t *testing.T) {
	whole := frames(t, five...)
	for i := range five {
		fields := map[string][2]int{"length": {0, 8}, "checksum of the length": {8, 12}, "content": {12, 12 + len(five[i])}, "checksum of the content": {12 + len(five[i]), 16 + len(five[i])}}
		for field, place := range fields {
			for at := place[0]; at < place[1]; at++ {
				for _, bit := range []byte{1, 0x80} {
					name := fmt.Sprintf("record %d, byte %d (%s), bit %#x", i, at, field, bit)
					fs := memfs.New()
					bad := bytes.Clone(whole)
					bad[offset(i)+at] ^= bit
					fs.Set("a", bad)
					for _, kind := range kinds[:2] {
						fs.Set("z", recompress(t, kind, bad))
						for _, o := range []Options{{BlockBytes: 25}, {}, {Deferred: true}} {
							o.Compression = kind
							got, damage, err := walk(t, fs, []string{"z"}, TFRecord(), o, Token{}, 10)
							lossAt(t, err, "z", offset(i), name)
							require.Equal(t, five[:i], append([]string{}, got...), name)
							require.Equal(t, kind != codec.None, strings.Contains(err.Error(), "decompressed"), "%v", err)
							require.Zero(t, damage)
							o.Errors = Skip
							got, damage, err = walk(t, fs, []string{"z", "z"}, TFRecord(), o, Token{}, 10)
							require.NoError(t, err, name)
							require.Equal(t, append(without(five, i), without(five, i)...), got, name)
							require.Equal(t, int64(2), damage.Count, name)
							lossAt(t, damage.Places[1], "z", offset(i), name)
							o.Errors = Truncate
							got, damage, err = walk(t, fs, []string{"z", "z"}, TFRecord(), o, Token{}, 10)
							require.NoError(t, err, name)
							require.Equal(t, append(append([]string{}, five[:i]...), five[:i]...), append([]string{}, got...), name)
							require.Equal(t, int64(2), damage.Count, name)
						}
					}
				}
			}
		}
	}
}

func TestFilesCutAtEveryByte(t *testing.T) {
	whole := frames(t, five...)
	for n := range whole {
		records := 0
		for records < len(five) && offset(records+1) <= n {
			records++
		}
		clean := offset(records) == n
		for _, kind := range kinds[:2] {
			fs := memfs.New()
			fs.Set("a", recompress(t, kind, whole[:n]))
			for _, size := range []int{1, 0} {
				o := Options{Compression: kind, BlockBytes: size}
				name := fmt.Sprintf("cut at %d, %v", n, kind)
				got, _, err := walk(t, fs, []string{"a", "a"}, TFRecord(), o, Token{}, 10)
				if clean {
					require.NoError(t, err, name)
					require.Len(t, got, 2*records, name)
					continue
				}
				lossAt(t, err, "a", offset(records), "%s", name)
				require.Equal(t, five[:records], append([]string{}, got...), name)
				for _, o.Errors = range []Policy{Skip, Truncate} {
					got, damage, err := walk(t, fs, []string{"a", "a"}, TFRecord(), o, Token{}, 10)
					require.NoError(t, err, name)
					require.Len(t, got, 2*records, name)
					require.Equal(t, int64(2), damage.Count, name)
				}
			}
		}
	}
}

// head is the beginning of a record that says it has some bytes, with a checksum
// that agrees.
func headOf(length uint64) []byte {
	b := binary.LittleEndian.AppendUint64(nil, length)
	return binary.LittleEndian.AppendUint32(b, masked(b))
}

func TestLengthsAreNotBelieved(t *testing.T) {
	for _, length := range []uint64{1 << 63, math.MaxUint64, math.MaxUint64 - 15, math.MaxInt64, math.MaxInt64 - 16, 1 << 40, 1 << 31, 1 << 20} {
		for _, kind := range kinds {
			data := append(frames(t, "first"), headOf(length)...)
			data = append(data, "some of it"...)
			fs := memfs.New()
			fs.Set("a", recompress(t, kind, data))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got, _, err := walk(t, fs, []string{"a"}, TFRecord(), Options{Compression: kind}, Token{}, 10)
			_, _, within := walk(t, fs, []string{"a"}, TFRecord(), Options{Compression: kind, Together: 2, BlockBytes: 40}, Token{}, 10)
			runtime.ReadMemStats(&after)
			lossAt(t, within, "a", 21, "%d bytes, %v, behind one that belongs to it", length, kind)
			lossAt(t, err, "a", 21, "%d bytes, %v", length, kind)
			require.ErrorContains(t, err, fmt.Sprintf("within a record of %d bytes", length))
			require.Equal(t, []string{"first"}, got)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<20), "%d bytes, %v", length, kind)
		}
	}
}

// Where nothing but the end of the stream tells how long a record is, there is a limit.
func TestEndlessRecordsAreRefused(t *testing.T) {
	fs := memfs.New()
	fs.Set("lines", bytes.Repeat([]byte("x"), 1<<20))
	fs.Set("frames", recompress(t, codec.Gzip, append(headOf(1<<40), make([]byte, 1<<20)...)))
	for name, format := range map[string]Format{"lines": Lines(), "frames": TFRecord()} {
		r, err := NewReader(fs, []string{name}, format, Options{Compression: codec.Auto, BlockBytes: 1000}, Token{})
		require.NoError(t, err)
		r.limit = 100_000
		var b Block
		err = r.Next(&b, 1)
		require.Equal(t, errs.ResourceExhausted, errs.KindOf(err), name)
		require.ErrorContains(t, err, "a record at byte 0 of "+name+" has more than 100000 bytes")
		require.LessOrEqual(t, cap(b.Data), 100_001, name)
		r.Close()
	}
}

func TestOtherFilesSayWhatTheyLookLike(t *testing.T) {
	records := []string{"some", "records"}
	for name, c := range map[string]struct {
		data []byte
		kind codec.Kind
		want string
	}{
		"text":                 {[]byte("id,name\n1,x\n2,y\n"), codec.None, `not a TFRecord file: it looks like text that begins with "id,name\n1,x`},
		"short text":           {[]byte("hello"), codec.None, `not a TFRecord file, or one that was cut: it looks like text that begins with "hello"`},
		"gzip":                 {packed(t, codec.Gzip, records...), codec.None, `looks like data compressed with gzip; give compression_type="GZIP" or "AUTO"`},
		"zstd":                 {packed(t, codec.Zstd, records...), codec.None, `looks like data compressed with zstd; give compression_type="ZSTD" or "AUTO"`},
		"plain as gzip":        {frames(t, records...), codec.Gzip, `not GZIP but a TFRecord file that is not compressed; give compression_type=None or "AUTO"`},
		"zlib as gzip":         {packed(t, codec.Zlib, records...), codec.Gzip, `not GZIP but looks like data compressed with zlib; give compression_type="ZLIB"`},
		"text, compressed":     {recompress(t, codec.Gzip, []byte("id,name\n1,x\n2,y\n")), codec.Gzip, `looks like text that begins with "id,name`},
		"twice compressed":     {recompress(t, codec.Gzip, packed(t, codec.Gzip, records...)), codec.Auto, `looks like data compressed with gzip`},
		"PNG":                  {[]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR"), codec.Auto, "looks like a PNG image"},
		"a text as compressed": {[]byte("id,name\n1,x\n2,y\n"), codec.Zlib, "not ZLIB but looks like text"},
	} {
		fs := memfs.New()
		fs.Set("a", c.data)
		_, _, err := walk(t, fs, []string{"a"}, TFRecord(), Options{Compression: c.kind}, Token{}, 10)
		lossAt(t, err, "a", 0, "%s", name)
		require.ErrorContains(t, err, c.want, name)
		for _, p := range []Policy{Skip, Truncate} {
			got, damage, err := walk(t, fs, []string{"a"}, TFRecord(), Options{Compression: c.kind, Errors: p}, Token{}, 10)
			require.NoError(t, err, name)
			require.Empty(t, got, name)
			require.Equal(t, int64(1), damage.Count, name)
		}
	}
}

func TestCutStreamsGiveWholeRecordsThenLoss(t *testing.T) {
	records := sample(400)
	for _, kind := range kinds[1:] {
		data := packed(t, kind, records...)
		fs := memfs.New()
		fs.Set("a", data[:len(data)*3/4])
		got, _, err := walk(t, fs, []string{"a"}, TFRecord(), Options{Compression: kind}, Token{}, 1000)
		lossAt(t, err, "a", len(data)*3/4, "%v", kind)
		require.Equal(t, records[:len(got)], append([]string{}, got...))
		for _, p := range []Policy{Skip, Truncate} {
			again, damage, err := walk(t, fs, []string{"a"}, TFRecord(), Options{Compression: kind, Errors: p}, Token{}, 1000)
			require.NoError(t, err)
			require.Equal(t, got, again)
			require.Equal(t, int64(1), damage.Count)
		}
	}
}

// Three files of ten records; in the second, the content of record 4 is damaged.
func TestOneOfManyFilesIsDamaged(t *testing.T) {
	fs := memfs.New()
	ten := sample(10)
	data := frames(t, ten...)
	fs.Set("1", data)
	fs.Set("3", data)
	at := 0
	for _, r := range ten[:4] {
		at += len(r) + 16
	}
	bad := bytes.Clone(data)
	bad[at+12] ^= 4
	fs.Set("2", bad)
	paths := []string{"1", "2", "3"}
	got, _, err := walk(t, fs, paths, TFRecord(), Options{}, Token{}, 100)
	require.Len(t, got, 14)
	lossAt(t, err, "2", at, "raise")
	for policy, want := range map[Policy]int{Skip: 29, Truncate: 24} {
		got, damage, err := walk(t, fs, paths, TFRecord(), Options{Errors: policy}, Token{}, 3)
		require.NoError(t, err)
		require.Len(t, got, want)
		require.Equal(t, int64(1), damage.Count)
		lossAt(t, damage.Places[0], "2", at, "%v", policy)
		// From any token, records and damage are those that are still to come.
		r, err := NewReader(fs, paths, TFRecord(), Options{Errors: policy}, Token{})
		require.NoError(t, err)
		var b Block
		seen, met := 0, int64(0)
		for r.Next(&b, 3) == nil {
			rest, left, err := walk(t, fs, paths, TFRecord(), Options{Errors: policy}, b.Token, 2)
			require.NoError(t, err)
			require.Equal(t, got[seen:], rest)
			require.Equal(t, int64(1), met+left.Count)
			seen += b.Len()
			met += b.Damage.Count
		}
		require.Equal(t, want, seen)
		r.Close()
	}
}

func TestRecoverPassesWhatFailed(t *testing.T) {
	for _, kind := range kinds {
		bad := frames(t, five...)
		bad[offset(1)+12] ^= 1 // content
		bad[offset(3)+1] ^= 1  // length
		fs := memfs.New()
		fs.Set("a", recompress(t, kind, bad))
		fs.Set("b", []byte("no records at all"))
		fs.Set("c", recompress(t, kind, frames(t, "c")))
		r, err := NewReader(fs, []string{"a", "absent", "b", "c"}, TFRecord(), Options{Compression: kind}, Token{})
		require.NoError(t, err)
		var got []string
		var failed []errs.Kind
		var b Block
		left := int64(0)
		for {
			err := r.Next(&b, 10)
			left += b.Damage.Count
			if err != nil && b.Len() == 0 && errs.KindOf(err) == errs.Internal {
				break // io.EOF
			}
			if err != nil {
				again := r.Next(&b, 10)
				require.Equal(t, err.Error(), again.Error(), "the same error until recovered")
				failed = append(failed, errs.KindOf(err))
				r.Recover()
			}
			for i := range b.Len() {
				got = append(got, string(b.Record(i)))
			}
		}
		r.Close()
		require.Equal(t, []string{"zero", "", "four", "c"}, got, "%v", kind)
		require.Equal(t, []errs.Kind{errs.DataLoss, errs.DataLoss, errs.NotFound, errs.DataLoss}, failed)
		require.Equal(t, int64(4), left)
	}
}

func TestPlacesAreBounded(t *testing.T) {
	records := sample(3000)
	data := frames(t, records...)
	at := 0
	for _, r := range records {
		data[at+12] ^= 1
		at += len(r) + 16
	}
	fs := memfs.New()
	fs.Set("a", data)
	for _, deferred := range []bool{false, true} {
		r, err := NewReader(fs, []string{"a"}, TFRecord(), Options{Errors: Skip, Deferred: deferred, BlockBytes: len(data)}, Token{})
		require.NoError(t, err)
		var b Block
		if deferred {
			require.NoError(t, r.Next(&b, 1<<20))
			require.NoError(t, b.Verify())
		} else {
			require.Equal(t, io.EOF, r.Next(&b, 1<<20))
		}
		require.Zero(t, b.Len())
		require.Equal(t, int64(3000), b.Damage.Count)
		require.Len(t, b.Damage.Places, maxPlaces)
		r.Close()
	}
}

// What is in a record that is cut is no record of the file.
func TestRecordsWithinTornRecordsAreNotFound(t *testing.T) {
	fs := memfs.New()
	outer := frames(t, "first", string(frames(t, "inner", "inner"))+"rest")
	fs.Set("a", outer[:len(outer)-2])
	got, damage, err := walk(t, fs, []string{"a"}, TFRecord(), Options{Errors: Skip}, Token{}, 10)
	require.NoError(t, err)
	require.Equal(t, []string{"first"}, got)
	require.Equal(t, int64(1), damage.Count)
}

func TestOnlyBadContentIsLeftOut(t *testing.T) {
	fs := memfs.New()
	fs.Set("a", frames(t, "x"))
	for _, p := range []Policy{Skip, Truncate} {
		got, damage, err := walk(t, fs, []string{"a", "absent", "a"}, TFRecord(), Options{Errors: p}, Token{}, 10)
		require.Equal(t, errs.NotFound, errs.KindOf(err))
		require.Equal(t, []string{"x"}, got)
		require.Zero(t, damage.Count)
	}
}

func TestRecoverFromASizeThatDoesNotFit(t *testing.T) {
	fixed, err := FixedLength(4, 0, 0)
	require.NoError(t, err)
	fs := memfs.New()
	fs.Set("a", []byte("abcdefghi"))
	r, err := NewReader(fs, []string{"a", "a"}, fixed, Options{}, Token{})
	require.NoError(t, err)
	defer r.Close()
	var b Block
	require.Equal(t, errs.DataLoss, errs.KindOf(r.Next(&b, 10)))
	r.Recover()
	require.NoError(t, r.Next(&b, 10))
	require.Equal(t, 2, b.Len())
	require.Equal(t, errs.DataLoss, errs.KindOf(r.Next(&b, 10)), "the second file, after the rest of the first was passed")
	require.Equal(t, int64(1), b.Damage.Count)
}

// Records are looked for in all of a large file of something else, a part at a time.
func TestLookingForRecordsTakesLittleMemory(t *testing.T) {
	fs := memfs.New()
	data := frames(t, "first")
	data = append(data, bytes.Repeat([]byte("rubbish "), 1<<18)...)
	fs.Set("a", append(data, frames(t, "last")...))
	for _, kind := range kinds[:2] {
		fs.Set("z", recompress(t, kind, fs.Bytes("a")))
		r, err := NewReader(fs, []string{"z"}, TFRecord(), Options{Errors: Skip, BlockBytes: 10_000, Compression: kind}, Token{})
		require.NoError(t, err)
		var b Block
		require.NoError(t, r.Next(&b, 10))
		require.NoError(t, r.Next(&b, 10))
		require.Equal(t, "last", string(b.Record(0)))
		require.LessOrEqual(t, cap(b.Data), 64<<10)
		r.Close()
	}
}

// The length of this record begins as gzip does.
func TestPlainFilesAreNotTakenForCompressedOnes(t *testing.T) {
	fs := memfs.New()
	fs.Set("a", frames(t, strings.Repeat("x", 0x88b1f)))
	require.Equal(t, codec.Gzip, codec.Detect(fs.Bytes("a")))
	got, _, err := walk(t, fs, []string{"a"}, TFRecord(), Options{Compression: codec.Auto}, Token{}, 10)
	require.NoError(t, err)
	require.Len(t, got, 1)
}

func TestFilesThatChangeWhileTheyAreRead(t *testing.T) {
	records := sample(300)
	data := frames(t, records...)
	boundary := 0
	for _, r := range records[:200] {
		boundary += len(r) + 16
	}
	for name, c := range map[string]struct {
		change func(path string) error
		want   int
		loss   string
	}{
		"cut between records": {func(p string) error { return os.Truncate(p, int64(boundary)) }, 200, "cut short while it was read"},
		"cut in a record":     {func(p string) error { return os.Truncate(p, int64(boundary)+5) }, 200, "cut short while it was read"},
		"grown":               {func(p string) error { return os.WriteFile(p, append(bytes.Clone(data), data...), 0o600) }, 600, ""},
		"grown in a record": {func(p string) error {
			return os.WriteFile(p, append(bytes.Clone(data), frames(t, strings.Repeat("x", 10_000))...), 0o600)
		}, 301, ""},
		"removed":  {os.Remove, 300, ""},
		"replaced": {func(p string) error { return os.Rename(p, p+".old") }, 300, ""},
	} {
		path := filepath.Join(t.TempDir(), "a")
		begin := data
		if name == "grown in a record" {
			begin = append(bytes.Clone(data), headOf(10_000)...)
		}
		require.NoError(t, os.WriteFile(path, begin, 0o600))
		r, err := NewReader(vfs.Local(), []string{path}, TFRecord(), Options{BlockBytes: 4096}, Token{})
		require.NoError(t, err)
		var b Block
		require.NoError(t, r.Next(&b, 20))
		n := b.Len()
		require.NoError(t, c.change(path))
		for err = r.Next(&b, 20); err == nil; err = r.Next(&b, 20) {
			n += b.Len()
		}
		require.Equal(t, c.want, n, name)
		if c.loss != "" {
			require.Equal(t, errs.DataLoss, errs.KindOf(err), name)
			require.ErrorContains(t, err, c.loss, name)
			require.ErrorContains(t, err, path, name)
		}
		r.Close()
	}
}

// A record that is being written when the file is opened is read when it is whole.
func TestRecordsThatAreStillBeingWritten(t *testing.T) {
	data := frames(t, five...)
	fs := memfs.New()
	fs.Set("a", data[:offset(3)+14])
	r, err := NewReader(fs, []string{"a"}, TFRecord(), Options{}, Token{})
	require.NoError(t, err)
	defer r.Close()
	var b Block
	require.NoError(t, r.Next(&b, 10))
	require.Equal(t, 3, b.Len())
	require.Equal(t, errs.DataLoss, errs.KindOf(r.Next(&b, 10)))
	fs.Set("a", data)
	require.NoError(t, r.Next(&b, 10))
	require.Equal(t, "three", string(b.Record(0)))
	require.Equal(t, 2, b.Len())
}

func TestEveryFileOperationOfReadingCanFail(t *testing.T) {
	for _, kind := range kinds {
		mem := memfs.New()
		mem.Set("a", packed(t, kind, five...))
		mem.Set("b", packed(t, kind, five...))
		for n := 0; ; n++ {
			fs := faultfs.New(mem, n)
			r, err := NewReader(fs, []string{"a", "b"}, TFRecord(), Options{Compression: kind, BlockBytes: 50}, Token{})
			require.NoError(t, err)
			var got []string
			var b Block
			failures := 0
			for {
				err := r.Next(&b, 2)
				if err != nil && errs.KindOf(err) == errs.Internal {
					break
				} else if err != nil {
					require.ErrorContains(t, err, "injected fault", "%v operation %d", kind, n)
					failures++ // and once more, from the same place
				}
				for i := range b.Len() {
					got = append(got, string(b.Record(i)))
				}
			}
			r.Close()
			require.LessOrEqual(t, failures, 1)
			require.Equal(t, append(append([]string{}, five...), five...), got, "%v operation %d", kind, n)
			if !fs.Failed() {
				require.Greater(t, n, 4)
				break
			}
		}
	}
}

// What a file was excused for is not excused in the next.
func TestRecoverIsForOneFile(t *testing.T) {
	fs := memfs.New()
	fs.Set("good", frames(t, "x"))
	fs.Set("bad", frames(t, "y")[:5])
	r, err := NewReader(fs, []string{"good", "bad"}, TFRecord(), Options{}, Token{})
	require.NoError(t, err)
	defer r.Close()
	r.Recover()
	var b Block
	require.NoError(t, r.Next(&b, 10))
	require.Equal(t, errs.DataLoss, errs.KindOf(r.Next(&b, 10)))
}
