//go:build !purego && cgo

package kernel

// #cgo CFLAGS: -O3
// #cgo noescape kernel_csv
// #cgo nocallback kernel_csv
// #include "csv.h"
import "C"

import (
	"runtime"
	"unsafe"
)

func csv(f *CSVForm, steps []CSVStep, data []byte, at, row, limit int) (rows, next int) {
	var pins runtime.Pinner
	defer pins.Unpin()
	pin := func(p unsafe.Pointer) unsafe.Pointer {
		if p != nil {
			pins.Pin(p)
		}
		return p
	}
	bytes := func(b []byte) *C.uchar { return (*C.uchar)(pin(unsafe.Pointer(unsafe.SliceData(b)))) }
	numbers := func(s []int64) *C.int64_t { return (*C.int64_t)(pin(unsafe.Pointer(unsafe.SliceData(s)))) }
	var few [16]C.kernel_csv_step // on the stack
	c := few[:0]
	for i := range steps {
		s := &steps[i]
		c = append(c, C.kernel_csv_step{
			op: C.int64_t(s.Op), numbers: unsafe.Pointer(bytes(s.Numbers)), texts: bytes(s.Texts), used: C.int64_t(s.Used), room: C.int64_t(len(s.Texts)),
			starts: numbers(s.Starts), ends: numbers(s.Ends), none: bytes(s.Default), none_size: C.int64_t(len(s.Default)),
		})
	}
	form := C.kernel_csv_form{
		powers: (*[2]C.uint64_t)(pin(unsafe.Pointer(unsafe.SliceData(f.Powers)))), widest: C.int64_t(len(f.Powers) / 2),
		missing: (*C.uchar)(pin(unsafe.Pointer(unsafe.StringData(f.Missing)))), missing_size: C.int64_t(len(f.Missing)),
		delim: C.uchar(f.Delim), quote: '"',
	}
	if f.Plain {
		form.quote = form.delim
	}
	if f.Open {
		form.open = 1
	}
	var behind C.int64_t
	n := C.kernel_csv(&form, unsafe.SliceData(c), C.int64_t(len(c)), bytes(data), C.int64_t(len(data)), C.int64_t(at), C.int64_t(row), C.int64_t(limit), &behind)
	for i := range steps {
		steps[i].Used = int(c[i].used)
	}
	return int(n), int(behind)
}
