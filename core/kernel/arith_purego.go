//go:build purego || !cgo

package kernel

func float32s(op Arith, d, a, b []float32)       { arithGo(op, d, a, b) }
func float64s(op Arith, d, a, b []float64)       { arithGo(op, d, a, b) }
func converted(pair Convert, d, a []byte, n int) { convertedGo(pair, d, a, n) }
