package pipeline

import (
	"fmt"
	"sync"

	"infeed/core/codec"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/record"
	"infeed/core/source"
	"infeed/core/vfs"
)

// Files is which files are read, and how, with the names that Python has for it. No
// path is part of the structure of a dataset: files may move.
type Files struct {
	noInputs
	Filenames       []string `json:"filenames"`
	CompressionType string   `json:"compression_type"`
	BufferSize      *int64   `json:"buffer_size"`
	// NumParallelReads is how many files are read in turn. -1, which lets the engine
	// choose, is nil: the order of elements may not depend on a machine.
	NumParallelReads *int64 `json:"num_parallel_reads"`
	Errors           string `json:"errors"`
}

func (f *Files) files() (out source.Files, err error) {
	out.Paths = f.Filenames
	if out.Compression, err = codec.Parse(f.CompressionType); err != nil {
		return out, err
	}
	if f.Errors != "" {
		if out.Errors, err = record.ParsePolicy(f.Errors); err != nil {
			return out, err
		}
	}
	if f.BufferSize != nil {
		out.BufferBytes = *f.BufferSize
	}
	if n := f.NumParallelReads; n != nil && *n != -1 {
		if out.ParallelReads = *n; *n == 0 {
			return out, errs.New(errs.InvalidArgument, "files", "num_parallel_reads is 0; give 1 or more, or None")
		}
	}
	return out, nil
}

func (f *Files) text(name, more string) string {
	reads := "None"
	if n := f.NumParallelReads; n != nil && *n != -1 {
		reads = fmt.Sprint(*n)
	}
	return fmt.Sprintf("%s(%scompression_type=%q, num_parallel_reads=%s, errors=%q)", name, more, f.CompressionType, reads, f.Errors)
}

// TFRecord is the records of TFRecord files.
type TFRecord struct{ Files }

func (t *TFRecord) build([]dataset.Definition, int) (dataset.Definition, error) {
	f, err := t.files()
	if err != nil {
		return nil, err
	}
	return source.TFRecord(f)
}

func (t *TFRecord) text() string { return t.Files.text("TFRecordDataset", "") }

// TextLine is the lines of text files.
type TextLine struct{ Files }

func (t *TextLine) build([]dataset.Definition, int) (dataset.Definition, error) {
	f, err := t.files()
	if err != nil {
		return nil, err
	}
	return source.TextLine(f)
}

func (t *TextLine) text() string { return t.Files.text("TextLineDataset", "") }

// FixedLength is what files hold, RecordBytes at a time.
type FixedLength struct {
	Files
	RecordBytes int64 `json:"record_bytes"`
	HeaderBytes int64 `json:"header_bytes"`
	FooterBytes int64 `json:"footer_bytes"`
}

func (l *FixedLength) build([]dataset.Definition, int) (dataset.Definition, error) {
	f, err := l.files()
	if err != nil {
		return nil, err
	}
	return source.FixedLength(f, l.RecordBytes, l.HeaderBytes, l.FooterBytes)
}

func (l *FixedLength) text() string {
	return l.Files.text("FixedLengthRecordDataset", fmt.Sprintf("record_bytes=%d, header_bytes=%d, footer_bytes=%d, ", l.RecordBytes, l.HeaderBytes, l.FooterBytes))
}

// Indexed makes the records of files random access. The files are looked through when
// the first dataset is built.
type Indexed struct {
	onOne
	once sync.Once
	made dataset.Definition
	err  error
}

func (x *Indexed) build(inputs []dataset.Definition, _ int) (dataset.Definition, error) {
	x.once.Do(func() { x.made, x.err = source.Indexed(vfs.Local(), inputs[0]) })
	return x.made, x.err
}

func (x *Indexed) text() string { return "indexed()" }

// ListFiles is the paths that match patterns.
type ListFiles struct {
	noInputs
	FilePattern []string `json:"file_pattern"`
	Shuffle     bool     `json:"shuffle"`
	Seed        uint64   `json:"seed"`
	// Drawn says that the user gave no seed: a state's seed then counts.
	Drawn bool `json:"drawn"`
}

func (l *ListFiles) build([]dataset.Definition, int) (dataset.Definition, error) {
	var shuffle *source.Shuffle
	if l.Shuffle {
		shuffle = &source.Shuffle{Seed: l.Seed, EachPass: true}
	}
	return source.ListFiles(vfs.Local(), l.FilePattern, shuffle)
}

func (l *ListFiles) seed() uint64 { return l.Seed }

func (l *ListFiles) reseeded(seed uint64) Op {
	copied := *l
	copied.Seed = seed
	return &copied
}

func (l *ListFiles) text() string {
	seed := "None"
	if !l.Drawn {
		seed = fmt.Sprint(l.Seed)
	}
	return fmt.Sprintf("list_files(shuffle=%s, seed=%s)", python(l.Shuffle), seed)
}
