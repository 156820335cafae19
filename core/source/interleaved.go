package source

import (
	"errors"
	"io"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/record"
	"infeed/core/rng"
)

// interleaved is records of several files in turn. The order is that of tf.data's
// interleave with block_length 1: each of so many slots reads a file, and gives a
// record when it is its turn. At the end of a file the slot lets its turn pass, and
// opens the next file when it has the turn again.
type interleaved struct{ *records }

// Jump implements dataset.Jumper: records of several files come in turn, and it tells
// of none.
func (*interleaved) Jump(*dataset.Scope, int64) (*dataset.Token, int64) { return nil, 0 }

func (r *interleaved) Iterate(s *dataset.Scope, _ rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	n := int(min(r.files.ParallelReads, int64(len(r.files.Paths))))
	at, err := from.Numbers(r.op, 2+n)
	if err != nil {
		return nil, err
	}
	in := &interleaving{records: r.records, scope: s, slots: make([]slot, n), turn: int(at[0]), next: int(at[1])}
	if from == nil {
		return in, nil
	}
	in.lost = from.Lost
	if in.next > len(r.files.Paths) || in.turn > 0 && in.turn >= n {
		return nil, errs.New(errs.StateMismatch, r.op, "its state is in file %d of %d, slot %d of %d", in.next, len(r.files.Paths), in.turn, n)
	}
	for i, file := range at[2:] {
		token, err := from.Input(r.op, i)
		if err != nil {
			return nil, err
		}
		if file == 0 {
			continue
		}
		if file > int64(in.next) {
			return nil, errs.New(errs.StateMismatch, r.op, "its state reads file %d and has not begun file %d", file-1, in.next)
		}
		if err := in.open(&in.slots[i], int(file), token); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// interleaving is an iterator over the records of several files in turn.
type interleaving struct {
	*records
	scope *dataset.Scope
	slots []slot
	turn  int // slot that is next
	next  int // file that is opened next
	lost  *dataset.Lost
	picks []pick
}

// slot is a place where a file is read.
type slot struct {
	file   int // number of the file, from 1; 0: none is open
	scope  *dataset.Scope
	cursor *dataset.Cursor
	text   *block.Text // what cursor gave last
	row    int         // of text: what comes next
	picked int64       // rows of text before it that the cursor does not know of
}

// pick is a record.
type pick struct {
	text *block.Text
	row  int
}

// smallest is the least that is read of a file at a time, where many are read.
const smallest = 32 << 10

func (in *interleaving) open(s *slot, file int, from *dataset.Token) error {
	child := in.scope.Child()
	child.Workers = min(child.Workers, 1)
	bytes := max(record.DefaultBlockBytes/len(in.slots), smallest)
	cursor, err := dataset.NewCursor(in.op, from, func(from *dataset.Token) (dataset.Iterator, error) {
		return in.read(child, in.files.Paths[file-1:file], bytes, from)
	})
	if err != nil {
		child.Close()
		return err
	}
	*s = slot{file: file, scope: child, cursor: cursor, text: &block.Text{}}
	return nil
}

// close ends a file.
func (in *interleaving) close(s *slot) {
	in.lost = in.lost.Plus(s.cursor.Token().Losses())
	s.scope.Close()
	*s = slot{}
}

// ready makes sure that the slot whose turn it is has a record. It returns false where
// it lets its turn pass, and io.EOF where all files have ended.
func (in *interleaving) ready(s *slot) (bool, error) {
	if s.file == 0 {
		if in.next == len(in.files.Paths) {
			for _, other := range in.slots {
				if other.file != 0 {
					return false, nil
				}
			}
			return false, io.EOF
		}
		in.next++
		if err := in.open(s, in.next, nil); err != nil {
			return false, err
		}
	}
	const some = 4096
	b, err := s.cursor.Peek(some)
	if errors.Is(err, io.EOF) {
		in.close(s)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	s.text, s.row = b.Columns[0].Text, 0
	return true, nil
}

// Next implements dataset.Iterator.
func (in *interleaving) Next(limit int64, dst dataset.Sink) (int64, error) {
	in.picks = in.picks[:0]
	for int64(len(in.picks)) < limit && len(in.slots) > 0 {
		s := &in.slots[in.turn]
		has := s.file != 0 && s.row < s.text.Len()
		if !has && len(in.picks) > 0 {
			break // what was picked is given before the cursor goes on
		}
		var err error
		if !has {
			has, err = in.ready(s)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		in.turn = (in.turn + 1) % len(in.slots)
		if err != nil {
			return 0, err
		}
		if has {
			in.picks = append(in.picks, pick{s.text, s.row})
			s.row++
			s.picked++
		}
	}
	if len(in.picks) == 0 {
		return 0, io.EOF
	}
	return int64(len(in.picks)), in.give(dst)
}

// give makes the elements of what was picked.
func (in *interleaving) give(dst dataset.Sink) error {
	out, err := dst.Block(textScalar, int64(len(in.picks)))
	if err != nil {
		return err
	}
	text := out.Columns[0].Text
	for _, p := range in.picks {
		text.Append(p.text.At(p.row))
	}
	for i := range in.slots {
		if s := &in.slots[i]; s.picked > 0 {
			s.cursor.Take(s.picked)
			s.picked = 0
		}
	}
	return nil
}

// Token implements dataset.Iterator: the turn, the file that is opened next, and the
// file of each slot; and where the slots are in these.
func (in *interleaving) Token() *dataset.Token {
	t := &dataset.Token{At: []int64{int64(in.turn), int64(in.next)}, In: make([]*dataset.Token, len(in.slots)), Lost: in.lost}
	for i, s := range in.slots {
		t.At = append(t.At, int64(s.file))
		if s.file != 0 {
			t.In[i] = s.cursor.Token()
		}
	}
	return t
}
