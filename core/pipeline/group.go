package pipeline

import (
	"encoding/binary"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/spec"
)

// The description of a group follows its columns. It is int64 numbers: how many
// elements there are, and for each component the offset of its column and the
// dimensions of one element. How many numbers these are depends on the element
// spec only, since ranks do not differ between elements.

func metaBytes(e *spec.Element) int64 {
	n := int64(1)
	for _, c := range e.Components {
		n += 1 + int64(len(c.Shape))
	}
	return block.AlignUp(8 * n)
}

// fillGroup makes the elements of a run in memory and describes them there.
func fillGroup(run dataset.Run, memory []byte) (metaOffset int64, err error) {
	l, err := block.NewLayout(run.Shapes, run.Count)
	if err != nil {
		return 0, err
	}
	if l.Bytes+metaBytes(run.Shapes) > int64(len(memory)) {
		return 0, errs.New(errs.Internal, "group", "%d elements with %s do not fit in %d bytes", run.Count, run.Shapes.Shapes(), len(memory))
	}
	if err := run.Fill(l.Over(memory)); err != nil {
		return 0, err
	}
	describe(memory[l.Bytes:], l, run.Shapes)
	return l.Bytes, nil
}

func describe(meta []byte, l block.Layout, shapes *spec.Element) {
	numbers := []int64{l.Rows}
	for i, c := range shapes.Components {
		numbers = append(numbers, l.Offsets[i])
		numbers = append(numbers, c.Shape...)
	}
	for i, x := range numbers {
		binary.LittleEndian.PutUint64(meta[8*i:], uint64(x))
	}
}

// readGroup returns the elements that memory holds, from their description.
func readGroup(memory []byte, metaOffset int64, e *spec.Element) (block.Block, *spec.Element) {
	meta := memory[metaOffset:]
	next := func() int64 {
		x := int64(binary.LittleEndian.Uint64(meta))
		meta = meta[8:]
		return x
	}
	b := block.Block{Rows: next()}
	shapes := &spec.Element{Structure: e.Structure}
	for _, c := range e.Components {
		off := next()
		out := spec.Component{DType: c.DType}
		for range c.Shape {
			out.Shape = append(out.Shape, next())
		}
		n, _ := out.Bytes()
		shapes.Components = append(shapes.Components, out)
		b.Columns = append(b.Columns, block.Column{Data: memory[off : off+n*b.Rows], RowBytes: n})
	}
	return b, shapes
}
