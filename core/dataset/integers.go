package dataset

import (
	"encoding/binary"

	"infeed/core/block"
	"infeed/core/errs"
	"infeed/core/spec"
)

// IsInteger fails where results of a program are no single integers.
func IsInteger(op, name string, e *spec.Element) error {
	if len(e.Components) == 1 && e.Structure.Kind == spec.Leaf && len(e.Components[0].Shape) == 0 {
		if k := e.Components[0].DType.Kind; k == 'i' || k == 'u' {
			return nil
		}
	}
	return errs.New(errs.InvalidArgument, op, "%s must return an integer scalar; it returns %v", name, e)
}

// Integers returns the integers that a program gives for the rows of a block, of as many
// as did not fail. scratch is an empty buffer.
func Integers(s *Scope, p Program, in block.Block, at Chance, scratch *block.Buffer) ([]int64, error) {
	done, err := p.Run(s, in, at, scratch)
	out := make([]int64, 0, done)
	for _, b := range scratch.Blocks() {
		c, dtype := b.Columns[0], b.Shapes.Components[0].DType
		for i := range min(b.Rows, done-int64(len(out))) {
			out = append(out, asInt64(c.Data[i*c.RowBytes:], dtype))
		}
	}
	return out, err
}

// asInt64 reads a value.
func asInt64(b []byte, d spec.DType) int64 {
	signed := d.Kind == 'i'
	switch {
	case d.Size == 8:
		return int64(binary.LittleEndian.Uint64(b))
	case d.Size == 4 && signed:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	case d.Size == 4:
		return int64(binary.LittleEndian.Uint32(b))
	case d.Size == 2 && signed:
		return int64(int16(binary.LittleEndian.Uint16(b)))
	case d.Size == 2:
		return int64(binary.LittleEndian.Uint16(b))
	case signed:
		return int64(int8(b[0]))
	}
	return int64(b[0])
}
