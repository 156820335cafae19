package arena

import (
	"syscall"
	"time"
	"unsafe"
)

const (
	futexWaitPrivate = 0 | 128
	futexWakePrivate = 1 | 128
)

// Key returns the value to give to Wait.
func (e *Event) Key() uint32 { return e.seq.Load() }

// Wake wakes everybody who waits.
func (e *Event) Wake() {
	e.seq.Add(1)
	if e.waiters.Load() != 0 {
		syscall.RawSyscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(&e.seq)), futexWakePrivate, 1<<30, 0, 0, 0)
	}
}

// Wait returns when Wake was called after key was read, or after the timeout; it
// may return early for no reason. It blocks a thread: few goroutines may do so.
func (e *Event) Wait(key uint32, timeout time.Duration) {
	ts := syscall.NsecToTimespec(int64(timeout))
	e.waiters.Add(1)
	if e.seq.Load() == key {
		syscall.Syscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(&e.seq)), futexWaitPrivate, uintptr(key),
			uintptr(unsafe.Pointer(&ts)), 0, 0)
	}
	e.waiters.Add(^uint32(0))
}
