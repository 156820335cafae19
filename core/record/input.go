package record

import (
	"io"
	"math"

	"infeed/core/codec"
	"infeed/core/errs"
	"infeed/core/vfs"
)

// input is what a file holds, after decompression.
type input struct {
	path string
	file vfs.File
	size int64 // of the file when it was opened, or later; unknown when compressed

	kind   codec.Kind
	stream *codec.Reader // of a compressed file
	pos    int64         // where stream is
	back   []byte        // bytes before pos that are read again
	broken bool          // stream has failed: to try again is to begin again
}

// openInput opens a file. A TFRecord file shows that it is one, compressed or not.
func openInput(fs vfs.FS, path string, kind codec.Kind, format Format) (*input, error) {
	file, err := fs.Open(path)
	if err != nil {
		return nil, err
	}
	in := &input{path: path, file: file, size: unknown}
	if in.kind, err = in.detect(kind, format); err == nil {
		if in.compressed() {
			err = in.restart()
		} else {
			in.size, err = in.sizeNow()
		}
	}
	if err != nil {
		in.close()
		return nil, err
	}
	return in, nil
}

func (in *input) detect(kind codec.Kind, format Format) (codec.Kind, error) {
	if kind == codec.None {
		return kind, nil
	}
	head := make([]byte, 4096)
	n, err := in.file.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return kind, err
	}
	head = head[:n]
	_, frames := format.(tfrecord)
	if plain := frames && isTFRecord(head); plain && kind != codec.Auto {
		return kind, &errs.Error{Op: "record", Kind: errs.DataLoss, Path: in.path,
			Text: "this is not " + kind.String() + ` but a TFRecord file that is not compressed; give compression_type=None or "AUTO"`}
	} else if plain {
		return codec.None, nil
	}
	if kind == codec.Auto {
		kind = codec.Detect(head)
	}
	return kind, nil
}

func (in *input) compressed() bool { return in.kind != codec.None }

func (in *input) restart() (err error) {
	if in.stream != nil {
		in.stream.Close()
		in.stream = nil
	}
	in.pos, in.back, in.broken = 0, nil, false
	in.stream, err = codec.NewReader(io.NewSectionReader(in.file, 0, math.MaxInt64), in.path, in.kind)
	return err
}

func (in *input) sizeNow() (int64, error) {
	info, err := in.file.Stat()
	return info.Size, err
}

// grew looks whether the file has become longer.
func (in *input) grew() bool {
	if in.compressed() {
		return false
	}
	now, err := in.sizeNow()
	if err != nil || now <= in.size {
		return false
	}
	in.size = now
	return true
}

// read fills p with what begins at off; last tells that nothing follows. Before an
// error there may be bytes.
func (in *input) read(p []byte, off int64) (n int, last bool, err error) {
	if in.compressed() {
		return in.readStream(p, off)
	}
	n, err = in.file.ReadAt(p, off)
	if err != io.EOF {
		return n, false, err
	}
	end := off + int64(n)
	if off > in.size {
		return n, false, in.outside(off, in.size)
	}
	if end < in.size {
		return n, false, in.cutShort(end)
	}
	in.size = end
	return n, true, nil
}

func (in *input) readStream(p []byte, off int64) (n int, last bool, err error) {
	defer func() { in.broken = err != nil }()
	reached := in.pos
	if in.broken || off < in.pos-int64(len(in.back)) {
		if err := in.restart(); err != nil {
			return 0, false, err
		}
	}
	if off <= in.pos {
		n = copy(p, in.back[int64(len(in.back))-(in.pos-off):])
		if off+int64(n) == in.pos {
			in.back = in.back[:0]
		}
	} else {
		in.back = in.back[:0]
		skipped, err := io.CopyN(io.Discard, in.stream, off-in.pos)
		in.pos += skipped
		if err == io.EOF && off <= reached {
			err = in.cutShort(off)
		} else if err == io.EOF {
			err = in.outside(off, in.pos)
		}
		if err != nil {
			return 0, false, err
		}
	}
	if n == len(p) {
		return n, false, nil
	}
	more, err := io.ReadFull(in.stream, p[n:])
	in.pos += int64(more)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return n + more, true, nil
	}
	return n + more, false, err
}

// cutShort is the error of a file that had more when it was read before.
func (in *input) cutShort(at int64) error {
	return &errs.Error{Op: "record", Kind: errs.DataLoss, Path: in.path, Offset: at,
		Text: "the file was cut short while it was read; read it again once nobody writes it"}
}

// outside is the error of a token behind the end.
func (in *input) outside(off, end int64) error {
	return errs.New(errs.StateMismatch, "record", "the state is at byte %d of %s, which has %d: the file is another than when the state was saved", off, in.path, end)
}

// unread takes back the last bytes that were read, which are read again soon. A file
// that is not compressed is simply read again.
func (in *input) unread(tail []byte) {
	if in.compressed() && !in.broken {
		in.back = append(append(make([]byte, 0, len(tail)+len(in.back)), tail...), in.back...)
	}
}

func (in *input) close() {
	if in.stream != nil {
		in.stream.Close()
	}
	in.file.Close() // it was only read: nothing can be lost
}
