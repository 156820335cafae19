package op

// strided is an order in which to copy values of rows: dimension 0 is the rows,
// without end; the others are those of a row. Strides count values. A negative
// stride goes backwards.
type strided struct {
	shape, strides []int64 // shape[0] is not used
	offset         int64   // of the first value
	size           int64   // of a value in bytes
}

// broadcast is the order in which a value of shape from is read to have shape to.
func broadcast(from, to []int64, uniform bool) strided {
	s := strided{shape: make([]int64, len(to)+1), strides: make([]int64, len(to)+1)}
	copy(s.shape[1:], to)
	stride, pad := int64(1), len(to)-len(from)
	for i := len(from) - 1; i >= 0; i-- {
		if from[i] != 1 {
			s.strides[1+pad+i] = stride
		}
		stride *= from[i]
	}
	if !uniform {
		s.strides[0] = stride
	}
	s.merge()
	return s
}

// merge joins dimensions that are read one after the other.
func (s *strided) merge() {
	shape, strides := s.shape[:1:1], s.strides[:1:1]
	for i := 1; i < len(s.shape); i++ {
		n, last := s.shape[i], len(shape)-1
		switch {
		case n == 1:
		case strides[last] == n*s.strides[i] && last > 0:
			shape[last], strides[last] = shape[last]*n, s.strides[i]
		default:
			shape, strides = append(shape, n), append(strides, s.strides[i])
		}
	}
	// Rows whose values follow one another, and those of the row before, are one
	// dimension without end.
	if len(shape) == 2 && strides[0] == shape[1]*strides[1] {
		shape, strides = shape[:1], strides[1:]
	}
	s.shape, s.strides = shape, strides
}

// whole tells whether the order is that in memory.
func (s *strided) whole() bool { return len(s.shape) == 1 && s.strides[0] == 1 && s.offset == 0 }

// copy fills dst with values in order, from value number from on.
func (s *strided) copy(dst, src []byte, from int64) {
	if len(dst) == 0 {
		return
	}
	var index [maxRank + 1]int64
	at, last := s.offset, len(s.shape)-1
	for i := last; i > 0; i-- {
		index[i] = from % s.shape[i]
		from /= s.shape[i]
		at += index[i] * s.strides[i]
	}
	index[0] = from
	at += from * s.strides[0]
	for len(dst) > 0 {
		n := int64(len(dst)) / s.size
		if last > 0 {
			n = min(n, s.shape[last]-index[last])
		}
		copyRun(dst[:n*s.size], src, at, s.strides[last], s.size)
		dst = dst[n*s.size:]
		at += n * s.strides[last]
		index[last] += n
		for i := last; i > 0 && index[i] == s.shape[i]; i-- {
			at += s.strides[i-1] - s.shape[i]*s.strides[i]
			index[i] = 0
			index[i-1]++
		}
	}
}

// copyRun fills dst with values that are stride apart.
func copyRun(dst, src []byte, at, stride, size int64) {
	if stride == 1 {
		copy(dst, src[at*size:])
		return
	}
	switch size {
	case 1:
		copyValues[uint8](dst, src, at, stride)
	case 2:
		copyValues[uint16](dst, src, at, stride)
	case 4:
		copyValues[uint32](dst, src, at, stride)
	case 8:
		copyValues[uint64](dst, src, at, stride)
	default:
		for ; len(dst) > 0; dst, at = dst[size:], at+stride {
			copy(dst[:size], src[at*size:])
		}
	}
}

func copyValues[T uint8 | uint16 | uint32 | uint64](dst, src []byte, at, stride int64) {
	d, s := view[T](dst), view[T](src)
	if stride == 0 {
		x := s[at]
		for i := range d {
			d[i] = x
		}
		return
	}
	for i := range d {
		d[i] = s[at]
		at += stride
	}
}
