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
	"infeed/core/spec"
)

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

	open    func(from *dataset.Token) (dataset.Iterator, error) // the input
	from    *dataset.Token                                      // behind what is stored
	in      dataset.Iterator
	behind  int64 // elements that the input makes before the next one of the walk
	careful int64 // elements that the input is asked for one at a time
	streams *sharder
	begin   func() (*Writer, error)
	writer  *Writer
	leased  time.Time
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
	r.helpers, r.advice = it.scope.Workers-1, ofKept(it.folder)
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
	j, err := bestJournal(it.scope.FS, it.folder, l, it.o.Shard != nil, len(it.Seeds))
	if err != nil {
		return err
	}
	if j == nil {
		j = &journal{head: journalHead{Seeds: it.Seeds}}
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
	it.behind, it.from = max(it.at-j.count, 0), j.token()
	it.opens(j.head.Seeds)
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
	if it.from = in; in == nil {
		it.behind = it.at
	}
	it.opens(seeds)
}

// opens says how the input is opened: in the order of seeds.
func (it *keeping) opens(seeds []uint64) {
	it.open = func(from *dataset.Token) (dataset.Iterator, error) {
		in := it.kept.in
		if len(seeds) > 0 && it.Reseeded != nil {
			var err error
			if in, err = it.Reseeded(seeds); err != nil {
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
	if it.Reader != nil {
		t.At = append(t.At, 0)
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
	if it.in, err = it.open(it.from); err != nil {
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
	var before *dataset.Token
	if it.o.Shard != nil {
		before = it.in.Token()
	}
	if it.careful > 0 {
		limit = 1
	}
	t := tee{Sink: dst}
	n, err := it.in.Next(limit, &t)
	var streams [][]int64
	if err == nil && n > 0 {
		streams, err = it.streamsOf(t.blocks)
	}
	if err != nil && n > 1 { // shard_func fails for one of them: for which, is seen one at a time
		it.careful = n
		it.in, err = it.open(before)
		return 0, err
	}
	if it.careful > 0 && (n > 0 || err != nil) {
		it.careful--
	}
	switch {
	case errors.Is(err, io.EOF):
		it.commit()
	case err != nil:
		n, it.begin = 0, nil
		it.stop(true)
	case n > 0:
		it.write(t.blocks, streams)
	}
	return n, err
}

// streamsOf returns the streams of the elements of blocks.
func (it *keeping) streamsOf(blocks []block.Block) ([][]int64, error) {
	out, first := make([][]int64, len(blocks)), it.at-it.behind
	for i, b := range blocks {
		var err error
		if out[i], err = it.streams.of(b, first); err != nil {
			return nil, err
		}
		first += b.Rows
	}
	return out, nil
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

// write writes elements to streams. What fails ends the writing and not the pass.
func (it *keeping) write(blocks []block.Block, streams [][]int64) {
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
	for i, b := range blocks {
		if err := it.writer.Add(b, streams[i]); err != nil {
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
		it.write(nil, nil)
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
