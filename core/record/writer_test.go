package record

import (
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/codec"
	"infeed/core/errs"
	"infeed/core/vfs/faultfs"
	"infeed/core/vfs/memfs"
)

func TestFlushedRecordsCanBeRead(t *testing.T) {
	for _, kind := range kinds {
		fs := memfs.New()
		w, err := NewWriter(fs, "a", kind, codec.DefaultLevel)
		require.NoError(t, err)
		require.NoError(t, w.Write([]byte("one")))
		require.NoError(t, w.Write(nil))
		require.NoError(t, w.Flush())
		got, _, err := walk(t, fs, []string{"a"}, TFRecord(), Options{Compression: kind, Errors: Truncate}, Token{}, 7)
		require.NoError(t, err)
		require.Equal(t, []string{"one", ""}, got, "%v", kind)
		require.NoError(t, w.Write([]byte("two")))
		require.NoError(t, w.Close())
		got, _, err = walk(t, fs, []string{"a"}, TFRecord(), Options{Compression: kind}, Token{}, 7)
		require.NoError(t, err)
		require.Equal(t, []string{"one", "", "two"}, got, "%v", kind)
		require.ErrorContains(t, w.Write(nil), "a was closed")
		require.ErrorContains(t, w.Flush(), "a was closed")
		require.ErrorContains(t, w.Close(), "a was closed")
	}
}

func TestWriterChecksBeforeItReplaces(t *testing.T) {
	fs := memfs.New()
	fs.Set("a", []byte("precious"))
	for _, kind := range []codec.Kind{codec.Gzip, codec.Auto} {
		_, err := NewWriter(fs, "a", kind, 17)
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
	}
	require.Equal(t, "precious", string(fs.Bytes("a")))
}

func TestEveryFileOperationOfWritingCanFail(t *testing.T) {
	for _, kind := range kinds {
		failed := map[string]bool{}
		for n := 0; ; n++ {
			mem := memfs.New()
			fs := faultfs.New(mem, n)
			w, err := NewWriter(fs, "a", kind, codec.DefaultLevel)
			if err == nil {
				for _, r := range five {
					w.Write([]byte(r))
				}
				w.Flush()
				w.Write([]byte("last"))
				err = w.Close()
			}
			if !fs.Failed() {
				require.NoError(t, err)
				got, _, err := walk(t, mem, []string{"a"}, TFRecord(), Options{Compression: kind}, Token{}, 7)
				require.NoError(t, err)
				require.Len(t, got, 6)
				break
			}
			require.ErrorContains(t, err, "injected fault", "%v, operation %d", kind, n)
			failed[err.(*errs.Error).Op] = true
		}
		require.Equal(t, map[string]bool{"create": true, "write": true, "sync": true, "close": true}, failed)
	}
}
