package kernel

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// floats are any bits, NaNs among them; so are they compared.
func floats[T float32 | float64](n int) []T {
	var x T
	return values[T](randomBytes(n*int(unsafe.Sizeof(x))), n)
}

func TestArithTwinsAgree(t *testing.T) {
	for _, n := range []int{0, 1, 3, 4, 7, 64, 1001} {
		for op := Add; op <= Divide; op++ {
			a, b := floats[float32](n+1), floats[float32](n + 2)[1:]
			want, got := make([]float32, n+1), make([]float32, n+1)
			arithGo(op, want[:n], a, b)
			Float32s(op, got[:n], a, b)
			require.Equal(t, numbers(want), numbers(got), "float32 op %d, %d values", op, n)
			Float32s(op, a[:n], a, b)
			require.Equal(t, numbers(want[:n]), numbers(a[:n]), "in place")
			x, y := floats[float64](n+1), floats[float64](n + 2)[1:]
			wide, wider := make([]float64, n+1), make([]float64, n+1)
			arithGo(op, wide[:n], x, y)
			Float64s(op, wider[:n], x, y)
			require.Equal(t, numbers(wide), numbers(wider), "float64 op %d, %d values", op, n)
		}
	}
}

// numbers makes all NaNs one, whose bits depend on the order of operands.
func numbers[T float32 | float64](x []T) []T {
	out := make([]T, len(x))
	for i, v := range x {
		if out[i] = v; v != v {
			out[i] = -12345
		}
	}
	return out
}

func TestConvertTwinsAgree(t *testing.T) {
	for pair, size := range sizes {
		for _, n := range []int{0, 1, 5, 16, 1003} {
			a := randomBytes(n * size[0])
			want, got := make([]byte, n*size[1]+5), make([]byte, n*size[1]+5)
			convertedGo(Convert(pair), want, a, n)
			Converted(Convert(pair), got, a, n)
			if size[1] == 4 {
				require.Equal(t, numbers(values[float32](want, n)), numbers(values[float32](got, n)))
			} else {
				require.Equal(t, numbers(values[float64](want, n)), numbers(values[float64](got, n)))
			}
			require.Equal(t, make([]byte, 5), got[n*size[1]:], "wrote past the end")
		}
	}
}

func BenchmarkArith(b *testing.B) {
	x, y, z := floats[float32](1024), floats[float32](1024), make([]float32, 1024)
	for name, f := range map[string]func(op Arith, d, a, b []float32){"go": arithGo[float32], "used": float32s} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(4096)
			for b.Loop() {
				f(Multiply, z, x, y)
			}
		})
	}
}

func BenchmarkConvert(b *testing.B) {
	x, z := randomBytes(1024), make([]byte, 4096)
	for name, f := range map[string]func(pair Convert, d, a []byte, n int){"go": convertedGo, "used": converted} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(4096)
			for b.Loop() {
				f(U8ToF32, z, x, 1024)
			}
		})
	}
}
