package snapshot

import (
	"sync"

	"infeed/core/dataset"
	"infeed/core/par"
)

// belt is the goroutines of a writer: some pack blocks, one writes them in order, and
// one finishes chunks, which is to wait for the disk while the next chunk is written.
type belt struct {
	group  *par.Group
	room   room
	pack   chan *building
	write  chan task
	finish chan ended
}

const (
	// waiting is how many blocks may wait for a goroutine, and waitingBytes how large
	// those on their way are together, unless there is only one.
	waiting      = 16
	waitingBytes = 16 << 20
)

// ended is the chunks of a group that are to be finished, and the token behind it.
type ended struct {
	chunks []*chunkWriter
	token  *dataset.Token
}

// start starts the goroutines of a writer, so many for packing.
func (w *Writer) start(packers int) {
	b := &belt{
		group: par.NewGroup(w.fail), pack: make(chan *building, waiting), write: make(chan task, waiting),
		finish: make(chan ended),
	}
	b.room.changed.L = &b.room.mu
	for range packers {
		b.group.Go(func() {
			var c codecs
			for block := range b.pack {
				block.ready <- w.packed(block, &c)
			}
		})
	}
	b.group.Go(func() {
		for t := range b.write {
			w.take(t)
		}
		close(b.finish)
	})
	b.group.Go(func() {
		for e := range b.finish {
			w.end(e)
		}
	})
	w.belt = b
}

// put hands a task over. It waits as long as there is no room.
func (b *belt) put(t task) {
	if t.block != nil {
		b.room.enter(t.block.bytes)
		b.pack <- t.block
	}
	b.write <- t
}

// take writes a block when it is packed, or hands on chunks that ended.
func (w *Writer) take(t task) {
	b := w.belt
	if t.block == nil {
		b.finish <- t.ended()
		return
	}
	size := t.block.bytes
	w.fail(<-t.block.ready)
	w.written(t)
	b.room.leave(size)
}

// ended takes the chunks of a group from their streams. Where the writer has failed, there
// may be none.
func (t task) ended() ended {
	e := ended{token: t.token}
	for _, s := range t.ends {
		if s.chunk != nil {
			e.chunks = append(e.chunks, s.chunk)
			s.chunk = nil
		}
	}
	return e
}

// written writes a block that was packed, unless the writer has failed.
func (w *Writer) written(t task) {
	w.fail(w.guarded(func() error { return w.write(t.to, t.block) }))
	t.block.reset()
	select {
	case t.to.free <- t.block:
	default:
	}
}

// guarded calls f unless the writer has failed. A panic in it is an error.
func (w *Writer) guarded(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = par.FromPanic(r)
		}
	}()
	if w.err() != nil {
		return nil
	}
	return f()
}

// wait returns when all that was put is done.
func (b *belt) wait() {
	close(b.pack)
	close(b.write)
	b.group.Wait()
}

// room bounds the bytes of blocks that are on their way.
type room struct {
	mu      sync.Mutex
	changed sync.Cond
	bytes   int64
}

func (r *room) enter(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for !r.fits(n) {
		r.changed.Wait()
	}
	r.bytes += n
}

func (r *room) fits(n int64) bool { return r.bytes == 0 || r.bytes+n <= waitingBytes }

func (r *room) leave(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bytes -= n
	r.changed.Broadcast()
}
