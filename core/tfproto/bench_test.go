package tfproto

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkParse parses examples of {x: float[64], y: int64, name: bytes}.
func BenchmarkParse(b *testing.B) {
	var messages [][]byte
	x := make([]float32, 64)
	for i := range 256 {
		x[i%64] = float32(i)
		messages = append(messages, example(kv("x", floats(x...)), kv("y", ints(int64(i))), kv("name", texts(fmt.Sprint("name", i)))))
	}
	in := serialized(messages...)
	p := want(b, Feature{Key: "x", Type: Float, Size: 64}, Feature{Key: "y", Type: Int64, Size: 1}, Feature{Key: "name", Type: Bytes, Size: 1})
	columns := make([]Column, 3)
	b.ReportAllocs()
	for b.Loop() {
		_, err := p.Parse(in, columns)
		require.NoError(b, err)
	}
	b.ReportMetric(float64(len(messages)*b.N)/b.Elapsed().Seconds()/1e6, "Mexamples/s")
}

// BenchmarkParseWide parses 20 of 60 features in changing order.
func BenchmarkParseWide(b *testing.B) {
	var messages [][]byte
	for i := range 64 {
		var entries [][]byte
		for k := range 60 {
			entries = append(entries, kv(fmt.Sprint("feature_number_", (k+i%2)%60), ints(int64(i*k))))
		}
		messages = append(messages, example(entries...))
	}
	in := serialized(messages...)
	var features []Feature
	for k := range 20 {
		features = append(features, Feature{Key: fmt.Sprint("feature_number_", 3*k), Type: Int64, Size: 1})
	}
	p := want(b, features...)
	columns := make([]Column, len(features))
	for b.Loop() {
		_, err := p.Parse(in, columns)
		require.NoError(b, err)
	}
	b.ReportMetric(float64(len(messages)*b.N)/b.Elapsed().Seconds()/1e6, "Mexamples/s")
}
