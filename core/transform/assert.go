package transform

import (
	"io"
	"strconv"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
)

type assertion struct {
	in dataset.Definition
	n  int64
}

// AssertCardinality returns the elements of the input, which are n, those that fail
// included, or infinitely many. Where they are not, there is an error in the end.
func AssertCardinality(in dataset.Definition, n int64) (dataset.Definition, error) {
	if n < 0 && n != dataset.Infinite {
		return nil, errs.New(errs.InvalidArgument, "assert_cardinality", "expected_cardinality is %d; it must be 0 or more, or INFINITE_CARDINALITY", n)
	}
	if indexed, ok := in.(dataset.Indexed); ok && in.Cardinality() == n {
		return indexed, nil
	}
	return &assertion{in: in, n: n}, nil
}

func (a *assertion) Spec() *spec.Element { return a.in.Spec() }
func (a *assertion) Cardinality() int64  { return a.n }

func (a *assertion) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	at, in, err := openInput("assert_cardinality", a.in, s, pass, from, 2)
	if err != nil {
		return nil, err
	}
	return &assertionIterator{assertion: a, in: in, count: at[0], told: at[1] != 0}, nil
}

type assertionIterator struct {
	*assertion
	in    dataset.Iterator
	count int64
	told  bool // that there is another number of elements
	extra block.Buffer
}

func (it *assertionIterator) Token() *dataset.Token {
	told := int64(0)
	if it.told {
		told = 1
	}
	return dataset.Over(it.in.Token(), it.count, told)
}

func (it *assertionIterator) Next(limit int64, dst dataset.Sink) (int64, error) {
	if it.told {
		return 0, io.EOF
	}
	if it.count == it.n {
		return 0, it.atEnd()
	}
	if it.n >= 0 {
		limit = min(limit, it.n-it.count)
	}
	n, err := it.in.Next(limit, dst)
	it.count += passed(n, err)
	if isEnd(err) {
		return 0, it.tell("%d", it.count)
	}
	return n, err
}

// atEnd looks whether the input ends where it should.
func (it *assertionIterator) atEnd() error {
	for {
		it.extra.Reset()
		n, err := it.in.Next(1, &it.extra)
		if err != nil {
			return err
		}
		if n > 0 {
			return it.tell("at least %d", it.count+n)
		}
	}
}

// tell fails, once.
func (it *assertionIterator) tell(format string, n int64) error {
	it.told = true
	want := "infinitely many"
	if it.n >= 0 {
		want = strconv.FormatInt(it.n, 10)
	}
	return errs.New(errs.InvalidArgument, "assert_cardinality", "the dataset was to have %s elements and has "+format, want, n)
}
