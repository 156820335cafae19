package csvtext

// ParseRecords appends the values of records to columns: record i is one row,
// data[starts[i]:ends[i]]. It stops at a record that is wrong: rows before it are
// there, nothing of it is.
func (f *Format) ParseRecords(data []byte, starts, ends []int64, out []Values) (rows int, bad *Fault) {
	m := newMachine(f, data, out)
	var fields []field
	for rows < len(starts) {
		if rows == m.room {
			m.grow(len(starts))
		}
		begin, end := int(starts[rows]), int(ends[rows])
		m.data = data[:end]
		// A row that is right, and has no line end behind it, is a record that is right.
		if stop, wrong := m.row(begin, rows); wrong != nil || stop < end || begin == end {
			m.forget(rows)
			if fields, bad = m.record(begin, rows, fields[:0]); bad != nil {
				bad.Row, bad.Offset = rows, begin
				break
			}
		}
		rows++
	}
	m.finish(rows)
	return rows, bad
}

// record parses the record from p to the end of data by its own rules.
func (m *machine) record(p, row int, fields []field) ([]field, *Fault) {
	fields, bad := m.split(p, fields)
	if bad == nil && (len(fields) < len(m.steps) || len(fields) > len(m.steps)+m.spare) {
		bad = wrongCount(len(fields), len(m.steps), m.form.Open, m.data[p:])
	}
	for i := range m.steps {
		if bad == nil && m.steps[i].op != skip {
			bad = m.value(i, fields[i], row)
		}
	}
	return fields, bad
}

// split finds the fields of a record. With selected columns it stops behind the last.
func (m *machine) split(p int, fields []field) ([]field, *Fault) {
	begin := p
	for p < len(m.data) {
		if m.data[p] == '\n' || m.data[p] == '\r' {
			p++
			continue
		}
		x := m.find(m.data, p)
		if x.problem == none && x.end < len(m.data) && m.data[x.end] != m.delim {
			x.problem = lineInside
		}
		if x.problem != none {
			return fields, wrongField(len(fields), x.problem, x.text)
		}
		fields = append(fields, x)
		if p = x.end + 1; m.form.Open && len(fields) == len(m.steps) {
			return fields, nil
		}
	}
	if begin < len(m.data) && m.data[len(m.data)-1] == m.delim {
		fields = append(fields, field{})
	}
	return fields, nil
}
