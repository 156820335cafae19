package tfproto

import (
	"fmt"
	"slices"
	"strings"

	"infeed/core/errs"
)

// problem is what is wrong with an example.
type problem struct {
	feature *Feature
	list    bool  // the feature is a feature list
	step    int64 // of a list; -1 where it is not about one
	broken  bool  // at pos, the message cannot be read
	pos     int
	absent  bool
	have    Type  // another type
	count   int64 // a wrong number of values
}

// at returns the error: which message it is about, and what else that has.
func (p *problem) at(what string, first int64, row int, m cursor) error {
	start := m.pos
	text := "the " + what
	if first != Unnumbered {
		text = fmt.Sprintf("%s %d", what, first+int64(row))
	}
	if p.feature != nil {
		kind := "feature"
		if p.list {
			kind = "feature list"
		}
		text += fmt.Sprintf(": %s %q", kind, p.feature.Key)
		if p.list && p.step >= 0 {
			text += fmt.Sprintf(", step %d", p.step)
		}
	}
	switch f := p.feature; {
	case p.broken:
		text += fmt.Sprintf(" cannot be read: what is at byte %d of its %d is cut, corrupt, or no tf.train.%s", p.pos-start, len(m.b)-start, map[string]string{"example": "Example", "sequence example": "SequenceExample"}[what])
	case p.absent:
		text += fmt.Sprintf(" (%v) is required, and is not there; %s", f.Type, present(m, p.list, what))
	case p.have != 0:
		text += fmt.Sprintf(" has %v values; %v was asked for", p.have, f.Type)
	case f.Shape == Fixed || p.list:
		text += fmt.Sprintf(" has %d values; its shape asks for %d", p.count, f.Size)
	default:
		text += fmt.Sprintf(" has %d values, no multiple of the %d that its shape asks for", p.count, f.Size)
	}
	return errs.New(errs.InvalidArgument, "parse_"+strings.ReplaceAll(what, " ", "_"), "%s", text)
}

// present lists the keys that a message has, some of them where there are many.
func present(m cursor, lists bool, what string) string {
	const most = 10
	var keys []string
	outer := uint64(tagMessage1)
	if lists {
		outer = tagMessage2
	}
	each(m, outer, func(features cursor) {
		each(features, tagMessage1, func(e cursor) {
			if key, _, ok := entry(&e); ok {
				keys = append(keys, fmt.Sprintf("%.40q", e.b[key.from:key.to]))
			}
		})
	})
	slices.Sort(keys)
	keys = slices.Compact(keys)
	switch {
	case len(keys) == 0:
		return "the " + what + " has none at all"
	case len(keys) > most:
		return fmt.Sprintf("the %s has %s and %d more", what, strings.Join(keys[:most], ", "), len(keys)-most)
	}
	return "the " + what + " has " + strings.Join(keys, ", ")
}

// each calls f for the messages in a field.
func each(m cursor, field uint64, f func(cursor)) {
	for m.more() {
		tag, ok := m.tag()
		if !ok {
			return
		}
		if tag == field {
			s, ok := m.bytes()
			if !ok {
				return
			}
			f(m.in(s))
		} else if !m.skip(tag) {
			return
		}
	}
}
