package main

/*
#include "layout.h"
*/
import "C"

import (
	"encoding/json"
	"errors"
	"unsafe"

	"infeed/core/arena"
	"infeed/core/errs"
	"infeed/core/par"
)

// status of a call that is neither done nor an error.
type status int32

const (
	statusOK      status = C.INFEED_OK
	statusTimeout status = C.INFEED_TIMEOUT
	statusEnd     status = C.INFEED_END
)

// guard runs f for an export. An error becomes its status and text. A panic
// becomes an Internal error with its stack, and closes what the call was about:
// what panicked once is not used again.
func guard(in *C.infeed_call, f func(c *call) (status, error)) (result C.int32_t) {
	c := &call{in}
	defer func() {
		if r := recover(); r != nil {
			result = c.fail(par.FromPanic(r))
			poison(uint64(in.handle))
		}
	}()
	s, err := f(c)
	if err != nil {
		return c.fail(err)
	}
	return C.int32_t(s)
}

// do is guard for calls that are done or fail.
func do(in *C.infeed_call, f func(c *call) error) C.int32_t {
	return guard(in, func(c *call) (status, error) { return statusOK, f(c) })
}

func poison(handle uint64) {
	defer func() { _ = recover() }() // it is broken already
	closeHandle(handle, 0)
}

// call gives Go's view of an infeed_call.
type call struct{ c *C.infeed_call }

func (c *call) handle() uint64        { return uint64(c.c.handle) }
func (c *call) arg(i int) int64       { return int64(c.c.arg[i]) }
func (c *call) setOut(i int, v int64) { c.c.out[i] = C.int64_t(v) }

// data is the caller's memory: it must not be kept.
func (c *call) data() []byte {
	if c.c.data_bytes == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&c.c.data))), int(c.c.data_bytes))
}

func (c *call) decode(op string, into any) error {
	err := json.Unmarshal(c.data(), into)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return errs.New(errs.InvalidArgument, op, "%s cannot be %s", wrong.Field, wrong.Value)
	}
	if err != nil {
		return errs.Wrap(err, errs.InvalidArgument, op, "the arguments are no JSON of the kind expected")
	}
	return nil
}

// text gives text to the caller, cut to what there is room for.
func (c *call) text(s string) {
	buf := unsafe.Slice((*byte)(unsafe.Pointer(&c.c.text[0])), C.INFEED_TEXT)
	n := copy(buf[:C.INFEED_TEXT-1], s)
	buf[n] = 0
	c.c.text_bytes = C.uint32_t(n)
}

func (c *call) json(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	c.text(string(b))
	return nil
}

// long is json for what may be longer than there is room for in text: then it lies
// in a slot that is lent, which the entry names.
func (c *call) long(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	c.c.entry.slot = 0
	if len(b) < C.INFEED_TEXT {
		c.text(string(b))
		return nil
	}
	e, err := arena.Private(b)
	if err == nil {
		*(*arena.Entry)(unsafe.Pointer(&c.c.entry)) = e
	}
	return err
}

func (c *call) fail(err error) C.int32_t {
	c.text(err.Error())
	if errs.KindOf(err) == errs.DataLoss {
		c.place(err)
	}
	return -C.int32_t(errs.KindOf(err))
}

// place gives the caller where data was lost: the offset in out[6], and in out[7]
// the bytes of the path, which lies behind the text and its final 0.
func (c *call) place(err error) {
	path, offset := errs.Place(err)
	behind := unsafe.Slice((*byte)(unsafe.Pointer(&c.c.text[0])), C.INFEED_TEXT)[c.c.text_bytes+1:]
	if len(path) > len(behind) {
		path = "" // part of it would be another
	}
	c.setOut(6, offset)
	c.setOut(7, int64(copy(behind, path)))
}
