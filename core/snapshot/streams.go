package snapshot

import (
	"fmt"
	"math"
	"slices"

	"infeed/core/block"
	"infeed/core/errs"
	"infeed/core/spec"
)

const (
	// mostStreams bounds the streams of a snapshot; each has a file open while it is written.
	mostStreams = 1000
	// orderName is what the chunks of the order have in their names in place of a stream.
	orderName = "order"
	// mostHeld bounds the bytes of blocks that are not full, over all streams.
	mostHeld = 32 << 20
	// mostGroupRows bounds the elements of a group of chunks.
	mostGroupRows = 1 << 30
)

// orderSpec describes the order of a snapshot with streams: each number is where an
// element lies, as [placeOf] makes it.
var orderSpec = &spec.Element{Components: []spec.Component{{DType: spec.DType{Kind: 'i', Size: 8}}}}

// placeOf is where an element lies: in which stream, and which one it is in the chunk of
// its group.
func placeOf(stream int, row int64) int64 { return int64(stream)<<32 | row }

func placed(at int64) (stream int, row int64) { return int(at >> 32), at & math.MaxUint32 }

// stream is elements that are written to chunks of their own.
type stream struct {
	name    string // in the names of its chunks
	layout  *layout
	current *building
	choice  *choice        // of the chunk that current belongs to
	decided bool           // there is a block whose packing decides on it
	rows    int64          // since its last chunk ended
	free    chan *building // blocks that were written

	chunk *chunkWriter // that is open; of the goroutine that writes
}

func (w *Writer) newStream(name string, l *layout, free chan *building) *stream {
	return &stream{name: name, layout: l, current: newBuilding(l), choice: newChoice(l, w.o.Compression), free: free}
}

// divide adds the elements of a block, each to the stream that numbers name.
func (w *Writer) divide(b block.Block, numbers []int64) error {
	size := rowBytes(b)
	err := byStream(numbers, func(n, from, to int64) error {
		s, err := w.stream(n)
		if err != nil {
			return err
		}
		w.note(int(n), s.rows, to-from)
		w.put(s, b, from, to, size)
		return nil
	})
	for w.held > mostHeld {
		w.flush(slices.MaxFunc(w.streams, func(a, b *stream) int { return int(a.held() - b.held()) }))
	}
	return err
}

// byStream calls f for elements that follow one another and go to one stream, from
// (included) to to (excluded).
func byStream(numbers []int64, f func(stream, from, to int64) error) error {
	for from := 0; from < len(numbers); {
		to := from + 1
		for to < len(numbers) && numbers[to] == numbers[from] {
			to++
		}
		if err := f(numbers[from], int64(from), int64(to)); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// held returns the bytes of the block that is not full.
func (s *stream) held() int64 {
	if s == nil {
		return 0
	}
	return s.current.bytes
}

// stream returns a stream by its number.
func (w *Writer) stream(n int64) (*stream, error) {
	if err := checkStream(n); err != nil {
		return nil, err
	}
	for int64(len(w.streams)) <= n {
		w.streams = append(w.streams, nil)
	}
	if w.streams[n] == nil {
		w.streams[n] = w.newStream(fmt.Sprintf("%04d", n), w.layout, w.free)
	}
	return w.streams[n], nil
}

func checkStream(n int64) error {
	if n < 0 || n >= mostStreams {
		return errs.New(errs.InvalidArgument, "snapshot", "shard_func returned %d; it must be from 0 to %d", n, mostStreams-1)
	}
	return nil
}

// note adds to the order that count elements of a stream come next, from a row on.
func (w *Writer) note(stream int, row, count int64) {
	o := w.order
	for i := range count {
		o.current.number(placeOf(stream, row+i))
		if o.rows++; o.current.full() {
			w.flush(o)
		}
	}
}
