package snapshot

import (
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
	keep   []int     // the components that are stored
}

func newStreams(fs vfs.FS, folder string, e *spec.Element, o Options, shards bool) (*streams, error) {
	s := &streams{fs: fs, folder: folder, spec: e, o: o, shards: shards}
	if shards {
		last := len(e.Components) - 1
		s.spec = &spec.Element{Structure: e.Structure.Items[0], Components: e.Components[:last]}
		for i := range last {
			s.keep = append(s.keep, i)
		}
		s.o.Background = false // there may be many
	}
	_, err := s.writer(0)
	return s, err
}

// writer returns the writer of a stream.
func (s *streams) writer(n int64) (*Writer, error) {
	if n < 0 || n >= mostStreams {
		return nil, errs.New(errs.InvalidArgument, "save", "shard_func returned %d; it must be from 0 to %d", n, mostStreams-1)
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
	numbers := b.Columns[len(b.Columns)-1]
	shapes := &spec.Element{Structure: s.spec.Structure, Components: b.Shapes.Components[:len(s.keep)]}
	for from := int64(0); from < b.Rows; {
		n := integer(numbers, from)
		to := from + 1
		for to < b.Rows && integer(numbers, to) == n {
			to++
		}
		if err := s.addTo(n, b.Slice(from, to).Select(shapes, s.keep...)); err != nil {
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
	return s.all[0].commitWith(s.all[1:])
}

// drop ends the writers without a commit.
func (s *streams) drop() {
	for _, w := range s.all {
		if w != nil {
			w.Drop()
		}
	}
}
