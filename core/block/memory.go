package block

import (
	"sync"
	"syscall"

	"infeed/core/errs"
)

// MostBytes returns how much memory the machine has, swap included. One request for
// more is refused by the system, at which Go ends the process.
var MostBytes = sync.OnceValue(func() int64 {
	var info syscall.Sysinfo_t
	if err := syscall.Sysinfo(&info); err != nil {
		return unknownMemory
	}
	unit := max(int64(info.Unit), 1)
	return min((int64(info.Totalram)+int64(info.Totalswap))*unit, unknownMemory)
})

// unknownMemory is far beyond what there is.
const unknownMemory = 1 << 40

// Fits returns an error when so many bytes are more than the machine has.
func Fits(bytes int64) error {
	if most := MostBytes(); bytes > most {
		return errs.New(errs.ResourceExhausted, "memory", "%d bytes are needed at once, and this machine has %d; make batches, or the elements in them, smaller", bytes, most)
	}
	return nil
}
