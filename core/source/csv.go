package source

import (
	"bytes"
	"fmt"
	"io"

	"infeed/core/csvtext"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/record"
	"infeed/core/rng"
	"infeed/core/spec"
)

// CSV says what is read from CSV files. See package csvtext for what a row is.
type CSV struct {
	Files   // but ParallelReads
	Dialect csvtext.Dialect
	Columns []csvtext.Column
	// Selected or Excluded, if given, are rising indices of the fields that become
	// columns, or do not.
	Selected, Excluded []int
	Header             bool // the first row of each file is left out
}

// csv is the dataset of the rows of files, each a tuple of scalars.
type csv struct {
	CSV
	format *csvtext.Format
	spec   *spec.Element
}

const opCsv = "CsvDataset"

// Csv returns the rows of CSV files.
func Csv(c CSV) (dataset.Definition, error) {
	d := &csv{CSV: c, spec: &spec.Element{Structure: spec.Structure{Kind: spec.Tuple, Items: make([]spec.Structure, len(c.Columns))}}}
	err := c.check(opCsv)
	switch {
	case err != nil:
	case c.Selected != nil && c.Excluded != nil:
		err = errs.New(errs.InvalidArgument, opCsv, "select_cols and exclude_cols were given; give one of them")
	case c.Excluded != nil:
		d.format, err = csvtext.NewExcluding(c.Dialect, c.Columns, c.Excluded)
	default:
		d.format, err = csvtext.NewFormat(c.Dialect, c.Columns, c.Selected)
	}
	if err != nil {
		return nil, err
	}
	for _, column := range c.Columns {
		d.spec.Components = append(d.spec.Components, spec.Component{DType: column.DType})
	}
	return d, nil
}

func (c *csv) Spec() *spec.Element { return c.spec }
func (*csv) Cardinality() int64    { return dataset.Unknown }

func (c *csv) Iterate(s *dataset.Scope, _ rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.NewOrdered(opCsv, s, s.Workers, from, func(from *dataset.Token) (dataset.Work, error) {
		at, err := from.Numbers(opCsv, 2)
		if err != nil {
			return nil, err
		}
		if at[0] > int64(len(c.Paths)) {
			return nil, errs.New(errs.StateMismatch, opCsv, "the state is in file %d of %d", at[0], len(c.Paths))
		}
		r, err := newRows(c, s, int(at[0]), at[1])
		if err != nil {
			return nil, err
		}
		s.Defer(r.close)
		return r, nil
	})
}

// piece is whole rows of a file.
type piece struct {
	data   []byte
	path   string
	base   int64 // of data in the file
	line   int64 // in which data begins, from 1; 0: not known
	header bool  // the first row is one
	last   bool  // no row follows in the file
	values []csvtext.Values
}

// Work implements dataset.Work: it parses the rows of a piece.
func (r *rows) Work(j *dataset.Job) {
	p := j.Own.(*piece)
	data, base := p.data, p.base
	for len(data) > 0 {
		var next int
		var bad *csvtext.Fault
		if p.header {
			_, next, bad = csvtext.Fields(r.Dialect, data)
		} else {
			var n int
			n, next, bad = r.format.Parse(data, len(data), p.values)
			if err := r.emit(p, n, j); err != nil {
				j.Fails = append(j.Fails, dataset.Failure{After: len(j.Out.Blocks()), Err: err})
			}
		}
		if bad != nil {
			fault := bad.In(p.path, base)
			if line := p.lineAt(fault.Offset - p.base); line > 0 {
				fault.Text = fmt.Sprintf("line %d: %s", line, fault.Text)
			}
			r.damaged(j, fault, p.last && next == len(data))
		}
		p.header = false
		data, base = data[next:], base+int64(next)
	}
}

// lineAt returns the line, from 1, in which a byte of data lies; 0: not known.
func (p *piece) lineAt(offset int64) int64 {
	return lineAfter(p.line, p.data[:offset])
}

// lineAfter returns the line behind data that begins in a line. Where rows end in a
// CR alone, editors do not agree on lines, and it is not known.
func lineAfter(line int64, data []byte) int64 {
	if line == 0 || bytes.IndexByte(data, '\r') >= 0 && bytes.Count(data, []byte{'\r'}) != bytes.Count(data, []byte("\r\n")) {
		return 0
	}
	return line + int64(bytes.Count(data, []byte{'\n'}))
}

// damaged does with a wrong row what the policy says; tail tells that it is the last of
// its file, and may be torn.
func (r *rows) damaged(j *dataset.Job, bad error, tail bool) {
	if r.Errors == record.Skip || r.Errors == record.Truncate && tail {
		j.Lost = j.Lost.And(1, places([]error{bad})...)
		return
	}
	j.Fails = append(j.Fails, dataset.Failure{After: len(j.Out.Blocks()), Err: bad})
}

// emit makes elements of the rows that were parsed. Texts are exchanged, not copied.
func (r *rows) emit(p *piece, n int, j *dataset.Job) error {
	if n == 0 {
		return nil
	}
	out, err := j.Out.Block(r.spec, int64(n))
	if err != nil {
		return err
	}
	for i, c := range out.Columns {
		v := &p.values[i]
		if c.Text == nil {
			copy(c.Data, v.Data)
			v.Data = v.Data[:0]
			continue
		}
		c.Text.Data, v.Data = v.Data, c.Text.Data[:0]
		c.Text.Starts, v.Starts = v.Starts, c.Text.Starts[:0]
		c.Text.Ends, v.Ends = v.Ends, c.Text.Ends[:0]
	}
	return nil
}

// rows is the work of reading CSV files: claiming reads and finds whole rows, working
// on them parses them.
type rows struct {
	*csv
	scope    *dataset.Scope
	splitter *csvtext.Splitter
	chunk    int64 // how much is read at a time at most

	file  int
	at    int64    // in the file: where the next row begins
	line  int64    // its line, from 1; 0: not known, where reading began within the file
	in    *content // nil: not opened
	carry []byte   // what was read of the next row
	fail  error    // what follows carry
	last  bool     // or that nothing does
}

func newRows(c *csv, s *dataset.Scope, file int, at int64) (*rows, error) {
	splitter, err := csvtext.NewSplitter(c.Dialect)
	r := &rows{csv: c, scope: s, splitter: splitter, chunk: record.DefaultBlockBytes, file: file, at: at}
	if at == 0 {
		r.line = 1
	}
	if c.BufferBytes > 0 {
		r.chunk = min(max(c.BufferBytes, leastChunk), mostBuffer)
	}
	return r, err
}

// Token implements dataset.Work: file and offset.
func (r *rows) Token() *dataset.Token { return dataset.At(int64(r.file), r.at) }

func (r *rows) close() {
	if r.in != nil {
		r.in.close()
		r.in = nil
	}
}

// endFile goes on to the next file.
func (r *rows) endFile() {
	r.close()
	r.file, r.at, r.line, r.carry, r.fail, r.last = r.file+1, 0, 1, r.carry[:0], nil, false
}

// Claim implements dataset.Work.
func (r *rows) Claim(j *dataset.Job) error {
	p, _ := j.Own.(*piece)
	if p == nil {
		p = &piece{values: make([]csvtext.Values, len(r.Columns))}
		j.Own = p
	}
	for r.file < len(r.Paths) {
		p.header, p.path = r.Header && r.at == 0, r.Paths[r.file]
		err := r.fill(p, j.Limit)
		if err == nil && len(p.data) > 0 {
			return nil
		}
		if err == nil && p.header {
			err = &errs.Error{Op: opCsv, Kind: errs.InvalidArgument, Path: p.path, Text: "the file is empty, and has no header; give header=False, or leave it out"}
		}
		r.endFile()
		if err != nil && r.Errors != record.Raise && errs.KindOf(err) == errs.DataLoss {
			j.Lost = j.Lost.And(1, places([]error{err})...)
		} else if err != nil {
			return err
		}
	}
	return io.EOF
}

const (
	// leastChunk is read for the first rows, that they come soon.
	leastChunk = 4 << 10
	// mostRow bounds a row; what is longer has probably a quote that is not closed.
	mostRow = 1 << 28
	// mostKept bounds the memory that is kept for the next piece.
	mostKept = 8 << 20
	// perRow is about how many bytes a row has.
	perRow = 64
)

// fill makes p the next whole rows of the file; none at its end.
func (r *rows) fill(p *piece, limit int64) (err error) {
	if r.in == nil {
		r.splitter.Reset()
		if r.in, err = openContent(r.scope.FS, p.path, r.Compression, r.at); err != nil {
			return err
		}
	}
	if cap(p.data) > mostKept {
		p.data = nil
	}
	p.data, p.base = append(p.data[:0], r.carry...), r.at
	whole := 0
	for whole <= 0 && r.fail == nil && !r.last {
		if len(p.data) > mostRow {
			return errs.New(errs.ResourceExhausted, opCsv, "the row at byte %d of %s has more than %d bytes; is there a quote that is not closed?", r.at, p.path, mostRow)
		}
		from := len(p.data)
		r.more(p, int(min(r.chunk, max(limit*perRow, leastChunk))))
		if from == 0 && r.at == 0 && r.fail == nil {
			if err := r.mark(p); err != nil {
				return err
			}
		}
		if n := r.splitter.Next(p.data[from:]); n >= 0 {
			whole = from + n
		}
	}
	if whole <= 0 && r.fail != nil {
		return r.fail // what is before it may be torn
	}
	if r.last {
		whole = len(p.data)
	}
	r.carry = append(r.carry[:0], p.data[max(whole, 0):]...)
	p.data, p.last = p.data[:max(whole, 0)], r.last
	r.at = p.base + int64(len(p.data))
	p.line, r.line = r.line, lineAfter(r.line, p.data)
	return nil
}

// more reads up to n bytes more.
func (r *rows) more(p *piece, n int) {
	from := len(p.data)
	if cap(p.data)-from < n {
		grown := make([]byte, from, max(2*cap(p.data), from+n))
		copy(grown, p.data)
		p.data = grown
	}
	got, last, err := r.in.read(p.data[from : from+n])
	p.data, r.last, r.fail = p.data[:from+got], last, err
}

// mark takes away a byte order mark.
func (r *rows) mark(p *piece) error {
	n, err := csvtext.Mark(p.data)
	p.base += int64(n)
	p.data = p.data[:copy(p.data, p.data[n:])]
	if err != nil {
		return errs.Wrap(err, errs.InvalidArgument, opCsv, "%s", p.path)
	}
	return nil
}
