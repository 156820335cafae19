package dataset

import "infeed/core/block"

// Cursor takes the elements of an iterator a few at a time, in whatever blocks they
// come.
type Cursor struct {
	it     Iterator
	buffer block.Buffer
	before *Token // of the iterator, before the buffer
	at     int    // block of the buffer that is being taken from
	row    int64  // rows of it that were taken
	taken  int64  // rows that were taken of the buffer
}

// NewCursor opens an input at the place that a cursor's token names; nil is the
// start. op is named in errors.
func NewCursor(op string, from *Token, open func(from *Token) (Iterator, error)) (*Cursor, error) {
	skip, in, err := from.Behind(op)
	if err != nil {
		return nil, err
	}
	c := &Cursor{before: in}
	if c.it, err = open(in); err != nil {
		return nil, err
	}
	for n := skip; n > 0; {
		b, err := c.Peek(n)
		if err != nil {
			return nil, short(op, err)
		}
		n -= b.Rows
		c.Take(b.Rows)
	}
	return c, nil
}

// Peek returns the elements that come next, limit at most, of equal shapes. They
// stay valid until Peek is called after all elements it returned were taken.
func (c *Cursor) Peek(limit int64) (block.Block, error) {
	for c.at == len(c.buffer.Blocks()) {
		c.buffer.Reset()
		c.before = c.it.Token()
		c.at, c.row, c.taken = 0, 0, 0
		n, err := c.it.Next(limit, &c.buffer)
		if n == 0 { // what the buffer got is void
			c.buffer.Reset()
			c.before = c.it.Token()
		}
		if err != nil {
			return block.Block{}, err
		}
	}
	b := c.buffer.Blocks()[c.at]
	if c.row == 0 && b.Rows <= limit {
		return b, nil
	}
	return b.Slice(c.row, min(b.Rows, c.row+limit)), nil
}

// Take says that the first n elements that Peek returned were taken.
func (c *Cursor) Take(n int64) {
	c.row += n
	c.taken += n
	if c.row == c.buffer.Blocks()[c.at].Rows {
		c.at, c.row = c.at+1, 0
	}
}

// Token returns where the cursor is: before what Peek returns next.
func (c *Cursor) Token() *Token {
	if c.at == len(c.buffer.Blocks()) {
		return Over(c.it.Token(), 0)
	}
	return Over(c.before, c.taken)
}
