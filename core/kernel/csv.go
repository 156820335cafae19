package kernel

import "infeed/core/errs"

// CSVOp says what a field of a row becomes.
type CSVOp int64

// What fields become. CSVSkip: nothing.
const (
	CSVSkip CSVOp = iota
	CSVInt32
	CSVInt64
	CSVFloat32
	CSVFloat64
	CSVText
)

// CSVStep is what is done with one field of each row, and where its values go.
type CSVStep struct {
	Op      CSVOp
	Numbers []byte // of rows from 0 on, little-endian
	Texts   []byte // with all their capacity
	Used    int    // of Texts
	Starts  []int64
	Ends    []int64
	Default []byte // of a field without a value; nil: it must have one
}

// CSVForm says how rows are written.
type CSVForm struct {
	Delim   byte
	Plain   bool // quotes are characters like others
	Open    bool // rows may have more fields than there are steps
	Missing string
	// Powers has the highest 128 bits of 5^q, cut for q >= 0 and else rounded up, q
	// being 0 in the middle.
	Powers [][2]uint64
}

// CSV parses rows of data that are written plainly, from the one at byte at on, which
// gets the number row, before row limit. It returns the number of the next row and where
// that begins. It stops at a row that it leaves to others, behind whose texts Used may
// be; it may leave any, and without C leaves all. No number may have the delimiter or
// the text Missing in it, and Missing no byte that ends a field.
func CSV(f *CSVForm, steps []CSVStep, data []byte, at, row, limit int) (rows, next int) {
	for i := range steps {
		if s := &steps[i]; !s.room(limit) {
			panic(errs.New(errs.Internal, "csv", "there is no memory for %d rows of column %d", limit, i))
		}
	}
	if at < 0 || row < 0 || at >= len(data) || row >= limit {
		return row, at
	}
	return csv(f, steps, data, at, row, limit)
}

// room tells whether there is memory for so many rows.
func (s *CSVStep) room(rows int) bool {
	switch s.Op {
	case CSVInt32, CSVFloat32:
		return len(s.Numbers)/4 >= rows && (s.Default == nil || len(s.Default) == 4)
	case CSVInt64, CSVFloat64:
		return len(s.Numbers)/8 >= rows && (s.Default == nil || len(s.Default) == 8)
	case CSVText:
		return len(s.Starts) >= rows && len(s.Ends) >= rows && s.Used >= 0 && s.Used <= len(s.Texts)
	}
	return true
}
