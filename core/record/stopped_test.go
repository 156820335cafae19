package record

import (
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/codec"
	"infeed/core/errs"
	"infeed/core/vfs/memfs"
)

// A search behind damage, and a record of any length, end when nobody waits for them.
func TestLongReadsCanBeStopped(t *testing.T) {
	fs := memfs.New()
	fs.Set("zeros", make([]byte, 1<<20))
	fs.Set("long", recompress(t, codec.Gzip, append(headOf(1<<30), make([]byte, 1<<20)...)))
	stop := errs.New(errs.Cancelled, "test", "nobody waits")
	for _, name := range []string{"zeros", "long"} {
		reads := 0
		o := Options{Compression: codec.Auto, BlockBytes: 1000, Errors: Skip, Stopped: func() error {
			if reads++; reads > 3 {
				return stop
			}
			return nil
		}}
		r, err := NewReader(fs, []string{name}, TFRecord(), o, Token{})
		require.NoError(t, err)
		require.ErrorIs(t, r.Next(&Block{}, 1), stop, name)
		require.Equal(t, 4, reads, name)
		r.Close()
	}
}
