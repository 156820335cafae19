package main

/*
#include "layout.h"
*/
import "C"

import (
	"sync"
	"time"
	"unsafe"

	"infeed/core/arena"
	"infeed/core/errs"
)

// object is what a handle names. Close may wait up to grace for others to end.
type object interface {
	// Stop makes everybody who waits on the object return.
	Stop()
	// Close frees it; nobody is inside a call on it any more.
	Close(grace time.Duration)
}

var objects = struct {
	sync.RWMutex
	byHandle map[uint64]object
}{byHandle: map[uint64]object{}}

// newHandle names o. Calls that wait on it wait on queue or event, which may be nil.
func newHandle(o object, queue *arena.Queue, event *arena.Event) (uint64, error) {
	var q unsafe.Pointer
	if queue != nil {
		q = queue.Pointer()
	}
	h := uint64(C.shim_handle_new(q, unsafe.Pointer(event)))
	if h == 0 {
		return 0, errs.New(errs.ResourceExhausted, "open", "too many datasets and iterators are open; close some")
	}
	objects.Lock()
	objects.byHandle[h] = o
	objects.Unlock()
	return h, nil
}

func lookup[T object](handle uint64) (T, error) {
	objects.RLock()
	o, ok := objects.byHandle[handle]
	objects.RUnlock()
	t, right := o.(T)
	if !ok || !right {
		return t, errs.New(errs.Cancelled, "handle", "this dataset or iterator is closed")
	}
	return t, nil
}

func closeHandle(handle uint64, grace time.Duration) {
	objects.Lock()
	o, ok := objects.byHandle[handle]
	delete(objects.byHandle, handle)
	objects.Unlock()
	if !ok {
		return
	}
	o.Stop()
	C.shim_handle_close(C.uint64_t(handle))
	o.Close(grace)
}
