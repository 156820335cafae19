package pipeline

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/rng"
	"infeed/core/spec"
)

// stage counts what one operation of a dataset has made, over all iterators of it.
type stage struct {
	text     string
	inputs   []*stage
	elements atomic.Int64
	bytes    atomic.Int64
	nanos    atomic.Int64                  // in calls for its elements, those of its inputs included
	ahead    atomic.Pointer[dataset.Ahead] // the latest iterator, where it makes elements ahead
}

// Stage is what the operation of a dataset did for an iterator.
type Stage struct {
	Text     string `json:"text"`
	Elements int64  `json:"elements"`
	Bytes    int64  `json:"bytes"`
	// Seconds is the time that calls for its elements took, without that of calls for
	// elements of its inputs. Stages that work ahead of those who ask them are waited
	// for; their own goroutines' time is that of the stages below.
	Seconds float64 `json:"seconds"`
	// Waited is the seconds that its calls for elements of its inputs took.
	Waited float64 `json:"waited"`
	// Queue is how many pieces of elements it has made ahead, or is making.
	Queue int64 `json:"queue"`
}

// Stats is what an iterator did.
type Stats struct {
	Stages []Stage `json:"stages"` // the source first
	// Waiting is how many groups are ready and not yet taken, Ahead how many may be.
	Waiting int64 `json:"waiting"`
	Ahead   int64 `json:"ahead"`
	// Notices is what went wrong and stopped nobody.
	Notices []string `json:"notices"`
	// Lost is what was left out.
	Lost   int64    `json:"lost"`
	Places []string `json:"places"`
}

// counters holds the stages of one iterator by operation.
type counters struct {
	mu struct {
		sync.Mutex
		stages  map[*Node]*stage
		notices []string
		lost    []*dataset.Lost // of what is open for random access
	}
}

// mostNotices is how many are kept of an iterator.
const mostNotices = 16

// notice remembers what went wrong.
func (c *counters) notice(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.mu.notices) < mostNotices {
		c.mu.notices = append(c.mu.notices, text)
	}
}

// leftOut remembers what was left out of something that was opened, once.
func (c *counters) leftOut(l *dataset.Lost) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.mu.lost, l) {
		c.mu.lost = append(c.mu.lost, l)
	}
}

// counted is a dataset whose elements are counted.
type counted struct {
	dataset.Definition
	node *Node
}

type countedIndexed struct {
	counted
	in dataset.Indexed
}

// count has the elements of d counted, which is what a node makes.
func count(d dataset.Definition, node *Node) dataset.Definition {
	c := counted{d, node}
	if indexed, ok := d.(dataset.Indexed); ok {
		return &countedIndexed{c, indexed}
	}
	return &c
}

// uncounted returns the dataset that count was given.
func uncounted(d dataset.Definition) dataset.Definition {
	switch c := d.(type) {
	case *counted:
		return c.Definition
	case *countedIndexed:
		return c.Definition
	}
	return d
}

func (c *counted) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	it, err := c.Definition.Iterate(s, pass, from)
	if err != nil || s.Counters == nil {
		return it, err
	}
	stage := s.Counters.(*counters).of(c.node)
	if ahead, ok := it.(dataset.Ahead); ok {
		stage.ahead.Store(&ahead)
	}
	return &countedIterator{Iterator: it, stage: stage}, nil
}

// Jump implements dataset.Jumper; what is not made is not counted.
func (c *counted) Jump(s *dataset.Scope, n int64) (*dataset.Token, int64) {
	if jumper, ok := c.Definition.(dataset.Jumper); ok {
		return jumper.Jump(s, n)
	}
	return nil, 0
}

func (c *countedIndexed) Open(s *dataset.Scope, pass rng.Key) (dataset.RandomAccess, error) {
	in, err := c.in.Open(s, pass)
	if err != nil || s.Counters == nil {
		return in, err
	}
	return &countedAccess{in, s.Counters.(*counters).of(c.node)}, nil
}

// of returns the stage of a node.
func (c *counters) of(n *Node) *stage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stage(n)
}

// stage is called with mu locked.
func (c *counters) stage(n *Node) *stage {
	n = n.origin()
	if c.mu.stages == nil {
		c.mu.stages = map[*Node]*stage{}
	}
	s := c.mu.stages[n]
	if s == nil {
		s = &stage{text: n.Op.text()}
		c.mu.stages[n] = s
		for _, input := range n.Inputs {
			s.inputs = append(s.inputs, c.stage(input))
		}
	}
	return s
}

// list returns the stages of a definition, inputs first.
func (c *counters) list(root *Node) []Stage {
	var out []Stage
	root.visit(func(n *Node) {
		s := c.of(n)
		own, waited := s.nanos.Load(), int64(0)
		for _, input := range s.inputs {
			waited += input.nanos.Load()
		}
		own = max(0, own-waited)
		queue := int64(0)
		if ahead := s.ahead.Load(); ahead != nil {
			queue = (*ahead).Queue()
		}
		out = append(out, Stage{s.text, s.elements.Load(), s.bytes.Load(), time.Duration(own).Seconds(), time.Duration(waited).Seconds(), queue})
	}, nil)
	return out
}

type countedIterator struct {
	dataset.Iterator
	stage *stage
	sink  weighing
}

func (c *countedIterator) Next(limit int64, dst dataset.Sink) (int64, error) {
	start := time.Now()
	c.sink = weighing{dst: dst}
	n, err := c.Iterator.Next(limit, &c.sink)
	c.stage.add(n, c.sink.bytes, start)
	return n, err
}

type countedAccess struct {
	dataset.RandomAccess
	stage *stage
}

func (c *countedAccess) Fetch(index []int64, dst dataset.Sink) error {
	start, n := time.Now(), int64(len(index))
	sink := weighing{dst: dst}
	err := c.RandomAccess.Fetch(index, &sink)
	if err != nil {
		n = 0
	}
	c.stage.add(n, sink.bytes, start)
	return err
}

func (s *stage) add(elements, bytes int64, start time.Time) {
	s.elements.Add(elements)
	s.bytes.Add(bytes)
	s.nanos.Add(int64(time.Since(start)))
}

// weighing is a sink that adds up the bytes of columns, without text.
type weighing struct {
	dst   dataset.Sink
	bytes int64
}

// Block implements dataset.Sink.
func (w *weighing) Block(shapes *spec.Element, rows int64) (block.Block, error) {
	b, err := w.dst.Block(shapes, rows)
	for _, c := range b.Columns {
		w.bytes += int64(len(c.Data))
	}
	return b, err
}

// TakeOver implements dataset.Taker.
func (w *weighing) TakeOver(from *block.Buffer, i int) bool {
	bytes := int64(0)
	for _, c := range from.Blocks()[i].Columns {
		bytes += int64(len(c.Data))
	}
	switch t := w.dst.(type) {
	case *block.Buffer:
		t.TakeOver(from, i)
	case dataset.Taker:
		if !t.TakeOver(from, i) {
			return false
		}
	default:
		return false
	}
	w.bytes += bytes
	return true
}

// Stats returns what the iterator did so far.
func (it *Iterator) Stats() Stats {
	s := Stats{Stages: it.counters.list(it.dataset.root), Ahead: int64(it.sizes.ahead), Places: []string{}}
	all := it.latest().Losses()
	it.counters.mu.Lock()
	s.Notices = append([]string{}, it.counters.mu.notices...)
	for _, l := range it.counters.mu.lost {
		all = all.Plus(l)
	}
	it.counters.mu.Unlock()
	s.Waiting = int64(it.queue.Pushed() - it.queue.Taken())
	if all != nil {
		s.Lost, s.Places = all.Count, append(s.Places, all.Places...)
	}
	return s
}
