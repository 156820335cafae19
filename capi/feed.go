package main

/*
#include "layout.h"
*/
import "C"

import (
	"time"
	"unsafe"

	"infeed/core/errs"
	"infeed/core/feed"
)

// poolObject and walkObject are what the handles of a pool and of a walk name.
type poolObject struct{ *feed.Pool }

type walkObject struct {
	*feed.Walk
	pool *feed.Pool
}

func (w walkObject) Close(time.Duration) { w.Walk.Close() }

//export infeedgo_feed_open
func infeedgo_feed_open(c *C.infeed_call) C.int32_t { return do(c, feedOpen) }

//export infeedgo_feed_dataset
func infeedgo_feed_dataset(c *C.infeed_call) C.int32_t { return do(c, feedDataset) }

//export infeedgo_walk_open
func infeedgo_walk_open(c *C.infeed_call) C.int32_t { return do(c, walkOpen) }

//export infeedgo_walk_invalidate
func infeedgo_walk_invalidate(c *C.infeed_call) C.int32_t { return do(c, walkInvalidate) }

//export infeedgo_walk_error
func infeedgo_walk_error(c *C.infeed_call) C.int32_t { return do(c, walkError) }

//export infeedgo_walk_stuck
func infeedgo_walk_stuck(c *C.infeed_call) C.int32_t { return do(c, walkStuck) }

//export infeedgo_job
func infeedgo_job(c *C.infeed_call) C.int32_t { return guard(c, nextJob) }

//export infeedgo_order
func infeedgo_order(c *C.infeed_call) C.int32_t { return do(c, order) }

func feedOpen(c *call) error {
	var opt feed.Options
	if err := c.decode("dataset", &opt); err != nil {
		return err
	}
	p, err := feed.NewPool(opt)
	if err != nil {
		return err
	}
	h, err := newHandle(poolObject{p}, nil, p.Work)
	if err != nil {
		p.Stop()
		p.Close(0)
		return err
	}
	c.c.handle = C.uint64_t(h)
	return nil
}

func feedDataset(c *call) error {
	var in struct {
		Version  int64      `json:"version"`
		Payload  uint64     `json:"payload"`
		Payloads [][3]int64 `json:"payloads"` // id, descriptor (-1: known already), bytes
	}
	if err := c.decode("dataset", &in); err != nil {
		return err
	}
	p, err := lookup[poolObject](c.handle())
	if err != nil {
		return err
	}
	var payloads []feed.Payload
	for _, o := range in.Payloads {
		known, ok := p.Payload(uint64(o[0]))
		if ok {
			payloads = append(payloads, known)
			continue
		}
		f := feed.Duplicate(int(o[1]))
		if f == nil {
			return errs.New(errs.ResourceExhausted, "dataset", "descriptor %d cannot be duplicated; too many open files?", o[1])
		}
		payloads = append(payloads, feed.Payload{ID: uint64(o[0]), File: f, Bytes: uint64(o[2])})
	}
	return p.SetDataset(in.Version, in.Payload, payloads)
}

func walkOpen(c *call) error {
	var opt feed.WalkOptions
	if err := c.decode("walk", &opt); err != nil {
		return err
	}
	p, err := lookup[poolObject](c.handle())
	if err != nil {
		return err
	}
	w, err := p.OpenWalk(opt)
	if err != nil {
		return err
	}
	h, err := newHandle(walkObject{w, p.Pool}, w.Queue, nil)
	if err != nil {
		w.Close()
		return err
	}
	c.setOut(0, int64(h))
	c.setOut(1, w.Number)
	return nil
}

func walkInvalidate(c *call) error {
	w, err := lookup[walkObject](c.handle())
	if err != nil {
		return err
	}
	w.Invalidate()
	return nil
}

func walkError(c *call) error {
	w, err := lookup[walkObject](c.handle())
	if err != nil {
		return err
	}
	if f := w.Failure(int64(c.c.entry.position)); f != nil {
		c.setOut(0, int64(f.Exit))
		c.text(f.Text)
	}
	return nil
}

func walkStuck(c *call) error {
	w, err := lookup[walkObject](c.handle())
	if err != nil {
		return err
	}
	index, worker, pid, thread := w.Stuck()
	c.setOut(0, index)
	c.setOut(1, int64(worker))
	c.setOut(2, int64(pid))
	c.setOut(3, thread)
	c.text(w.pool.Stacks(worker))
	return nil
}

// nextJob reports a job and takes another. The shim calls it again when it had to
// wait in between; the report is made once.
func nextJob(c *call) (status, error) {
	p, err := lookup[poolObject](c.handle())
	if err != nil {
		return statusOK, err
	}
	if done := c.arg(1); done != 0 {
		wanted, err := p.Done(uint64(done))
		if err != nil {
			return statusOK, err
		}
		c.c.arg[1], c.c.arg[2] = 0, 0
		if !wanted {
			c.c.arg[2] = 1
		}
	}
	j, ok, err := p.Take(c.arg(0))
	if err != nil || !ok {
		return statusTimeout, err
	}
	for i, v := range []int64{int64(j.ID), j.Walk, j.Index, j.Pass, j.Epoch, int64(j.Seed)} {
		c.setOut(i, v)
	}
	return statusOK, nil
}

func order(c *call) error {
	n, pass, start, count := c.arg(0), c.arg(1), c.arg(2), c.arg(3)
	if n < 1 || start < 0 || count < 0 || start+count > n || uint64(count)*8 != uint64(c.c.data_bytes) {
		return errs.New(errs.InvalidArgument, "order", "places %d to %d of an order of %d", start, start+count, n)
	}
	dst := unsafe.Slice((*int64)(unsafe.Pointer(&c.data()[0])), count)
	feed.Order(n, uint64(c.c.out[0]), pass).Fill(dst, start)
	return nil
}
