package op

import (
	"math"
	"sync"
)

// float16 is computed as NumPy does: each operation in float32, and rounded.

// fromHalf returns the value of a float16.
func fromHalf(h uint16) float32 {
	sign, exp, frac := uint32(h>>15)<<31, uint32(h>>10&31), uint32(h&0x3ff)
	switch exp {
	case 0:
		v := float32(frac) * (1.0 / (1 << 24)) // exact: a multiple of the least float16
		return math.Float32frombits(sign | math.Float32bits(v))
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

// toHalf rounds to the nearest float16, halves to even.
func toHalf(f float32) uint16 {
	u := math.Float32bits(f)
	sign, mag := uint16(u>>16&0x8000), u&0x7fffffff
	switch {
	case mag > 0x7f800000:
		h := uint16(mag >> 13 & 0x3ff)
		if h == 0 {
			h = 1
		}
		return sign | 0x7c00 | h
	case mag >= 0x477ff000: // rounds beyond the greatest
		return sign | 0x7c00
	case mag < 0x38800000: // subnormal: adding the number whose last bit is 2^-24 rounds
		v := math.Float32frombits(mag) + 0.5
		return sign | uint16(math.Float32bits(v)-math.Float32bits(0.5))
	}
	mag += 0xfff + mag>>13&1
	return sign | uint16((mag-0x38000000)>>13)
}

// roundOdd is a float64 as a float32 that rounds further as the float64 would: what
// does not fit goes into its last bit.
func roundOdd(f float64) float32 {
	g := float32(f)
	u := math.Float32bits(g)
	back := float64(g)
	if back == f || back != back || math.IsInf(back, 0) {
		return g
	}
	if math.Abs(back) > math.Abs(f) {
		u--
	}
	return math.Float32frombits(u | 1)
}

const halvesAtOnce = 256

type halfBuffers struct{ d, a, b, c [4 * halvesAtOnce]byte }

var halfPool = sync.Pool{New: func() any { return new(halfBuffers) }}

// halves makes a loop over float16 of one over float32.
func halves(e loopEntry) loopEntry {
	inner, back := e.loop, e.out == float32s
	size := int(e.out.Size)
	if back {
		size, e.out = 2, float16s
	}
	e.loop = func(d, a, b, c []byte) {
		t := halfPool.Get().(*halfBuffers)
		defer halfPool.Put(t)
		for len(d) > 0 {
			n := min(len(d)/size, halvesAtOnce)
			a, b, c = widen(t.a[:4*n], a), widen(t.b[:4*n], b), widen(t.c[:4*n], c)
			if back {
				inner(t.d[:4*n], t.a[:4*n], t.b[:4*n], t.c[:4*n])
				narrow(d[:2*n], t.d[:4*n])
			} else {
				inner(d[:size*n], t.a[:4*n], t.b[:4*n], t.c[:4*n])
			}
			d = d[size*n:]
		}
	}
	return e
}

// widen converts as many as fit of the float16 in h and returns the others.
func widen(f, h []byte) []byte {
	n := min(len(f)/4, len(h)/2)
	z, x := view[float32](f)[:n], view[uint16](h)[:n]
	for i, v := range x {
		z[i] = fromHalf(v)
	}
	return h[2*n:]
}

func narrow(h, f []byte) {
	z := view[uint16](h)
	for i, v := range view[float32](f)[:len(z)] {
		z[i] = toHalf(v)
	}
}
