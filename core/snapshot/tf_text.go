package snapshot

import (
	"strconv"
	"strings"
)

// textFields calls f for each field of a message in the text form of protocol buffers, as
// far as tf.data uses it: a name, a colon, and texts in quotes or a word. False: it is
// something else.
func textFields(b []byte, f func(name, value string)) bool {
	t := &textReader{b}
	for t.blanks(); len(t.rest) > 0; t.blanks() {
		name := t.word()
		t.blanks()
		if name == "" || len(t.rest) == 0 || t.rest[0] != ':' {
			return false
		}
		t.rest = t.rest[1:]
		t.blanks()
		value, ok := t.value()
		if !ok {
			return false
		}
		f(name, value)
	}
	return true
}

type textReader struct{ rest []byte }

// blanks passes what separates.
func (t *textReader) blanks() {
	for len(t.rest) > 0 && strings.IndexByte(" \t\r\n,;", t.rest[0]) >= 0 {
		t.rest = t.rest[1:]
	}
}

// word reads letters, digits and what numbers have.
func (t *textReader) word() string {
	n := 0
	for n < len(t.rest) && (t.rest[n]|0x20 >= 'a' && t.rest[n]|0x20 <= 'z' || strings.IndexByte("0123456789_+-.", t.rest[n]) >= 0) {
		n++
	}
	w := string(t.rest[:n])
	t.rest = t.rest[n:]
	return w
}

// value reads a word, or texts in quotes, which are one.
func (t *textReader) value() (string, bool) {
	if len(t.rest) == 0 || t.rest[0] != '"' && t.rest[0] != '\'' {
		w := t.word()
		return w, w != ""
	}
	var all []byte
	for len(t.rest) > 0 && (t.rest[0] == '"' || t.rest[0] == '\'') {
		var ok bool
		if all, ok = t.quoted(all); !ok {
			return "", false
		}
		t.blanks()
	}
	return string(all), true
}

// quoted appends a text in quotes, with the escapes of C.
func (t *textReader) quoted(dst []byte) ([]byte, bool) {
	end := t.rest[0]
	t.rest = t.rest[1:]
	for len(t.rest) > 0 {
		c := t.rest[0]
		t.rest = t.rest[1:]
		switch c {
		case end:
			return dst, true
		case '\\':
			var ok bool
			if c, ok = t.escaped(); !ok {
				return dst, false
			}
		}
		dst = append(dst, c)
	}
	return dst, false
}

// escaped reads what follows a backslash.
func (t *textReader) escaped() (byte, bool) {
	if len(t.rest) == 0 {
		return 0, false
	}
	c := t.rest[0]
	if i := strings.IndexByte("abfnrtv", c); i >= 0 {
		t.rest = t.rest[1:]
		return "\a\b\f\n\r\t\v"[i], true
	}
	switch {
	case c >= '0' && c <= '7':
		return t.digits(8, 3)
	case c|0x20 == 'x':
		t.rest = t.rest[1:]
		return t.digits(16, 2)
	}
	t.rest = t.rest[1:]
	return c, strings.IndexByte("\\'\"?", c) >= 0
}

// digits reads the number of a byte, up to most digits.
func (t *textReader) digits(base, most int) (byte, bool) {
	n, value := 0, uint64(0)
	for ; n < most && n < len(t.rest); n++ {
		v, err := strconv.ParseUint(string(t.rest[:n+1]), base, 16)
		if err != nil {
			break
		}
		value = v
	}
	t.rest = t.rest[n:]
	return byte(value), n > 0 && value < 256
}
