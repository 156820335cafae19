package snapshot

import (
	"errors"
	"io"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
	"infeed/core/vfs"
)

// store is where the elements of a pass go.
type store interface {
	// add adds the elements of a block; streams are those to which they go, nil: the first.
	add(b block.Block, streams []int64) error
	// commit makes them what the folder holds.
	commit() error
	// drop ends the writing, and removes what was not committed.
	drop()
}

// saved is the dataset whose making writes another.
type saved struct {
	in    dataset.Definition
	shard dataset.Program // nil: elements are not divided
	begin func(fs vfs.FS, workers int) (store, error)
}

// Save returns a dataset of one element, the number of elements of its input. To make
// it, the input is walked through and written in a folder, where it takes the place of
// what was saved there before.
//
// With Shard, elements are written to streams; Load gives them in the order in which they
// were written all the same.
func Save(in dataset.Definition, folder string, o Options) (dataset.Definition, error) {
	s, err := newSaved(in, o.Shard)
	if err != nil {
		return nil, err
	}
	o.Replace = true
	s.begin = func(fs vfs.FS, workers int) (store, error) {
		o := o
		o.Workers = workers
		return newOwnStore(fs, folder, in.Spec(), o)
	}
	return s, nil
}

// newSaved returns a dataset that does not know yet where to write.
func newSaved(in dataset.Definition, shard dataset.Program) (*saved, error) {
	if in.Cardinality() == dataset.Infinite {
		return nil, errs.New(errs.InvalidArgument, "save", "the dataset is infinite; take(n) is a part that can be saved")
	}
	return &saved{in: in, shard: shard}, checkShard("save", shard)
}

var countSpec = &spec.Element{Components: []spec.Component{{DType: spec.DType{Kind: 'i', Size: 8}}}}

func (*saved) Spec() *spec.Element { return countSpec }
func (*saved) Cardinality() int64  { return 1 }

func (v *saved) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	at, err := from.Numbers("save", 1)
	if err != nil {
		return nil, err
	}
	if at[0] > 1 {
		return nil, errs.New(errs.StateMismatch, "save", "its state is before element %d of 1", at[0])
	}
	return &saving{saved: v, scope: s, pass: pass, done: at[0]}, nil
}

type saving struct {
	*saved
	scope *dataset.Scope
	pass  rng.Key
	done  int64
}

func (it *saving) Token() *dataset.Token { return dataset.At(it.done) }

func (it *saving) Next(_ int64, dst dataset.Sink) (int64, error) {
	if it.done > 0 {
		return 0, io.EOF
	}
	it.done = 1
	n, err := it.write()
	if err != nil {
		return 0, err
	}
	out, err := dst.Block(countSpec, 1)
	if err != nil {
		return 0, err
	}
	le.PutUint64(out.Columns[0].Data, uint64(n))
	return 1, nil
}

// atOnce is how many elements are asked for at a time, at most.
const atOnce = 1024

func (it *saving) write() (n int64, err error) {
	scope := it.scope.Child()
	defer scope.Close()
	in, err := it.in.Iterate(scope, it.pass, nil)
	if err != nil {
		return 0, err
	}
	w, err := it.begin(scope.FS, scope.Workers)
	if err != nil {
		return 0, err
	}
	defer w.drop()
	streams := newSharder(it.shard, scope, it.pass)
	var buffer block.Buffer
	for limit := int64(1); ; limit = dataset.Pace(limit, buffer.Bytes(), blockBytes, atOnce) {
		if err := scope.Err(); err != nil { // nobody waits for it any more
			return n, err
		}
		buffer.Reset()
		got, err := in.Next(limit, &buffer)
		switch {
		case errors.Is(err, io.EOF):
			return n, w.commit()
		case err != nil:
			return n, err
		case got == 0:
			continue
		}
		for _, b := range buffer.Blocks() {
			numbers, err := streams.of(b, n)
			if err == nil {
				err = w.add(b, numbers)
			}
			if err != nil {
				return n, err
			}
			n += b.Rows
		}
	}
}
