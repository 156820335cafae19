package snapshot

import (
	"errors"
	"math"

	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/record"
	"infeed/core/tfproto"
)

// tfLane is files whose elements are read one after the other. With workers, it is read
// ahead.
type tfLane struct {
	scope  *dataset.Scope
	reader *record.Reader
	paths  []string
	block  *tfBlock
	row    int  // the record in block with which the next element begins
	held   bool // elements of the block are being given: it may not be read over

	free  chan *tfBlock // to read into
	ahead chan *tfBlock // was read; nil: it is read when it is asked for

	number int64 // of the next element, where elements are numbered
	looked bool  // number is known, as far as it can be
}

// tfBlock is records that were read and checked.
type tfBlock struct {
	record.Block
	after record.Token // where reading goes on
	err   error        // why there are none
	good  int          // the records before it are as their checksums say
	bad   error        // of record good
}

const (
	// tfAhead is how many blocks of a lane are read before they are needed.
	tfAhead = 2
	// tfBlockBytes is about how much is read at a time, of all lanes together. For less,
	// waking who waits for it takes longer than reading it.
	tfBlockBytes = 2 * record.DefaultBlockBytes
	// leastBlock is the least that is read of a lane at a time.
	leastBlock = 32 << 10
)

// errHeld is what a lane says whose next element can be read only when those before it
// were given.
var errHeld = errors.New("the block is in use")

// read reads the next block.
func (l *tfLane) read(b *tfBlock) {
	b.err = l.reader.Next(&b.Block, math.MaxInt32)
	b.after = l.reader.Token()
	b.err = vanished(b.err, l.paths, b.after.File)
	b.good, b.bad = b.Bad(0)
}

// run reads ahead until the end, or an error.
func (l *tfLane) run() {
	for {
		select {
		case b := <-l.free:
			l.read(b)
			l.ahead <- b // there is room for all
			if b.err != nil {
				return
			}
		case <-l.scope.Done():
			return
		}
	}
}

// fill makes sure that there is an element, and goes to the next block where there is
// none; io.EOF at the end.
func (l *tfLane) fill() error {
	switch {
	case l.row < l.block.Len():
		return nil
	case l.held:
		return errHeld
	case l.block.err != nil:
		return l.block.err
	}
	l.row = 0
	if l.ahead == nil {
		l.read(l.block)
		return l.block.err
	}
	l.free <- l.block
	select {
	case l.block = <-l.ahead:
		return l.block.err
	case <-l.scope.Done():
		l.block = &tfBlock{err: l.scope.Err(), after: l.block.after}
		return l.block.err
	}
}

// pass goes to the next element, each records further on.
func (l *tfLane) pass(each int) {
	l.row += each
	l.looked = false
	if b := l.block; b.bad != nil && b.good < l.row {
		b.good, b.bad = b.Bad(l.row)
	}
}

// damage returns what is wrong with the next element by its checksums.
func (l *tfLane) damage(each int) error {
	if b := l.block; b.bad != nil && b.good < l.row+each {
		return b.bad
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
	t := l.block.after
	if l.row < l.block.Len() {
		t = l.block.Place(l.row)
	}
	return int64(t.File), t.Offset
}

// open begins to read files at a place.
func (d *tfLoaded) open(s *dataset.Scope, paths []string, file, offset int64) (*tfLane, error) {
	o := record.Options{Compression: d.codec, Deferred: true, Together: d.each, BlockBytes: max(tfBlockBytes/len(d.lanes), leastBlock)}
	at := record.Token{File: int(file), Offset: offset}
	r, err := record.NewReader(d.fs, paths, d.format, o, at)
	if err != nil {
		return nil, vanished(err, paths, int(file))
	}
	s.Defer(r.Close)
	l := &tfLane{scope: s, reader: r, paths: paths, block: &tfBlock{after: at}}
	if s.Workers > 0 {
		l.free, l.ahead = make(chan *tfBlock, tfAhead+1), make(chan *tfBlock, tfAhead+1)
		for range tfAhead {
			l.free <- &tfBlock{}
		}
		s.Go(l.run)
	}
	return l, nil
}

// vanished returns what an error of opening a file means where the file was there before.
func vanished(err error, paths []string, file int) error {
	if errs.KindOf(err) == errs.NotFound && file >= 0 && file < len(paths) {
		return ofSaved.to(lost(paths[file], 0, gone))
	}
	return err
}
