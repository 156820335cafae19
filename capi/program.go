package main

/*
#include "layout.h"
*/
import "C"

import (
	"unsafe"

	"infeed/core/arena"
	"infeed/core/pipeline"
)

//export infeedgo_program_run
func infeedgo_program_run(c *C.infeed_call) C.int32_t { return do(c, programRun) }

func programRun(c *call) error {
	var r pipeline.ProgramRun
	if err := c.decode("map", &r); err != nil {
		return err
	}
	e, err := r.Run()
	if err == nil {
		*(*arena.Entry)(unsafe.Pointer(&c.c.entry)) = e
	}
	return err
}
