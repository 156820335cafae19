package pipeline

import (
	"encoding/json"
	"sync"

	"infeed/core/arena"
	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/op"
	"infeed/core/rng"
	"infeed/core/spec"
	"infeed/core/vfs"
)

// ProgramRun is a program and the elements that it is to be run on, without a
// dataset: as operations do that are called outside of one.
type ProgramRun struct {
	Program json.RawMessage `json:"program"`
	Rows    int64           `json:"rows"`
	Arrays  []Array         `json:"arrays"` // read during the run only
	// Seed is what random numbers depend on: at least one number.
	Seed  []uint64 `json:"seed"`
	First int64    `json:"first"` // number of the first element
}

// eager is the programs that ran lately without a dataset.
var eager struct {
	sync.Mutex
	programs map[string]dataset.Program
}

const maxPrograms = 256

// Run runs the program and returns the results, which have equal shapes, as a group
// in a lent slot.
func (r *ProgramRun) Run() (arena.Entry, error) {
	in, err := r.block()
	if err != nil {
		return arena.Entry{}, err
	}
	p, err := parsed(r.Program, in.Shapes)
	if err != nil {
		return arena.Entry{}, err
	}
	at := dataset.Chance{First: r.First}
	if len(r.Seed) > 0 {
		at.Key = rng.NewKey(r.Seed[0], r.Seed[1:]...)
	}
	scope := dataset.NewScope(vfs.Local(), 0)
	defer scope.Close()
	memory := ofOne()
	defer memory.close()
	g := &groups{slots: memory}
	if _, err := p.Run(scope, in, at, g); err != nil {
		g.void()
		return arena.Entry{}, err
	}
	if len(g.made) != 1 {
		g.void()
		return arena.Entry{}, errs.New(errs.InvalidArgument, "map", "results of different shapes; run it on one element")
	}
	entries, err := g.finish(0, nil)
	if err != nil {
		return arena.Entry{}, err
	}
	arena.Lend(entries[0].Slot)
	return entries[0], nil
}

// block returns the elements.
func (r *ProgramRun) block() (b block.Block, err error) {
	if r.Rows < 1 {
		return b, errs.New(errs.InvalidArgument, "map", "a program is run on %d elements", r.Rows)
	}
	items := make([]spec.Structure, len(r.Arrays))
	_, err = arrays(spec.Structure{Kind: spec.Tuple, Items: items}, r.Arrays, r.Rows, func(e *spec.Element, numbers [][]byte, texts []*block.Text) (dataset.Definition, error) {
		b = block.Block{Rows: r.Rows, Shapes: e}
		for i, c := range e.Components {
			n, _ := c.Bytes()
			if c.IsText() {
				b.Columns = append(b.Columns, block.Column{Text: texts[0]})
				texts = texts[1:]
				continue
			}
			if int64(len(numbers[i])) != n*r.Rows {
				return nil, errs.New(errs.InvalidArgument, "map", "%d bytes for %d elements %s", len(numbers[i]), r.Rows, c)
			}
			b.Columns = append(b.Columns, block.Column{Data: numbers[i], RowBytes: n})
		}
		return nil, nil
	})
	return b, err
}

// parsed is op.Parse, which remembers.
func parsed(text []byte, in *spec.Element) (dataset.Program, error) {
	name := in.String() + string(text)
	eager.Lock()
	defer eager.Unlock()
	if p := eager.programs[name]; p != nil {
		return p, nil
	}
	p, err := op.Parse(text, in)
	if err != nil {
		return nil, err
	}
	if eager.programs == nil || len(eager.programs) >= maxPrograms {
		eager.programs = map[string]dataset.Program{}
	}
	eager.programs[name] = p
	return p, nil
}
