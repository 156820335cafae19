package record

import (
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/codec"
	"infeed/core/errs"
	"infeed/core/vfs/memfs"
)

// However blocks are cut, records that belong together are in one, and its token and the
// offsets of its records lead to them.
func TestRecordsStayTogether(t *testing.T) {
	records := sample(300)
	for _, f := range forms(t)[:2] {
		for _, kind := range kinds {
			fs := memfs.New()
			fs.Set("a", recompress(t, kind, f.write(t, records)))
			fs.Set("b", recompress(t, kind, f.write(t, records[:3])))
			fs.Set("empty", recompress(t, kind, nil))
			paths := []string{"a", "empty", "b"}
			want := append(append([]string{}, records...), records[:3]...)
			for _, size := range []int{1, 100, 3000, 0} {
				for _, rows := range []int{1, 4, 1 << 20} {
					o := Options{Compression: kind, BlockBytes: size, Together: 3}
					name := fmt.Sprintf("%s %v block of %d, %d rows", f.name, kind, size, rows)
					r, err := NewReader(fs, paths, f.format, o, Token{})
					require.NoError(t, err)
					var b Block
					seen := 0
					for ; err == nil; err = r.Next(&b, rows) {
						require.Zero(t, b.Len()%3, name)
						for i := range b.Len() {
							require.Equal(t, want[seen+i], string(b.Record(i)), name)
						}
						if seen += b.Len(); b.Len() > 3 && seen%7 == 0 {
							rest, _, err := walk(t, fs, paths, f.format, o, b.Place(3), rows)
							require.NoError(t, err)
							require.Equal(t, want[seen-b.Len()+3:], rest, name)
						}
					}
					require.Equal(t, io.EOF, err)
					require.Equal(t, len(want), seen, name)
					r.Close()
				}
			}
		}
	}
}

func TestAFileThatEndsWithinWhatBelongsTogether(t *testing.T) {
	for _, kind := range kinds {
		fs := memfs.New()
		data := frames(t, five[:4]...)
		fs.Set("a", recompress(t, kind, data))
		fs.Set("b", recompress(t, kind, frames(t, five[:3]...)))
		for _, size := range []int{1, 0} {
			got, _, err := walk(t, fs, []string{"a", "b"}, TFRecord(), Options{Compression: kind, BlockBytes: size, Together: 3}, Token{}, 100)
			require.Equal(t, errs.DataLoss, errs.KindOf(err))
			path, offset := errs.Place(err)
			require.Equal(t, "a", path)
			require.EqualValues(t, len(frames(t, five[:3]...)), offset)
			require.ErrorContains(t, err, "1 of its 3 records")
			require.Equal(t, five[:3], got)
		}
	}
}

// Damage within records that belong together is an error before any of them, again and
// again.
func TestDamageWithinWhatBelongsTogether(t *testing.T) {
	fs := memfs.New()
	data := frames(t, append(append([]string{}, five...), "six")...)
	data[len(frames(t, five...))] ^= 1 // the length of the last
	fs.Set("a", data)
	r, err := NewReader(fs, []string{"a"}, TFRecord(), Options{Compression: codec.None, Together: 3}, Token{})
	require.NoError(t, err)
	defer r.Close()
	var b Block
	require.NoError(t, r.Next(&b, 6))
	require.Equal(t, 3, b.Len())
	for range 2 {
		err = r.Next(&b, 6)
		require.Equal(t, errs.DataLoss, errs.KindOf(err))
		_, offset := errs.Place(err)
		require.EqualValues(t, len(frames(t, five...)), offset)
		require.Zero(t, b.Len())
	}
}

func TestSizedRecordsThatAreCut(t *testing.T) {
	data := sizes("first", "second")
	for n := 1; n < len(data); n++ {
		if n == 13 { // between the two
			continue
		}
		fs := memfs.New()
		fs.Set("a", data[:n])
		_, _, err := walk(t, fs, []string{"a"}, Sized(), Options{}, Token{}, 10)
		require.Equal(t, errs.DataLoss, errs.KindOf(err), n)
		path, offset := errs.Place(err)
		require.Equal(t, "a", path)
		require.EqualValues(t, map[bool]int64{true: 13}[n > 13], offset)
	}
	fs := memfs.New()
	fs.Set("a", append(sizes("x"), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f))
	_, _, err := walk(t, fs, []string{"a"}, Sized(), Options{}, Token{}, 10)
	require.Equal(t, errs.DataLoss, errs.KindOf(err))
}
