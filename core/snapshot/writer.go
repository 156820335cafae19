package snapshot

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
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

	current *building
	choice  *choice // of the chunk that current belongs to
	decided bool    // there is a block whose packing decides on it
	raw     int64   // bytes since the last chunk ended
	began   time.Time
	dirty   bool // there are elements since the last chunk ended
	token   *dataset.Token

	belt *belt // nil: the caller packs and writes
	done state

	mu     sync.Mutex
	failed error
}

// task is a block to be written, or the end of a chunk.
type task struct {
	block *building
	token *dataset.Token
}

// state is what writing works with: chunk and number are of the goroutine that writes
// blocks, the journal is of the one that finishes chunks.
type state struct {
	chunk   *chunkWriter
	packs   codecs // of the caller, where there is no belt
	number  int
	stream  int
	journal *journal
	file    vfs.File // of the journal; nil: none is kept
}

// NewWriter returns a writer of elements with a spec in a folder, which it makes.
func NewWriter(fs vfs.FS, folder string, e *spec.Element, o Options) (*Writer, error) {
	w, err := newWriter(fs, folder, newLayout(e), o, nil, nil)
	return w, err
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
	w := &Writer{fs: fs, folder: folder, id: newID(), o: o, layout: l}
	w.done.journal = &journal{head: journalHead{journalFormat, version, o.Compression.String(), l.spec, o.About, seeds}}
	if from != nil {
		w.done.journal.chunks = append(w.done.journal.chunks, from.chunks...)
		w.older = from.writer
	}
	if err := w.prepare(); err != nil {
		return nil, err
	}
	w.current, w.choice = newBuilding(l), newChoice(l, o.Compression)
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
	if err == nil && w.older != "" { // this one has all of its lines
		_ = w.fs.Remove(path.Join(w.folder, journalPrefix+w.older))
	}
	return err
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

// Add adds the elements of a block, which it copies.
func (w *Writer) Add(b block.Block) error {
	if err := w.err(); err != nil {
		return err
	}
	if !w.layout.fits(b) {
		return errs.New(errs.InvalidArgument, "snapshot", "an element has %v; all were to have %v", b.Shapes, w.layout.spec)
	}
	if !w.dirty && b.Rows > 0 {
		w.began, w.dirty = time.Now(), true
	}
	size := rowBytes(b)
	for from := int64(0); from < b.Rows; {
		to := min(b.Rows, from+w.current.room(size))
		was := w.current.bytes
		w.current.add(w.layout, b, from, to)
		w.raw += w.current.bytes - was
		if from = to; w.current.full() {
			w.flush()
		}
	}
	return nil
}

// Mark says where the dataset above can be taken up behind what was added. Chunks end
// at marks.
func (w *Writer) Mark(token *dataset.Token) {
	w.token = token
	if w.raw >= w.o.ChunkBytes || w.dirty && time.Since(w.began) >= w.o.ChunkTime {
		w.Seal()
	}
}

// flush hands the current block over.
func (w *Writer) flush() {
	b := w.current
	if b.rows == 0 {
		return
	}
	b.choice, b.decides = w.choice, w.o.Compression == Auto && !w.decided
	w.decided = true
	if w.belt == nil {
		w.fail(w.packed(b, &w.done.packs))
		w.fail(w.guarded(func() error { return w.write(b) }))
		b.reset()
		return
	}
	w.belt.put(task{block: b})
	select {
	case w.current = <-w.belt.free:
	default:
		w.current = newBuilding(w.layout)
	}
}

// Seal commits what was added up to the last mark, as a chunk.
func (w *Writer) Seal() {
	w.flush()
	switch {
	case !w.dirty:
	case w.belt != nil:
		w.belt.put(task{token: w.token})
	default:
		e := ended{w.done.chunk, w.token}
		w.done.chunk = nil
		w.end(e)
	}
	w.raw, w.dirty = 0, false
	w.choice, w.decided = newChoice(w.layout, w.o.Compression), false
}

// write writes a block that was packed to the current chunk.
func (w *Writer) write(b *building) error {
	d := &w.done
	if d.chunk == nil {
		d.chunk = &chunkWriter{
			fs: w.fs, folder: path.Join(w.folder, chunkFolder), layout: w.layout,
			name: fmt.Sprintf("%s-%04d-%06d.chunk", w.id, d.stream, d.number),
		}
		d.number++
		if err := d.chunk.open(); err != nil {
			return err
		}
	}
	return d.chunk.block(b)
}

// end commits a chunk, or drops it where the writer has failed.
func (w *Writer) end(e ended) {
	w.fail(w.guarded(func() error { return w.commitChunk(e) }))
	if w.err() != nil && e.chunk != nil {
		e.chunk.drop()
	}
}

// commitChunk finishes a chunk and writes it in the journal.
func (w *Writer) commitChunk(e ended) error {
	info, err := e.chunk.finish()
	if err != nil {
		return err
	}
	d := &w.done
	line := journalLine{info, e.token}
	d.journal.chunks = append(d.journal.chunks, line)
	if d.file == nil {
		return nil
	}
	text, err := seal(line)
	if err != nil {
		return err
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
	if w.current == nil {
		return nil
	}
	w.Seal()
	return w.quit(w.rest())
}

// quit frees what the writer holds.
func (w *Writer) quit(err error) error {
	w.current = nil
	living.Delete(w.id)
	if w.done.chunk != nil {
		w.done.chunk.drop()
	}
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
	if w.current != nil {
		_ = w.quit(w.rest())
	}
}

// Commit makes all that was added the snapshot, and ends the writer. Where another
// writer was first, it is an AlreadyExists error, and that one's snapshot counts.
func (w *Writer) Commit() error { return w.commitWith(nil) }

// commitWith is Commit with what other writers, which were closed, have written behind.
func (w *Writer) commitWith(others []*Writer) error {
	w.Seal()
	if err := w.quit(w.rest()); err != nil {
		return err
	}
	for _, o := range others {
		if o != nil {
			w.done.journal.chunks = append(w.done.journal.chunks, o.done.journal.chunks...)
		}
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

// publish gives the manifest its name.
func (w *Writer) publish() (*Manifest, error) {
	j := w.done.journal
	m := &Manifest{manifestFormat, version, w.id, w.o.Compression.String(), 0, w.layout.spec, w.o.About, j.infos()}
	var err error
	if m.Elements, err = count(m.Chunks); err != nil {
		return nil, err
	}
	text, err := seal(m)
	if err != nil {
		return nil, err
	}
	own, name := path.Join(w.folder, w.id+".tmp"), path.Join(w.folder, manifestName)
	if err := writeFile(w.fs, own, text); err != nil {
		return nil, err
	}
	if w.o.Replace {
		err = w.fs.Rename(own, name)
	} else {
		err = w.fs.Link(own, name)
		_ = w.fs.Remove(own) // one that stays is no harm
	}
	if err != nil {
		return nil, err
	}
	return m, w.fs.SyncFolder(w.folder)
}

// clean removes what the commit made useless. What cannot be removed is no harm.
func (w *Writer) clean(m, before *Manifest) {
	_ = w.fs.Remove(path.Join(w.folder, journalPrefix+w.id))
	if before == nil {
		return
	}
	for _, c := range before.Chunks {
		_ = w.fs.Remove(path.Join(w.folder, chunkFolder, c.File))
	}
}
