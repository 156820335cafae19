package main

/*
#include "layout.h"
*/
import "C"

import (
	"time"

	"infeed/core/pipeline"
)

// datasetObject and iteratorObject are what the handles of a definition and of an
// iterator name.
type datasetObject struct{ *pipeline.Dataset }

func (datasetObject) Stop()               {}
func (datasetObject) Close(time.Duration) {}

type iteratorObject struct{ *pipeline.Iterator }

func (o iteratorObject) Close(time.Duration) { o.Iterator.Close() }

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

func datasetOpen(c *call) error {
	d, err := pipeline.Parse(c.data())
	if err != nil {
		return err
	}
	h, err := newHandle(datasetObject{d}, nil, nil)
	if err != nil {
		return err
	}
	c.c.handle = C.uint64_t(h)
	c.setOut(0, d.Cardinality())
	c.setOut(1, d.GroupBytes())
	return nil
}

func datasetAt(c *call) error {
	d, err := lookup[datasetObject](c.handle())
	if err != nil {
		return err
	}
	meta, err := d.At(c.arg(0), c.arg(1), c.data())
	c.setOut(0, meta)
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
	h, err := newHandle(iteratorObject{it}, it.Queue(), nil)
	if err != nil {
		it.Close()
		return err
	}
	c.setOut(0, int64(h))
	c.setOut(1, int64(it.MayLend()))
	state := it.State(0)
	if opt.State != nil {
		state.Position = opt.State.Position
	}
	return c.json(state)
}

func datasetProduce(c *call) error {
	it, err := lookup[iteratorObject](c.handle())
	if err != nil {
		return err
	}
	return it.Produce()
}

func datasetError(c *call) error {
	it, err := lookup[iteratorObject](c.handle())
	if err != nil {
		return err
	}
	return it.Err()
}
