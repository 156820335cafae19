package block

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/vfs"
)

func TestLimitsOfControlGroups(t *testing.T) {
	for name, c := range map[string]struct {
		list   string
		limits map[string]string
		want   int64
	}{
		"none":             {"0::/\n", nil, unknownMemory},
		"no file":          {"", nil, unknownMemory},
		"of a container":   {"0::/\n", map[string]string{"memory.max": "5000\n"}, 5000},
		"without a limit":  {"0::/a\n", map[string]string{"a/memory.max": "max\n"}, unknownMemory},
		"of one around it": {"0::/a/b\n", map[string]string{"a/memory.max": "700\n", "a/b/memory.max": "max\n"}, 700},
		"of version 1": {"9:cpu,cpuacct:/x\n4:memory:/a\n0::/\n",
			map[string]string{"memory/a/memory.limit_in_bytes": "300\n", "memory/memory.limit_in_bytes": "9223372036854771712\n"}, 300},
		"of another controller": {"4:cpu:/a\n", map[string]string{"a/memory.max": "5\n", "memory/a/memory.limit_in_bytes": "5\n"}, unknownMemory},
	} {
		t.Run(name, func(t *testing.T) {
			mounted, list := t.TempDir(), filepath.Join(t.TempDir(), "cgroup")
			require.NoError(t, os.WriteFile(list, []byte(c.list), 0o600))
			for path, limit := range c.limits {
				path = filepath.Join(mounted, path)
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
				require.NoError(t, os.WriteFile(path, []byte(limit), 0o600))
			}
			require.Equal(t, c.want, allowed(vfs.Local(), list, mounted))
		})
	}
	require.Equal(t, int64(unknownMemory), allowed(vfs.Local(), "/nowhere", "/nowhere"))
}
