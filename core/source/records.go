package source

import (
	"errors"
	"fmt"
	"io"

	"infeed/core/codec"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/record"
	"infeed/core/rng"
	"infeed/core/spec"
)

// Files says which files are read, and how.
type Files struct {
	Paths       []string
	Compression codec.Kind
	// BufferBytes is about how much is read at a time; 0: what is best.
	BufferBytes int64
	Errors      record.Policy
	// ParallelReads is how many files are read at once, a record of each in turn;
	// 0: one file after the other.
	ParallelReads int64
}

// mostBuffer bounds how much is read at a time: more helps nothing and several such
// buffers are in use.
const mostBuffer = 1 << 20

// mostParallel bounds how many files are read at once.
const mostParallel = 1 << 14

func (f Files) check(op string) error {
	if f.BufferBytes < 0 {
		return errs.New(errs.InvalidArgument, op, "buffer_size is %d; give a number of bytes, or None", f.BufferBytes)
	}
	if f.ParallelReads < 0 || f.ParallelReads > mostParallel {
		return errs.New(errs.InvalidArgument, op, "num_parallel_reads is %d; give 1 to %d, or None", f.ParallelReads, mostParallel)
	}
	return nil
}

// records is the dataset of the records of files, each a text.
type records struct {
	op     string
	files  Files
	format record.Format
}

var textScalar = scalar(spec.Text)

// TFRecord returns the records of TFRecord files.
func TFRecord(f Files) (dataset.Definition, error) {
	return newRecords("TFRecordDataset", f, record.TFRecord())
}

// TextLine returns the lines of text files.
func TextLine(f Files) (dataset.Definition, error) {
	return newRecords("TextLineDataset", f, record.Lines())
}

// FixedLength returns what files hold, length bytes a time, between a header and a
// footer.
func FixedLength(f Files, length, header, footer int64) (dataset.Definition, error) {
	format, err := record.FixedLength(length, header, footer)
	if err != nil {
		return nil, err
	}
	return newRecords("FixedLengthRecordDataset", f, format)
}

func newRecords(op string, f Files, format record.Format) (dataset.Definition, error) {
	if err := f.check(op); err != nil {
		return nil, err
	}
	r := &records{op: op, files: f, format: format}
	if f.ParallelReads > 1 {
		return &interleaved{r}, nil
	}
	return r, nil
}

func (*records) Spec() *spec.Element { return textScalar }
func (*records) Cardinality() int64  { return dataset.Unknown }

func (r *records) Iterate(s *dataset.Scope, _ rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return r.read(s, r.files.Paths, 0, from)
}

// Jump implements dataset.Jumper where records have a known length and place.
func (r *records) Jump(s *dataset.Scope, n int64) (*dataset.Token, int64) {
	if r.files.Compression != codec.None {
		return nil, 0
	}
	at, skipped := record.Behind(s.FS, r.files.Paths, r.format, n)
	if skipped == 0 {
		return nil, 0
	}
	return dataset.Over(dataset.At(int64(at.File), at.Offset, 0), 0), skipped
}

// read reads some of the files. Reading ahead, it uses up to bytes for a piece; 0: what
// is best.
func (r *records) read(s *dataset.Scope, paths []string, bytes int, from *dataset.Token) (dataset.Iterator, error) {
	if bytes == 0 {
		bytes = int(min(r.files.BufferBytes, mostBuffer))
	}
	o := record.Options{Compression: r.files.Compression, Errors: r.files.Errors, BlockBytes: bytes, Deferred: true, Stopped: s.Err}
	return dataset.NewOrdered(r.op, s, min(s.Workers, readers), from, func(from *dataset.Token) (dataset.Work, error) {
		at, err := from.Numbers(r.op, 3)
		if err != nil {
			return nil, err
		}
		w := &reading{skip: r.files.Errors == record.Skip}
		w.reader, err = record.NewReader(s.FS, paths, r.format, o, record.Token{File: int(at[0]), Offset: at[1]})
		if err != nil {
			return nil, err
		}
		if at[2] != 0 {
			w.recover()
		}
		s.Defer(w.reader.Close)
		return w, nil
	})
}

// readers is how many goroutines check what one reads: that is half of the work.
const readers = 2

// reading is the work of reading files: claiming reads and finds the records, working
// on them checks their content.
type reading struct {
	reader  *record.Reader
	skip    bool // damaged content is left out
	excused bool // the next damage was an error before
}

// Claim implements dataset.Work.
func (w *reading) Claim(j *dataset.Job) error {
	b, _ := j.Own.(*record.Block)
	if b == nil {
		b = &record.Block{}
		j.Own = b
	}
	file := w.reader.Token().File
	err := w.reader.Next(b, int(j.Limit))
	j.Lost = w.lost(b.Damage)
	w.excused = w.excused && w.reader.Token().File == file
	if err != nil && !errors.Is(err, io.EOF) {
		w.recover()
	}
	return err
}

// recover goes on behind what Next failed on.
func (w *reading) recover() {
	w.reader.Recover()
	w.excused = true
}

// lost counts what was left out, without what was an error.
func (w *reading) lost(d record.Damage) *dataset.Lost {
	if w.excused && d.Count > 0 {
		w.excused = false
		d = record.Damage{Count: d.Count - 1, Places: d.Places[1:]}
	}
	return nothing.And(d.Count, places(d.Places)...)
}

var nothing *dataset.Lost

func places(of []error) []string {
	out := make([]string, len(of))
	for i, err := range of {
		var e *errs.Error
		if out[i] = err.Error(); errors.As(err, &e) && e.Path != "" {
			out[i] = fmt.Sprintf("%s at byte %d", e.Path, e.Offset)
		}
	}
	return out
}

// Token implements dataset.Work: file, offset, whether the next damage is passed.
func (w *reading) Token() *dataset.Token {
	at, excused := w.reader.Token(), int64(0)
	if w.excused {
		excused = 1
	}
	return dataset.At(int64(at.File), at.Offset, excused)
}

// Work implements dataset.Work.
func (w *reading) Work(j *dataset.Job) {
	b := j.Own.(*record.Block)
	for from := 0; from < b.Len(); {
		to, bad := b.Bad(from)
		if err := emit(b, from, to, &j.Out); err != nil {
			j.Fails = append(j.Fails, dataset.Failure{After: len(j.Out.Blocks()), Err: err})
		}
		switch {
		case bad != nil && w.skip:
			j.Lost = j.Lost.And(1, places([]error{bad})...)
		case bad != nil:
			j.Fails = append(j.Fails, dataset.Failure{After: len(j.Out.Blocks()), Err: bad})
		}
		from = to + 1
	}
}

// emit makes elements of records from (included) to to (excluded). All of a block's
// records are not copied: the element refers to where they are.
func emit(b *record.Block, from, to int, dst dataset.Sink) error {
	if from == to {
		return nil
	}
	out, err := dst.Block(textScalar, int64(to-from))
	if err != nil {
		return err
	}
	text := out.Columns[0].Text
	if from == 0 && to == b.Len() && text.Len() == 0 {
		text.Data, b.Data = b.Data, text.Data[:0]
		text.Starts, b.Starts = b.Starts, text.Starts[:0]
		text.Ends, b.Ends = b.Ends, text.Ends[:0]
		return nil
	}
	for i := from; i < to; i++ {
		text.Append(b.Record(i))
	}
	return nil
}
