package pipeline

import (
	"sync/atomic"
	"time"

	"infeed/core/block"
	"infeed/core/spec"
)

const (
	groupBytes  = 1 << 20 // how large groups grow
	maxElements = 4096    // how many elements they grow to
	ramBudget   = 256 << 20
	mostLent    = 8 // slots that a consumer may keep before it should copy
	leastLent   = 2
	// mostUnequal is how many elements are asked for at once as long as nobody knows
	// how much they differ: each may become a group of its own.
	mostUnequal = 64
)

// sizes is how the memory of an iterator is cut.
type sizes struct {
	want      int64 // bytes of a group
	slotBytes int64 // of a group, where all elements have equal shapes; else 0
	ahead     int   // groups that are being made or wait
	large     int   // how many of them may be as large as they like
	lent      int   // groups that the consumer may keep
	most      int64 // elements of a group, where all have equal shapes; else 0
	bytes     int64 // of slots, as far as one for each worker and a consumer allows
	elements  atomic.Int64
}

// set finds sizes for elements of a spec. The budget is shared with stages that work
// ahead, unless elements can be had by number: then there are none.
func (s *sizes) set(e *spec.Element, indexed bool, o Options) error {
	budget := o.RAMBudget
	if budget == 0 {
		budget = ramBudget
	}
	if s.bytes = budget; !indexed {
		s.bytes = max(budget/2, 1)
	}
	if s.want = o.GroupBytes; s.want == 0 {
		s.want = max(min(groupBytes, s.bytes/int64(2*o.Workers+mostLent)), 1)
	}
	each := s.want
	if one, err := block.NewLayout(e, 1); err == nil && !e.HasText() {
		s.most = max(1, min(s.want/max(one.Bytes, 1), maxElements))
		s.elements.Store(s.most)
		l, err := block.NewLayout(e, s.most)
		if err != nil {
			return err
		}
		s.slotBytes = pages(l.Bytes + metaBytes(e))
		each = s.slotBytes
	} else {
		s.elements.Store(mostUnequal)
		if e.Known() && err != nil {
			return err
		}
	}
	fit := int(min(s.bytes/each, 1<<10))
	s.ahead = max(1, o.Workers, min(2*o.Workers, fit-mostLent))
	s.lent = max(leastLent, min(mostLent, fit-s.ahead))
	if s.large = s.ahead; s.slotBytes == 0 && !indexed {
		s.ahead *= 4
	}
	return nil
}

// mayUse returns how much memory groups of unknown sizes may have for one more to be made
// when n are ahead. Small ones are soon taken, so there may be more of them.
func (s *sizes) mayUse(n int64) int64 {
	if n < int64(s.large) {
		return s.bytes
	}
	return min(int64(s.large)*s.want, s.bytes)
}

// slow is how long the making of a task may take before tasks become smaller.
const slow = 20 * time.Millisecond

// saw learns from elements that were made in so many groups, in some time.
func (s *sizes) saw(elements, groups, bytes int64, took time.Duration) {
	if elements == 0 {
		return
	}
	n := s.most
	if n == 0 {
		n = min(s.want*elements/max(bytes, 1), maxElements)
		if groups > 1 {
			n = min(n, max(mostUnequal, mostUnequal*elements/groups))
		}
	}
	if took > slow {
		n = min(n, elements*int64(slow)/int64(took))
	}
	// Twice as many as before at most: what comes may be larger than what came.
	s.elements.Store(max(1, min(n, 2*elements)))
}

// limit returns how many elements the n-th group may have.
func (s *sizes) limit(n int64) int64 {
	most := s.elements.Load()
	if n >= 20 {
		return most
	}
	return min(1<<n, most)
}
