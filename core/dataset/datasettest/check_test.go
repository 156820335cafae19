package datasettest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/rng"
	"infeed/core/spec"
)

// liar is a Range with one thing wrong.
type liar struct {
	Range
	open   func() // called by Open
	like   func(start, limit int64) (int64, *spec.Element, error)
	gather func(index []int64, dst block.Block) error
	spec   *spec.Element
}

func (l *liar) Open(_ rng.Key) dataset.RandomAccess {
	if l.open != nil {
		l.open()
	}
	return l
}

func (l *liar) Like(start, limit int64) (int64, *spec.Element, error) {
	if l.like != nil {
		return l.like(start, limit)
	}
	return l.Range.Like(start, limit)
}

func (l *liar) Gather(index []int64, dst block.Block) error {
	if l.gather != nil {
		return l.gather(index, dst)
	}
	return l.Range.Gather(index, dst)
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
		"depends on the size of blocks": {&liar{Range: 10, gather: func(index []int64, dst block.Block) error {
			if len(index) > 2 {
				index[2] = 0
			}
			return Range(10).Gather(index, dst)
		}}, "blocks of up to 3"},
		"cannot be taken up in the middle": {&liar{Range: 10, gather: func(index []int64, dst block.Block) error {
			if len(index) == 5 && index[0] == 3 {
				index[1]++
			}
			return Range(10).Gather(index, dst)
		}}, "taken up before element 3"},
		"another order when opened again": {&liar{Range: 10, open: func() { opened++ }, gather: func(index []int64, dst block.Block) error {
			index[0] = (index[0] + opened) % 10
			return Range(10).Gather(index, dst)
		}}, "not the same when opened again"},
		"more alike than there are": {&liar{Range: 10, like: func(start, limit int64) (int64, *spec.Element, error) {
			return limit + 1, Range(10).Spec(), nil
		}}, "2 are alike"},
		"only for elements in order": {&liar{Range: 10, gather: func(index []int64, dst block.Block) error {
			if len(index) > 1 && !dataset.Consecutive(index) {
				index[1] = 0
			}
			return Range(10).Gather(index, dst)
		}}, "elements ["},
		"other shapes than promised": {&liar{Range: 10, spec: &spec.Element{Components: []spec.Component{{DType: spec.DType{Kind: 'i', Size: 8}, Shape: []int64{2}}}}},
			"should have 1 item"},
		"leaves memory unwritten": {&liar{Range: 10, gather: func(index []int64, dst block.Block) error {
			return Range(10).Gather(index[:(len(index)+1)/2], dst)
		}}, "blocks of up to 2"},
	} {
		require.Contains(t, verdict(c.liar), c.said, name)
	}
}
