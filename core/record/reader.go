package record

import (
	"fmt"
	"io"

	"infeed/core/codec"
	"infeed/core/errs"
	"infeed/core/vfs"
)

// maxRecord and maxLine bound records whose size is known only when they end: a few
// kilobytes of gzip may be any number of bytes.
const (
	maxRecord = 1<<31 - 1
	maxLine   = 1 << 30
)

// DefaultBlockBytes is how much of a file is read at a time. Twice as much still
// fits in a core's own cache with what is made of it.
const DefaultBlockBytes = 256 << 10

// Options say how files are read. The zero Options are useful.
type Options struct {
	Compression codec.Kind
	Errors      Policy
	// BlockBytes is about how large blocks are, DefaultBlockBytes if 0. One record
	// always fits.
	BlockBytes int
	// Deferred leaves the checksums of payloads to [Block.Verify], which must be
	// called before a block is used. With the policy Truncate it has no effect.
	Deferred bool
	// Together is how many records belong together, 1 if 0: blocks hold a multiple of
	// them, and a file that ends between such is damaged. The policy is Raise then.
	Together int
	// Stopped tells why to stop, if it is not nil and returns an error: it is asked before
	// each read, of which one record, or a search behind damage, may need any number.
	Stopped func() error
}

// Reader walks over the records of files, one file after the other. At most one is
// open at a time. It is for one goroutine at a time, and must be closed.
type Reader struct {
	fs     vfs.FS
	paths  []string
	format Format
	o      Options
	limit  int // of records whose size is not known

	token  Token
	in     *input // the file that token is in; nil before it is opened
	each   int    // bytes that a record took in the block before
	excuse bool   // the next damage is skipped whatever the policy
}

// NewReader returns a reader of files from a token on. Nothing is opened yet.
func NewReader(fs vfs.FS, paths []string, format Format, o Options, from Token) (*Reader, error) {
	if o.BlockBytes <= 0 {
		o.BlockBytes = DefaultBlockBytes
	}
	o.Together = max(o.Together, 1)
	if _, frames := format.(tfrecord); frames {
		format = tfrecord{unchecked: o.Deferred && o.Errors != Truncate}
	}
	r := &Reader{fs: fs, paths: paths, format: format, o: o, limit: maxRecord}
	if _, text := format.(lines); text {
		r.limit = maxLine
	}
	return r, r.Seek(from)
}

// Seek makes the reader go on from a token.
func (r *Reader) Seek(t Token) error {
	if t.File < 0 || t.File > len(r.paths) || t.Offset < 0 {
		return errs.New(errs.StateMismatch, "record", "the state is in file %d, at byte %d; there are %d files", t.File, t.Offset, len(r.paths))
	}
	if t.File != r.token.File {
		r.Close()
	}
	r.token, r.excuse = t, false
	return nil
}

// Token returns where the next record is, or the end of the file before it.
func (r *Reader) Token() Token { return r.token }

// Close closes the file that is open. The reader may be used again.
func (r *Reader) Close() {
	if r.in != nil {
		r.in.close()
		r.in = nil
	}
}

// Recover makes the reader leave out what the last call of Next failed on, as the
// policy Skip does. What cannot be passed ends the file. It is counted in the Damage
// of the block in which that happens, before what else is left out there.
func (r *Reader) Recover() { r.excuse = true }

// Next gives the next records, rows of them at most but one group that belongs
// together, in b; io.EOF when there are none. After an error it gives the same error again. b.Damage counts in any case.
func (r *Reader) Next(b *Block, rows int) error {
	b.reset()
	b.Token = r.token
	rows = max(rows/r.o.Together, 1) * r.o.Together
	for r.token.File < len(r.paths) {
		if err := r.next(b, rows); err != nil {
			return err
		}
		if b.Len() > 0 {
			return nil
		}
		r.endFile()
	}
	return io.EOF
}

func (r *Reader) endFile() {
	r.Close()
	r.token, r.excuse = Token{File: r.token.File + 1}, false
}

// next gives records of the file that the token is in; none at its end.
func (r *Reader) next(b *Block, rows int) error {
	b.file, b.Path, b.policy = r.token.File, r.paths[r.token.File], r.o.Errors
	if r.in == nil {
		if err := r.open(); err != nil {
			_, err = r.damaged(b, &fault{cause: err})
			return err
		}
	}
	w := &window{data: b.Data[:0], at: r.token.Offset, size: r.in.size}
	err := r.more(w, b, r.guess(rows))
	extended := false
	for {
		need, bad := r.format.frame(w, b, rows)
		if bad == nil && err != nil && b.Len() < rows {
			bad = &fault{cause: err}
		}
		// Damage behind records is met again when these have been given.
		some := b.Len() >= r.o.Together
		if b.Len() >= rows || some && bad != nil || bad == nil && w.last {
			break
		}
		if bad != nil {
			if goOn, failed := r.pass(w, b, bad); failed != nil || !goOn {
				r.finish(w, b)
				return failed
			}
			continue
		}
		if some && (extended || r.o.Together > 1 || need == 0 || need > int64(r.o.BlockBytes)) {
			break
		}
		// The record that the read ended in is read to its end, not twice.
		extended = some
		err = r.need(w, b, need)
	}
	return r.parted(w, b)
}

// parted ends a block, and fails where the file ends between records that belong together.
func (r *Reader) parted(w *window, b *Block) error {
	there := b.Len()
	r.finish(w, b)
	if there == 0 || b.Len() > 0 {
		return nil
	}
	_, err := r.damaged(b, &fault{offset: r.token.Offset, text: fmt.Sprintf("the file ends within an element: %d of its %d records are there", there, r.o.Together), ends: true})
	return err
}

// pass goes to what follows damage, if the policy says so and there is something.
func (r *Reader) pass(w *window, b *Block, bad *fault) (bool, error) {
	if bad.ends && r.in.grew() {
		w.size, w.last = r.in.size, false
		return true, nil
	}
	excuse := r.excuse
	skip, err := r.damaged(b, bad)
	if err != nil || !skip {
		return false, err
	}
	if bad.next > 0 {
		w.pos = int(bad.next - w.at)
		return true, nil
	}
	for {
		need, found := find(w)
		if found || w.last {
			return found, nil
		}
		if err := r.need(w, b, need); err != nil {
			r.excuse = excuse // who leaves out what is before it would else come here again
			_, err = r.damaged(b, &fault{cause: err})
			return false, err
		}
	}
}

func (r *Reader) open() (err error) {
	path := r.paths[r.token.File]
	if r.in, err = openInput(r.fs, path, r.o.Compression, r.format); err != nil {
		return err
	}
	if r.in.size != unknown && r.o.Errors == Raise && !r.excuse {
		if bad := r.format.fits(r.in.size); bad != nil {
			r.Close()
			return bad.in(path, false)
		}
	}
	return nil
}

// guess returns how many bytes to read for some rows.
func (r *Reader) guess(rows int) int {
	const page, unseen = 4096, 512
	each := r.each
	if each == 0 {
		each = unseen
	}
	if rows >= r.o.BlockBytes/each {
		return r.o.BlockBytes
	}
	return min(rows*each+page, r.o.BlockBytes)
}

// more reads on until n bytes are in w. Bytes may be there before an error too.
func (r *Reader) more(w *window, b *Block, n int) error {
	if r.o.Stopped != nil {
		if err := r.o.Stopped(); err != nil {
			return err
		}
	}
	ahead := 2 * r.o.BlockBytes
	if r.in.size != unknown { // small files need little memory
		const grown = 4096
		left := max(r.in.size-w.at, int64(len(w.data))) + grown
		n, ahead = int(min(int64(n), left)), int(min(int64(ahead), left))
	}
	b.Data = w.data
	memory := b.room(n, ahead)
	got, last, err := r.in.read(memory[len(w.data):], w.at+int64(len(w.data)))
	w.data, w.last = memory[:len(w.data)+got], last
	return err
}

// need reads on so that w has the next need bytes, or more where need is not known.
// Where no size vouches for them, it takes what it has twice at most.
func (r *Reader) need(w *window, b *Block, need int64) error {
	if b.Len() == 0 {
		shift(w)
	}
	need = min(need, maxInt-int64(w.pos)) // nobody vouched for it
	n := max(min(2*len(w.data), r.limit+1), r.o.BlockBytes)
	if b.Len() > 0 && need == 0 { // what belongs to the records before may be small
		n = len(w.data) + max(r.o.BlockBytes/4, frameHead)
	} else if need > 0 && (w.size != unknown || int64(w.pos)+need < int64(n)) {
		n = w.pos + int(need)
	} else if len(w.data) > r.limit {
		r.in.broken = true // what was read of it is not kept
		return errs.New(errs.ResourceExhausted, "record", "a record at byte %d of %s has more than %d bytes; is the file what it was said to be?", w.offset(), r.in.path, r.limit)
	}
	return r.more(w, b, n)
}

// shift drops what is before w.pos.
func shift(w *window) {
	w.data = w.data[:copy(w.data, w.rest())]
	w.at += int64(w.pos)
	w.pos = 0
}

// damaged does with damage what the policy says: it returns an error, or else
// whether to look for what follows. Only bad content can be left out.
func (r *Reader) damaged(b *Block, bad *fault) (skip bool, failed error) {
	failed = bad.in(b.Path, r.in != nil && r.in.compressed())
	policy := r.o.Errors
	if r.excuse {
		policy = Skip
	} else if errs.KindOf(failed) != errs.DataLoss {
		policy = Raise
	}
	if policy == Raise {
		return false, failed
	}
	r.excuse = false
	b.Damage.add(failed)
	return policy == Skip && !bad.ends && bad.cause == nil, nil
}

// finish makes what was found the block, without what is no whole group, and goes on
// behind it.
func (r *Reader) finish(w *window, b *Block) {
	b.Data, b.at = w.data, w.at
	f, _ := r.format.(tfrecord)
	b.before, b.check, b.packed = r.format.before(), f.unchecked, r.in.compressed()
	if whole := b.Len() / r.o.Together * r.o.Together; whole < b.Len() {
		w.pos = int(b.Starts[whole] - b.before)
		b.Starts, b.Ends = b.Starts[:whole], b.Ends[:whole]
	}
	if n := b.Len(); n > 0 {
		r.each = max((w.pos-int(b.Starts[0]))/n, 1)
	}
	r.token.Offset = w.offset()
	if w.pos < len(w.data) {
		r.in.unread(w.rest())
	}
}
