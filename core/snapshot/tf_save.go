package snapshot

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"path"
	"strconv"
	"unicode/utf8"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/record"
	"infeed/core/spec"
	"infeed/core/tfproto"
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
	types       []tfproto.DataType
	compression Compression

	all   map[int64]*tfStream
	count int64
	made  []string // folders and files, in the order of making
	buf   []byte
	text  []byte
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
	if s.spec, s.types, err = tfSpecOf(e); err != nil {
		return nil, err
	}
	for _, at := range []string{folder, path.Join(folder, s.run)} {
		if err = s.makeFolder(at); err != nil {
			s.drop()
			return nil, err
		}
	}
	return s, nil
}

// newRun returns a name for a run: a number of 64 bits, drawn at random.
func newRun() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return strconv.FormatUint(binary.LittleEndian.Uint64(b[:]), 10)
}

// makeFolder makes a folder, and remembers it where it was not there.
func (s *tfStreams) makeFolder(at string) error {
	there, err := exists(s.fs, at)
	if err != nil || there {
		return err
	}
	s.made = append(s.made, at)
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

// write writes elements: for each component of each a record.
func (s *tfStreams) write(n int64, b block.Block) error {
	t, err := s.stream(n)
	if err != nil {
		return err
	}
	if t.shapes == nil || !t.shapes.Same(b.Shapes) {
		t.shapes, t.heads = b.Shapes, t.heads[:0]
		for i, c := range b.Shapes.Components {
			t.heads = append(t.heads, tfproto.AppendHead(nil, s.types[i], c.Shape))
		}
	}
	for row := range b.Rows {
		for i, c := range b.Columns {
			s.buf = append(s.buf[:0], t.heads[i]...)
			s.buf = tfproto.AppendContent(s.buf, s.content(b.Shapes.Components[i], c, row, b.Rows))
			if int64(len(s.buf)) > mostProto {
				return errs.New(errs.Unimplemented, "save", "component%s of element %d has %d bytes; TensorFlow reads %d at most", b.Shapes.Name(i), s.count+row, len(s.buf), mostProto)
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

// content returns the values of an element in a column, as TensorFlow stores them.
func (s *tfStreams) content(c spec.Component, values block.Column, row, rows int64) []byte {
	if values.Text != nil {
		each := int64(values.Text.Len()) / rows
		s.text = s.text[:0]
		for k := row * each; k < (row+1)*each; k++ {
			s.text = binary.AppendUvarint(s.text, uint64(len(values.Text.At(int(k)))))
		}
		for k := row * each; k < (row+1)*each; k++ {
			s.text = append(s.text, values.Text.At(int(k))...)
		}
		return s.text
	}
	data := values.Data[row*values.RowBytes : (row+1)*values.RowBytes]
	if c.DType.Kind == 'S' || c.DType.Kind == 'U' {
		s.text = appendTexts(s.text[:0], data, c)
		return s.text
	}
	return data
}

// appendTexts appends strings of a fixed size as TensorFlow has strings: without the
// zeros that fill them up, and UTF-32 as UTF-8.
func appendTexts(dst, data []byte, c spec.Component) []byte {
	var all []byte
	for k := range c.Count() {
		value, was := data[k*c.DType.Size:(k+1)*c.DType.Size], len(all)
		if c.DType.Kind == 'U' {
			for ; len(value) > 0; value = value[4:] {
				all = utf8.AppendRune(all, rune(le.Uint32(value)))
			}
		} else {
			all = append(all, value...)
		}
		for len(all) > was && all[len(all)-1] == 0 {
			all = all[:len(all)-1]
		}
		dst = binary.AppendUvarint(dst, uint64(len(all)-was))
	}
	return append(dst, all...)
}

// drop removes what was written, where it was not committed.
func (s *tfStreams) drop() {
	for _, t := range s.all {
		_ = t.file.Close() // it may be closed already
	}
	for i := len(s.made) - 1; i >= 0; i-- {
		_ = s.fs.Remove(s.made[i])
	}
	s.made = nil
}
