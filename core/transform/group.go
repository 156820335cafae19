package transform

import (
	"encoding/binary"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/rng"
	"infeed/core/spec"
)

// GroupOptions says how GroupByWindow groups.
type GroupOptions struct {
	// Key gives the key of an element, an integer.
	Key dataset.Program
	// Reduce makes the dataset of a group out of its key, an int64, and of the dataset
	// of its elements.
	Reduce dataset.Builder
	// Size is of how many elements a group is made; SizeOf gives it for each key
	// instead, when it is set.
	Size   int64
	SizeOf dataset.Program
	// Height is how many datasets lie under the operation.
	Height uint64
}

// grouping gathers elements by key. When a key has size elements, or when the input
// has ended, the dataset that reduce makes of them comes.
type grouping struct {
	op     string
	in     dataset.Definition
	spec   *spec.Element
	height uint64
	key    dataset.Program
	class  func(x int64) int64 // of what the program gives; the key
	size   func(s *dataset.Scope, key int64) (int64, error)
	reduce func(s *dataset.Scope, key int64, elements dataset.Definition) (dataset.Definition, error)
}

// GroupByWindow returns the datasets that a builder makes out of groups of elements
// with one key, each at the place where its last element was read. What is left at
// the end comes in the order of keys.
func GroupByWindow(in dataset.Definition, o GroupOptions) (dataset.Definition, error) {
	const op = "group_by_window"
	if err := dataset.IsInteger(op, "key_func", o.Key.Spec()); err != nil {
		return nil, err
	}
	g := &grouping{op: op, in: in, spec: o.Reduce.Spec(), height: o.Height, key: o.Key,
		class: func(x int64) int64 { return x },
		size:  func(*dataset.Scope, int64) (int64, error) { return o.Size, nil },
		reduce: func(s *dataset.Scope, key int64, elements dataset.Definition) (dataset.Definition, error) {
			return o.Reduce.Build(s, keyBlock(key), elements)
		}}
	if o.SizeOf != nil {
		if err := dataset.IsInteger(op, "window_size_func", o.SizeOf.Spec()); err != nil {
			return nil, err
		}
		g.size = func(s *dataset.Scope, key int64) (int64, error) {
			sizes, err := integers(s, o.SizeOf, keyBlock(key), dataset.Chance{})
			if err != nil {
				return 0, err
			}
			return sizes[0], nil
		}
	}
	return g, nil
}

// keySpec describes keys as elements.
var keySpec = &spec.Element{Components: []spec.Component{{DType: spec.DType{Kind: 'i', Size: 8}}}}

// keyBlock is a key as an element.
func keyBlock(key int64) block.Block {
	return block.Block{Rows: 1, Shapes: keySpec, Columns: []block.Column{
		{Data: binary.LittleEndian.AppendUint64(nil, uint64(key)), RowBytes: 8}}}
}

// integers is dataset.Integers in memory that is used again.
func integers(s *dataset.Scope, p dataset.Program, in block.Block, at dataset.Chance) ([]int64, error) {
	buffer := borrow()
	defer giveBack(buffer)
	return dataset.Integers(s, p, in, at, buffer)
}

func (g *grouping) Spec() *spec.Element { return g.spec }

// Cardinality implements dataset.Definition. Nobody knows before the groups are made,
// but that there is no end, unless no group is ever complete.
func (g *grouping) Cardinality() int64 {
	if g.in.Cardinality() == dataset.Infinite {
		return dataset.Infinite
	}
	return dataset.Unknown
}

func (g *grouping) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	it := &groupIterator{keyed: keyed{grouping: g, scope: s, key: chanceKey(pass, g.height)}, pass: pass,
		groups: map[int64]*group{}, sizes: map[int64]int64{}}
	state, err := readGroups(g.op, from)
	if err != nil {
		return nil, err
	}
	it.cursor, err = dataset.NewCursor(g.op, state.before, func(from *dataset.Token) (dataset.Iterator, error) {
		return g.in.Iterate(s, pass, from)
	})
	if err != nil {
		return nil, err
	}
	it.number = state.first
	return it, it.load(state)
}

// keyed reads the input element by element, with keys.
type keyed struct {
	*grouping
	scope  *dataset.Scope
	key    rng.Key
	cursor *dataset.Cursor
	number int64 // of the next element

	block block.Block // what was read; elements from row on are still to be taken
	row   int64
	keys  []int64 // of the elements from row on, as far as they are known
	err   error   // of the one after these
}

const (
	keyedLimit = 256
	keyedFirst = 4
)

// next returns the block and the row of the next element, its key, and its number.
// The element stays valid until next is called after take. With an error, but for the
// end, the element was passed.
func (k *keyed) next() (b block.Block, row, key int64, err error) {
	for len(k.keys) == 0 {
		if err := k.err; err != nil {
			k.err = nil
			k.take()
			return b, 0, 0, err
		}
		if k.row == k.block.Rows {
			limit := min(keyedLimit, max(keyedFirst, 2*k.block.Rows))
			if k.block, err = k.cursor.Peek(limit); err != nil {
				k.block, k.row = block.Block{}, 0
				if !isEnd(err) {
					k.number++
				}
				return b, 0, 0, err
			}
			k.row = 0
		}
		rest := k.block.Slice(k.row, k.block.Rows)
		k.keys, k.err = integers(k.scope, k.grouping.key, rest, dataset.Chance{Key: k.key, First: k.number})
	}
	return k.block, k.row, k.class(k.keys[0]), nil
}

// take says that the element was taken.
func (k *keyed) take() {
	k.cursor.Take(1)
	k.row++
	k.number++
	if len(k.keys) > 0 {
		k.keys = k.keys[1:]
	}
}
