package snapshot

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/spec"
	"infeed/core/vfs"
)

// Options says how a snapshot is written.
type Options struct {
	Compression Compression
	// About is what the snapshot is of, for whoever reads the manifest.
	About json.RawMessage
	// ChunkBytes and ChunkTime say when what was written is committed: after so many
	// bytes of raw data, 0: 64 MiB; and after so long, 0: 30 s.
	ChunkBytes int64
	ChunkTime  time.Duration
	// Workers is how many goroutines compress; writing and syncing has two of its own
	// then. 0: all is done by the caller.
	Workers int
	// Replace lets a snapshot take the place of one that is there.
	Replace bool
	// Shard, if set, gives the number of the stream to which an element goes.
	Shard dataset.Program
}

const (
	chunkBytes = 64 << 20
	chunkTime  = 30 * time.Second
)

// Writer writes a snapshot. It is for one goroutine at a time. After an error it
// refuses everything else; what it has committed stays.
type Writer struct {
	fs     vfs.FS
	folder string
	id     string
	older  string // the writer that this one goes on from
	o      Options
	layout *layout

	streams []*stream      // by number; nil where nothing came
	order   *stream        // in which order elements came; nil where they are not divided
	free    chan *building // blocks of streams that were written
	raw     int64          // bytes since the last chunks ended
	rows    int64          // elements since then
	held    int64          // bytes of blocks that are not full
	began   time.Time
	token   *dataset.Token
	closed  bool

	belt *belt // nil: the caller packs and writes
	done state

	mu     sync.Mutex
	failed error
}

// task is a block of a stream to be written, or the end of the chunks of a group.
type task struct {
	to    *stream
	block *building
	ends  []*stream
	token *dataset.Token
}

// state is what writing works with: number is of the goroutine that writes blocks, the
// journal is of the one that finishes chunks.
type state struct {
	packs   codecs // of the caller, where there is no belt
	number  int
	journal *journal
	file    vfs.File // of the journal; nil: none is kept
}

// NewWriter returns a writer of elements with a spec in a folder, which it makes.
func NewWriter(fs vfs.FS, folder string, e *spec.Element, o Options) (*Writer, error) {
	return newWriter(fs, folder, newLayout(e), o, nil, nil)
}

// newWriter returns a writer that goes on from a journal; nil begins. seeds are those
// that the dataset above drew.
func newWriter(fs vfs.FS, folder string, l *layout, o Options, from *journal, seeds []uint64) (*Writer, error) {
	if len(l.spec.Components) > mostComponents {
		return nil, errs.New(errs.InvalidArgument, "snapshot", "elements have %d components; %d are the most", len(l.spec.Components), mostComponents)
	}
	if len(o.About) == 0 {
		o.About = json.RawMessage("null")
	}
	if o.ChunkBytes <= 0 {
		o.ChunkBytes = chunkBytes
	}
	if o.ChunkTime <= 0 {
		o.ChunkTime = chunkTime
	}
	w := &Writer{fs: fs, folder: folder, id: newID(), o: o, layout: l, free: make(chan *building, waiting)}
	w.done.journal = &journal{head: journalHead{journalFormat, version, o.Compression.String(), l.spec, o.About, seeds, o.Shard != nil}}
	if from != nil {
		w.done.journal.chunks = append(w.done.journal.chunks, from.chunks...)
		w.older = from.writer
	}
	if err := w.prepare(); err != nil {
		return nil, err
	}
	if o.Shard != nil {
		w.order = w.newStream(orderName, newLayout(orderSpec), make(chan *building, 1))
	}
	living.Store(w.id, true)
	if o.Workers > 0 {
		w.start(o.Workers)
	}
	return w, nil
}

func newID() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}

// prepare makes the folders, and the journal where one is kept.
func (w *Writer) prepare() (err error) {
	if err = w.fs.MakeFolder(path.Join(w.folder, chunkFolder)); err != nil {
		return err
	}
	for _, folder := range []string{path.Dir(w.folder), w.folder} {
		if err = w.fs.SyncFolder(folder); err != nil {
			return err
		}
	}
	if w.o.Replace {
		return nil
	}
	w.done.file, err = w.done.journal.begin(w.fs, w.folder, w.id)
	if err == nil && w.older != "" {
		w.inherit()
	}
	return err
}

// inherit removes what is left of the writer whose journal this one has all lines of:
// the journal, and what it was writing when it ended. What stays is no harm.
func (w *Writer) inherit() {
	_ = w.fs.Remove(path.Join(w.folder, journalPrefix+w.older))
	_ = w.fs.Remove(path.Join(w.folder, w.older+".tmp"))
	chunks := path.Join(w.folder, chunkFolder)
	names, _ := w.fs.List(chunks)
	for _, name := range names {
		if strings.HasPrefix(name, w.older+"-") && strings.HasSuffix(name, ".tmp") {
			_ = w.fs.Remove(path.Join(chunks, name))
		}
	}
}

// fail keeps the first error; nil is none.
func (w *Writer) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed == nil {
		w.failed = err
	}
}

func (w *Writer) err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed
}

// Add adds the elements of a block, which it copies. streams are the numbers of the
// streams to which they go; of a writer without Shard, nil.
func (w *Writer) Add(b block.Block, streams []int64) error {
	if err := w.err(); err != nil {
		return err
	}
	if !w.layout.fits(b) {
		return errs.New(errs.InvalidArgument, "snapshot", "an element has %v; all were to have %v", b.Shapes, w.layout.spec)
	}
	if w.rows == 0 {
		w.began = time.Now()
	}
	w.rows += b.Rows
	if w.o.Shard != nil {
		return w.divide(b, streams)
	}
	s, err := w.stream(0)
	if err == nil {
		w.put(s, b, 0, b.Rows, rowBytes(b))
	}
	return err
}

// put adds rows of a block, of about size bytes each, to a stream.
func (w *Writer) put(s *stream, b block.Block, from, to, size int64) {
	s.rows += to - from
	for from < to {
		next := min(to, from+s.current.room(size))
		was := s.current.bytes
		s.current.add(w.layout, b, from, next)
		w.raw += s.current.bytes - was
		w.held += s.current.bytes - was
		if from = next; s.current.full() {
			w.flush(s)
		}
	}
}

// Mark says where the dataset above can be taken up behind what was added. Chunks end
// at marks.
func (w *Writer) Mark(token *dataset.Token) {
	w.token = token
	if w.raw >= w.o.ChunkBytes || w.rows >= mostGroupRows || w.rows > 0 && time.Since(w.began) >= w.o.ChunkTime {
		w.Seal()
	}
}

// flush hands the current block of a stream over.
func (w *Writer) flush(s *stream) {
	b := s.current
	if b.rows == 0 {
		return
	}
	if s != w.order {
		w.held -= b.bytes
	}
	b.choice, b.decides = s.choice, w.o.Compression == Auto && !s.decided
	s.decided = true
	if t := (task{to: s, block: b}); w.belt == nil {
		w.fail(w.packed(b, &w.done.packs))
		w.written(t)
	} else {
		w.belt.put(t)
	}
	select {
	case s.current = <-s.free:
	default:
		s.current = newBuilding(s.layout)
	}
}

// Seal commits what was added up to the last mark, as a group of chunks: one of each
// stream that has elements, and then the order.
func (w *Writer) Seal() {
	t := task{token: w.token}
	for _, s := range w.all() {
		if s == nil || s.rows == 0 {
			continue
		}
		w.flush(s)
		s.rows, s.choice, s.decided = 0, newChoice(s.layout, w.o.Compression), false
		t.ends = append(t.ends, s)
	}
	switch {
	case len(t.ends) == 0:
	case w.belt != nil:
		w.belt.put(t)
	default:
		w.end(t.ended())
	}
	w.raw, w.rows = 0, 0
}

// all returns the streams, the order behind the others; some may be nil.
func (w *Writer) all() []*stream { return append(slices.Clip(w.streams), w.order) }

// write writes a block that was packed to the current chunk of a stream.
func (w *Writer) write(s *stream, b *building) error {
	if s.chunk == nil {
		s.chunk = &chunkWriter{
			fs: w.fs, folder: path.Join(w.folder, chunkFolder), layout: s.layout,
			name: fmt.Sprintf("%s-%s-%06d.chunk", w.id, s.name, w.done.number),
		}
		w.done.number++
		if err := s.chunk.open(); err != nil {
			return err
		}
	}
	return s.chunk.block(b)
}

// end commits chunks, or drops them where the writer has failed.
func (w *Writer) end(e ended) {
	w.fail(w.guarded(func() error { return w.commitChunks(e) }))
	if w.err() != nil {
		for _, c := range e.chunks {
			c.drop()
		}
	}
}

// commitChunks finishes chunks and writes them in the journal. The last one has the token.
func (w *Writer) commitChunks(e ended) error {
	var lines []journalLine
	var text []byte
	for i, c := range e.chunks {
		info, err := c.finish()
		if err != nil {
			return err
		}
		line := journalLine{ChunkInfo: info}
		if i == len(e.chunks)-1 {
			line.Token = e.token
		}
		sealed, err := seal(line)
		if err != nil {
			return err
		}
		lines, text = append(lines, line), append(text, sealed...)
	}
	if err := w.fs.SyncFolder(path.Join(w.folder, chunkFolder)); err != nil {
		return err
	}
	d := &w.done
	d.journal.chunks = append(d.journal.chunks, lines...)
	if d.file == nil {
		return nil
	}
	if _, err := d.file.Write(text); err != nil {
		return err
	}
	return d.file.Sync()
}

// rest waits for what runs and returns what went wrong.
func (w *Writer) rest() error {
	if w.belt != nil {
		w.belt.wait()
		w.belt = nil
	}
	return w.err()
}

// Close ends the writer. What was added up to the last mark is committed in the
// journal, for another writer to go on.
func (w *Writer) Close() error {
	if w.closed {
		return nil
	}
	w.Seal()
	return w.quit(w.rest())
}

// quit frees what the writer holds.
func (w *Writer) quit(err error) error {
	w.closed = true
	living.Delete(w.id)
	for _, s := range w.all() {
		if s != nil && s.chunk != nil {
			s.chunk.drop()
		}
	}
	w.streams, w.order = nil, nil
	if w.done.file != nil {
		if closed := w.done.file.Close(); err == nil {
			err = closed
		}
		w.done.file = nil
	}
	w.fail(errs.New(errs.Internal, "snapshot", "written after its end"))
	return err
}

// Drop ends the writer without committing what is not committed yet.
func (w *Writer) Drop() {
	if !w.closed {
		_ = w.quit(w.rest())
	}
}

// Commit makes all that was added the snapshot, and ends the writer. Where another
// writer was first, it is an AlreadyExists error, and that one's snapshot counts.
func (w *Writer) Commit() error {
	w.Seal()
	if err := w.quit(w.rest()); err != nil {
		return err
	}
	if err := w.present(); err != nil {
		return err
	}
	var before *Manifest
	if w.o.Replace {
		if m, err := ReadManifest(w.fs, w.folder); err == nil {
			before = m
		}
	}
	m, err := w.publish()
	if err != nil {
		return err
	}
	w.clean(m, before)
	return nil
}
