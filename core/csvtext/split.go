package csvtext

// Splitter walks over a file and finds where rows end, without looking at fields
// more than it must. It is for one goroutine at a time.
type Splitter struct {
	delim byte
	plain bool

	prev  byte  // the byte before what comes next
	where where // what comes next is in
}

type where uint8

const (
	outside    where = iota // no quoted field
	inside                  // a quoted field
	afterQuote              // a quoted field, behind a quote that may end it
)

// NewSplitter returns a splitter that stands where a row begins.
func NewSplitter(d Dialect) (*Splitter, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	s := &Splitter{delim: d.delim(), plain: d.Plain}
	s.Reset()
	return s, nil
}

// Reset makes what comes next the beginning of a row.
func (s *Splitter) Reset() { s.prev, s.where = '\n', outside }

// Next walks over the next bytes of the file and returns how many of them belong to
// rows that have ended, or -1 if no row ended. The answer can be 0: a CR ended a row
// before, which only its next byte tells. At the end of the file the rest is a row,
// unless there is none.
//
// It looks at each byte once, whatever the sizes of chunks and rows. So a row that
// is longer than a chunk costs nothing extra; how long it may become is the caller's
// to limit.
func (s *Splitter) Next(chunk []byte) int {
	if len(chunk) == 0 {
		return -1
	}
	last := -1
	if s.prev == '\r' && s.where == outside && chunk[0] != '\n' {
		last = 0
	}
	if s.plain {
		last = max(last, rowEnd(chunk, 0, len(chunk)))
	} else if n := s.quoted(chunk); n > 0 {
		last = n
	}
	s.prev = chunk[len(chunk)-1]
	return last
}

// rowEnd returns the end of the last row that ends within chunk[from:to], or -1. A CR
// at the end of the chunk is left to the next.
func rowEnd(chunk []byte, from, to int) int {
	i := from + lastEnd(chunk[from:to])
	if i >= from && i == len(chunk)-1 && chunk[i] == '\r' {
		i = from + lastEnd(chunk[from:i])
	}
	if i < from {
		return -1
	}
	return i + 1
}

// quoted is Next where quotes count. Only quotes are looked for, and row ends only
// between quoted fields.
func (s *Splitter) quoted(chunk []byte) int {
	last, p, state := -1, 0, s.where
	for p < len(chunk) {
		switch state {
		case inside:
			if p = nextQuote(chunk, p) + 1; p > len(chunk) {
				break
			}
			if state = afterQuote; p == len(chunk) {
				break
			}
			fallthrough
		case afterQuote:
			state = inside
			c := chunk[p]
			if c != s.delim && c != '\n' && c != '\r' {
				if c == '"' {
					p++
				}
				break
			}
			fallthrough
		case outside:
			q := nextQuote(chunk, p)
			for q < len(chunk) && !s.opens(chunk, q) {
				q = nextQuote(chunk, q+1)
			}
			if end := s.between(chunk, p, q); end > 0 {
				last = end
			}
			state, p = inside, q+1
			if q == len(chunk) {
				state = outside
			}
		}
	}
	s.where = state
	return last
}

// between is rowEnd for what is between two quoted fields: mostly a byte or two.
func (s *Splitter) between(chunk []byte, from, to int) int {
	if to == len(chunk) || to-from > 2 {
		return rowEnd(chunk, from, to)
	}
	if to > from && chunk[to-1] != s.delim { // behind the end of a row
		return to
	}
	return rowEnd(chunk, from, to)
}

// opens tells whether a quote outside quoted fields begins one.
func (s *Splitter) opens(chunk []byte, q int) bool {
	c := s.prev
	if q > 0 {
		c = chunk[q-1]
	}
	return c == s.delim || c == '\n' || c == '\r'
}
