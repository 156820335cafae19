package transform

import (
	"errors"
	"io"

	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/kernel"
	"infeed/core/rng"
	"infeed/core/spec"
)

// streamShuffle shuffles within windows of consecutive elements. All windows are as
// long as the buffer but the second, whose length is drawn for each pass, so that
// the edges of windows are elsewhere in each.
type streamShuffle struct {
	in dataset.Definition
	o  ShuffleOptions
}

func (s *streamShuffle) Spec() *spec.Element { return s.in.Spec() }
func (s *streamShuffle) Cardinality() int64  { return s.in.Cardinality() }

// wholeStream is the window of a stream that is to be shuffled as a whole.
const wholeStream = 1 << 40

func (s *streamShuffle) Iterate(scope *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	at, in, err := from.Parts("shuffle", 2)
	if err != nil {
		return nil, err
	}
	it := &shuffleIterator{scope: scope, key: s.o.key(pass), size: s.o.Window}
	if it.size == 0 {
		it.size = wholeStream
	}
	it.store.room = it.size
	it.next.number, it.next.before = at[0], in
	if it.in, err = s.in.Iterate(scope, pass, in); err != nil {
		return nil, err
	}
	scope.Defer(it.close)
	return it, it.resume(at[1])
}

// window is consecutive elements and where they are stored.
type window struct {
	number int64
	before *dataset.Token // of the input
	places vast[int64]    // of its elements, in their order
	ended  bool           // there are no more elements
	order  *rng.Permutation
	given  int64 // elements that were given out
}

// shuffleIterator gives the elements of one window, and fills the places that they
// leave with the window after it. So both take the memory of one.
type shuffleIterator struct {
	scope     *dataset.Scope
	in        dataset.Iterator
	key       rng.Key
	size      int64
	now, next window
	store     store
	order     []int64 // scratch memory, as index
	index     []int64
}

func (it *shuffleIterator) length(w int64) int64 {
	if w == 1 {
		return 1 + int64(it.key.Derive(1).Uint64(0)%uint64(it.size))
	}
	return it.size
}

// resume goes to the place after the first given elements of the window.
func (it *shuffleIterator) resume(given int64) error {
	if given == 0 {
		return nil
	}
	if err := it.begin(); err != nil && !isEnd(err) {
		return err
	}
	if given > int64(len(it.now.places.items)) {
		return errs.New(errs.StateMismatch, "shuffle", "its state is after %d elements of a window of %d", given, len(it.now.places.items))
	}
	for it.now.given < given {
		it.index = it.index[:0]
		it.store.free(it.take(min(given-it.now.given, skipped)))
	}
	return nil
}

func (it *shuffleIterator) close() {
	it.store.close()
	it.now.places.close()
	it.next.places.close()
}

// begin makes the window that was filled the current one.
func (it *shuffleIterator) begin() error {
	for !it.full() {
		if err := it.scope.Err(); err != nil { // what comes then is an error, again and again
			return err
		}
		it.fill(fillAtOnce)
	}
	if len(it.next.places.items) == 0 {
		return io.EOF
	}
	it.store.turn()
	places := it.now.places
	places.items = places.items[:0]
	it.now, it.next = it.next, window{number: it.next.number + 1, before: it.in.Token(), ended: it.next.ended, places: places}
	it.now.order = rng.NewPermutation(int64(len(it.now.places.items)), it.key.Derive(0, uint64(it.now.number)))
	return nil
}

// fillAtOnce is how many elements are read at a time when nothing can be given yet.
const fillAtOnce = 1024

func (it *shuffleIterator) full() bool {
	return it.next.ended || int64(len(it.next.places.items)) == it.length(it.next.number)
}

// fill reads up to limit elements into the next window.
func (it *shuffleIterator) fill(limit int64) {
	w := &it.next
	limit = min(limit, it.length(w.number)-int64(len(w.places.items)))
	if limit <= 0 || w.ended {
		return
	}
	it.store.begin(&w.places)
	n, err := it.in.Next(limit, &it.store)
	if errors.Is(err, io.EOF) {
		w.ended = true
	} else if n > 0 || err != nil {
		it.store.finish(err)
	}
}

// take returns the places of the next n elements of the window.
func (it *shuffleIterator) take(n int64) []int64 {
	w := &it.now
	it.order = append(it.order[:0], make([]int64, n)...)
	it.index = append(it.index[:0], it.order...)
	w.order.Fill(it.order, w.given)
	if err := kernel.Gather(kernel.Bytes(it.index), kernel.Bytes(w.places.items), 8, 8, it.order); err != nil {
		panic(err)
	}
	w.given += n
	return it.index
}

func (it *shuffleIterator) Token() *dataset.Token {
	if it.now.given == int64(len(it.now.places.items)) {
		return dataset.Over(it.next.before, it.next.number, 0)
	}
	return dataset.Over(it.now.before, it.now.number, it.now.given)
}

func (it *shuffleIterator) Next(limit int64, dst dataset.Sink) (int64, error) {
	if it.now.given == int64(len(it.now.places.items)) {
		if err := it.begin(); err != nil {
			return 0, err
		}
	}
	places := it.take(min(limit, int64(len(it.now.places.items))-it.now.given))
	n, err := it.store.give(places, dst)
	over := int64(len(places)) - max(n, 1)
	it.now.given -= over
	places = places[:int64(len(places))-over]
	it.store.free(places)
	// The next window may have to be twice as fast, after one that is shorter. Where
	// there is no place left it waits.
	it.fill(min(2*int64(len(places)), it.size-it.waiting()))
	return n, err
}

// waiting is how many elements are stored.
func (it *shuffleIterator) waiting() int64 {
	return int64(len(it.now.places.items)) - it.now.given + int64(len(it.next.places.items))
}
