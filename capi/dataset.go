package main

/*
#include "layout.h"
*/
import "C"

import (
	"errors"
	"time"
	"unsafe"

	"infeed/core/arena"
	"infeed/core/dataset"
	"infeed/core/pipeline"
	"infeed/core/snapshot"
	"infeed/core/vfs"
)

// datasetObject and iteratorObject are what the handles of a definition and of an
// iterator name.
type datasetObject struct{ *pipeline.Dataset }

func (datasetObject) Stop()                 {}
func (o datasetObject) Close(time.Duration) { o.Dataset.Close() }

// jobsObject is what the handle of the jobs of an iterator names; it is closed with
// the iterator.
type jobsObject struct{}

func (jobsObject) Stop()               {}
func (jobsObject) Close(time.Duration) {}

// stateful is an object that knows states of an iterator.
type stateful interface {
	object
	State(number int64) (pipeline.State, error)
}

// pastObject is what is left of an iterator that ended.
type pastObject struct{ pipeline.Past }

func (pastObject) Stop()               {}
func (pastObject) Close(time.Duration) {}

type iteratorObject struct {
	*pipeline.Iterator
	jobs *uint64 // handle of its jobs; 0: none
}

func (o iteratorObject) Close(time.Duration) {
	closeHandle(*o.jobs, 0)
	o.Iterator.Close()
}

//export infeedgo_dataset_open
func infeedgo_dataset_open(c *C.infeed_call) C.int32_t { return do(c, datasetOpen) }

//export infeedgo_dataset_at
func infeedgo_dataset_at(c *C.infeed_call) C.int32_t { return do(c, datasetAt) }

//export infeedgo_dataset_iterate
func infeedgo_dataset_iterate(c *C.infeed_call) C.int32_t { return do(c, datasetIterate) }

//export infeedgo_dataset_produce
func infeedgo_dataset_produce(c *C.infeed_call) C.int32_t { return do(c, datasetProduce) }

//export infeedgo_dataset_error
func infeedgo_dataset_error(c *C.infeed_call) C.int32_t { return do(c, datasetError) }

//export infeedgo_dataset_state
func infeedgo_dataset_state(c *C.infeed_call) C.int32_t { return do(c, datasetState) }

//export infeedgo_dataset_past
func infeedgo_dataset_past(c *C.infeed_call) C.int32_t { return do(c, datasetPast) }

//export infeedgo_dataset_stats
func infeedgo_dataset_stats(c *C.infeed_call) C.int32_t { return do(c, datasetStats) }

//export infeedgo_dataset_answer
func infeedgo_dataset_answer(c *C.infeed_call) C.int32_t { return do(c, datasetAnswer) }

//export infeedgo_tf_folder
func infeedgo_tf_folder(c *C.infeed_call) C.int32_t { return do(c, tfFolder) }

func tfFolder(c *call) error {
	var at struct {
		Path string `json:"path"`
	}
	if err := c.decode("tf_folder", &at); err != nil {
		return err
	}
	f, err := snapshot.DescribeTF(vfs.Local(), at.Path)
	if err != nil {
		return err
	}
	return c.long(f)
}

func datasetOpen(c *call) error {
	given := map[*pipeline.Dataset]bool{}
	all, err := pipeline.Parse(c.data(), func(handle uint64) (*pipeline.Dataset, error) {
		o, err := lookup[datasetObject](handle)
		given[o.Dataset] = true
		return o.Dataset, err
	})
	if err != nil {
		return err
	}
	// The address is of the caller's memory.
	handles := unsafe.Slice(*(**C.uint64_t)(unsafe.Pointer(&c.c.arg[0])), len(all))
	result := [][]any{}
	for i, d := range all {
		if handles[i] = 0; given[d] {
			continue
		}
		h, err := newHandle(datasetObject{d}, nil, nil)
		if err != nil {
			closeAll(handles[:i])
			return err
		}
		handles[i] = C.uint64_t(h)
		result = append(result, []any{d.Cardinality(), d.Indexed(), d.Spec(), d.Text()})
	}
	if err := c.long(result); err != nil {
		closeAll(handles)
		return err
	}
	return nil
}

func closeAll(handles []C.uint64_t) {
	for i, h := range handles {
		closeHandle(uint64(h), 0)
		handles[i] = 0
	}
}

func datasetAt(c *call) error {
	d, err := lookup[datasetObject](c.handle())
	if err != nil {
		return err
	}
	at := d.At
	if c.arg(2) != 0 {
		at = d.AtOnce
	}
	e, err := at(c.arg(0), c.arg(1))
	if err == nil {
		*(*arena.Entry)(unsafe.Pointer(&c.c.entry)) = e
	}
	return err
}

func datasetIterate(c *call) error {
	var opt pipeline.Options
	if err := c.decode("iterator", &opt); err != nil {
		return err
	}
	d, err := lookup[datasetObject](c.handle())
	if err != nil {
		return err
	}
	it, err := d.Iterate(opt)
	if err != nil {
		return err
	}
	o := iteratorObject{it, new(uint64)}
	if jobs := it.Jobs(); jobs != nil {
		if *o.jobs, err = newHandle(jobsObject{}, jobs, nil); err != nil {
			it.Close()
			return err
		}
	}
	h, err := newHandle(o, it.Queue(), nil)
	if err != nil {
		o.Close(0)
		return err
	}
	c.setOut(0, int64(h))
	c.setOut(1, int64(it.MayLend()))
	c.setOut(2, int64(*o.jobs))
	first, base, stride := it.First()
	c.setOut(3, first)
	c.setOut(4, base)
	c.setOut(5, stride)
	c.setOut(6, it.Cardinality())
	state, err := it.State(first)
	if err != nil {
		return err
	}
	return c.long(state)
}

func datasetProduce(c *call) error {
	it, err := lookup[iteratorObject](c.handle())
	if err != nil {
		return err
	}
	it.Produce()
	return nil
}

func datasetError(c *call) error {
	it, err := lookup[iteratorObject](c.handle())
	if err != nil {
		return err
	}
	err = it.Err()
	var raised *pipeline.Raised
	if errors.As(err, &raised) {
		c.setOut(0, raised.ID)
	}
	return err
}

func datasetState(c *call) error {
	it, err := lookup[stateful](c.handle())
	if err != nil {
		return err
	}
	s, err := it.State(c.arg(0))
	if err != nil {
		return err
	}
	if c.arg(1) != 0 {
		return c.long(s)
	}
	return c.long(where{s.Position, s.Token, s.Rows})
}

// where is what differs between the states of an iterator.
type where struct {
	Position int64          `json:"position"`
	Token    *dataset.Token `json:"token,omitempty"`
	Rows     int64          `json:"rows,omitempty"`
}

func datasetPast(c *call) error {
	it, err := lookup[iteratorObject](c.handle())
	if err != nil {
		return err
	}
	h, err := newHandle(pastObject{it.Past()}, nil, nil)
	c.setOut(0, int64(h))
	return err
}

func datasetStats(c *call) error {
	it, err := lookup[iteratorObject](c.handle())
	if err != nil {
		return err
	}
	return c.long(it.Stats())
}

// mostDropped is how many exceptions an answer can tell to be dropped; it brings one at most.
const mostDropped = 8

func datasetAnswer(c *call) error {
	var a pipeline.Answer
	if err := c.decode("answer", &a); err != nil {
		return err
	}
	it, err := lookup[iteratorObject](c.handle())
	if err != nil {
		return err
	}
	var dropped [mostDropped]int64
	for i := range it.Dropped(dropped[:]) {
		c.setOut(i, dropped[i])
	}
	return it.Answer(uint64(c.arg(0)), &a)
}
