package tfproto

// Longest returns the most values, or steps, that an example has in a column that is
// not Fixed.
func (c *Column) Longest() (n int64) {
	for i := 1; i < len(c.Splits); i++ {
		n = max(n, c.Splits[i]-c.Splits[i-1])
	}
	return n
}

// Pad returns a Sequence, or a Var with steps of one value, as a dense column: each
// example has the same number of steps, at least Longest of them, and those it lacks
// are fill, which is one value: 0 or no bytes if fill is nil.
func (c *Column) Pad(f *Feature, steps int64, fill *Column) Column {
	size := max(f.Size, 1)
	if fill == nil {
		fill = &Column{Values: make([]byte, f.Type.width()), Offsets: []int64{0, 0}}
	}
	var out Column
	if f.Type == Bytes {
		out.Offsets = append(out.Offsets, 0)
	}
	for i := 1; i < len(c.Splits); i++ {
		from, to := c.Splits[i-1]*size, c.Splits[i]*size
		if f.Type == Bytes {
			for k := from; k < to; k++ {
				out.appendPacked(Bytes, c.Text(int(k)))
			}
		} else {
			w := int64(f.Type.width())
			out.Values = append(out.Values, c.Values[from*w:to*w]...)
		}
		for range steps*size - (to - from) {
			out.appendOne(f.Type, fill)
		}
	}
	return out
}

func (c *Column) appendOne(t Type, value *Column) {
	if t == Bytes {
		c.appendPacked(Bytes, value.Text(0))
	} else {
		c.Values = append(c.Values, value.Values...)
	}
}

// Indices returns the place of each value of a Var column, as a tf.SparseTensor has
// it: (example, number), or in feature lists (example, step, number), one after the
// other.
func (c *Column) Indices() []int64 {
	var out []int64
	for i := 1; i < len(c.Splits); i++ {
		from, to := c.Splits[i-1], c.Splits[i]
		for k := from; k < to; k++ {
			if c.Steps == nil {
				out = append(out, int64(i-1), k-from)
				continue
			}
			for v := c.Steps[k]; v < c.Steps[k+1]; v++ {
				out = append(out, int64(i-1), k-from, v-c.Steps[k])
			}
		}
	}
	return out
}
