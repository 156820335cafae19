package codec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"infeed/core/errs"
)

var kinds = []Kind{None, Gzip, Zlib, Zstd}

// sample is text that compresses, but not to nothing.
func sample(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for b.Len() < n {
		fmt.Fprintf(&b, "%d %x\n", r.IntN(100), r.Uint32())
	}
	return b.Bytes()[:n]
}

func compress(t testing.TB, kind Kind, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b, kind, DefaultLevel)
	require.NoError(t, err)
	_, err = w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

func decompress(kind Kind, data []byte) ([]byte, error) {
	r, err := NewReader(bytes.NewReader(data), "some.file", kind)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

func TestStreamsComeBack(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, kind := range kinds {
		for _, n := range []int{0, 1, 100, 300_000} {
			data, name := sample(n), fmt.Sprintf("%v of %d bytes", kind, n)
			packed := compress(t, kind, data)
			got, err := decompress(kind, packed)
			require.NoError(t, err, name)
			require.Equal(t, len(data), len(got), name)
			require.True(t, bytes.Equal(data, got), name)
			r, err := NewReader(iotest.OneByteReader(bytes.NewReader(packed)), "", Auto)
			require.NoError(t, err)
			if n > 0 {
				require.Equal(t, kind, r.Kind())
			}
			got, err = io.ReadAll(iotest.OneByteReader(r))
			require.NoError(t, err, name)
			require.True(t, bytes.Equal(data, got), name)
			r.Close()
			_, err = r.Read(make([]byte, 1))
			require.ErrorContains(t, err, "after close")
		}
	}
	require.LessOrEqual(t, runtime.NumGoroutine(), before, "goroutines are left")
}

func TestLevels(t *testing.T) {
	data := sample(100_000)
	for _, c := range []struct {
		kind        Kind
		level, most int
	}{{Gzip, 0, 110_000}, {Gzip, 1, 80_000}, {Gzip, 9, 60_000}, {Zlib, 9, 60_000}, {Zstd, 1, 100_100}, {Zstd, 19, 60_000}} {
		var b bytes.Buffer
		w, err := NewWriter(&b, c.kind, c.level)
		require.NoError(t, err)
		_, err = w.Write(data)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		require.Less(t, b.Len(), c.most, "%v %d", c.kind, c.level)
		got, err := decompress(c.kind, b.Bytes())
		require.NoError(t, err)
		require.True(t, bytes.Equal(data, got))
	}
	for _, c := range []struct {
		kind  Kind
		level int
	}{{None, 1}, {Gzip, 10}, {Gzip, -2}, {Zstd, 0}, {Zstd, 23}, {Auto, DefaultLevel}} {
		_, err := NewWriter(io.Discard, c.kind, c.level)
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err), "%v %d", c.kind, c.level)
	}
}

func TestFlushedBytesCanBeRead(t *testing.T) {
	for _, kind := range kinds {
		var b bytes.Buffer
		w, err := NewWriter(&b, kind, DefaultLevel)
		require.NoError(t, err)
		_, err = w.Write(sample(1000))
		require.NoError(t, err)
		require.NoError(t, w.Flush())
		got, _ := decompress(kind, b.Bytes())
		require.Equal(t, sample(1000), got, "%v", kind)
	}
}

func TestMembersAreOneStream(t *testing.T) {
	for _, kind := range kinds[1:] {
		packed := bytes.Join([][]byte{compress(t, kind, []byte("one,")), compress(t, kind, nil), compress(t, kind, []byte("two"))}, nil)
		got, err := decompress(Auto, packed)
		require.NoError(t, err, "%v", kind)
		require.Equal(t, "one,two", string(got), "%v", kind)
	}
	for _, kind := range []Kind{Gzip, Zlib} {
		packed := append(compress(t, kind, []byte("one")), make([]byte, 300_000)...)
		got, err := decompress(kind, packed)
		require.NoError(t, err, "%v: zeros after the stream", kind)
		require.Equal(t, "one", string(got))
	}
}

func TestCutStreamsAreLossAtEveryByte(t *testing.T) {
	for _, kind := range kinds[1:] {
		data := sample(2000)
		packed := compress(t, kind, data)
		for n := 1; n < len(packed); n++ {
			got, err := decompress(kind, packed[:n])
			require.Equal(t, errs.DataLoss, errs.KindOf(err), "%v cut at %d", kind, n)
			require.ErrorContains(t, err, "some.file at byte ")
			require.True(t, bytes.HasPrefix(data, got))
			if Detect(packed[:n]) == kind {
				require.ErrorContains(t, err, fmt.Sprintf("at byte %d: the file ends before its %v stream", n, kind))
			}
		}
	}
}

func TestFlippedBitsAreLoss(t *testing.T) {
	data := sample(3000)
	for _, kind := range kinds[1:] {
		packed := compress(t, kind, data)
		for i := range packed {
			bad := bytes.Clone(packed)
			bad[i] ^= 0x10
			got, err := decompress(kind, bad)
			if err == nil { // some bits carry nothing: gzip's time and system, what fills the last byte before a checksum
				require.True(t, bytes.Equal(data, got), "%v, byte %d: other data, no error", kind, i)
				require.True(t, i < 10 || len(packed)-i < 10, "%v, byte %d", kind, i)
				continue
			}
			require.Contains(t, []errs.Kind{errs.DataLoss, errs.ResourceExhausted}, errs.KindOf(err), "%v, byte %d: %v", kind, i, err)
		}
	}
}

func TestErrorsOfTheFileStayWhatTheyAre(t *testing.T) {
	cause := errs.New(errs.ResourceExhausted, "read", "no descriptor")
	for _, kind := range append(kinds, Auto) {
		_, err := NewReader(iotest.ErrReader(cause), "", kind)
		require.Equal(t, error(cause), err)
		packed := compress(t, Gzip, sample(200_000))
		r, err := NewReader(io.MultiReader(bytes.NewReader(packed[:50_000]), iotest.ErrReader(cause)), "", Auto)
		require.NoError(t, err)
		_, err = io.ReadAll(r)
		require.ErrorIs(t, err, cause)
		require.Equal(t, errs.ResourceExhausted, errs.KindOf(err))
		r.Close()
	}
}

func TestOtherContentIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		kind Kind
		data []byte
		want string
	}{
		"zlib as gzip":  {Gzip, compress(t, Zlib, sample(100)), `not GZIP but looks like data compressed with zlib; give compression_type="ZLIB" or "AUTO"`},
		"zstd as zlib":  {Zlib, compress(t, Zstd, sample(100)), `looks like data compressed with zstd; give compression_type="ZSTD" or "AUTO"`},
		"gzip as zstd":  {Zstd, compress(t, Gzip, sample(100)), `looks like data compressed with gzip; give`},
		"text as gzip":  {Gzip, []byte("id,name\n1,x\n"), `looks like text that begins with "id,name\n1,x\n"`},
		"bytes as zlib": {Zlib, []byte{1, 2, 3, 4, 5, 6, 7, 8, 9}, `looks like unknown data that begins with 01 02 03 04 05 06 07 08`},
	} {
		_, err := decompress(c.kind, c.data)
		require.Equal(t, errs.DataLoss, errs.KindOf(err), name)
		require.ErrorContains(t, err, c.want, name)
		require.ErrorContains(t, err, "some.file at byte 0", name)
	}
	packed := compress(t, Gzip, []byte("x"))
	_, err := decompress(Gzip, append(packed, "rubbish"...))
	require.ErrorContains(t, err, fmt.Sprintf(`at byte %d: a GZIP stream ends here, and what follows looks like text that begins with "rubbish"`, len(packed)))
}

func TestDescribe(t *testing.T) {
	for want, head := range map[string]string{
		"nothing": "", "a PNG image": "\x89PNG\r\n\x1a\n", "a zip archive": "PK\x03\x04..", "a Parquet file": "PAR1\x15",
		"text in UTF-16": "\xff\xfea\x00", `text that begins with "Grüße"`: "Grüße", "a tar archive": strings.Repeat("\x00", 257) + "ustar  ",
		"unknown data that begins with ff ff": "\xff\xff", "unknown data that begins with 61 00": "a\x00",
	} {
		require.Equal(t, want, Describe([]byte(head)))
	}
}

// What begins like zlib but is text stays text.
func TestTextIsNotTakenForZlib(t *testing.T) {
	for _, text := range []string{"x^2 + y^2 = z^2\n", "8O\n", "hC", "hCard,name\n1,2\n", "x^", "x^\n", "x\x9c", "(S,T)\n", "X\tY\n"} {
		require.Equal(t, None, Detect([]byte(text)), "%q", text)
	}
	require.Equal(t, Zlib, Detect(compress(t, Zlib, nil)))
	require.Equal(t, Zlib, Detect(compress(t, Zlib, sample(200_000))[:headBytes]))
}

func TestParse(t *testing.T) {
	for name, want := range map[string]Kind{"": None, "NONE": None, "GZIP": Gzip, "ZLIB": Zlib, "ZSTD": Zstd, "AUTO": Auto} {
		k, err := Parse(name)
		require.NoError(t, err)
		require.Equal(t, want, k)
	}
	_, err := Parse("gzip")
	require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
	require.ErrorContains(t, err, `"gzip" is none of NONE, GZIP`)
}

// A frame that asks for a window of 2 GiB is refused before anything is allocated.
func TestWindowsAreBounded(t *testing.T) {
	frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3, 0x01, 0x00, 0x00}
	_, err := decompress(Zstd, frame)
	require.Equal(t, errs.ResourceExhausted, errs.KindOf(err), "%v", err)
}

func FuzzReader(f *testing.F) {
	for _, kind := range kinds {
		f.Add(uint8(kind), compress(f, kind, sample(300)))
		f.Add(uint8(Auto), append(compress(f, kind, sample(10)), compress(f, kind, sample(10))...))
	}
	f.Fuzz(func(t *testing.T, kind uint8, data []byte) {
		r, err := NewReader(bytes.NewReader(data), "", Kind(kind%uint8(len(names))))
		if err == nil {
			defer r.Close()
			_, err = io.Copy(io.Discard, io.LimitReader(r, 16<<20))
		}
		var known *errs.Error
		if err != nil && !errors.As(err, &known) {
			t.Fatalf("an error without a kind: %v", err)
		}
	})
}

func BenchmarkReader(b *testing.B) {
	data := sample(8 << 20)
	for _, kind := range kinds {
		packed := compress(b, kind, data)
		b.Run(kind.String(), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				r, err := NewReader(bytes.NewReader(packed), "", kind)
				require.NoError(b, err)
				_, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, r, make([]byte, 256<<10))
				require.NoError(b, err)
				r.Close()
			}
		})
	}
}
