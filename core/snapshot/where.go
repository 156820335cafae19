package snapshot

import (
	"infeed/core/dataset"
	"infeed/core/spec"
)

// where says where the elements of a block lie in its pieces, for components whose
// elements have no fixed size.
type where struct {
	dims   [][]int64 // of each component: the dimensions that differ, element by element
	starts [][]int64 // bytes before each element, or strings; one more than elements
	ends   [][]int64 // of the strings
}

// wherePart is a cacheKey's part for where.
const wherePart = -1

func (r *Reader) where(p place) (*where, error) {
	v, err := r.cache.get(cacheKey{p.chunk, p.block, wherePart}, func(v *cached) error {
		n := len(r.layout.values)
		w := &where{make([][]int64, n), make([][]int64, n), make([][]int64, n)}
		for i := range n {
			if err := r.locate(w, i, p); err != nil {
				return err
			}
			v.bytes += 8 * int64(len(w.dims[i])+len(w.starts[i])+len(w.ends[i]))
		}
		v.value = w
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.cache.done(v, 0)
	return v.value.(*where), nil
}

// locate finds the elements of component i.
func (r *Reader) locate(w *where, i int, p place) (err error) {
	l := r.layout
	values := &p.at.pieces[l.values[i]]
	strings := p.at.rows * l.strings[i]
	if l.free[i] > 0 {
		if w.dims[i], err = r.numbers(p, l.dims[i]); err != nil {
			return err
		}
		unit := int64(1)
		if l.ends[i] < 0 {
			unit = l.spec.Components[i].DType.Size
		}
		if w.starts[i] = l.starts(i, w.dims[i], p.at.rows, unit); w.starts[i] == nil {
			return lost(r.files.paths[p.chunk], values.at, "the shapes of its elements cannot be")
		}
		strings = w.starts[i][p.at.rows]
	}
	if l.ends[i] < 0 {
		if l.free[i] > 0 && strings != values.raw {
			return lost(r.files.paths[p.chunk], values.at, "its elements have %d bytes, not %d", values.raw, strings)
		}
		return nil
	}
	if w.ends[i], err = r.numbers(p, l.ends[i]); err != nil {
		return err
	}
	last := int64(0)
	for _, end := range w.ends[i] {
		if end < last {
			return lost(r.files.paths[p.chunk], values.at, "its strings end before they begin")
		}
		last = end
	}
	if int64(len(w.ends[i])) != strings || last != values.raw {
		return lost(r.files.paths[p.chunk], values.at, "it has %d strings of %d bytes, not %d of %d", len(w.ends[i]), values.raw, strings, last)
	}
	return nil
}

// numbers returns a piece of int64 numbers.
func (r *Reader) numbers(p place, part int) ([]int64, error) {
	raw := make([]byte, p.at.pieces[part].raw)
	if err := r.copyRange(p, part, 0, raw); err != nil {
		return nil, err
	}
	out := make([]int64, len(raw)/8)
	for i := range out {
		out[i] = int64(le.Uint64(raw[8*i:]))
	}
	return out, nil
}

// starts returns how many values, in units, lie before each element of component i,
// and before their end; nil: the dimensions are those of no elements.
func (l *layout) starts(i int, dims []int64, rows, unit int64) []int64 {
	out := make([]int64, rows+1)
	free := int64(l.free[i])
	for row := range rows {
		at, n := row*free, unit
		for _, d := range l.spec.Components[i].Shape {
			if d < 0 {
				d, at = dims[at], at+1
			}
			if d < 0 || d > dataset.MaxPosition || n > 0 && d > dataset.MaxPosition/n {
				return nil
			}
			n *= d
		}
		if out[row+1] = out[row] + n; out[row+1] > dataset.MaxPosition {
			return nil
		}
	}
	return out
}

// shapes returns the shapes of an element.
func (l *layout) shapes(w *where, row int64) *spec.Element {
	out := &spec.Element{Structure: l.spec.Structure, Components: make([]spec.Component, len(l.spec.Components))}
	for i, c := range l.spec.Components {
		out.Components[i] = c
		if l.free[i] == 0 {
			continue
		}
		shape, at := make([]int64, len(c.Shape)), row*int64(l.free[i])
		for d, n := range c.Shape {
			if n < 0 {
				n, at = w.dims[i][at], at+1
			}
			shape[d] = n
		}
		out.Components[i].Shape = shape
	}
	return out
}

// shaped tells whether an element has these shapes.
func (l *layout) shaped(w *where, row int64, shapes *spec.Element) bool {
	for i, c := range l.spec.Components {
		at := row * int64(l.free[i])
		for d, n := range c.Shape {
			if n < 0 {
				if w.dims[i][at] != shapes.Components[i].Shape[d] {
					return false
				}
				at++
			}
		}
	}
	return true
}
