package snapshot

import (
	"errors"

	"infeed/core/dataset"
	"infeed/core/record"
	"infeed/core/tfproto"
)

// tfLane is files whose elements are read one after the other.
type tfLane struct {
	reader *record.Reader
	block  record.Block
	row    int   // the record in block with which the next element begins
	good   int   // the records before it are as their checksums say
	bad    error // of record good
	held   bool  // elements of the block are being given: it may not be read over

	number int64 // of the next element, where elements are numbered
	looked bool  // number is known, as far as it can be
}

// errHeld is what a lane says whose next element can be read only when those before it
// were given.
var errHeld = errors.New("the block is in use")

// fill makes sure that there is an element, and reads on by some records where there is
// none; io.EOF at the end.
func (l *tfLane) fill(records int) error {
	if l.row < l.block.Len() {
		return nil
	}
	if l.held {
		return errHeld
	}
	l.row = 0
	if err := l.reader.Next(&l.block, records); err != nil {
		return err
	}
	l.good, l.bad = l.block.Bad(0)
	return nil
}

// pass goes to the next element, each records further on.
func (l *tfLane) pass(each int) {
	l.row += each
	l.looked = false
	if l.bad != nil && l.good < l.row {
		l.good, l.bad = l.block.Bad(l.row)
	}
}

// damage returns what is wrong with the next element by its checksums.
func (l *tfLane) damage(each int) error {
	if l.bad != nil && l.good < l.row+each {
		return l.bad
	}
	return nil
}

// unnumbered is the number of an element whose number is damaged.
const unnumbered = -1

// look finds the number of the next element, which is the first of its tensors.
func (l *tfLane) look() int64 {
	if l.looked {
		return l.number
	}
	l.looked, l.number = true, unnumbered
	if l.damage(1) != nil {
		return l.number
	}
	t, err := tfproto.ReadTensor(l.block.Record(l.row))
	if err == nil && t.Type == tfInt64 && len(t.Shape) == 0 {
		l.number = int64(le.Uint64(t.Data))
	}
	return l.number
}

// token returns where the next element is.
func (l *tfLane) token() (file, offset int64) {
	t := l.reader.Token()
	if l.row < l.block.Len() {
		t = l.block.Place(l.row)
	}
	return int64(t.File), t.Offset
}

// open begins to read files at a place.
func (d *tfLoaded) open(s *dataset.Scope, paths []string, file, offset int64) (*tfLane, error) {
	o := record.Options{Compression: d.codec, Deferred: true, Together: d.each, BlockBytes: max(record.DefaultBlockBytes/len(d.lanes), leastBlock)}
	r, err := record.NewReader(d.fs, paths, d.format, o, record.Token{File: int(file), Offset: offset})
	if err != nil {
		return nil, err
	}
	s.Defer(r.Close)
	return &tfLane{reader: r}, nil
}

// leastBlock is the least that is read of a file at a time, where many are read.
const leastBlock = 32 << 10
