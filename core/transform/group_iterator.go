package transform

import (
	"cmp"
	"io"
	"slices"

	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
)

// group is elements of one key that wait.
type group struct {
	key    int64
	first  int64          // number of the oldest
	before *dataset.Token // of the input, before that
	kept
}

// groupIterator gathers groups, and walks over the dataset of one at a time.
type groupIterator struct {
	keyed
	pass   rng.Key
	groups map[int64]*group
	sizes  map[int64]int64
	ended  bool
	rest   []*group // when the input has ended: those that are left, the next one last
	made   int64    // groups whose datasets were opened

	flushed *group // whose dataset is being walked over
	in      *inner
	sink    noting
}

func (it *groupIterator) Next(limit int64, dst dataset.Sink) (int64, error) {
	for {
		if it.in == nil {
			g, err := it.full()
			if err == nil {
				err = it.flush(g, nil)
			}
			if err != nil {
				return 0, err
			}
		}
		it.sink = noting{Sink: dst}
		n, err := it.in.it.Next(limit, &it.sink)
		if !isEnd(err) {
			return n, err
		}
		it.in.scope.Close()
		it.in, it.flushed = nil, nil
		if it.sink.asked { // what it got is void, and it can be given nothing more
			return 0, nil
		}
	}
}

// full takes out the group that is complete next. With an error, but for the end, one
// element was passed.
func (it *groupIterator) full() (*group, error) {
	for !it.ended {
		g, err := it.read()
		if g != nil || err != nil && !isEnd(err) {
			return g, err
		}
		if err != nil {
			it.end()
		}
	}
	if len(it.rest) == 0 {
		return nil, io.EOF
	}
	g := it.rest[len(it.rest)-1]
	it.rest = it.rest[:len(it.rest)-1]
	delete(it.groups, g.key)
	return g, nil
}

// end puts what is left in order.
func (it *groupIterator) end() {
	it.ended = true
	for _, g := range it.groups {
		it.rest = append(it.rest, g)
	}
	slices.SortFunc(it.rest, func(a, b *group) int { return cmp.Compare(b.key, a.key) })
}

// read adds an element to its group, and takes the group out when it is complete.
func (it *groupIterator) read() (*group, error) {
	if err := it.scope.Err(); err != nil {
		return nil, err
	}
	b, row, key, err := it.next()
	if err != nil {
		return nil, err
	}
	size, err := it.sizeOf(key)
	if err != nil {
		it.take()
		return nil, err
	}
	g := it.groups[key]
	if g == nil {
		g = &group{key: key, first: it.number, before: it.cursor.Token()}
		it.groups[key] = g
	}
	g.add(b, row)
	it.take()
	if g.rows < size {
		return nil, nil
	}
	delete(it.groups, key)
	return g, nil
}

// sizeOf returns how many elements a group of a key has.
func (it *groupIterator) sizeOf(key int64) (int64, error) {
	if n, known := it.sizes[key]; known {
		return n, nil
	}
	n, err := it.size(it.scope, key)
	if err == nil && n < 1 {
		err = errs.New(errs.InvalidArgument, it.op, "window size must be greater than zero, but got %d for key %d", n, key)
	}
	if err == nil {
		it.sizes[key] = n
	}
	return n, err
}

// flush opens the dataset of a group, at a place. When that fails the group is
// dropped.
func (it *groupIterator) flush(g *group, from *dataset.Token) error {
	number := it.made
	it.made++
	in := &inner{scope: it.scope.Child()}
	d, err := it.reduce(in.scope, g.key, Stored(it.grouping.in.Spec(), g.blocks))
	if err == nil {
		err = conform(it.op, it.spec, d.Spec())
	}
	if err == nil {
		in.it, err = d.Iterate(in.scope, it.pass.Derive(it.height, uint64(number)), from)
	}
	if err == nil {
		err = it.scope.Err()
	}
	if err != nil {
		in.scope.Close()
		return err
	}
	it.in, it.flushed = in, g
	return nil
}
