package tfproto_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/codec"
	"infeed/core/record"
	"infeed/core/tfproto"
	"infeed/core/vfs"
)

// benchFile writes a TFRecord file of examples {x: float[64], y: int64, name: bytes}.
func benchFile(b *testing.B, path string, examples int) {
	b.Helper()
	w, err := record.NewWriter(vfs.Local(), path, codec.None, codec.DefaultLevel)
	require.NoError(b, err)
	field := func(dst []byte, n int, payload []byte) []byte {
		return append(binary.AppendUvarint(append(dst, byte(n<<3|2)), uint64(len(payload))), payload...)
	}
	entry := func(key string, kind int, list []byte) []byte {
		return field(nil, 1, field(field(nil, 1, []byte(key)), 2, field(nil, kind, list)))
	}
	for i := range examples {
		var x []byte
		for k := range 64 {
			x = binary.LittleEndian.AppendUint32(x, math.Float32bits(float32(i+k)))
		}
		features := entry("name", 1, field(nil, 1, fmt.Append(nil, "sample-", i)))
		features = append(features, entry("x", 2, field(nil, 1, x))...)
		features = append(features, entry("y", 3, field(nil, 1, binary.AppendUvarint(nil, uint64(i%10))))...)
		require.NoError(b, w.Write(field(nil, 1, features)))
	}
	require.NoError(b, w.Close())
}

// BenchmarkFiles reads examples from two files, checks and parses them, on one core and
// on two.
func BenchmarkFiles(b *testing.B) {
	const examples = 50_000
	paths := []string{filepath.Join(b.TempDir(), "0"), filepath.Join(b.TempDir(), "1")}
	for _, path := range paths {
		benchFile(b, path, examples)
	}
	p, err := tfproto.NewParser([]tfproto.Feature{
		{Key: "x", Type: tfproto.Float, Size: 64}, {Key: "y", Type: tfproto.Int64, Size: 1}, {Key: "name", Type: tfproto.Bytes, Size: 1}})
	require.NoError(b, err)
	parse := func(paths []string) {
		r, err := record.NewReader(vfs.Local(), paths, record.TFRecord(), record.Options{}, record.Token{})
		require.NoError(b, err)
		defer r.Close()
		columns := make([]tfproto.Column, 3)
		var block record.Block
		n := 0
		for r.Next(&block, 1<<20) != io.EOF {
			got, err := p.Parse(tfproto.Serialized{Data: block.Data, Starts: block.Starts, Ends: block.Ends}, columns)
			require.NoError(b, err)
			n += got
		}
		require.Equal(b, examples*len(paths), n)
	}
	b.Run("one", func(b *testing.B) {
		for b.Loop() {
			parse(paths)
		}
		b.ReportMetric(float64(2*examples*b.N)/b.Elapsed().Seconds()/1e6, "Mexamples/s")
	})
	b.Run("two", func(b *testing.B) {
		for b.Loop() {
			var g sync.WaitGroup
			for i := range paths {
				g.Go(func() { parse(paths[i : i+1]) })
			}
			g.Wait()
		}
		b.ReportMetric(float64(2*examples*b.N)/b.Elapsed().Seconds()/1e6, "Mexamples/s")
	})
}
