package main

/*
#include "layout.h"
*/
import "C"

import (
	"encoding/binary"
	"hash/crc32"
	"runtime"
	"runtime/debug"
	"time"
	"unsafe"

	"infeed/core/arena"
	"infeed/core/errs"
	"infeed/core/kernel"
	"infeed/core/par"
	"infeed/core/pipeline"
	"infeed/core/rng"
)

//export infeedgo_setup
func infeedgo_setup(c *C.infeed_call) C.int32_t { return do(c, setup) }

//export infeedgo_about
func infeedgo_about(c *C.infeed_call) C.int32_t { return do(c, about) }

//export infeedgo_checksum
func infeedgo_checksum(c *C.infeed_call) C.int32_t { return do(c, checksum) }

//export infeedgo_alive
func infeedgo_alive(c *C.infeed_call) C.int32_t { return do(c, alive) }

//export infeedgo_close
func infeedgo_close(c *C.infeed_call) C.int32_t {
	return do(c, func(c *call) error {
		closeHandle(c.handle(), time.Duration(c.arg(0))*time.Millisecond)
		return nil
	})
}

// The environment never reaches the Go runtime of a library, so what can be set
// is set here.
func setup(c *call) error {
	var config struct {
		MaxProcs  int `json:"max_procs"`
		GCPercent int `json:"gc_percent"`
	}
	if err := c.decode("setup", &config); err != nil {
		return err
	}
	if config.MaxProcs < 1 {
		return errs.New(errs.InvalidArgument, "setup", "max_procs is %d; at least 1 is needed", config.MaxProcs)
	}
	runtime.GOMAXPROCS(config.MaxProcs)
	debug.SetGCPercent(config.GCPercent)
	C.shim_attach(arena.RegistryPointer())
	return nil
}

func about(c *call) error {
	return c.json(map[string]any{
		"go":       runtime.Version(),
		"platform": runtime.GOOS + "/" + runtime.GOARCH,
		"order":    rng.OrderVersion,
		"kernels":  kernel.Native(),
		"codecs":   []string{"gzip", "zlib", "zstd"},
	})
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum joins the CRC-32C of the bytes with that of every second 64 KiB piece
// and of their number, so that two different buffers hardly ever agree.
func checksum(c *call) error {
	b := c.data()
	whole := crc32.Checksum(b, castagnoli)
	var n [8]byte
	binary.LittleEndian.PutUint64(n[:], uint64(len(b)))
	half := crc32.Checksum(n[:], castagnoli)
	const piece = 64 << 10
	for at := 0; at < len(b); at += 2 * piece {
		half = crc32.Update(half, castagnoli, b[at:min(at+piece, len(b))])
	}
	c.setOut(0, int64(uint64(whole)<<32|uint64(half)))
	return nil
}

func alive(c *call) error {
	objects.RLock()
	n := len(objects.byHandle)
	objects.RUnlock()
	return c.json(map[string]int64{
		"goroutines": int64(par.Live()),
		"mapped":     arena.MappedBytes() - pipeline.LastingBytes(),
		"objects":    int64(n),
		"handles":    int64(C.shim_handles_open()),
	})
}

// layout returns the sizes and offsets that C uses, by the names of arena.Layout.
func layout() map[string]uintptr {
	var q C.infeed_queue
	var s C.infeed_slot
	var g C.infeed_segment
	var r C.infeed_registry
	var e C.infeed_entry
	return map[string]uintptr{
		"event":            C.sizeof_infeed_event,
		"entry":            C.sizeof_infeed_entry,
		"entry.status":     unsafe.Offsetof(e.status),
		"entry.slot":       unsafe.Offsetof(e.slot),
		"queue":            C.sizeof_infeed_queue,
		"queue.head":       unsafe.Offsetof(q.head),
		"queue.tail":       unsafe.Offsetof(q.tail),
		"queue.space":      unsafe.Offsetof(q.space),
		"queue.capacity":   unsafe.Offsetof(q.capacity),
		"queue.low_water":  unsafe.Offsetof(q.low_water),
		"queue.closed":     unsafe.Offsetof(q.closed),
		"queue.cancelled":  unsafe.Offsetof(q.cancelled),
		"slot":             C.sizeof_infeed_slot,
		"slot.segment":     unsafe.Offsetof(s.segment),
		"slot.event":       unsafe.Offsetof(s.event),
		"segment":          C.sizeof_infeed_segment,
		"segment.address":  unsafe.Offsetof(g.address),
		"registry.slots":   unsafe.Offsetof(r.slots),
		"registry.segment": unsafe.Offsetof(r.segments),
		"registry.events":  unsafe.Offsetof(r.events),
	}
}
