package csvtext

import (
	"encoding/binary"
	"math"
	"slices"
)

// Parse appends the values of whole rows to columns, at most limit rows. It returns
// how many there were and where the next row begins. What data ends in is taken for
// the end of the file.
//
// At a row that is wrong it stops: the rows before it are there, nothing of it is,
// and next is where the row behind it begins. The columns of out are those of the
// format; they keep none of data.
func (f *Format) Parse(data []byte, limit int, out []Values) (rows, next int, bad *Fault) {
	m := newMachine(f, data, out)
	for next < len(data) && rows < limit {
		if rows == m.room {
			m.grow(limit)
		}
		begin := next
		var end int
		end, bad = m.row(begin, rows)
		next = behind(data, end)
		if bad != nil {
			bad.Row, bad.Offset = rows, begin
			break
		}
		rows++
	}
	m.finish(rows)
	return rows, next, bad
}

// machine parses rows into columns. Values are written at their place, and slices
// made long enough for many rows at a time.
type machine struct {
	*Format
	data    []byte
	out     []Values
	room    int // rows that the columns have memory for
	places  []place
	scratch []byte
}

// place is where the values of a column go.
type place struct {
	numbers []byte // of rows from 0 to room
	texts   []byte // with all their capacity
	used    int    // of texts
	before  int    // used at the beginning
	starts  []int64
	ends    []int64
}

func newMachine(f *Format, data []byte, out []Values) *machine {
	m := &machine{Format: f, data: data, out: out, places: make([]place, len(f.columns))}
	for i := range m.places {
		p := &m.places[i]
		p.texts = out[i].Data[:cap(out[i].Data)]
		p.used, p.before = len(out[i].Data), len(out[i].Data)
	}
	return m
}

// grow makes memory for more rows.
func (m *machine) grow(limit int) {
	const first = 64
	room := min(max(2*m.room, first), limit)
	for _, s := range m.steps {
		if s.op == skip {
			continue
		}
		v, p := &m.out[s.column], &m.places[s.column]
		if s.op != asText {
			v.Data = slices.Grow(v.Data[:len(v.Data)+m.room*s.size], (room-m.room)*s.size)
			v.Data = v.Data[:len(v.Data)-m.room*s.size]
			p.numbers = v.Data[len(v.Data) : len(v.Data)+room*s.size]
			continue
		}
		n := len(v.Starts)
		v.Starts = slices.Grow(v.Starts[:n+m.room], room-m.room)[:n]
		v.Ends = slices.Grow(v.Ends[:n+m.room], room-m.room)[:n]
		p.starts, p.ends = v.Starts[n:n+room], v.Ends[n:n+room]
	}
	m.room = room
}

// finish makes the columns as long as there are rows.
func (m *machine) finish(rows int) {
	m.forget(rows)
	for _, s := range m.steps {
		if s.op == skip {
			continue
		}
		v, p := &m.out[s.column], &m.places[s.column]
		if s.op != asText {
			v.Data = v.Data[:len(v.Data)+rows*s.size]
			continue
		}
		n := len(v.Starts) + rows
		v.Data, v.Starts, v.Ends = p.texts[:p.used], v.Starts[:n], v.Ends[:n]
	}
}

// forget drops what was written of a row.
func (m *machine) forget(row int) {
	for i := range m.places {
		p := &m.places[i]
		p.used = p.before
		if row > 0 && p.ends != nil {
			p.used = int(p.ends[row-1])
		}
	}
}

// row parses the row that begins at p. It returns where its last field ends, also
// when it is wrong.
func (m *machine) row(p, row int) (end int, bad *Fault) {
	data, begin := m.data, p
	for i := range m.steps {
		s := &m.steps[i]
		switch s.op {
		case asInt32, asInt64:
			end = m.quickInt(s, p, row)
		case asFloat32, asFloat64:
			end = m.quickFloat(s, p, row)
		default:
			end = m.quickText(s, p, row)
		}
		if uint(end) < uint(len(data)) && data[end] == m.delim {
			p = end + 1
			continue
		}
		if end < 0 || end < len(data) && !m.ends[data[end]] {
			if end, bad = m.careful(s, i, p, row); bad != nil {
				_, end, _ = m.rest(end, i+1)
				return end, bad
			}
			p = end + 1
		}
		if end == len(data) || data[end] != m.delim {
			if i+1 < len(m.steps) {
				bad = wrongCount(i+1, len(m.steps), m.open, data[begin:end])
			}
			return end, bad
		}
	}
	if m.open {
		if e := m.lines.stop(data, end); e == len(data) || data[e] != '"' {
			return e, nil
		}
	}
	more, end, bad := m.rest(end, len(m.steps))
	if !m.open && (bad == nil || bad.Column > len(m.steps)) {
		bad = wrongCount(len(m.steps)+more, len(m.steps), false, data[begin:end])
	}
	return end, bad
}

// The quick steps write the value of a field that is written plainly, and return
// where it ends, or -1. It is not a value after all if no field can end there.

func (m *machine) quickInt(s *step, p, row int) int {
	v, end := quickInt(m.data, p)
	if end < 0 || m.wary && m.mistaken(p, end) {
		return -1
	}
	if to := m.places[s.column].numbers; s.op == asInt64 {
		binary.LittleEndian.PutUint64(to[8*row:], uint64(v))
	} else if v == int64(int32(v)) {
		binary.LittleEndian.PutUint32(to[4*row:], uint32(v))
	} else {
		return -1
	}
	return end
}

func (m *machine) quickFloat(s *step, p, row int) int {
	v, end := quickFloat(m.data, p)
	if end < 0 || m.wary && m.mistaken(p, end) {
		return -1
	}
	if to := m.places[s.column].numbers; s.op == asFloat64 {
		binary.LittleEndian.PutUint64(to[8*row:], math.Float64bits(v))
	} else if f, ok := narrow(v); ok {
		binary.LittleEndian.PutUint32(to[4*row:], math.Float32bits(f))
	} else {
		return -1
	}
	return end
}

// mistaken tells whether what looks like a number may be something else.
func (m *machine) mistaken(p, end int) bool {
	return numeric(m.delim) || string(m.data[p:end]) == m.dialect.Missing
}

// quickText does texts, and fields that are not selected.
func (m *machine) quickText(s *step, p, row int) int {
	data := m.data
	end := m.scan.stop(data, p)
	text := data[p:end]
	if end == p {
		if m.dialect.Plain || end == len(data) || data[end] != '"' {
			return -1
		}
		q := nextQuote(data, p+1)
		if end = q + 1; end > len(data) || end < len(data) && !m.ends[data[end]] {
			return -1
		}
		text = data[p+1 : q]
	}
	if s.op == skip {
		return end
	}
	if len(text) == 0 || string(text) == m.dialect.Missing {
		return -1
	}
	m.places[s.column].put(row, text)
	return end
}

// put writes a text.
func (p *place) put(row int, text []byte) {
	end := p.used + len(text)
	if end > len(p.texts) {
		p.texts = slices.Grow(p.texts[:p.used], len(text))
		p.texts = p.texts[:cap(p.texts)]
	}
	copy(p.texts[p.used:end], text)
	p.starts[row], p.ends[row] = int64(p.used), int64(end)
	p.used = end
}

// careful does the step with any field, the one with this index in the row. It
// returns where the field ends, also when it is wrong.
func (m *machine) careful(s *step, index, p, row int) (end int, bad *Fault) {
	x := m.find(m.data, p)
	if x.problem != none {
		return x.end, wrongField(index, x.problem, x.text)
	}
	if s.op == skip {
		return x.end, nil
	}
	return x.end, m.value(s, index, x, row)
}

// value writes the value of a field.
func (m *machine) value(s *step, index int, x field, row int) *Fault {
	text, c, to := x.text, m.columns[s.column], &m.places[s.column]
	if x.doubled {
		m.scratch = undouble(m.scratch[:0], text)
		text = m.scratch
	}
	missing := len(text) == 0 || string(text) == m.dialect.Missing
	switch {
	case missing && c.Default == nil:
		return wrongMissing(index)
	case missing && s.op == asText:
		to.put(row, c.Default)
	case missing:
		copy(to.numbers[row*s.size:], c.Default)
	case s.op == asText:
		to.put(row, text)
	case !convert(to.numbers[row*s.size:], s.op, text):
		return wrongValue(index, c, text)
	}
	return nil
}
