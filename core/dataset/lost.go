package dataset

// Lost counts what was left out because it was damaged, as errors="skip" and
// errors="truncate" say. It is a part of tokens, so that a walk that is taken up
// goes on counting. It is immutable; nil is nothing.
type Lost struct {
	Count  int64    `json:"count"`            // damaged places
	Places []string `json:"places,omitempty"` // the first of them, mostPlaces at most
}

// mostPlaces keeps tokens small.
const mostPlaces = 4

// And returns l and count places more, of which some are known.
func (l *Lost) And(count int64, places ...string) *Lost {
	if count <= 0 {
		return l
	}
	sum := &Lost{Count: count}
	if l != nil {
		sum.Count += l.Count
		sum.Places = append(sum.Places, l.Places...)
	}
	for _, p := range places {
		if len(sum.Places) < mostPlaces {
			sum.Places = append(sum.Places, p)
		}
	}
	return sum
}

// Plus returns l and more together.
func (l *Lost) Plus(more *Lost) *Lost {
	if more == nil {
		return l
	}
	return l.And(more.Count, more.Places...)
}

// Own is what the token itself counts, without its inputs: what was left out of those
// that have ended.
func (t *Token) Own() *Lost {
	if t == nil {
		return nil
	}
	return t.Lost
}

// Uncounted is the token without what it counts, for a place beside another that counts
// the same.
func (t *Token) Uncounted() *Token {
	if t.Losses() == nil {
		return t
	}
	out := *t
	out.Lost, out.In = nil, make([]*Token, len(t.In))
	for i, in := range t.In {
		out.In[i] = in.Uncounted()
	}
	return &out
}

// Losses sums what the token and those of its inputs count.
func (t *Token) Losses() *Lost {
	if t == nil {
		return nil
	}
	sum := t.Lost
	for _, in := range t.In {
		sum = sum.Plus(in.Losses())
	}
	return sum
}
