package block

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"infeed/core/errs"
	"infeed/core/vfs"
)

// MostBytes returns how much memory the process may have, swap included: that of the
// machine, or of a container. One request for more is refused by the system, at which Go
// ends the process, or the process is killed when it writes there.
var MostBytes = sync.OnceValue(func() int64 {
	var info syscall.Sysinfo_t
	if err := syscall.Sysinfo(&info); err != nil {
		return unknownMemory
	}
	unit := max(int64(info.Unit), 1)
	ram, swap := int64(info.Totalram)*unit, int64(info.Totalswap)*unit
	return min(min(ram, allowed(vfs.Local(), "/proc/self/cgroup", "/sys/fs/cgroup"))+swap, unknownMemory)
})

// allowed returns the least limit of the control groups that a file lists, in either
// version of them, and of those around these; mounted is where they are.
func allowed(fs vfs.FS, list, mounted string) int64 {
	least := int64(unknownMemory)
	for _, line := range strings.Split(string(vfs.Head(fs, list)), "\n") {
		_, rest, _ := strings.Cut(line, ":")
		controllers, group, _ := strings.Cut(rest, ":")
		folder, file := mounted, "memory.max"
		if slices.Contains(strings.Split(controllers, ","), "memory") {
			folder, file = path.Join(mounted, "memory"), "memory.limit_in_bytes"
		} else if controllers != "" || group == "" {
			continue
		}
		for ; ; group = path.Dir(group) {
			limit := strings.TrimSpace(string(vfs.Head(fs, path.Join(folder, group, file))))
			if n, err := strconv.ParseInt(limit, 10, 64); err == nil {
				least = min(least, n)
			}
			if group == "/" || group == "." {
				break
			}
		}
	}
	return least
}

// unknownMemory is far beyond what there is.
const unknownMemory = 1 << 40

// Fits returns an error when so many bytes are more than the process may have.
func Fits(bytes int64) error {
	if most := MostBytes(); bytes > most {
		return errs.New(errs.ResourceExhausted, "memory", "%d bytes are needed at once, and this process may have %d; make batches, or the elements in them, smaller", bytes, most)
	}
	return nil
}
