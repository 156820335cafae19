// Package par is the only package of infeed that starts goroutines.
//
// A [Group] owns what it starts: every goroutine belongs to a group, and
// [Group.Wait] returns when all of them have ended. A panic in one of them is
// turned into an error, mostly of kind Internal with its stack, given to the function
// that the group was made with; it never takes the process down.
//
// A pinned goroutine (see [Group.Pinned]) keeps one operating system thread to
// itself for as long as it lives, which is what the parent-death signal of a
// child process is tied to.
package par

import (
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"infeed/core/errs"
)

var live atomic.Int64

// Live returns how many goroutines started by groups have not ended.
func Live() int { return int(live.Load()) }

// Group is a set of goroutines with one owner. Make it with [NewGroup].
type Group struct {
	OnPanic func(error) // see NewGroup; not to be changed
	wg      sync.WaitGroup
}

// NewGroup returns an empty group. onPanic gets the error that a panic in one
// of its goroutines was turned into; it runs on that goroutine and may be nil.
func NewGroup(onPanic func(error)) *Group {
	return &Group{OnPanic: onPanic}
}

// Go runs f on a goroutine of the group.
func (g *Group) Go(f func()) {
	g.wg.Add(1)
	live.Add(1)
	go func() {
		defer g.wg.Done()
		defer live.Add(-1)
		defer g.catch()
		f()
	}()
}

// Pinned runs f on a goroutine that has an operating system thread to itself.
// The thread ends with f.
func (g *Group) Pinned(f func()) {
	g.Go(func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		f()
	})
}

// Wait returns when every goroutine of the group has ended.
func (g *Group) Wait() { g.wg.Wait() }

func (g *Group) catch() {
	if r := recover(); r != nil {
		err := FromPanic(r)
		if g.OnPanic != nil {
			g.OnPanic(err)
		}
	}
}

// FromPanic turns a recovered panic value into an error with the stack of the
// calling goroutine. That there is no memory is no bug: such an error stays what it is.
func FromPanic(r any) error {
	if err, ok := r.(*errs.Error); ok && err.Kind == errs.ResourceExhausted {
		return err
	}
	return errs.New(errs.Internal, "panic", "%v; this is a bug in infeed, please report it\n%s", r, debug.Stack())
}
