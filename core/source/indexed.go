package source

import (
	"sync"

	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/record"
	"infeed/core/rng"
	"infeed/core/spec"
	"infeed/core/vfs"
)

// indexedRecords is the dataset of the records of files whose places are known.
type indexedRecords struct {
	fs    vfs.FS
	index *record.Index
	lost  *dataset.Lost

	mu    sync.Mutex
	users int // scopes in which it is open
}

// Indexed looks through the files of a dataset that [TFRecord], [TextLine] or
// [FixedLength] returned, once, and returns their records as an indexed dataset, one
// file after the other. The files must not be compressed, nor change.
func Indexed(fs vfs.FS, of dataset.Definition) (dataset.Definition, error) {
	if parallel, ok := of.(*interleaved); ok {
		of = parallel.records
	}
	r, ok := of.(*records)
	if !ok {
		return nil, errs.New(errs.InvalidArgument, "indexed", "it is for TFRecordDataset, TextLineDataset and FixedLengthRecordDataset; call it before transformations")
	}
	index, damage, err := record.NewIndex(fs, r.files.Paths, r.format, record.Options{Compression: r.files.Compression, Errors: r.files.Errors})
	if err != nil {
		return nil, err
	}
	return &indexedRecords{fs: fs, index: index, lost: nothing.And(damage.Count, places(damage.Places)...)}, nil
}

func (*indexedRecords) Spec() *spec.Element  { return textScalar }
func (x *indexedRecords) Cardinality() int64 { return x.index.Len() }

func (x *indexedRecords) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	walk, err := dataset.Walk(walked{x}, s, pass, from)
	if err != nil {
		return nil, err
	}
	return &lossy{walk, x.lost}, nil
}

// walked is the dataset where tokens count.
type walked struct{ *indexedRecords }

// Open implements dataset.Indexed.
func (w walked) Open(s *dataset.Scope, _ rng.Key) (dataset.RandomAccess, error) {
	return w.open(s), nil
}

// lossy is a walk whose tokens say what was left out before it began.
type lossy struct {
	dataset.Iterator
	lost *dataset.Lost
}

func (l *lossy) Token() *dataset.Token {
	t := *l.Iterator.Token()
	t.Lost = l.lost
	return &t
}

// Open implements dataset.Indexed. Files stay open as long as a scope needs them.
func (x *indexedRecords) Open(s *dataset.Scope, _ rng.Key) (dataset.RandomAccess, error) {
	if s.Lost != nil && x.lost != nil {
		s.Lost(x.lost)
	}
	return x.open(s), nil
}

func (x *indexedRecords) open(s *dataset.Scope) dataset.RandomAccess {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.users++
	s.Defer(func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		if x.users--; x.users == 0 {
			x.index.Close()
		}
	})
	return x
}

// blocks keeps the memory that records are read into.
var blocks = sync.Pool{New: func() any { return new(record.Block) }}

// Fetch implements dataset.RandomAccess.
func (x *indexedRecords) Fetch(index []int64, dst dataset.Sink) error {
	b := blocks.Get().(*record.Block)
	defer blocks.Put(b)
	if err := x.index.Read(b, index); err != nil {
		return err
	}
	return emit(b, 0, b.Len(), dst)
}
