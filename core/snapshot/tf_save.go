package snapshot

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"path"
	"slices"
	"strconv"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/record"
	"infeed/core/spec"
	"infeed/core/vfs"
)

// SaveTF is Save in the format of tf.data.Dataset.save. docs/format/tensorflow.md
// describes what is written. AUTO is SNAPPY, as in tf.data.
func SaveTF(in dataset.Definition, folder string, compression Compression, shard dataset.Program) (dataset.Definition, error) {
	if _, err := tfCodec(nil, compression); err != nil {
		return nil, err
	}
	s, err := newSaved(in, shard)
	if err != nil {
		return nil, err
	}
	if _, _, err := tfSpecOf(in.Spec()); err != nil {
		return nil, err
	}
	s.begin = func(fs vfs.FS, _ int) (store, error) { return newTFStreams(fs, folder, in.Spec(), compression) }
	return s, nil
}

// tfStreams writes elements in the files of a new run of a folder. The run counts when
// the folder's metadata name it.
type tfStreams struct {
	fs          vfs.FS
	folder, run string
	spec        []byte // of elements
	stored      *tfStored
	compression Compression

	all   map[int64]*tfStream
	count int64
	made  []string // folders and files, in the order of making
	buf   []byte
}

// tfStream is the file of a shard.
type tfStream struct {
	*record.Writer
	file   vfs.File
	shapes *spec.Element // of the last elements
	heads  [][]byte      // of their records
}

func newTFStreams(fs vfs.FS, folder string, e *spec.Element, c Compression) (*tfStreams, error) {
	s := &tfStreams{fs: fs, folder: folder, run: newRun(), compression: c, all: map[int64]*tfStream{}}
	var err error
	if s.spec, s.stored, err = tfSpecOf(e); err != nil {
		return nil, err
	}
	if err = s.makeFolder(path.Join(folder, s.run)); err != nil {
		s.drop()
		return nil, err
	}
	return s, nil
}

// newRun returns a name for a run: a number of 64 bits, drawn at random.
func newRun() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return strconv.FormatUint(binary.LittleEndian.Uint64(b[:]), 10)
}

// makeFolder makes a folder, and remembers what was not there.
func (s *tfStreams) makeFolder(at string) error {
	made, err := missing(s.fs, at)
	if err != nil || len(made) == 0 {
		return err
	}
	slices.Reverse(made)
	s.made = append(s.made, made...)
	return s.fs.MakeFolder(at)
}

// stream returns where the elements of a shard go.
func (s *tfStreams) stream(n int64) (*tfStream, error) {
	if t := s.all[n]; t != nil {
		return t, nil
	}
	if err := checkStream(n); err != nil {
		return nil, err
	}
	shard := path.Join(s.folder, s.run, fmt.Sprintf("%08d.shard", n))
	if err := s.makeFolder(shard); err != nil {
		return nil, err
	}
	at := path.Join(shard, "00000000.snapshot")
	f, err := s.fs.Create(at)
	if err != nil {
		return nil, err
	}
	s.made = append(s.made, at)
	z, err := tfCodec(f, s.compression)
	if err != nil {
		f.Close()
		return nil, err
	}
	s.all[n] = &tfStream{Writer: record.NewWriterTo(f, at, z), file: f}
	return s.all[n], nil
}

func (s *tfStreams) add(b block.Block, streams []int64) error {
	if streams == nil {
		return s.write(0, b)
	}
	return byStream(streams, func(n, from, to int64) error { return s.write(n, b.Slice(from, to)) })
}

// write writes elements: for each leaf of each a record.
func (s *tfStreams) write(n int64, b block.Block) error {
	t, err := s.stream(n)
	if err != nil {
		return err
	}
	if t.shapes == nil || !t.shapes.Same(b.Shapes) {
		t.shapes, t.heads = b.Shapes, s.stored.heads(b.Shapes)
	}
	for row := range b.Rows {
		for i := range s.stored.leaves {
			if s.buf, err = s.stored.message(append(s.buf[:0], t.heads[i]...), i, b, row); err != nil {
				return errs.Wrap(err, errs.KindOf(err), "save", "element %d", s.count+row)
			}
			if int64(len(s.buf)) > mostProto {
				return errs.New(errs.Unimplemented, "save", "component%s of element %d has %d bytes; TensorFlow reads %d at most", b.Shapes.Name(s.stored.leaves[i].first), s.count+row, len(s.buf), mostProto)
			}
			if err := t.Write(s.buf); err != nil {
				return err
			}
		}
	}
	s.count += b.Rows
	return nil
}

// mostProto is the size of a message that protocol buffers read, at most.
const mostProto = 1<<31 - 1

// drop removes what was written, where it was not committed.
func (s *tfStreams) drop() {
	for _, t := range s.all {
		_ = t.file.Close() // it may be closed already
	}
	slices.Reverse(s.made)
	removeAll(s.fs, s.made)
	s.made = nil
}
