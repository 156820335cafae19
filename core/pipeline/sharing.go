package pipeline

import (
	"encoding/json"
	"fmt"

	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/transform"
)

// sharing is where several readers share the elements of a definition: a shard over
// random access data, and operations on it that leave its elements in order. As long
// as one knows how many elements each reader took there, other readers, fewer or more
// of them, can take what is left.
type sharing struct {
	path   []*Node // from the last operation down to shard
	low    int     // path[low:] makes more than one element of one; those above do not
	shard  *Shard
	source dataset.Definition // what is shared
	height int                // of shard's dataset
	each   int64              // how many elements of the source an element of an indexed dataset has
}

// effect is what an operation behind a shard makes of its elements.
type effect int

const (
	any_     effect = iota // things that depend on more than the element
	single                 // one or none
	several                // any number, one after the other
	together               // a batch of several
)

func effectOf(op Op) effect {
	switch op.(type) {
	case *Map, *Filter, *IgnoreErrors, *Prefetch:
		return single
	case *FlatMap, *Unbatch:
		return several
	case *Batch, *PaddedBatch, *RaggedBatch, *SparseBatch:
		return together
	}
	return any_
}

// sharing returns where readers share the dataset; nil where they do not, and why not,
// if it has a shard.
func (d *Dataset) sharing() (*sharing, error) {
	d.shared.once.Do(func() { d.shared.at, d.shared.why = d.findSharing() })
	return d.shared.at, d.shared.why
}

func (d *Dataset) findSharing() (*sharing, error) {
	s := &sharing{each: 1}
	var odd Op
	for n := d.root; s.shard == nil; n = n.Inputs[0] {
		s.path = append(s.path, n)
		if shard, is := n.Op.(*Shard); is {
			s.shard = shard
		} else if len(n.Inputs) != 1 {
			return nil, nil
		} else if effectOf(n.Op) == any_ {
			odd = n.Op
		}
	}
	if odd != nil {
		return nil, unshared("%s comes behind shard; put it before, where it may be", odd.text())
	}
	s.low = len(s.path) - 1
	stacked := false
	for i := s.low - 1; i >= 0; i-- {
		switch op := s.path[i].Op; effectOf(op) {
		case together:
			stacked = true
			if b, is := op.(*Batch); is {
				s.each *= b.BatchSize
			}
		case several:
			if stacked {
				return nil, unshared("%s comes behind a batch", op.text())
			}
			s.low = i
		}
	}
	if err := s.measure(); err != nil {
		return nil, err
	}
	return s, nil
}

// measure finds what is shared, and whether it can be.
func (s *sharing) measure() error {
	shard := s.path[len(s.path)-1]
	source, height, err := shard.Inputs[0].build()
	if err != nil {
		return err
	}
	if _, indexed := source.(dataset.Indexed); !indexed {
		return unshared("shard is on data that is read one after the other")
	}
	s.source, s.height = source, height+1
	if s.more() {
		rows, _, err := s.rows(source)
		if err != nil {
			return err
		}
		if _, indexed := rows.(dataset.Indexed); indexed {
			return unshared("%s comes behind shard", s.path[s.low].Op.text())
		}
	}
	return nil
}

func unshared(why string, args ...any) error {
	return errs.New(errs.StateMismatch, "load_state_dict", "the number of readers of this dataset cannot change: %s", fmt.Sprintf(why, args...))
}

// more tells whether an operation makes more than one element of one.
func (s *sharing) more() bool { return s.low < len(s.path)-1 }

// rows returns what the operations that make more of one element make of a share of
// the source, and its height.
func (s *sharing) rows(share dataset.Definition) (dataset.Definition, int, error) {
	return replaced(s.path[s.low:], share, s.height).build()
}

// replaced returns a copy of a path in which the last node makes d.
func replaced(path []*Node, d dataset.Definition, height int) *Node {
	last := path[len(path)-1]
	n := &Node{Op: last.Op, Inputs: last.Inputs, built: &Dataset{root: last, def: count(d, last), height: height}}
	for i := len(path) - 2; i >= 0; i-- {
		n = &Node{Op: path[i].Op, Inputs: []*Node{n}}
	}
	return n
}

// Rest is what earlier readers left to those there are now.
type Rest struct {
	// Layers are the changes of the number of readers, the first one first: what is
	// left after one is the source of the next.
	Layers []Layer `json:"layers"`
	// Begun are elements that readers had begun: flat_map had made some elements of
	// them. The readers of now take turns to end them, before anything else.
	Begun []Begun `json:"begun,omitempty"`
}

// Layer is how many elements of its source each of some readers took; one number, when
// all took as many.
type Layer struct {
	Readers int64   `json:"readers"`
	Taken   []int64 `json:"taken"`
}

// Begun is the last element that a reader of a layer took, and where it was in it.
type Begun struct {
	Layer  int64          `json:"layer"`
	Reader int64          `json:"reader"`
	Token  *dataset.Token `json:"token"`
}

// mostReaders bounds what a damaged state can ask for.
const mostReaders = 1 << 20

func (l Layer) all() ([]int64, error) {
	if l.Readers < 1 || l.Readers > mostReaders || int64(len(l.Taken)) != l.Readers && len(l.Taken) != 1 {
		return nil, errs.New(errs.StateMismatch, "load_state_dict", "the state has %d numbers for %d readers", len(l.Taken), l.Readers)
	}
	if int64(len(l.Taken)) == l.Readers {
		return l.Taken, nil
	}
	out := make([]int64, l.Readers)
	for i := range out {
		out[i] = l.Taken[0]
	}
	return out, nil
}

// and returns the rest after readers took so much more, and begun was begun.
func (r *Rest) and(taken []int64, begun []Begun) *Rest {
	out := &Rest{Begun: begun}
	if r != nil {
		out.Layers = append(out.Layers, r.Layers...)
	}
	next := Layer{Readers: int64(len(taken)), Taken: taken}
	for i, t := range taken {
		if t != taken[0] {
			break
		}
		if i == len(taken)-1 {
			next.Taken = taken[:1]
		}
	}
	if n := len(out.Layers); n > 0 && len(begun) == 0 && next.even() && out.Layers[n-1].even() {
		last := out.Layers[n-1] // both are the elements from some number on
		out.Layers[n-1] = Layer{Readers: 1, Taken: []int64{last.Readers*last.Taken[0] + next.Readers*next.Taken[0]}}
		return out
	}
	out.Layers = append(out.Layers, next)
	return out
}

func (l Layer) even() bool { return len(l.Taken) == 1 }

// text is the same for equal rests.
func (r *Rest) text() string {
	text, _ := json.Marshal(r)
	return string(text)
}

// sources returns the source of each layer, and last what is left of all.
func (r *Rest) sources(source dataset.Definition) ([]dataset.Definition, error) {
	out := []dataset.Definition{source}
	if r == nil {
		return out, nil
	}
	for _, l := range r.Layers {
		taken, err := l.all()
		if err == nil {
			source, err = transform.Remaining(source, taken)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, source)
	}
	return out, nil
}
