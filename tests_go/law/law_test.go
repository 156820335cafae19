// Package law holds the laws that every pipeline keeps, over random ones.
package law

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/arena"
	"infeed/core/errs"
	"infeed/core/par"
	"infeed/core/pipeline"
)

// enough is how many elements are read of an infinite pipeline.
const enough = 60

// random returns a pipeline over n numbers, and how it is written.
func random(r *rand.Rand) (ops []pipeline.Op, text string) {
	n := int64(r.IntN(40))
	x := make([]byte, 8*n)
	for i := range n {
		binary.LittleEndian.PutUint64(x[8*i:], uint64(i))
	}
	ops = append(ops, &pipeline.Slices{Rows: n, Arrays: []pipeline.Array{{DType: "<i8", Data: x}}})
	for range r.IntN(6) {
		ops = append(ops, operation(r))
	}
	return ops, fmt.Sprintf("%d numbers, %s", n, words(ops[1:]))
}

func operation(r *rand.Rand) pipeline.Op {
	switch r.IntN(6) {
	case 0:
		buffer := r.Int64N(20) + 1
		return &pipeline.Shuffle{Seed: r.Uint64(), Drawn: r.IntN(2) == 0, SameEachPass: r.IntN(3) == 0, BufferSize: &buffer}
	case 1:
		return &pipeline.Repeat{Count: r.Int64N(5) - 1}
	case 2:
		return &pipeline.Batch{BatchSize: r.Int64N(6) + 1, DropRemainder: r.IntN(2) == 0}
	case 3:
		return &pipeline.Take{Count: r.Int64N(60) - 1}
	case 4:
		return &pipeline.Skip{Count: r.Int64N(8)}
	}
	shards := r.Int64N(3) + 1
	return &pipeline.Shard{NumShards: shards, Index: r.Int64N(shards)}
}

func words(ops []pipeline.Op) string {
	text, _ := json.Marshal(ops)
	return fmt.Sprintf("%T %s", ops, text)
}

// read returns what comes from an iterator: the shapes and bytes of each element
// and, last, the error that ended it.
func read(t *testing.T, d *pipeline.Dataset, o pipeline.Options) []string {
	t.Helper()
	it, err := d.Iterate(o)
	require.NoError(t, err)
	defer it.Close()
	var out []string
	for len(out) < enough {
		g, err := it.Next()
		if errors.Is(err, io.EOF) {
			return append(out, "end")
		}
		if err != nil {
			return append(out, err.Error())
		}
		for i := range g.Block.Rows {
			out = append(out, fmt.Sprint(g.Shapes.Shapes(), g.Block.Slice(i, i+1).Columns[0].Data))
		}
		g.Release()
	}
	return out[:enough]
}

// Workers and sizes of groups do not show, and every state resumes.
func TestRandomPipelines(t *testing.T) {
	mapped := arena.MappedBytes()
	failed, read_ := 0, 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		ops, text := random(r)
		d, err := pipeline.New(pipeline.Chain(ops...))
		require.NoError(t, err, text)
		pass := r.Int64N(3)
		want := read(t, d, pipeline.Options{Pass: pass})
		read_ += len(want) - 1
		if last := want[len(want)-1]; last != "end" && len(want) < enough {
			failed++
		}
		for _, workers := range []int{0, 1, 2, 8} {
			o := pipeline.Options{Pass: pass, Workers: workers, GroupBytes: 1 << r.IntN(12)}
			require.Equal(t, want, read(t, d, o), "%s: %d workers, groups of %d", text, workers, o.GroupBytes)
		}
		saver, err := d.Iterate(pipeline.Options{Pass: pass})
		require.NoError(t, err)
		for range 3 {
			k := r.IntN(len(want))
			now, err := saver.State(int64(k))
			require.NoError(t, err)
			stored, err := json.Marshal(now)
			require.NoError(t, err)
			require.Less(t, len(stored), 1024, text)
			var state pipeline.State
			require.NoError(t, json.Unmarshal(stored, &state))
			rest := read(t, d, pipeline.Options{State: &state, Workers: 2})
			n := min(len(rest), len(want)-k)
			require.Equal(t, want[k:k+n], rest[:n], "%s: from element %d", text, k)
		}
		saver.Close()
	}
	require.Zero(t, par.Live())
	require.Equal(t, mapped, arena.MappedBytes())
	require.Greater(t, read_, 3000, "the pipelines are too short to show anything")
	require.Greater(t, failed, 3, "no pipeline failed on the way, as some should")
}

// model is what a pipeline without shuffles gives, made the obvious way: nested
// slices of numbers.
func model(ops []pipeline.Op) (out []any, err error) {
	for _, op := range ops {
		switch op := op.(type) {
		case *pipeline.Slices:
			for i := range op.Rows {
				out = append(out, i)
			}
		case *pipeline.Repeat:
			count := op.Count
			if count < 0 {
				count = 300 // more than is read
			}
			out = slices.Repeat(out, int(count))
		case *pipeline.Batch:
			out, err = stacked(out, int(op.BatchSize), op.DropRemainder)
		case *pipeline.Take:
			if op.Count >= 0 {
				out = out[:min(int(op.Count), len(out))]
			}
		case *pipeline.Skip:
			out = out[min(int(op.Count), len(out)):]
		case *pipeline.Shard:
			var mine []any
			for i := int(op.Index); i < len(out); i += int(op.NumShards) {
				mine = append(mine, out[i])
			}
			out = mine
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func stacked(in []any, size int, drop bool) (out []any, err error) {
	for len(in) >= size || len(in) > 0 && !drop {
		n := min(size, len(in))
		for _, e := range in[:n] {
			if shape(e) != shape(in[0]) {
				return nil, errs.New(errs.InvalidArgument, "model", "unequal")
			}
		}
		out = append(out, slices.Clone(in[:n]))
		in = in[n:]
	}
	return out, nil
}

func shape(e any) string {
	if parts, ok := e.([]any); ok {
		return fmt.Sprint(len(parts), " ", shape(parts[0]))
	}
	return ""
}

func flat(e any) []byte {
	if parts, ok := e.([]any); ok {
		var out []byte
		for _, p := range parts {
			out = append(out, flat(p)...)
		}
		return out
	}
	return binary.LittleEndian.AppendUint64(nil, uint64(e.(int64)))
}

func dims(e any) []int {
	if parts, ok := e.([]any); ok {
		return append([]int{len(parts)}, dims(parts[0])...)
	}
	return []int{}
}

func TestPipelinesGiveWhatTheModelGives(t *testing.T) {
	compared := 0
	for seed := range uint64(600) {
		ops, text := random(rand.New(rand.NewPCG(seed, 2)))
		if slices.ContainsFunc(ops, func(op pipeline.Op) bool { _, is := op.(*pipeline.Shuffle); return is }) {
			continue
		}
		want, err := model(ops)
		if err != nil || len(want) > 50_000 {
			continue // it fails on the way, which the model does not tell when
		}
		d, err := pipeline.New(pipeline.Chain(ops...))
		require.NoError(t, err, text)
		got := read(t, d, pipeline.Options{Workers: 2})
		for i, e := range want[:min(len(want), enough)] {
			require.Equal(t, fmt.Sprint(fmt.Sprint(dims(e)), flat(e)), got[i], "%s: element %d", text, i)
			compared++
		}
		if len(want) < enough {
			require.Equal(t, "end", got[len(want)], text)
		}
	}
	require.Greater(t, compared, 2000)
}
