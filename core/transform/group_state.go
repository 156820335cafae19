package transform

import (
	"cmp"
	"encoding/binary"

	"maps"
	"slices"

	"infeed/core/dataset"
	"infeed/core/errs"
)

// groupState is what a token of groups says: where to begin to read again, up to
// where, and how many elements of each key wait then, which are the last ones that
// have it.
type groupState struct {
	before        *dataset.Token // of the input
	first, number int64          // of the element after that, and of the next one to be read
	made          int64
	counts        map[int64]int64
	flushing      bool // a group's dataset is open
	key           int64
	in            *dataset.Token // of that dataset
}

// Token implements dataset.Iterator. In its data are pairs of a key and a count.
func (it *groupIterator) Token() *dataset.Token {
	groups := slices.SortedFunc(maps.Values(it.groups), func(a, b *group) int { return cmp.Compare(a.key, b.key) })
	if it.flushed != nil {
		groups = append([]*group{it.flushed}, groups...)
	}
	before, first := it.cursor.Token(), it.number
	t := &dataset.Token{}
	for _, g := range groups {
		if g.first < first {
			before, first = g.before, g.first
		}
		t.Data = binary.AppendVarint(t.Data, g.key)
		t.Data = binary.AppendVarint(t.Data, g.rows)
	}
	t.At, t.In = []int64{first, it.number, it.made, 0}, []*dataset.Token{before}
	if it.flushed != nil {
		t.At[2], t.At[3] = it.made-1, 1
		t.In = append(t.In, it.in.it.Token())
	}
	return t
}

// readGroups reads a token.
func readGroups(op string, t *dataset.Token) (*groupState, error) {
	at, err := t.Numbers(op, 4)
	if err != nil {
		return nil, err
	}
	s := &groupState{first: at[0], number: at[1], made: at[2], flushing: at[3] == 1, counts: map[int64]int64{}}
	if t == nil {
		return s, nil
	}
	bad := errs.New(errs.StateMismatch, op, "its state is not one of groups of elements")
	if len(t.In) != 1+int(at[3]&1) || at[3] > 1 || s.first > s.number {
		return nil, bad
	}
	s.before = t.In[0]
	if s.flushing {
		s.in = t.In[1]
	}
	for i, data := 0, t.Data; len(data) > 0; i++ {
		key, n := binary.Varint(data)
		count, m := binary.Varint(data[max(n, 0):])
		if n <= 0 || m <= 0 || count < 1 || count > s.number-s.first || s.counts[key] > 0 {
			return nil, bad
		}
		if i == 0 {
			s.key = key
		}
		s.counts[key] = count
		data = data[n+m:]
	}
	if s.flushing && len(s.counts) == 0 {
		return nil, bad
	}
	return s, nil
}

// again is a group that is read again: its elements with their places.
type again struct {
	group
	numbers []int64
	before  []*dataset.Token
}

// load reads the elements that wait again, and opens the dataset that was open.
func (it *groupIterator) load(s *groupState) error {
	it.made = s.made
	found := map[int64]*again{}
	for it.number < s.number {
		if err := it.scope.Err(); err != nil {
			return err
		}
		b, row, key, err := it.next()
		if isEnd(err) {
			return errs.New(errs.StateMismatch, it.op, "its state is before element %d of the input, which ends after %d", s.number, it.number)
		}
		if err != nil {
			continue // it failed then, too
		}
		if count := s.counts[key]; count > 0 {
			g := found[key]
			if g == nil {
				g = &again{}
				found[key] = g
			}
			g.numbers, g.before = append(g.numbers, it.number), append(g.before, it.cursor.Token())
			g.add(b, row)
			if g.rows >= 2*count+keyedLimit {
				g.trim(count)
			}
		}
		it.take()
	}
	for key, count := range s.counts {
		g := found[key]
		if g == nil || g.rows < count {
			return errs.New(errs.StateMismatch, it.op, "its state has %d elements of key %d; there are fewer now", count, key)
		}
		g.trim(count)
		it.groups[key] = &group{key: key, first: g.numbers[0], before: g.before[0], kept: g.kept}
	}
	if !s.flushing {
		return nil
	}
	g := it.groups[s.key]
	delete(it.groups, s.key)
	return it.flush(g, s.in)
}

// trim leaves the last n elements.
func (a *again) trim(n int64) {
	gone := a.rows - n
	a.kept = a.last(n)
	a.numbers, a.before = a.numbers[gone:], a.before[gone:]
}
