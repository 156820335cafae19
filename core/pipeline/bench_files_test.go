package pipeline

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/codec"
	"infeed/core/record"
	"infeed/core/vfs"
)

// examples writes four TFRecord files of workload W3: tf.train.Examples of 64 floats, a
// number and a name.
func examples(b *testing.B, each int) (paths []string) {
	field := func(dst []byte, n int, payload []byte) []byte {
		return append(binary.AppendUvarint(append(dst, byte(n<<3|2)), uint64(len(payload))), payload...)
	}
	feature := func(dst []byte, key string, kind int, list []byte) []byte {
		return field(dst, 1, field(field(nil, 1, []byte(key)), 2, field(nil, kind, field(nil, 1, list))))
	}
	chance := rand.New(rand.NewPCG(1, 2))
	for f := range 4 {
		path := filepath.Join(b.TempDir(), fmt.Sprint(f))
		w, err := record.NewWriter(vfs.Local(), path, codec.None, codec.DefaultLevel)
		require.NoError(b, err)
		for i := range each {
			var x []byte
			for range 64 {
				x = binary.LittleEndian.AppendUint32(x, math.Float32bits(chance.Float32()))
			}
			e := feature(nil, "name", 1, fmt.Append(nil, 1_000_000+f*each+i, "-abcdefghijklm"[:8+chance.IntN(7)]))
			e = feature(feature(e, "x", 2, x), "y", 3, binary.AppendUvarint(nil, uint64(chance.IntN(1000))))
			require.NoError(b, w.Write(field(nil, 1, e)))
		}
		require.NoError(b, w.Close())
		paths = append(paths, path)
	}
	return paths
}

// table writes the CSV file of workload W4: six floats, two ints, two texts.
func table(b *testing.B, rows int) string {
	chance := rand.New(rand.NewPCG(3, 4))
	var s strings.Builder
	s.WriteString("f0,f1,f2,f3,f4,f5,i0,i1,s0,s1\n")
	for range rows {
		for k := range 6 {
			fmt.Fprintf(&s, "%.6g,", chance.NormFloat64()*math.Pow10(k%4))
		}
		fmt.Fprintf(&s, "%d,%d,%s,id%06d\n", chance.IntN(100), chance.IntN(2e9)-1e9, []string{"alpha", "bravo", "charlie"}[chance.IntN(3)], chance.IntN(1e6))
	}
	path := filepath.Join(b.TempDir(), "rows.csv")
	require.NoError(b, os.WriteFile(path, []byte(s.String()), 0o644))
	return path
}

// from is the definition of operations as Python writes them, each `op args`.
func from(b *testing.B, ops ...string) *Node {
	var list []string
	for i, op := range ops {
		name, args, _ := strings.Cut(op, " ")
		inputs := "[]"
		if i > 0 {
			inputs = fmt.Sprintf("[%d]", i-1)
		}
		list = append(list, fmt.Sprintf(`{"op": %q, "inputs": %s, "args": %s}`, name, inputs, args))
	}
	all, err := Parse([]byte("["+strings.Join(list, ", ")+"]"), nil)
	require.NoError(b, err)
	return all[len(all)-1].node()
}

// countOf is the definition of how many elements there are.
func countOf(b *testing.B, in *Node) *Node {
	r := &Reduce{InitialState: Tensors{Arrays: []Array{{DType: "<i8", Data: make([]byte, 8)}}}}
	require.NoError(b, json.Unmarshal([]byte(countFunc), &r.ReduceFunc))
	return &Node{Op: r, Inputs: []*Node{in}}
}

const (
	parseExamples = `map {"map_func": {"name": "parse", "hash": "", "program": {"nodes": [{"op": "parse_example", "in": [0], "attrs": {"features": [
		{"key": "name", "kind": "fixed", "dtype": "string", "shape": []}, {"key": "x", "kind": "fixed", "dtype": "float32", "shape": [64]},
		{"key": "y", "kind": "fixed", "dtype": "int64", "shape": []}]}}], "outputs": [1, 2, 3], "structure": {"tuple": [null, null, null]}}}}`
	countFunc = `{"name": "count", "hash": "", "program": {"nodes": [{"op": "const", "in": [], "attrs": {"dtype": "<i8", "shape": [], "data": "AQAAAAAAAAA="}},
		{"op": "add", "in": [0, 2]}], "outputs": [3], "structure": null}}`
	shuffled = `shuffle {"buffer_size": %d, "seed": 1}`
	in256    = `batch {"batch_size": 256}`
)

// BenchmarkFiles prints elements a second as they reach a consumer in Go, of the files of
// workloads W3 and W4.
func BenchmarkFiles(b *testing.B) {
	const each, rows = 25_000, 200_000
	paths, err := json.Marshal(examples(b, each))
	require.NoError(b, err)
	records := fmt.Sprintf(`TFRecordDataset {"filenames": %s}`, paths)
	csv := fmt.Sprintf(`CsvDataset {"filenames": [%q], "header": true, "field_delim": ",", "use_quote_delim": true, "record_defaults": [%s{"dtype": "<i8"}, {"dtype": "<i8"}, {"dtype": "|O"}, {"dtype": "|O"}]}`,
		table(b, rows), strings.Repeat(`{"dtype": "<f4"}, `, 6))
	for _, c := range []struct {
		name     string
		elements int
		node     *Node
	}{
		{"records", 4 * each, from(b, records)},
		{"records counted", 4 * each, countOf(b, from(b, records))},
		{"records in batches", 4 * each, from(b, records, in256)},
		{"parsed", 4 * each, from(b, records, parseExamples)},
		{"parsed in batches", 4 * each, from(b, records, parseExamples, in256)},
		{"in batches parsed", 4 * each, from(b, records, in256, parseExamples)},
		{"parsed, shuffled, in batches", 4 * each, from(b, records, parseExamples, fmt.Sprintf(shuffled, 10_000), in256)},
		{"parsed, shuffled more, in batches", 4 * each, from(b, records, parseExamples, fmt.Sprintf(shuffled, 100_000), in256)},
		{"shuffled, in batches, parsed", 4 * each, from(b, records, fmt.Sprintf(shuffled, 10_000), in256, parseExamples)},
		{"rows", rows, from(b, csv)},
		{"rows in batches", rows, from(b, csv, in256)},
	} {
		d, err := New(c.node)
		require.NoError(b, err)
		for _, workers := range []int{0, 2} {
			b.Run(fmt.Sprintf("%s/workers=%d", c.name, workers), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					readAll(b, d, workers)
				}
				b.ReportMetric(float64(c.elements*b.N)/b.Elapsed().Seconds()/1e6, "M/s")
			})
		}
	}
}

func readAll(b *testing.B, d *Dataset, workers int) {
	it, err := d.Iterate(Options{Workers: workers})
	require.NoError(b, err)
	defer it.Close()
	for {
		g, err := it.Next()
		if err == io.EOF {
			return
		}
		require.NoError(b, err)
		g.Release()
	}
}
