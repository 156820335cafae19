package pipeline

import (
	"sync"

	"infeed/core/arena"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/spec"
	"infeed/core/vfs"
)

// Dataset is a definition that was checked. It is immutable.
type Dataset struct {
	root     *Node
	def      dataset.Definition
	height   int
	elements *spec.Element // what its structure says of them
	rest     *Rest         // what earlier readers left of it; nil: all
	facts    facts
	shared   struct {
		once sync.Once
		at   *sharing
		why  error
	}
	opened struct { // for elements by number
		sync.Mutex
		scope  *dataset.Scope
		pass   int64
		access dataset.RandomAccess
		slots  *slots
	}
}

// New checks a definition.
func New(root *Node) (*Dataset, error) {
	def, height, err := root.build()
	if err != nil {
		return nil, err
	}
	return &Dataset{root: root, def: def, height: height, elements: def.Spec()}, nil
}

// Cardinality returns the number of elements of a pass, or dataset.Infinite, or
// dataset.Unknown.
func (d *Dataset) Cardinality() int64 { return d.def.Cardinality() }

// Spec describes the elements.
func (d *Dataset) Spec() *spec.Element { return d.def.Spec() }

// Text names the last operation and its arguments, as they are written in Python.
func (d *Dataset) Text() string { return d.root.Op.text() }

// Indexed tells whether elements can be had by number.
func (d *Dataset) Indexed() bool {
	_, ok := d.def.(dataset.Indexed)
	return ok
}

// At makes element i of a pass, as a group of one whose slot is lent. Datasets that
// call functions of Python cannot do this.
func (d *Dataset) At(pass, i int64) (arena.Entry, error) { return d.at(i, pass, d.open) }

// AtOnce is At for those who want one element only: nothing is kept for the next call.
func (d *Dataset) AtOnce(pass, i int64) (arena.Entry, error) {
	scope, memory := dataset.NewScope(vfs.Local(), 0), ofOne()
	defer scope.Close()
	defer memory.close()
	return d.at(i, pass, func(in dataset.Indexed, pass int64) (dataset.RandomAccess, *slots, error) {
		access, err := in.Open(scope, dataset.PassKey(pass))
		return access, memory, err
	})
}

func (d *Dataset) at(i, pass int64, open func(dataset.Indexed, int64) (dataset.RandomAccess, *slots, error)) (arena.Entry, error) {
	indexed, ok := d.def.(dataset.Indexed)
	if !ok {
		return arena.Entry{}, errs.New(errs.InvalidArgument, "at", "the elements of this dataset come one after the other only; see explain()")
	}
	if end := dataset.End(indexed); i < 0 || i >= end {
		return arena.Entry{}, errs.New(errs.InvalidArgument, "at", "there is no element %d in a dataset of %d", i, end)
	}
	access, slots, err := open(indexed, pass)
	if err != nil {
		return arena.Entry{}, err
	}
	g := &groups{slots: slots}
	if err := access.Fetch([]int64{i}, g); err != nil {
		g.void()
		return arena.Entry{}, err
	}
	entries, err := g.finish(i, nil)
	if err != nil {
		return arena.Entry{}, err
	}
	arena.Lend(entries[0].Slot)
	return entries[0], nil
}

// open remembers the pass that was opened last, whose order may have cost time.
func (d *Dataset) open(indexed dataset.Indexed, pass int64) (dataset.RandomAccess, *slots, error) {
	d.opened.Lock()
	defer d.opened.Unlock()
	if d.opened.access != nil && d.opened.pass == pass {
		return d.opened.access, d.opened.slots, nil
	}
	if d.opened.slots == nil {
		d.opened.slots = &slots{}
	}
	if d.opened.scope != nil {
		d.opened.scope.Close()
	}
	d.opened.scope = dataset.NewScope(vfs.Local(), 0)
	access, err := indexed.Open(d.opened.scope, dataset.PassKey(pass))
	if err != nil {
		return nil, nil, err
	}
	d.opened.pass, d.opened.access = pass, access
	return access, d.opened.slots, nil
}

// Close frees what At left open.
func (d *Dataset) Close() {
	d.opened.Lock()
	defer d.opened.Unlock()
	if d.opened.scope != nil {
		d.opened.scope.Close()
	}
	if d.opened.slots != nil {
		d.opened.slots.close()
	}
	d.opened.scope, d.opened.access, d.opened.slots = nil, nil, nil
}
