package datasettest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/dataset"
	"infeed/core/rng"
	"infeed/core/spec"
)

// liar is a Range with one thing wrong.
type liar struct {
	Range
	open  func() // called by Open
	fetch func(index []int64, dst dataset.Sink) error
	spec  *spec.Element
	from  func(*dataset.Token) *dataset.Token
}

func (l *liar) Open(_ *dataset.Scope, _ rng.Key) (dataset.RandomAccess, error) {
	if l.open != nil {
		l.open()
	}
	return l, nil
}

func (l *liar) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	if l.from != nil {
		from = l.from(from)
	}
	return dataset.Walk(l, s, pass, from)
}

func (l *liar) Fetch(index []int64, dst dataset.Sink) error {
	if l.fetch != nil {
		return l.fetch(index, dst)
	}
	return l.Range.Fetch(index, dst)
}

func (l *liar) Spec() *spec.Element {
	if l.spec != nil {
		return l.spec
	}
	return l.Range.Spec()
}

// recorder is a T that remembers what it was told.
type recorder struct{ said strings.Builder }

func (r *recorder) Helper()                           {}
func (r *recorder) Errorf(format string, args ...any) { fmt.Fprintf(&r.said, format, args...) }
func (r *recorder) FailNow()                          { panic(r) }

func verdict(d dataset.Definition) (said string) {
	r := &recorder{}
	defer func() {
		if p := recover(); p != nil && p != any(r) {
			panic(p)
		}
		said = r.said.String()
	}()
	Check(r, d, 20)
	return
}

func TestCheckFindsLiars(t *testing.T) {
	require.Empty(t, verdict(Range(10)))
	require.Empty(t, verdict(&liar{Range: 10}))

	opened := int64(0)
	for name, c := range map[string]struct {
		liar *liar
		said string
	}{
		"depends on the size of blocks": {&liar{Range: 10, fetch: func(index []int64, dst dataset.Sink) error {
			if len(index) > 2 {
				index[2] = 0
			}
			return Range(10).Fetch(index, dst)
		}}, "blocks of up to 3"},
		"cannot be taken up in the middle": {&liar{Range: 10, from: func(t *dataset.Token) *dataset.Token {
			if t != nil && len(t.At) == 1 && t.At[0] == 3 {
				return dataset.At(4)
			}
			return t
		}}, "taken up before element 3"},
		"another order when opened again": {&liar{Range: 10, open: func() { opened++ }, fetch: func(index []int64, dst dataset.Sink) error {
			index[0] = (index[0] + opened) % 10
			return Range(10).Fetch(index, dst)
		}}, "not the same when begun again"},
		"only for elements in order": {&liar{Range: 10, fetch: func(index []int64, dst dataset.Sink) error {
			if len(index) > 1 && !dataset.Consecutive(index) {
				index[1] = 0
			}
			return Range(10).Fetch(index, dst)
		}}, "elements ["},
		"other shapes than promised": {&liar{Range: 10, spec: &spec.Element{Components: []spec.Component{{DType: spec.DType{Kind: 'i', Size: 8}, Shape: []int64{2}}}}},
			"should have 1 item"},
		"gives fewer than it says": {&liar{Range: 10, fetch: func(index []int64, dst dataset.Sink) error {
			return Range(10).Fetch(index[:(len(index)+1)/2], dst)
		}}, "elements in memory"},
	} {
		require.Contains(t, verdict(c.liar), c.said, name)
	}
}
