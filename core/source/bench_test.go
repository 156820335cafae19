package source

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/codec"
	"infeed/core/csvtext"
	"infeed/core/dataset"
	"infeed/core/record"
	"infeed/core/spec"
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

// timed runs f, which makes n elements, over and over: elements a second, and what one
// takes of the processors, which other work on the machine does not change much.
func timed(b *testing.B, n int, f func()) {
	spent := func() float64 {
		var u syscall.Rusage
		require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
		return float64(u.Utime.Nano() + u.Stime.Nano())
	}
	before := spent()
	for b.Loop() {
		f()
	}
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds()/1e6, "Melements/s")
	b.ReportMetric((spent()-before)/float64(n*b.N), "cpu-ns/element")
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
					timed(b, n, func() { require.EqualValues(b, n, read(b, d, workers, limit)) })
				})
			}
		}
	}
}

// benchCsv writes rows of six floats, two integers and two texts.
func benchCsv(b *testing.B, rows int) string {
	r := rand.New(rand.NewPCG(1, 1))
	path := filepath.Join(b.TempDir(), "x.csv")
	f, err := vfs.Local().Create(path)
	require.NoError(b, err)
	w := bufio.NewWriter(f)
	fmt.Fprintln(w, "f0,f1,f2,f3,f4,f5,i0,i1,s0,s1")
	for range rows {
		for range 6 {
			fmt.Fprintf(w, "%.6f,", r.NormFloat64())
		}
		fmt.Fprintf(w, "%d,%d,name_%d,city_%d\n", r.IntN(1000), r.IntN(1_000_000), r.IntN(10_000), r.IntN(100))
	}
	require.NoError(b, w.Flush())
	require.NoError(b, f.Close())
	return path
}

func BenchmarkCsv(b *testing.B) {
	const n = 200_000
	columns := []csvtext.Column{}
	for range 6 {
		columns = append(columns, csvtext.Column{DType: spec.DType{Kind: 'f', Size: 4}})
	}
	for range 2 {
		columns = append(columns, csvtext.Column{DType: spec.DType{Kind: 'i', Size: 8}})
	}
	columns = append(columns, csvtext.Column{DType: spec.Text}, csvtext.Column{DType: spec.Text})
	d, err := Csv(CSV{Files: Files{Paths: []string{benchCsv(b, n)}}, Columns: columns, Header: true})
	require.NoError(b, err)
	for _, workers := range []int{0, 1, 2} {
		for _, limit := range []int64{256, 4096} {
			b.Run(fmt.Sprintf("workers=%d/limit=%d", workers, limit), func(b *testing.B) {
				timed(b, n, func() { require.EqualValues(b, n, read(b, d, workers, limit)) })
			})
		}
	}
}

func BenchmarkNumbers(b *testing.B) {
	const n = 1 << 20
	numbers, err := Range(0, n, 1, spec.DType{Kind: 'i', Size: 8})
	require.NoError(b, err)
	text := &block.Text{}
	for range n {
		text.Append([]byte("a text"))
	}
	texts, err := Slices(textScalar, n, [][]byte{nil}, text)
	require.NoError(b, err)
	for name, d := range map[string]dataset.Definition{"range": numbers, "texts": texts} {
		b.Run(name, func(b *testing.B) {
			timed(b, n, func() { require.EqualValues(b, n, read(b, d, 0, 4096)) })
		})
	}
}

// BenchmarkIndexed reads records in random order, 256 at a time.
func BenchmarkIndexed(b *testing.B) {
	paths, n := benchRecords(b, 4, 330)
	stream, err := TFRecord(Files{Paths: paths})
	require.NoError(b, err)
	d, err := Indexed(vfs.Local(), stream)
	require.NoError(b, err)
	s := dataset.NewScope(vfs.Local(), 0)
	defer s.Close()
	access, err := d.(dataset.Indexed).Open(s, dataset.PassKey(0))
	require.NoError(b, err)
	r := rand.New(rand.NewPCG(1, 1))
	index := make([]int64, 256)
	var buffer block.Buffer
	timed(b, len(index), func() {
		for i := range index {
			index[i] = r.Int64N(int64(n))
		}
		buffer.Reset()
		require.NoError(b, access.Fetch(index, &buffer))
	})
}
