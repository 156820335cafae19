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

// Losses sums what the token and those of its inputs count.
func (t *Token) Losses() *Lost {
	if t == nil {
		return nil
	}
	var sum *Lost
	if t.Lost != nil {
		sum = sum.And(t.Lost.Count, t.Lost.Places...)
	}
	for _, in := range t.In {
		if more := in.Losses(); more != nil {
			sum = sum.And(more.Count, more.Places...)
		}
	}
	return sum
}
