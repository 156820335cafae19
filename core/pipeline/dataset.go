package pipeline

import (
	"encoding/json"
	"sync"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
)

// Dataset is a definition that was checked. It is immutable.
type Dataset struct {
	root     *Node
	def      dataset.Definition
	elements string
	opened   struct {
		sync.Mutex
		pass   int64
		access dataset.RandomAccess
	}
}

// New checks a definition.
func New(root *Node) (*Dataset, error) {
	def, _, err := root.build(0)
	if err != nil {
		return nil, err
	}
	return &Dataset{root: root, def: def, elements: "elements " + def.Spec().String()}, nil
}

// Parse reads a definition from JSON and checks it.
func Parse(text []byte) (*Dataset, error) {
	root := &Node{}
	if err := json.Unmarshal(text, root); err != nil {
		return nil, errs.Wrap(err, errs.InvalidArgument, "definition", "cannot be read")
	}
	return New(root)
}

// Cardinality returns the number of elements of a pass, or dataset.Infinite.
func (d *Dataset) Cardinality() int64 { return d.def.Cardinality() }

// GroupBytes returns how large the memory for any one element is, its description
// included.
func (d *Dataset) GroupBytes() int64 {
	l, _ := block.NewLayout(d.def.Bound(), 1)
	return l.Bytes + metaBytes(d.def.Bound())
}

// At makes element i of a pass in memory, as a group of one, and returns where
// its description is.
func (d *Dataset) At(pass, i int64, memory []byte) (metaOffset int64, err error) {
	end := d.def.Cardinality()
	if end == dataset.Infinite {
		end = dataset.MaxPosition
	}
	if i < 0 || i >= end {
		return 0, errs.New(errs.InvalidArgument, "at", "there is no element %d in a dataset of %d", i, end)
	}
	it, err := dataset.NewIterator(d.open(pass), d.def.Cardinality(), dataset.Token{Position: i})
	if err != nil {
		return 0, err
	}
	run, err := it.Next(1)
	if err != nil {
		return 0, err
	}
	return fillGroup(run, memory)
}

// open remembers the pass that was opened last, whose order may have cost time.
func (d *Dataset) open(pass int64) dataset.RandomAccess {
	d.opened.Lock()
	defer d.opened.Unlock()
	if d.opened.access == nil || d.opened.pass != pass {
		d.opened.pass, d.opened.access = pass, d.def.Open(dataset.PassKey(pass))
	}
	return d.opened.access
}
