package record

import (
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/vfs/memfs"
)

func TestBehindIsWhatReadingComesTo(t *testing.T) {
	fs := memfs.New()
	fs.Set("a", []byte("H00112233FF"))
	fs.Set("b", []byte("HFF"))
	fs.Set("c", []byte("H4455FF"))
	fs.Set("rest", []byte("H0011FFF"))
	fs.Set("empty", nil)
	format, err := FixedLength(2, 1, 2)
	require.NoError(t, err)
	for _, paths := range [][]string{{}, {"a"}, {"a", "c"}, {"a", "b", "c", "a"}, {"b"}, {"a", "rest", "c"}, {"a", "missing"}, {"c", "empty", "a"}} {
		want, _, wrong := walk(t, fs, paths, format, Options{}, Token{}, 3)
		for n := int64(0); n < 12; n++ {
			at, skipped := Behind(fs, paths, format, n)
			require.LessOrEqual(t, skipped, n, "%v", paths)
			require.LessOrEqual(t, skipped, int64(len(want)), "%v", paths)
			got, _, err := walk(t, fs, paths, format, Options{}, at, 3)
			require.ElementsMatch(t, want[skipped:], got, "%v from %d", paths, n)
			require.Equal(t, wrong, err, "%v from %d", paths, n)
		}
	}
	at, skipped := Behind(fs, []string{"a", "b", "c", "a"}, format, 5)
	require.Equal(t, Token{File: 2, Offset: 3}, at)
	require.Equal(t, int64(5), skipped)
	_, skipped = Behind(fs, []string{"a"}, Lines(), 2)
	require.Zero(t, skipped, "lines do not tell")
}
