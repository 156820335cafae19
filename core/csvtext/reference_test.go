package csvtext

import (
	"encoding/binary"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"infeed/core/spec"
)

// The reference reads a byte at a time, the way the rules are said, with the numbers
// of the standard library.

// written is a row as it is written.
type written struct {
	begin, next int
	fields      []string
	bad, ended  bool // quotes are wrong; CR or LF is behind it
}

func reference(d Dialect, data string) (rows []written) {
	ends := func(p int) bool { return data[p] == d.delim() || data[p] == '\n' || data[p] == '\r' }
	for p := 0; p < len(data); {
		r := written{begin: p}
		for more := true; more; {
			var text []byte
			if !d.Plain && p < len(data) && data[p] == '"' {
				closed := false
				for p++; p < len(data) && !closed; p++ {
					switch {
					case data[p] != '"':
						text = append(text, data[p])
					case p+1 == len(data) || ends(p+1):
						closed = true
					case data[p+1] == '"':
						text = append(text, '"')
						p++
					default:
						r.bad = true
					}
				}
				r.bad = r.bad || !closed
			} else {
				for ; p < len(data) && !ends(p); p++ {
					r.bad = r.bad || data[p] == '"' && !d.Plain
					text = append(text, data[p])
				}
			}
			r.fields = append(r.fields, string(text))
			more = p < len(data) && data[p] == d.delim()
			if p < len(data) {
				p++
				r.ended = !more
			}
			if r.ended && data[p-1] == '\r' && p < len(data) && data[p] == '\n' {
				p++
			}
		}
		r.next = p
		rows = append(rows, r)
	}
	return rows
}

// referenceRecord reads one record of decode_csv.
func referenceRecord(d Dialect, record string, selected []int) (fields []string, bad bool) {
	last := ""
	for rest := record; ; {
		last = rest
		rest = strings.TrimLeft(rest, "\r\n")
		if rest == "" || selected != nil && len(fields) > selected[len(selected)-1] {
			break
		}
		text := ""
		if quoted := !d.Plain && rest[0] == '"'; quoted {
			pattern := regexp.MustCompile(`(?s)^"((?:[^"]|"")*)"(` + regexp.QuoteMeta(string(rune(d.delim()))) + `|$)`)
			found := pattern.FindStringSubmatch(rest)
			if found == nil {
				return nil, true
			}
			text, rest = strings.ReplaceAll(found[1], `""`, `"`), rest[len(found[0]):]
		} else {
			text, rest, _ = strings.Cut(rest, string(rune(d.delim())))
			if strings.ContainsAny(text, "\r\n") || !d.Plain && strings.Contains(text, `"`) {
				return nil, true
			}
		}
		fields = append(fields, text)
	}
	if last == "" && record != "" && record[len(record)-1] == d.delim() {
		fields = append(fields, "")
	}
	return fields, false
}

// values are the bytes that the fields become, or nil if something is wrong.
func values(d Dialect, fields []string, columns []Column, selected []int) [][]byte {
	if selected == nil && len(fields) != len(columns) {
		return nil
	}
	var out [][]byte
	for i, c := range columns {
		at := i
		if selected != nil {
			at = selected[i]
		}
		if at >= len(fields) {
			return nil
		}
		b := c.Default
		if text := fields[at]; text != "" && text != d.Missing {
			b = valueOf(c.DType, text)
		}
		if b == nil {
			return nil
		}
		out = append(out, b)
	}
	return out
}

var (
	floats  = regexp.MustCompile(`(?i)^[-+]?(inf|infinity|nan(\([0-9a-z_]*\))?|([0-9]+\.?|[0-9]*\.[0-9]+)(e[-+]?[0-9]+)?|0x([0-9a-f]+\.?|[0-9a-f]*\.[0-9a-f]+)(p[-+]?[0-9]+)?)$`)
	noPower = regexp.MustCompile(`(?i)^[-+]?0x[^p]*$`)
)

func valueOf(d spec.DType, text string) []byte {
	if d == spec.Text {
		return []byte(text)
	}
	text = strings.Trim(text, " \t\n\v\f\r")
	bits := int(d.Size) * 8
	if d.Kind == 'i' {
		v, err := strconv.ParseInt(text, 10, bits)
		if err != nil {
			return nil
		}
		return binary.LittleEndian.AppendUint64(nil, uint64(v))[:d.Size]
	}
	if !floats.MatchString(text) {
		return nil
	}
	if noPower.MatchString(text) {
		text += "p0"
	}
	if i := strings.IndexByte(text, '('); i >= 0 {
		text = text[:i]
	}
	negative := text[0] == '-'
	v, _ := strconv.ParseFloat(strings.TrimLeft(text, "+-"), bits)
	if math.IsNaN(v) {
		v = math.Float64frombits(0x7ff8000000000000)
	}
	if negative {
		v = math.Copysign(v, -1)
	}
	if bits == 32 {
		return binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(v)))
	}
	return binary.LittleEndian.AppendUint64(nil, math.Float64bits(v))
}

// cells gives the bytes of one row.
func cells(columns []Column, out []Values, i int) (b [][]byte) {
	for c, v := range out {
		if size := int(columns[c].DType.Size); columns[c].DType == spec.Text {
			b = append(b, slices.Clip(v.Data[v.Starts[i]:v.Ends[i]]))
		} else {
			b = append(b, v.Data[size*i:size*(i+1)])
		}
	}
	return b
}
