package csvtext

import "bytes"

// field is one field as it is written, found by the rules alone, however bad it is.
type field struct {
	text    []byte // without quotes around it
	doubled bool   // quotes in text are written twice
	end     int    // where the delimiter or the row's end behind it is
	problem problem
}

// find finds the field that begins at p.
func (f *Format) find(data []byte, p int) field {
	if !f.dialect.Plain && p < len(data) && data[p] == '"' {
		return f.findQuoted(data, p)
	}
	out := field{}
	end := f.scan.stop(data, p)
	for end < len(data) && !f.ends[data[end]] { // a quote, where one may not be
		out.problem = quoteInside
		end = f.scan.stop(data, end+1)
	}
	out.text, out.end = data[p:end], end
	return out
}

func (f *Format) findQuoted(data []byte, p int) field {
	out := field{}
	for q := nextQuote(data, p+1); q < len(data); q = nextQuote(data, q) {
		if q++; q == len(data) || f.ends[data[q]] {
			out.text, out.end = data[p+1:q-1], q
			return out
		}
		if data[q] == '"' {
			out.doubled = true
			q++
		} else {
			out.problem = quoteAlone
		}
	}
	out.text, out.end = data[p:], len(data)
	if out.problem == none {
		out.problem = noQuote
	}
	return out
}

// undouble appends a text with its doubled quotes single.
func undouble(dst, text []byte) []byte {
	for {
		q := bytes.IndexByte(text, '"')
		if q < 0 {
			return append(dst, text...)
		}
		dst = append(dst, text[:q+1]...)
		text = text[q+2:]
	}
}

// behind returns where the next row begins, given the end of the last field of one.
func behind(data []byte, end int) int {
	if end < len(data) {
		end++
		if data[end-1] == '\r' && end < len(data) && data[end] == '\n' {
			end++
		}
	}
	return end
}

// rest counts the fields behind one that ends at end, and goes to the end of the row.
// Of what is wrong with them it returns the first; column is the first one's index.
func (m *machine) rest(end, column int) (count, at int, bad *Fault) {
	for end < len(m.data) && m.data[end] == m.delim {
		x := m.find(m.data, end+1)
		if x.problem != none && bad == nil {
			bad = wrongField(column+count, x.problem, x.text)
		}
		count++
		end = x.end
	}
	return count, end, bad
}

// Fields reads the first row of data as texts, such as the names in a header. It
// returns where the next row begins, also when something is wrong.
func Fields(d Dialect, data []byte) (texts []string, next int, bad *Fault) {
	f := formatOf(d)
	for p := 0; ; p++ {
		x := f.find(data, p)
		if x.problem != none && bad == nil {
			bad = wrongField(len(texts), x.problem, x.text)
		}
		text := x.text
		if x.doubled && bad == nil {
			text = undouble(nil, text)
		}
		texts = append(texts, string(text))
		if p = x.end; p == len(data) || data[p] != f.delim {
			return texts, behind(data, p), bad
		}
	}
}
