package record

import (
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/codec"
	"infeed/core/errs"
	"infeed/core/vfs/memfs"
)

// FuzzReader reads any bytes as any format, in blocks of two sizes, which must tell
// the same, and never more than there is.
func FuzzReader(f *testing.F) {
	whole := frames(f, five...)
	bad := append(append([]byte("x"), whole...), whole[:50]...)
	for format := range uint8(3) {
		for policy := range uint8(3) {
			f.Add([]byte("text that is longer than a block, and than what is said of it"), format, policy, uint8(codec.None))
			f.Add(whole, format, policy, uint8(codec.None))
			f.Add(bad, format, policy, uint8(codec.None))
			f.Add(append(whole[:45], headOf(1<<60)...), format, policy, uint8(codec.Auto))
			f.Add([]byte("a\r\nb\n\nc"), format, policy, uint8(codec.Auto))
			f.Add(packed(f, codec.Gzip, five...), format, policy, uint8(codec.Auto))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, format, policy, kind uint8) {
		fs := memfs.New()
		fs.Set("a", data)
		formats := forms(t)
		o := Options{Compression: codec.Kind(kind % 5), Errors: Policy(policy % 3), BlockBytes: 16}
		small, damage, err := walk(t, fs, []string{"a"}, formats[format%3].format, o, Token{}, 2)
		o.BlockBytes = 0
		large, same, again := walk(t, fs, []string{"a"}, formats[format%3].format, o, Token{}, 1000)
		require.Equal(t, small, large)
		require.Equal(t, damage.Count, same.Count)
		require.Equal(t, err == nil, again == nil)
		if err != nil {
			require.Equal(t, err.Error(), again.Error())
			require.Contains(t, []errs.Kind{errs.DataLoss, errs.ResourceExhausted}, errs.KindOf(err))
		}
		if o.Compression == codec.None {
			n := 0
			for _, r := range large {
				n += len(r)
			}
			require.LessOrEqual(t, n, len(data))
		}
	})
}
