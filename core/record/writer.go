package record

import (
	"encoding/binary"

	"infeed/core/codec"
	"infeed/core/errs"
	"infeed/core/vfs"
)

// Writer writes a TFRecord file. It is for one goroutine at a time. After an error
// it does nothing but give the error again.
type Writer struct {
	path string
	file vfs.File
	z    codec.Writer
	err  error
}

// NewWriter makes a TFRecord file, compressed with a level as in [codec.NewWriter].
// A file that is there is replaced.
func NewWriter(fs vfs.FS, path string, kind codec.Kind, level int) (*Writer, error) {
	if _, err := codec.NewWriter(nil, kind, level); err != nil {
		return nil, err // before a file is lost
	}
	file, err := fs.Create(path)
	if err != nil {
		return nil, err
	}
	z, err := codec.NewWriter(file, kind, level)
	return &Writer{path: path, file: file, z: z, err: err}, err
}

// NewWriterTo writes to a file that is open for writing, and that Close closes; z
// compresses to it.
func NewWriterTo(file vfs.File, path string, z codec.Writer) *Writer {
	return &Writer{path: path, file: file, z: z}
}

// Write appends a record.
func (w *Writer) Write(record []byte) error {
	var head [frameHead]byte
	binary.LittleEndian.PutUint64(head[:], uint64(len(record)))
	binary.LittleEndian.PutUint32(head[8:], masked(head[:8]))
	w.put(head[:])
	w.put(record)
	w.put(binary.LittleEndian.AppendUint32(head[:0], masked(record)))
	return w.err
}

func (w *Writer) put(b []byte) {
	if w.err == nil {
		_, w.err = w.z.Write(b)
	}
}

// Flush passes on what was written, so that readers of the file see it.
func (w *Writer) Flush() error {
	if w.err == nil {
		w.err = w.z.Flush()
	}
	return w.err
}

// Close ends the file, and returns when it would survive a loss of power. The first
// error that there was is returned, and then the file is not to be relied on.
func (w *Writer) Close() error {
	if w.file == nil {
		return w.err
	}
	if w.err == nil {
		w.err = w.z.Close()
	}
	if w.err == nil {
		w.err = w.file.Sync()
	}
	if err := w.file.Close(); w.err == nil {
		w.err = err
	}
	w.file = nil
	first := w.err
	if w.err == nil {
		w.err = errs.New(errs.InvalidArgument, "record", "%s was closed; it cannot be written any more", w.path)
	}
	return first
}
