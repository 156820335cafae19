package snapshot

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
)

// kept is a dataset whose elements are written when they are made first.
type kept struct {
	in       dataset.Definition
	folder   string
	o        Options
	seeds    []uint64
	reseeded func(seeds []uint64) (dataset.Definition, error)
}

// Keep returns the elements of the input's first pass, in every pass. They are written
// in a folder as they are made, and read from there once a pass was complete. A pass
// that was broken off is gone on with: what it has committed is read, the rest made and
// written. An element that cannot be made is an error at its place, and what comes
// behind it is not written.
//
// seeds are those that the input drew; reseeded returns the input with others, so that
// a broken-off pass goes on in its own order.
func Keep(in dataset.Definition, folder string, o Options, seeds []uint64, reseeded func([]uint64) (dataset.Definition, error)) (dataset.Definition, error) {
	if in.Cardinality() == dataset.Infinite {
		return nil, errs.New(errs.InvalidArgument, "snapshot", "the dataset is infinite; put snapshot before repeat, or take(n) before snapshot")
	}
	return &kept{in, folder, o, seeds, reseeded}, nil
}

// keptPass is the pass over the input that is kept, whichever asks for it.
var keptPass = dataset.PassKey(0)

func (k *kept) Spec() *spec.Element { return k.in.Spec() }
func (k *kept) Cardinality() int64  { return k.in.Cardinality() }

// keeping is the iterator. It gives what is stored, up to end, and then what the input
// makes.
type keeping struct {
	*kept
	scope *dataset.Scope
	at    int64           // number of the next element
	seeds json.RawMessage // of the input's order, for tokens

	reader *Reader // of what is stored; nil: nothing is
	end    int64   // of what is stored
	whole  bool    // nothing comes after that
	index  []int64
	single int64 // elements before this number are read one at a time

	open   func() (dataset.Iterator, error) // the input, behind what is stored
	in     dataset.Iterator
	behind int64 // elements that the input makes before the next one of the walk
	begin  func() (*Writer, error)
	writer *Writer
	leased time.Time
}

// Iterate implements dataset.Definition. A token is the number of the next element,
// and the token of the input where that was used.
func (k *kept) Iterate(s *dataset.Scope, _ rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	at, in, err := from.Parts("snapshot", 1)
	if err != nil {
		return nil, err
	}
	it := &keeping{kept: k, scope: s, at: at[0]}
	if from != nil {
		it.seeds = from.Data
	}
	r, m, err := NewReader(s.FS, k.folder)
	if err == nil {
		return it, it.stored(r, m)
	}
	if errs.KindOf(err) != errs.NotFound {
		return nil, err
	}
	return it, it.unfinished(in)
}

// stored has a complete snapshot read.
func (it *keeping) stored(r *Reader, m *Manifest) error {
	if it.at > m.Elements {
		return errs.New(errs.StateMismatch, "snapshot", "the state is before element %d of a snapshot of %d", it.at, m.Elements)
	}
	if want := it.kept.in.Spec(); !want.Equal(m.Spec) {
		return errs.New(errs.StateMismatch, "snapshot", "%s holds elements %v, not %v", it.folder, m.Spec, want)
	}
	it.read(r, m.Elements)
	it.whole = true
	return nil
}

func (it *keeping) read(r *Reader, end int64) {
	it.reader, it.end = r, end
	r.helpers = it.scope.Workers - 1
	it.scope.Defer(r.Close)
}

// unfinished reads what was committed, and goes on with the input.
func (it *keeping) unfinished(in *dataset.Token) error {
	if it.at > dataset.MaxPosition {
		return errs.New(errs.StateMismatch, "snapshot", "the state is before element %d", it.at)
	}
	l := newLayout(it.kept.in.Spec())
	busy, err := leased(it.scope.FS, it.folder)
	if err != nil {
		return err
	}
	j, err := bestJournal(it.scope.FS, it.folder, l, len(it.kept.seeds))
	if err != nil {
		return err
	}
	if j == nil {
		j = &journal{head: journalHead{Seeds: it.kept.seeds}}
		if it.seeds != nil && json.Unmarshal(it.seeds, &j.head.Seeds) != nil {
			return errs.New(errs.StateMismatch, "snapshot", "its state has seeds that cannot be read")
		}
	}
	seeds, err := json.Marshal(j.head.Seeds)
	if err != nil {
		return err
	}
	if it.seeds == nil && in == nil && it.at == 0 {
		it.seeds = seeds
	}
	own := string(it.seeds) == string(seeds)
	if own && (it.at <= j.count || in == nil) {
		it.after(j, l, busy)
	} else { // what is stored does not reach so far, or is of another order
		it.passing(in)
	}
	return nil
}

// after reads what a journal lists, and goes on from there.
func (it *keeping) after(j *journal, l *layout, busy bool) {
	if j.count > 0 {
		it.read(newReader(it.scope.FS, it.folder, l, j.infos()), j.count)
	}
	it.behind = max(it.at-j.count, 0)
	it.opens(j.head.Seeds, j.token())
	if busy {
		return
	}
	it.begin = func() (*Writer, error) {
		o := it.o
		o.Workers = it.scope.Workers
		w, err := newWriter(it.scope.FS, it.folder, l, o, j, j.head.Seeds)
		if err != nil {
			return nil, err
		}
		it.leased = time.Now()
		return w, takeLease(it.scope.FS, it.folder, w.id)
	}
}

// passing gives what the input makes from a token on, and writes nothing.
func (it *keeping) passing(in *dataset.Token) {
	var seeds []uint64
	_ = json.Unmarshal(it.seeds, &seeds) // none: as the input has them
	if in == nil {
		it.behind = it.at
	}
	it.opens(seeds, in)
}

// opens says how the input is opened: in the order of seeds, at a token.
func (it *keeping) opens(seeds []uint64, from *dataset.Token) {
	it.open = func() (dataset.Iterator, error) {
		in := it.kept.in
		if len(seeds) > 0 && it.reseeded != nil {
			var err error
			if in, err = it.reseeded(seeds); err != nil {
				return nil, err
			}
		}
		return in.Iterate(it.scope, keptPass, from)
	}
}

func (it *keeping) Token() *dataset.Token {
	t := dataset.Over(nil, it.at)
	if it.in != nil && it.behind == 0 {
		t = dataset.Over(it.in.Token(), it.at)
	}
	t.Data = it.seeds
	return t
}

func (it *keeping) Next(limit int64, dst dataset.Sink) (int64, error) {
	if it.at < it.end {
		return it.give(limit, dst)
	}
	if it.whole {
		return 0, io.EOF
	}
	if it.in == nil {
		if err := it.start(); err != nil {
			return 0, err
		}
	}
	for it.behind > 0 {
		var passed block.Buffer
		n, err := it.make(min(it.behind, atOnce), &passed)
		if errors.Is(err, io.EOF) {
			return 0, errs.New(errs.StateMismatch, "snapshot", "its state is behind the end of its input, which is another than when the state was saved")
		}
		if err != nil {
			n = 1
		}
		it.behind -= n
	}
	n, err := it.make(limit, dst)
	if err == nil {
		it.at += n
	} else if !errors.Is(err, io.EOF) {
		it.at++
	}
	return n, err
}

// start opens the input, and what writes.
func (it *keeping) start() (err error) {
	if it.in, err = it.open(); err != nil {
		return err
	}
	it.scope.Defer(func() { it.stop(true) })
	return nil
}

// give gives elements that are stored.
func (it *keeping) give(limit int64, dst dataset.Sink) (int64, error) {
	n := min(limit, it.end-it.at)
	if it.at < it.single {
		n = 1
	}
	it.index = it.index[:0]
	for i := range n {
		it.index = append(it.index, it.at+i)
	}
	err := it.reader.Fetch(it.index, dst)
	switch {
	case err == nil:
		it.at += n
		return n, nil
	case n == 1:
		it.at++
		return 0, err
	}
	it.single = it.at + n
	return 0, nil
}

// make has the input make elements, and writes them.
func (it *keeping) make(limit int64, dst dataset.Sink) (int64, error) {
	t := tee{Sink: dst}
	n, err := it.in.Next(limit, &t)
	switch {
	case errors.Is(err, io.EOF):
		it.commit()
	case err != nil:
		it.begin = nil
		it.stop(true)
	case n > 0:
		it.write(t.blocks)
	}
	return n, err
}

// tee remembers the blocks that a sink gave.
type tee struct {
	dataset.Sink
	blocks []block.Block
}

// Block implements dataset.Sink.
func (t *tee) Block(shapes *spec.Element, rows int64) (block.Block, error) {
	b, err := t.Sink.Block(shapes, rows)
	if err == nil {
		t.blocks = append(t.blocks, b)
	}
	return b, err
}

// write writes elements. What fails ends the writing and not the pass.
func (it *keeping) write(blocks []block.Block) {
	if it.writer == nil {
		if it.begin == nil {
			return
		}
		var err error
		it.writer, err = it.begin()
		if it.begin = nil; err != nil {
			it.giveUp(err)
			return
		}
	}
	for _, b := range blocks {
		if err := it.writer.Add(b); err != nil {
			it.giveUp(err)
			return
		}
	}
	it.writer.Mark(it.in.Token())
	if time.Since(it.leased) > leaseTime/3*time.Second {
		it.leased = time.Now()
		_ = takeLease(it.scope.FS, it.folder, it.writer.id) // it only saves work
	}
}

// giveUp ends the writing, and says so.
func (it *keeping) giveUp(err error) {
	it.stop(false)
	it.tell(err)
}

// tell says that the snapshot is not being kept; that another pass was first is no news.
func (it *keeping) tell(err error) {
	if it.scope.Notice != nil && errs.KindOf(err) != errs.AlreadyExists {
		it.scope.Notice(fmt.Sprintf("the snapshot in %q is not kept, though its elements are given: %v", it.folder, err))
	}
}

// commit makes what was written the snapshot.
func (it *keeping) commit() {
	if it.writer == nil && it.begin != nil { // there was nothing to write, or all of it is there
		it.write(nil)
	}
	if w := it.writer; w != nil {
		it.writer = nil
		if err := w.Commit(); err != nil { // the next pass tries again, or finds another's
			it.tell(err)
		}
		dropLease(it.scope.FS, it.folder, w.id)
	}
	it.begin = nil
}

// stop ends the writing; what was made is committed in the journal where keep says so.
func (it *keeping) stop(keep bool) {
	w := it.writer
	if it.writer = nil; w == nil {
		return
	}
	if keep {
		_ = w.Close() // what could not be committed is made again
	} else {
		w.Drop()
	}
	dropLease(it.scope.FS, it.folder, w.id)
}
