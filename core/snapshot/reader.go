package snapshot

import (
	"path"
	"sort"
	"sync"

	"infeed/core/errs"
	"infeed/core/kernel"
	"infeed/core/vfs"
)

// Reader gives the elements of chunks by number. Any number of goroutines may use it.
type Reader struct {
	layout *layout
	infos  []ChunkInfo
	ends   []int64 // number after the last element of each chunk
	files  files
	cache  cache
	chunks []chunk
	// helpers is how many goroutines help with a Fetch, for who fetches one after the other.
	helpers int
	order   *order // nil: elements are numbered as they lie in the chunks
	advice  advice
}

// chunk is a chunk whose footer is read when it is needed first.
type chunk struct {
	mu     sync.Mutex
	blocks []stored
}

// newReader returns the elements of the chunks in a folder, in the order in which they
// were written.
func newReader(fs vfs.FS, folder string, l *layout, infos []ChunkInfo) *Reader {
	for i := range infos {
		if infos[i].ordering() {
			return dividedReader(fs, folder, l, infos)
		}
	}
	return plainReader(fs, folder, l, infos)
}

// plainReader returns the elements of chunks, one chunk after the other.
func plainReader(fs vfs.FS, folder string, l *layout, infos []ChunkInfo) *Reader {
	r := &Reader{layout: l, infos: infos, chunks: make([]chunk, len(infos)), files: files{fs: fs}}
	n := int64(0)
	for _, c := range infos {
		n += c.Elements
		r.ends = append(r.ends, n)
		r.files.paths = append(r.files.paths, path.Join(folder, chunkFolder, c.File))
	}
	return r
}

// NewReader returns the elements of the snapshot in a folder.
func NewReader(fs vfs.FS, folder string) (*Reader, *Manifest, error) {
	m, err := ReadManifest(fs, folder)
	if err != nil {
		return nil, nil, err
	}
	return newReader(fs, folder, newLayout(m.Spec), m.Chunks), m, nil
}

// Len returns how many elements there are.
func (r *Reader) Len() int64 {
	if len(r.ends) == 0 {
		return 0
	}
	return r.ends[len(r.ends)-1]
}

// start returns the number of the first element of a chunk.
func (r *Reader) start(chunk int) int64 { return r.ends[chunk] - r.infos[chunk].Elements }

// Close closes the files that are open.
func (r *Reader) Close() {
	r.files.close()
	if r.order != nil {
		r.order.places.files.close()
	}
}

// reopen lets files stay open again.
func (r *Reader) reopen() {
	r.files.reopen()
	if r.order != nil {
		r.order.places.files.reopen()
	}
}

// load returns the blocks of a chunk.
func (r *Reader) load(i int) ([]stored, error) {
	c := &r.chunks[i]
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.blocks != nil {
		return c.blocks, nil
	}
	err := r.files.with(i, func(f vfs.File) (err error) {
		c.blocks, err = readChunk(f, r.files.paths[i], r.layout, r.infos[i])
		return err
	})
	return c.blocks, err
}

// place is where an element is.
type place struct {
	chunk, block int
	at           *stored
	row          int64
}

// same tells whether both are in one block.
func (p place) same(o place) bool { return p.at == o.at }

// find returns where an element is. near is a place looked up before, or zero.
func (r *Reader) find(number int64, near place) (place, error) {
	if near.at != nil {
		first := near.at.first + r.start(near.chunk)
		if row := number - first; row >= 0 && row < near.at.rows {
			near.row = row
			return near, nil
		}
	}
	if number < 0 || number >= r.Len() {
		return place{}, errs.New(errs.InvalidArgument, "snapshot", "there is no element %d in a snapshot of %d", number, r.Len())
	}
	p := place{chunk: sort.Search(len(r.ends), func(i int) bool { return r.ends[i] > number })}
	blocks, err := r.load(p.chunk)
	if err != nil {
		return p, err
	}
	p.row = number - r.start(p.chunk)
	p.block = sort.Search(len(blocks), func(i int) bool { return blocks[i].first > p.row }) - 1
	p.at = &blocks[p.block]
	p.row -= p.at.first
	return p, nil
}

// copyRange copies bytes of a piece, from a place on, to dst.
func (r *Reader) copyRange(p place, part int, from int64, dst []byte) error {
	if len(dst) == 0 {
		return nil
	}
	piece := &p.at.pieces[part]
	if from < 0 || from > piece.raw-int64(len(dst)) {
		return lost(r.files.paths[p.chunk], piece.at, "an element lies outside of its piece")
	}
	if piece.codec == None {
		return r.files.with(p.chunk, func(f vfs.File) error {
			return piece.read(f, r.files.paths[p.chunk], from, dst)
		})
	}
	v, err := r.cache.get(cacheKey{p.chunk, p.block, part}, func(v *cached) error {
		memory, err := r.decompressed(p.chunk, piece)
		if err == nil {
			v.value, v.bytes, v.free = *memory, piece.raw, func() { giveBack(memory) }
		}
		return err
	})
	if err != nil {
		return err
	}
	defer r.cache.done(v, int64(len(dst)))
	together(dst, v.value.([]byte), int(piece.width), int(from))
	return nil
}

// decompressed reads and decompresses a piece. The bytes of its values stay apart.
func (r *Reader) decompressed(chunk int, piece *piece) (*[]byte, error) {
	at := r.files.paths[chunk]
	data := borrow(piece.bytes())
	defer giveBack(data)
	err := r.files.with(chunk, func(f vfs.File) error { return readFull(f, at, *data, piece.at) })
	if err != nil {
		return nil, err
	}
	if checksum(*data) != piece.sums[0] {
		return nil, lost(at, piece.at, "a piece of %d bytes is damaged", piece.stored)
	}
	out := borrow(piece.raw)
	if err := decompress(piece.codec, (*data)[:piece.stored], *out); err != nil {
		giveBack(out)
		return nil, lost(at, piece.at, "a piece cannot be decompressed: %v", err)
	}
	return out, nil
}

// together makes dst the bytes of a piece from a place on. apart is the piece, with the
// bytes of values of a width apart.
func together(dst, apart []byte, width, from int) {
	if width < 2 {
		copy(dst, apart[from:])
		return
	}
	lead := from % width
	if lead == 0 {
		kernel.JoinPart(dst, apart, width, from)
		return
	}
	values := make([]byte, lead+len(dst))
	kernel.JoinPart(values, apart, width, from-lead)
	copy(dst, values[lead:])
}
