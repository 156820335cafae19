package record

import (
	"io"
	"sort"
	"sync"

	"infeed/core/codec"
	"infeed/core/errs"
	"infeed/core/vfs"
)

// Index is where each record of files is, so that records can be read in any order.
// Any number of goroutines may use it; it must be closed.
type Index struct {
	fs     vfs.FS
	format Format
	files  []indexed
	total  int64

	mu   sync.Mutex
	open map[int]*handle
	most int // files that may be open
	tick int64
}

// indexed is a file. Its records begin at starts, or where a format can tell
// without looking, at first + i*stride.
type indexed struct {
	path          string
	info          vfs.Info
	before, count int64 // records in the files before, and in this one
	starts        []int64
	first, stride int64
}

// start returns where record i begins, and for i = count where the last one ends.
func (f *indexed) start(i int64) int64 {
	if f.stride > 0 {
		return f.first + i*f.stride
	}
	return f.starts[i]
}

// NewIndex reads files once, from beginning to end, and returns their index, and
// what was left out by the policy. The files must not be compressed. Those whose
// records are of a fixed length are not read.
func NewIndex(fs vfs.FS, paths []string, format Format, o Options) (*Index, Damage, error) {
	ix := &Index{fs: fs, format: format, open: map[int]*handle{}, most: maxOpen}
	var damage Damage
	// What is left out must be known now; otherwise payloads are checked when read.
	o.Deferred = o.Errors == Raise
	for _, path := range paths {
		f := indexed{path: path, before: ix.total}
		if err := f.scan(fs, format, o, &damage); err != nil {
			return nil, damage, err
		}
		ix.files = append(ix.files, f)
		ix.total += f.count
	}
	return ix, damage, nil
}

// scan finds the records of the file.
func (f *indexed) scan(fs vfs.FS, format Format, o Options, damage *Damage) error {
	in, err := openInput(fs, f.path, o.Compression, format)
	if err != nil {
		return err
	}
	f.info, err = in.file.Stat()
	in.close()
	if err != nil {
		return err
	}
	if in.compressed() {
		return errs.New(errs.InvalidArgument, "record", "%s is compressed with %v, so that its records cannot be read in any order; write it uncompressed, or take a snapshot", f.path, in.kind)
	}
	var known bool
	if f.first, f.stride, f.count, known = format.layout(f.info.Size); known {
		bad := format.fits(f.info.Size)
		if bad != nil && o.Errors != Raise {
			damage.add(bad.in(f.path, false))
		} else if bad != nil {
			return bad.in(f.path, false)
		}
		return nil
	}
	o.Compression = codec.None
	r, err := NewReader(fs, []string{f.path}, format, o, Token{})
	if err != nil {
		return err
	}
	defer r.Close()
	return f.walk(r, damage)
}

// walk notes where the records that a reader gives begin.
func (f *indexed) walk(r *Reader, damage *Damage) error {
	var b Block
	end := int64(0)
	for {
		err := r.Next(&b, 1<<20)
		damage.merge(b.Damage)
		if err == io.EOF {
			f.count = int64(len(f.starts))
			f.starts = append(f.starts, end)
			return nil
		} else if err != nil {
			return err
		}
		for _, s := range b.Starts {
			f.starts = append(f.starts, b.at+s-b.before)
		}
		end = r.token.Offset
	}
}

// Len returns how many records there are.
func (ix *Index) Len() int64 { return ix.total }

// Read gives the records with the given numbers in b, in that order. Where numbers
// follow each other, one read does for all of them.
func (ix *Index) Read(b *Block, numbers []int64) error {
	b.reset()
	bytes := int64(0)
	for _, n := range numbers {
		if n < 0 || n >= ix.total {
			return errs.New(errs.Internal, "record", "record %d of %d", n, ix.total)
		}
		f := ix.files[ix.fileOf(n)]
		bytes += f.start(n-f.before+1) - f.start(n-f.before)
	}
	memory := b.room(int(bytes), int(bytes))
	filled := 0
	for len(numbers) > 0 {
		i := ix.fileOf(numbers[0])
		f := &ix.files[i]
		from, run := numbers[0]-f.before, int64(1)
		for run < int64(len(numbers)) && numbers[run] == numbers[0]+run && from+run < f.count {
			run++
		}
		w := &window{pos: filled, at: f.start(from) - int64(filled), size: f.info.Size}
		filled += int(f.start(from+run) - f.start(from))
		w.data, w.last = memory[:filled], from+run == f.count
		if err := ix.readRun(b, w, i, from, run); err != nil {
			return err
		}
		numbers = numbers[run:]
	}
	b.Data = memory
	return nil
}

// readRun reads the bytes of w that are not yet there, and the records in them.
func (ix *Index) readRun(b *Block, w *window, i int, from, run int64) error {
	f := &ix.files[i]
	h, err := ix.acquire(i)
	if err != nil {
		return err
	}
	defer ix.release(h)
	if _, err := h.file.ReadAt(w.data[w.pos:], w.offset()); err == io.EOF {
		return f.changed(w)
	} else if err != nil {
		return err
	}
	for k := range run {
		if f.stride > 0 {
			b.add(w.pos+int(k*f.stride), w.pos+int((k+1)*f.stride))
			continue
		}
		w.pos = int(f.start(from+k) - w.at)
		had := b.Len()
		if _, bad := ix.format.frame(w, b, had+1); bad != nil {
			return bad.in(f.path, false)
		}
		if b.Len() == had {
			return f.changed(w)
		}
	}
	return nil
}

func (f *indexed) changed(w *window) error {
	return &errs.Error{Op: "record", Kind: errs.DataLoss, Path: f.path, Offset: w.offset(), Text: "the file changed after it was indexed"}
}

func (ix *Index) fileOf(n int64) int {
	return sort.Search(len(ix.files), func(i int) bool { return n < ix.files[i].before+ix.files[i].count })
}

// handle is an open file of an index.
type handle struct {
	file  vfs.File
	users int
	used  int64 // when, in ticks
}

// maxOpen is how many files an index leaves open: far below what systems allow.
const maxOpen = 64

// acquire opens a file, if it is not open, until release is called.
func (ix *Index) acquire(i int) (*handle, error) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.tick++
	if h := ix.open[i]; h != nil {
		h.users++
		h.used = ix.tick
		return h, nil
	}
	for len(ix.open) >= ix.most && ix.closeOldest() {
	}
	file, err := ix.fs.Open(ix.files[i].path)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || info != ix.files[i].info {
		file.Close()
		if err == nil {
			err = ix.files[i].changed(&window{})
		}
		return nil, err
	}
	ix.open[i] = &handle{file: file, users: 1, used: ix.tick}
	return ix.open[i], nil
}

func (ix *Index) release(h *handle) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	h.users--
}

// closeOldest closes the file that was used least lately, if there is one that is not
// in use.
func (ix *Index) closeOldest() bool {
	oldest := -1
	for i, h := range ix.open {
		if h.users == 0 && (oldest < 0 || h.used < ix.open[oldest].used) {
			oldest = i
		}
	}
	if oldest >= 0 {
		ix.open[oldest].file.Close()
		delete(ix.open, oldest)
	}
	return oldest >= 0
}

// Close closes the files that are open. No read may be under way.
func (ix *Index) Close() {
	for i, h := range ix.open {
		h.file.Close()
		delete(ix.open, i)
	}
}
