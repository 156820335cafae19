package main

/*
#include "layout.h"
*/
import "C"

import (
	"encoding/binary"
	"sync"
	"time"

	"infeed/core/codec"
	"infeed/core/errs"
	"infeed/core/record"
	"infeed/core/vfs"
)

// writerObject is what the handle of a file that is being written names. Records of
// several threads follow one another whole.
type writerObject struct {
	mu sync.Mutex
	w  *record.Writer
}

func (o *writerObject) Stop() {}

func (o *writerObject) Close(time.Duration) { _ = o.end() } // who wants the error closes the writer itself

// end completes the file. Only the first call can fail.
func (o *writerObject) end() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.w == nil {
		return nil
	}
	w := o.w
	o.w = nil
	return w.Close()
}

//export infeedgo_writer_open
func infeedgo_writer_open(c *C.infeed_call) C.int32_t { return do(c, writerOpen) }

//export infeedgo_writer_write
func infeedgo_writer_write(c *C.infeed_call) C.int32_t {
	return do(c, func(c *call) error {
		return writing(c, func(w *record.Writer) error { return writeAll(w, c.data(), c.arg(0)) })
	})
}

//export infeedgo_writer_flush
func infeedgo_writer_flush(c *C.infeed_call) C.int32_t {
	return do(c, func(c *call) error { return writing(c, (*record.Writer).Flush) })
}

//export infeedgo_writer_close
func infeedgo_writer_close(c *C.infeed_call) C.int32_t {
	return do(c, func(c *call) error {
		o, err := lookup[*writerObject](c.handle())
		if err != nil {
			return nil // closed already
		}
		err = o.end()
		closeHandle(c.handle(), 0)
		return err
	})
}

// The path comes as it is: not every name of a file can be in JSON.
func writerOpen(c *call) error {
	kind, level := c.arg(0), c.arg(1)
	if kind < 0 || kind >= int64(codec.Auto) {
		return errs.New(errs.InvalidArgument, "TFRecordWriter", "there is no compression %d", kind)
	}
	w, err := record.NewWriter(vfs.Local(), string(c.data()), codec.Kind(kind), int(level))
	if err != nil {
		return err
	}
	o := &writerObject{w: w}
	h, err := newHandle(o, nil, nil)
	if err != nil {
		_ = o.end()
		return err
	}
	c.c.handle = C.uint64_t(h)
	return nil
}

// writeAll writes n records: their sizes, 8 bytes each, come before them.
func writeAll(w *record.Writer, data []byte, n int64) error {
	if n < 0 || n > int64(len(data)/8) {
		return errs.New(errs.InvalidArgument, "TFRecordWriter", "%d records have their sizes in %d bytes", n, len(data))
	}
	sizes, rest := data[:8*n], data[8*n:]
	for ; len(sizes) > 0; sizes = sizes[8:] {
		size := binary.NativeEndian.Uint64(sizes)
		if size > uint64(len(rest)) {
			return errs.New(errs.InvalidArgument, "TFRecordWriter", "a record of %d bytes is in %d", size, len(rest))
		}
		if err := w.Write(rest[:size]); err != nil {
			return err
		}
		rest = rest[size:]
	}
	return nil
}

// writing runs f on the writer of a call.
func writing(c *call, f func(*record.Writer) error) error {
	o, err := lookup[*writerObject](c.handle())
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.w == nil { // by another thread, since
		return errs.New(errs.InvalidArgument, "TFRecordWriter", "the file was closed; it cannot be written any more")
	}
	return f(o.w)
}
