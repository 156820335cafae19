package snapshot

import (
	"path"

	"infeed/core/block"
	"infeed/core/errs"
	"infeed/core/spec"
	"infeed/core/vfs"
)

// mostStreams bounds the streams of a snapshot; each has a file open while it is written.
const mostStreams = 1000

// streams writes elements to the stream that the last component names, or all to the
// first.
type streams struct {
	fs     vfs.FS
	folder string
	spec   *spec.Element
	o      Options
	shards bool
	all    []*Writer // nil where nothing came

	made      bool // the folder was not there
	committed bool
}

// newStreams returns streams of elements that are stored with a spec.
func newStreams(fs vfs.FS, folder string, stored *spec.Element, o Options, shards bool) (*streams, error) {
	s := &streams{fs: fs, folder: folder, spec: stored, o: o, shards: shards}
	if shards {
		s.o.Workers = 0 // there may be many
	}
	there, err := exists(fs, folder)
	if err != nil {
		return nil, err
	}
	s.made = !there
	if _, err = s.writer(0); err != nil {
		s.drop()
		return nil, err
	}
	return s, nil
}

// checkStream fails for what is no number of a stream.
func checkStream(n int64) error {
	if n < 0 || n >= mostStreams {
		return errs.New(errs.InvalidArgument, "save", "shard_func returned %d; it must be from 0 to %d", n, mostStreams-1)
	}
	return nil
}

// writer returns the writer of a stream.
func (s *streams) writer(n int64) (*Writer, error) {
	if err := checkStream(n); err != nil {
		return nil, err
	}
	for int64(len(s.all)) <= n {
		s.all = append(s.all, nil)
	}
	if s.all[n] == nil {
		w, err := NewWriter(s.fs, s.folder, s.spec, s.o)
		if err != nil {
			return nil, err
		}
		w.done.stream = int(n)
		s.all[n] = w
	}
	return s.all[n], nil
}

// add adds the elements of a block.
func (s *streams) add(b block.Block) error {
	if !s.shards {
		return s.addTo(0, b)
	}
	return byStream(b, s.spec, s.addTo)
}

// byStream calls f for the elements of a block, which are stored with a spec, together
// with the stream that their last component names.
func byStream(b block.Block, stored *spec.Element, f func(stream int64, b block.Block) error) error {
	last := len(stored.Components)
	numbers := b.Columns[last]
	shapes := &spec.Element{Structure: stored.Structure, Components: b.Shapes.Components[:last]}
	columns := make([]int, last)
	for i := range columns {
		columns[i] = i
	}
	for from := int64(0); from < b.Rows; {
		n := integer(numbers, from)
		to := from + 1
		for to < b.Rows && integer(numbers, to) == n {
			to++
		}
		if err := f(n, b.Slice(from, to).Select(shapes, columns...)); err != nil {
			return err
		}
		from = to
	}
	return nil
}

func (s *streams) addTo(n int64, b block.Block) error {
	w, err := s.writer(n)
	if err != nil {
		return err
	}
	if err := w.Add(b); err != nil {
		return err
	}
	w.Mark(nil)
	return nil
}

// integer returns a value of a column of integers; what int64 cannot hold is negative.
func integer(c block.Column, row int64) int64 {
	n := int64(0)
	b := c.Data[row*c.RowBytes : (row+1)*c.RowBytes]
	for i := len(b) - 1; i >= 0; i-- {
		n = n<<8 | int64(b[i])
	}
	return n
}

// commit makes the elements of all streams the snapshot.
func (s *streams) commit() error {
	for _, w := range s.all[1:] {
		if w == nil {
			continue
		}
		if err := w.Close(); err != nil {
			return err
		}
	}
	if err := s.all[0].commitWith(s.all[1:]); err != nil {
		return err
	}
	s.committed = true
	removeTF(s.fs, s.folder)
	return nil
}

// drop ends the writers, and removes what was not committed.
func (s *streams) drop() {
	for _, w := range s.all {
		if w != nil {
			w.Drop()
		}
	}
	if s.committed || s.named() {
		return
	}
	for _, w := range s.all {
		if w == nil {
			continue
		}
		for _, c := range w.done.journal.chunks {
			_ = s.fs.Remove(path.Join(s.folder, chunkFolder, c.File))
		}
	}
	if s.made {
		_ = s.fs.Remove(path.Join(s.folder, chunkFolder))
		_ = s.fs.Remove(s.folder)
	}
}

// named tells whether the manifest is, or may be, of these writers: where it got its
// name and the folder could not be synced.
func (s *streams) named() bool {
	m, err := ReadManifest(s.fs, s.folder)
	if err != nil {
		return errs.KindOf(err) != errs.NotFound
	}
	return len(s.all) > 0 && s.all[0] != nil && m.Writer == s.all[0].id
}
