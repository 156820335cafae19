package pipeline

import (
	"math"

	"infeed/core/block"
	"infeed/core/errs"
	"infeed/core/spec"
)

const (
	groupBytes  = 1 << 20   // how large groups grow
	maxElements = 4096      // how many elements they grow to
	ramBudget   = 256 << 20 // of slots
	pageBytes   = 4096
	mostLent    = 8 // slots that a consumer may keep before it should copy
	leastLent   = 2
)

// sizes is how the memory of an iterator is cut.
type sizes struct {
	elements  int64 // most elements of a group
	slotBytes int64
	ahead     int // groups that are being made or wait
	lent      int // groups that the consumer may keep
	slots     int
}

// newSizes finds out for elements that are no larger than bound.
func newSizes(bound *spec.Element, o Options) (sizes, error) {
	var s sizes
	one, err := block.NewLayout(bound, 1)
	if err != nil {
		return s, err
	}
	want := o.GroupBytes
	if want == 0 {
		want = groupBytes
	}
	s.elements = max(1, min(want/max(one.Bytes, 1), maxElements))
	l, err := block.NewLayout(bound, s.elements)
	if err != nil {
		return s, err
	}
	s.slotBytes = (l.Bytes + metaBytes(bound) + pageBytes - 1) &^ (pageBytes - 1)
	budget := o.RAMBudget
	if budget == 0 {
		budget = ramBudget
	}
	fit := int(min(budget/s.slotBytes, 1<<10))
	s.ahead = max(1, o.Workers, min(2*o.Workers, fit-mostLent))
	s.lent = max(leastLent, min(mostLent, fit-s.ahead))
	s.slots = s.ahead + s.lent
	if s.slotBytes > math.MaxInt64/int64(s.slots) {
		return s, errs.New(errs.InvalidArgument, "iterator", "%d slots of %d bytes are more than can be addressed", s.slots, s.slotBytes)
	}
	return s, nil
}

// limit returns how many elements the n-th group may have.
func (s *sizes) limit(n int64) int64 {
	if n >= 20 {
		return s.elements
	}
	return min(1<<n, s.elements)
}
