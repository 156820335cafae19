package source

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/codec"
	"infeed/core/dataset"
	"infeed/core/record"
	"infeed/core/vfs"
)

// benchRecords writes files of records of so many bytes, 32 MiB in all.
func benchRecords(b *testing.B, files, size int) (paths []string, n int) {
	r := rand.New(rand.NewPCG(1, 1))
	data := make([]byte, size)
	each := 32 << 20 / files / (size + 16)
	for i := range files {
		path := filepath.Join(b.TempDir(), fmt.Sprint(i))
		w, err := record.NewWriter(vfs.Local(), path, codec.None, codec.DefaultLevel)
		require.NoError(b, err)
		for range each {
			data[r.IntN(size)]++
			require.NoError(b, w.Write(data))
		}
		require.NoError(b, w.Close())
		paths = append(paths, path)
	}
	return paths, each * files
}

// read reads a pass in pieces of at most limit elements.
func read(b *testing.B, d dataset.Definition, workers int, limit int64) (n int64) {
	s := dataset.NewScope(vfs.Local(), workers)
	defer s.Close()
	it, err := d.Iterate(s, dataset.PassKey(0), nil)
	require.NoError(b, err)
	var buffer block.Buffer
	for {
		buffer.Reset()
		got, err := it.Next(limit, &buffer)
		if errors.Is(err, io.EOF) {
			return n
		}
		require.NoError(b, err)
		n += got
	}
}

// BenchmarkRecords counts records of 330 bytes, as those of a small example are.
func BenchmarkRecords(b *testing.B) {
	paths, n := benchRecords(b, 4, 330)
	for _, parallel := range []int64{0, 4} {
		d, err := TFRecord(Files{Paths: paths, ParallelReads: parallel})
		require.NoError(b, err)
		for _, workers := range []int{0, 1, 2} {
			for _, limit := range []int64{256, 4096} {
				b.Run(fmt.Sprintf("parallel=%d/workers=%d/limit=%d", parallel, workers, limit), func(b *testing.B) {
					for b.Loop() {
						require.EqualValues(b, n, read(b, d, workers, limit))
					}
					b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds()/1e6, "Mrecords/s")
				})
			}
		}
	}
}
