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
	room    int     // rows that the columns have memory for
	places  []place // one a step
	scratch []byte
}

// place is where the values of a step go.
type place struct {
	step
	numbers []byte // of rows from 0 to room
	texts   []byte // with all their capacity
	used    int    // of texts
	before  int    // used at the beginning
	starts  []int64
	ends    []int64
}

func newMachine(f *Format, data []byte, out []Values) *machine {
	m := &machine{Format: f, data: data, out: out, places: make([]place, len(f.steps))}
	for i, s := range f.steps {
		p := &m.places[i]
		if p.step = s; s.op == asText {
			v := &out[s.column]
			p.texts = v.Data[:cap(v.Data)]
			p.used, p.before = len(v.Data), len(v.Data)
		}
	}
	return m
}

// grow makes memory for more rows.
func (m *machine) grow(limit int) {
	const first = 64
	room := min(max(2*m.room, first), limit)
	for i := range m.places {
		p := &m.places[i]
		v := &m.out[p.column]
		switch p.op {
		case skip:
		case asText:
			n := len(v.Starts)
			v.Starts = slices.Grow(v.Starts[:n+m.room], room-m.room)[:n]
			v.Ends = slices.Grow(v.Ends[:n+m.room], room-m.room)[:n]
			p.starts, p.ends = v.Starts[n:n+room], v.Ends[n:n+room]
		default:
			n := len(v.Data)
			v.Data = slices.Grow(v.Data[:n+m.room*p.size], (room-m.room)*p.size)[:n]
			p.numbers = v.Data[n : n+room*p.size]
		}
	}
	m.room = room
}

// finish makes the columns as long as there are rows.
func (m *machine) finish(rows int) {
	m.forget(rows)
	for i := range m.places {
		p := &m.places[i]
		v := &m.out[p.column]
		switch p.op {
		case skip:
		case asText:
			n := len(v.Starts) + rows
			v.Data, v.Starts, v.Ends = p.texts[:p.used], v.Starts[:n], v.Ends[:n]
		default:
			v.Data = v.Data[:len(v.Data)+rows*p.size]
		}
	}
}

// forget drops what was written of a row.
func (m *machine) forget(row int) {
	for i := range m.places {
		p := &m.places[i]
		if p.used = p.before; row > 0 && p.op == asText {
			p.used = int(p.ends[row-1])
		}
	}
}

// row parses the row that begins at p. It returns where its last field ends, also
// when it is wrong.
func (m *machine) row(p, row int) (end int, bad *Fault) {
	data, begin, delim := m.data, p, m.delim
	for i := range m.places {
		switch to := &m.places[i]; to.op {
		case asFloat32:
			end = to.quickFloat32(data, p, row)
		case asFloat64:
			end = to.quickFloat64(data, p, row)
		case asInt32, asInt64:
			end = to.quickInt(data, p, row)
		default:
			end = m.quickText(to, p, row)
		}
		if uint(end) < uint(len(data)) && data[end] == delim && !m.wary {
			p = end + 1
			continue
		}
		if end < 0 || end < len(data) && !m.ends[data[end]] || m.mistaken(i, p, end) {
			if end, bad = m.careful(i, p, row); bad != nil {
				_, end, _ = m.rest(end, i+1)
				return end, bad
			}
		}
		if end == len(data) || data[end] != delim {
			if i+1 < len(m.places) {
				bad = wrongCount(i+1, len(m.places), m.open, data[begin:end])
			}
			return end, bad
		}
		p = end + 1
	}
	return m.surplus(begin, end)
}

// surplus goes over the fields behind the last that is needed, which ends at end.
func (m *machine) surplus(begin, end int) (int, *Fault) {
	if m.open {
		if e := m.lines.stop(m.data, end); e == len(m.data) || m.data[e] != '"' {
			return e, nil
		}
	}
	more, end, bad := m.rest(end, len(m.places))
	if most := len(m.places) + m.spare; !m.open && len(m.places)+more > most && (bad == nil || bad.Column > most) {
		bad = wrongCount(len(m.places)+more, len(m.places), false, m.data[begin:end])
	}
	return end, bad
}

// mistaken tells whether what a step read as a number may be something else.
func (m *machine) mistaken(i, p, end int) bool {
	if o := m.places[i].op; !m.wary || o == asText || o == skip {
		return false
	}
	return numeric(m.delim) || string(m.data[p:end]) == m.dialect.Missing
}

// The quick steps write the value of a field that is written plainly, and return
// where it ends, or -1. It is not a value after all if no field can end there.

func (to *place) quickInt(data []byte, p, row int) int {
	v, end := quickInt(data, p)
	if end < 0 {
		return -1
	}
	if to.op == asInt64 {
		binary.LittleEndian.PutUint64(to.numbers[8*row:], uint64(v))
	} else if v == int64(int32(v)) {
		binary.LittleEndian.PutUint32(to.numbers[4*row:], uint32(v))
	} else {
		return -1
	}
	return end
}

func (to *place) quickFloat32(data []byte, p, row int) int {
	d, end := quickDecimal(data, p)
	f, ok := d.float32()
	if end < 0 || !ok {
		return -1
	}
	binary.LittleEndian.PutUint32(to.numbers[4*row:], math.Float32bits(f))
	return end
}

func (to *place) quickFloat64(data []byte, p, row int) int {
	d, end := quickDecimal(data, p)
	f, ok := d.float64()
	if end < 0 || !ok {
		return -1
	}
	binary.LittleEndian.PutUint64(to.numbers[8*row:], math.Float64bits(f))
	return end
}

// quickText does texts, and fields that are not selected.
func (m *machine) quickText(to *place, p, row int) int {
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
	if to.op == skip {
		return end
	}
	n := len(text)
	if n == 0 || string(text) == m.dialect.Missing {
		return -1
	}
	if n > 16 || len(data)-end < 16 || len(to.texts)-to.used < 16 {
		to.put(row, text)
	} else { // most texts: less than a call
		b := to.texts[to.used:]
		store(b, load(text[:16], 0), load(text[:16], 8))
		to.starts[row], to.ends[row] = int64(to.used), int64(to.used+n)
		to.used += n
	}
	return end
}

// put writes a text.
func (p *place) put(row int, text []byte) {
	end := p.used + len(text)
	if end <= len(p.texts) {
		copy(p.texts[p.used:end], text)
	} else {
		p.texts = append(p.texts[:p.used], text...)
		p.texts = p.texts[:cap(p.texts)]
	}
	p.starts[row], p.ends[row] = int64(p.used), int64(end)
	p.used = end
}

// careful does the step of this index with any field. It
// returns where the field ends, also when it is wrong.
func (m *machine) careful(index, p, row int) (end int, bad *Fault) {
	x := m.find(m.data, p)
	if x.problem != none {
		return x.end, wrongField(index, x.problem, x.text)
	}
	if m.places[index].op == skip {
		return x.end, nil
	}
	return x.end, m.value(index, x, row)
}

// value writes the value of a field.
func (m *machine) value(index int, x field, row int) *Fault {
	to := &m.places[index]
	text, c := x.text, m.columns[to.column]
	if x.doubled {
		m.scratch = undouble(m.scratch[:0], text)
		text = m.scratch
	}
	missing := len(text) == 0 || string(text) == m.dialect.Missing
	switch {
	case missing && c.Default == nil:
		return wrongMissing(index)
	case missing && to.op == asText:
		to.put(row, c.Default)
	case missing:
		copy(to.numbers[row*to.size:], c.Default)
	case to.op == asText:
		to.put(row, text)
	case !convert(to.numbers[row*to.size:], to.op, text):
		return wrongValue(index, c, text)
	}
	return nil
}
