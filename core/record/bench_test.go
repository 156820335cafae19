package record

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/codec"
	"infeed/core/vfs"
)

// benchFiles writes files of records of some bytes, 32 MiB in all.
func benchFiles(b *testing.B, files, size int) (paths []string, records int) {
	r := rand.New(rand.NewPCG(1, 1))
	record := make([]byte, size)
	records = 32 << 20 / files / (size + 16) * files
	for i := range files {
		path := filepath.Join(b.TempDir(), fmt.Sprint(i))
		w, err := NewWriter(vfs.Local(), path, codec.None, codec.DefaultLevel)
		require.NoError(b, err)
		for range records / files {
			if size >= 8 {
				binary.LittleEndian.PutUint64(record, r.Uint64())
			}
			require.NoError(b, w.Write(record))
		}
		require.NoError(b, w.Close())
		paths = append(paths, path)
	}
	return paths, records
}

// report gives the figure of a benchmark that does n things a turn: things a second,
// and what one takes of the processors, which other work on the machine does not
// change much.
func report(b *testing.B, n int, things string) {
	b.Helper()
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	spent := float64(u.Utime.Nano()+u.Stime.Nano()) - spentBefore
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds()/1e6, "M"+things+"/s")
	b.ReportMetric(spent/float64(n*b.N), "cpu-ns/"+things[:len(things)-1])
}

// start is to be called before the loop of a benchmark that reports.
func start(b *testing.B) {
	b.Helper()
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	spentBefore = float64(u.Utime.Nano() + u.Stime.Nano())
}

var spentBefore float64

func count(b *testing.B, paths []string, format Format, o Options) (n int) {
	r, err := NewReader(vfs.Local(), paths, format, o, Token{})
	require.NoError(b, err)
	defer r.Close()
	var block Block
	for {
		err := r.Next(&block, 1<<20)
		if err == io.EOF {
			return n
		}
		require.NoError(b, err)
		n += block.Len()
	}
}

// BenchmarkCount counts records of TFRecord files in the page cache.
func BenchmarkCount(b *testing.B) {
	for _, size := range []int{32, 330, 3000, 100_000} {
		paths, records := benchFiles(b, 2, size)
		for name, o := range map[string]Options{"one": {}, "deferred": {Deferred: true}} {
			b.Run(fmt.Sprintf("bytes=%d/%s", size, name), func(b *testing.B) {
				b.SetBytes(int64(records * (size + 16)))
				start(b)
				for b.Loop() {
					require.Equal(b, records, count(b, paths, TFRecord(), o))
				}
				report(b, records, "records")
			})
		}
		b.Run(fmt.Sprintf("bytes=%d/two", size), func(b *testing.B) {
			b.SetBytes(int64(records * (size + 16)))
			start(b)
			for b.Loop() {
				var g sync.WaitGroup
				for _, p := range paths {
					g.Go(func() { require.Equal(b, records/2, count(b, []string{p}, TFRecord(), Options{})) })
				}
				g.Wait()
			}
			report(b, records, "records")
		})
	}
}

// BenchmarkTwoStages counts records of one file whose checksums a second goroutine
// looks at.
func BenchmarkTwoStages(b *testing.B) {
	paths, records := benchFiles(b, 1, 330)
	start(b)
	for b.Loop() {
		r, err := NewReader(vfs.Local(), paths, TFRecord(), Options{Deferred: true}, Token{})
		require.NoError(b, err)
		free, full := make(chan *Block, 4), make(chan *Block, 4)
		for range cap(free) {
			free <- new(Block)
		}
		n := 0
		var g sync.WaitGroup
		g.Go(func() {
			for block := range full {
				require.NoError(b, block.Verify())
				n += block.Len()
				free <- block
			}
		})
		for block := <-free; r.Next(block, 1<<20) == nil; block = <-free {
			full <- block
		}
		close(full)
		g.Wait()
		r.Close()
		require.Equal(b, records, n)
	}
	report(b, records, "records")
}

// BenchmarkBlockBytes looks for the best size of blocks.
func BenchmarkBlockBytes(b *testing.B) {
	paths, records := benchFiles(b, 2, 330)
	for _, kib := range []int{32, 64, 128, 256, 512, 1024, 4096} {
		b.Run(fmt.Sprintf("KiB=%d", kib), func(b *testing.B) {
			start(b)
			for b.Loop() {
				require.Equal(b, records, count(b, paths, TFRecord(), Options{BlockBytes: kib << 10}))
			}
			report(b, records, "records")
		})
	}
}

// BenchmarkLines counts lines of about 30 bytes.
func BenchmarkLines(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	var text []byte
	lines := 0
	for ; len(text) < 32<<20; lines++ {
		text = append(text, make([]byte, r.IntN(60))...)
		text = append(text, '\n')
	}
	path := filepath.Join(b.TempDir(), "lines")
	require.NoError(b, os.WriteFile(path, text, 0o600))
	b.SetBytes(int64(len(text)))
	start(b)
	for b.Loop() {
		require.Equal(b, lines, count(b, []string{path}, Lines(), Options{}))
	}
	report(b, lines, "lines")
}

// BenchmarkIndex reads records in random order.
func BenchmarkIndex(b *testing.B) {
	paths, records := benchFiles(b, 2, 330)
	ix, _, err := NewIndex(vfs.Local(), paths, TFRecord(), Options{})
	require.NoError(b, err)
	defer ix.Close()
	r := rand.New(rand.NewPCG(1, 1))
	numbers := make([]int64, 256)
	var block Block
	start(b)
	for b.Loop() {
		for i := range numbers {
			numbers[i] = r.Int64N(int64(records))
		}
		require.NoError(b, ix.Read(&block, numbers))
	}
	report(b, len(numbers), "records")
}
