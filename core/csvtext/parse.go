package csvtext

import (
	"encoding/binary"
	"math"
	"slices"

	"infeed/core/kernel"
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
		if rows, next = m.plain(rows, next); next == len(data) || rows == m.room {
			continue
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
	native  []kernel.CSVStep
	left    int // rows in a row that were not plain
	wait    int // rows before the next is tried
	scratch []byte
}

// place is where the values of a step go.
type place struct {
	step
	*kernel.CSVStep
	before int // Used at the beginning
}

func newMachine(f *Format, data []byte, out []Values) *machine {
	m := &machine{Format: f, data: data, out: out, places: make([]place, len(f.steps)), native: make([]kernel.CSVStep, len(f.steps))}
	for i, s := range f.steps {
		p := &m.places[i]
		p.step, p.CSVStep = s, &m.native[i]
		if p.Op = s.op; s.op != skip {
			p.Default = f.columns[s.column].Default
		}
		if s.op == asText {
			v := &out[s.column]
			p.Texts = v.Data[:cap(v.Data)]
			p.Used, p.before = len(v.Data), len(v.Data)
		}
	}
	return m
}

// plain parses the rows from one on that are written plainly, as far as there is memory.
// Where none is for a while, it is tried less and less.
func (m *machine) plain(row, at int) (rows, next int) {
	if m.inGo {
		return row, at
	}
	if m.wait > 0 {
		m.wait--
		return row, at
	}
	rows, next = kernel.CSV(&m.form, m.native, m.data, at, row, m.room)
	m.forget(rows)
	const most = 256
	if m.left = min(2*m.left+1, most); rows > row {
		m.left = 0
	}
	m.wait = m.left
	return rows, next
}

// grow makes memory for more rows.
func (m *machine) grow(limit int) {
	const first, usual = 64, 32 // rows, and bytes of a text
	room := min(max(2*m.room, first, m.fits()), limit)
	for i := range m.places {
		p := &m.places[i]
		v := &m.out[p.column]
		switch p.op {
		case skip:
		case asText:
			n := len(v.Starts)
			v.Starts = slices.Grow(v.Starts[:n+m.room], room-m.room)[:n]
			v.Ends = slices.Grow(v.Ends[:n+m.room], room-m.room)[:n]
			p.Starts, p.Ends = v.Starts[n:n+room], v.Ends[n:n+room]
			if more := (room - m.room) * usual; len(p.Texts)-p.Used < more {
				p.Texts = slices.Grow(p.Texts[:p.Used], more)
				p.Texts = p.Texts[:cap(p.Texts)]
			}
		default:
			n := len(v.Data)
			v.Data = slices.Grow(v.Data[:n+m.room*p.size], (room-m.room)*p.size)[:n]
			p.Numbers = v.Data[n : n+room*p.size]
		}
	}
	m.room = room
}

// fits returns how many rows the first column has memory for.
func (m *machine) fits() int {
	v := &m.out[0]
	if size := m.columns[0].DType.Size; size > 0 {
		return (cap(v.Data) - len(v.Data)) / int(size)
	}
	return cap(v.Starts) - len(v.Starts)
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
			v.Data, v.Starts, v.Ends = p.Texts[:p.Used], v.Starts[:n], v.Ends[:n]
		default:
			v.Data = v.Data[:len(v.Data)+rows*p.size]
		}
	}
}

// forget drops what was written of a row.
func (m *machine) forget(row int) {
	for i := range m.places {
		p := &m.places[i]
		if p.Used = p.before; row > 0 && p.op == asText {
			p.Used = int(p.Ends[row-1])
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
				bad = wrongCount(i+1, len(m.places), m.form.Open, data[begin:end])
			}
			return end, bad
		}
		p = end + 1
	}
	return m.surplus(begin, end)
}

// surplus goes over the fields behind the last that is needed, which ends at end.
func (m *machine) surplus(begin, end int) (int, *Fault) {
	if m.form.Open {
		if e := m.lines.stop(m.data, end); e == len(m.data) || m.data[e] != '"' {
			return e, nil
		}
	}
	more, end, bad := m.rest(end, len(m.places))
	if most := len(m.places) + m.spare; !m.form.Open && len(m.places)+more > most && (bad == nil || bad.Column > most) {
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
		binary.LittleEndian.PutUint64(to.Numbers[8*row:], uint64(v))
	} else if v == int64(int32(v)) {
		binary.LittleEndian.PutUint32(to.Numbers[4*row:], uint32(v))
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
	binary.LittleEndian.PutUint32(to.Numbers[4*row:], math.Float32bits(f))
	return end
}

func (to *place) quickFloat64(data []byte, p, row int) int {
	d, end := quickDecimal(data, p)
	f, ok := d.float64()
	if end < 0 || !ok {
		return -1
	}
	binary.LittleEndian.PutUint64(to.Numbers[8*row:], math.Float64bits(f))
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
	if n > 16 || len(data)-end < 16 || len(to.Texts)-to.Used < 16 {
		to.put(row, text)
	} else { // most texts: less than a call
		b := to.Texts[to.Used:]
		store(b, load(text[:16], 0), load(text[:16], 8))
		to.Starts[row], to.Ends[row] = int64(to.Used), int64(to.Used+n)
		to.Used += n
	}
	return end
}

// put writes a text.
func (p *place) put(row int, text []byte) {
	end := p.Used + len(text)
	if end <= len(p.Texts) {
		copy(p.Texts[p.Used:end], text)
	} else {
		p.Texts = append(p.Texts[:p.Used], text...)
		p.Texts = p.Texts[:cap(p.Texts)]
	}
	p.Starts[row], p.Ends[row] = int64(p.Used), int64(end)
	p.Used = end
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
		copy(to.Numbers[row*to.size:], c.Default)
	case to.op == asText:
		to.put(row, text)
	case !convert(to.Numbers[row*to.size:], to.op, text):
		return wrongValue(index, c, text)
	}
	return nil
}
