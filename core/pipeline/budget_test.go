package pipeline

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"infeed/core/arena"
	"infeed/core/dataset"
	"infeed/core/rng"
	"infeed/core/spec"
)

// supply is a source of elements that knows how many of their bytes are on the way.
type supply struct {
	noInputs
	known      bool  // their shape
	each       int64 // elements that come at once at most; 0: any number
	made, gone *atomic.Int64
	most       *atomic.Int64 // of what was on the way
}

const supplied = 64 << 10 // bytes of an element

func (*supply) text() string { return "supply" }
func (s *supply) build([]dataset.Definition, int) (dataset.Definition, error) {
	return s, nil
}

func (s *supply) Spec() *spec.Element {
	c := spec.Component{DType: spec.DType{Kind: 'u', Size: 1}, Shape: []int64{-1}}
	if s.known {
		c.Shape = []int64{supplied}
	}
	return &spec.Element{Components: []spec.Component{c}}
}

func (s *supply) Cardinality() int64 { return dataset.Unknown }

func (s *supply) Iterate(*dataset.Scope, rng.Key, *dataset.Token) (dataset.Iterator, error) {
	return &supplying{s}, nil
}

type supplying struct{ *supply }

func (*supplying) Token() *dataset.Token { return nil }

func (s *supplying) Next(limit int64, dst dataset.Sink) (int64, error) {
	if s.each > 0 {
		limit = min(limit, s.each)
	}
	shapes := &spec.Element{Components: []spec.Component{{DType: spec.DType{Kind: 'u', Size: 1}, Shape: []int64{supplied}}}}
	if _, err := dst.Block(shapes, limit); err != nil {
		return 0, err
	}
	for now := s.made.Add(limit*supplied) - s.gone.Load(); ; {
		most := s.most.Load()
		if now <= most || s.most.CompareAndSwap(most, now) {
			return limit, nil
		}
	}
}

// What is on the way is within the budget, wherever it is: but for an element here and
// there.
func TestWhatIsMadeAheadKeepsToTheBudget(t *testing.T) {
	const budget, elements, slack = 4 << 20, 600, 24
	for name, c := range map[string]struct {
		known bool
		ops   []Op
		text  string
	}{
		"delivery":           {known: true},
		"differing shapes":   {},
		"prefetch":           {ops: []Op{&Prefetch{BufferSize: -1}}},
		"prefetch, 500":      {known: true, ops: []Op{&Prefetch{BufferSize: 500}}},
		"several prefetches": {ops: []Op{&Prefetch{BufferSize: -1}, hidden{}, &Prefetch{BufferSize: -1}, hidden{}, &Prefetch{BufferSize: 1000}}},
		"map":                {known: true, ops: []Op{&Map{MapFunc: Function{Name: "f", Program: []byte(itself)}}}},
		"maps and prefetch":  {ops: []Op{&Map{MapFunc: Function{Name: "f", Program: []byte(itself)}}, &Prefetch{BufferSize: -1}, &Map{MapFunc: Function{Name: "f", Program: []byte(itself)}}}},
		"interleave":         {text: on("interleave", returning(on("supply", ""), "null", bytesSpec)+`, "cycle_length": 8, "block_length": 3, "num_parallel_calls": 4`, rangeTo("100"))},
		"batch":              {known: true, ops: []Op{&Prefetch{BufferSize: -1}, &Batch{BatchSize: 4}}},
		"ragged batch":       {ops: []Op{&Prefetch{BufferSize: -1}, &RaggedBatch{BatchSize: 4, RowSplitsDType: "<i8"}}},
	} {
		t.Run(name, func(t *testing.T) {
			in := &supply{known: c.known, made: new(atomic.Int64), gone: new(atomic.Int64), most: new(atomic.Int64)}
			ops["supply"] = func() Op { return in }
			defer delete(ops, "supply")
			var d *Dataset
			if c.text != "" {
				d = parse(t, c.text)
			} else {
				d = open(t, append([]Op{in}, c.ops...)...)
			}
			mapped := arena.MappedBytes()
			it := iterate(t, d, Options{Workers: 2, RAMBudget: budget})
			for end := time.Now().Add(10 * time.Second); in.made.Load() < budget/16; runtime.Gosched() {
				require.True(t, time.Now().Before(end), "%d bytes were made", in.made.Load())
			}
			for in.gone.Load() < elements*supplied {
				g, err := it.Next()
				require.NoError(t, err)
				for _, column := range g.Block.Columns {
					for range 3 { // to be slower than what makes them
						sum := byte(0)
						for _, x := range column.Data {
							sum += x
						}
						require.LessOrEqual(t, sum, byte(255))
					}
					in.gone.Add(int64(len(column.Data)) / supplied * supplied)
				}
				require.LessOrEqual(t, arena.MappedBytes()-mapped, int64(budget), "memory of slots")
				g.Release()
			}
			require.LessOrEqual(t, in.most.Load(), int64(budget+slack*supplied))
			require.Greater(t, in.most.Load(), int64(budget/16))
		})
	}
}

// Where groups stay small, more of them wait, but not of those that are as large as they may be.
func TestSmallGroupsAreMadeFurtherAhead(t *testing.T) {
	for name, c := range map[string]struct {
		groupBytes int64
		most       uint64
	}{"small": {1 << 20, 16}, "large": {supplied, 4}} {
		t.Run(name, func(t *testing.T) {
			in := &supply{each: 1, made: new(atomic.Int64), gone: new(atomic.Int64), most: new(atomic.Int64)}
			it := iterate(t, open(t, in), Options{Workers: 2, GroupBytes: c.groupBytes})
			waiting := func() uint64 { return it.queue.Pushed() - it.queue.Taken() }
			for end := time.Now().Add(10 * time.Second); waiting() < c.most; runtime.Gosched() {
				require.True(t, time.Now().Before(end), "%d groups wait", waiting())
			}
			for range 200 {
				g, err := it.Next()
				require.NoError(t, err)
				g.Release()
				require.LessOrEqual(t, waiting(), c.most)
			}
		})
	}
}

const bytesSpec = `{"structure": null, "components": [{"dtype": "|u1", "shape": [-1]}]}`
