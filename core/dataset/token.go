package dataset

import (
	"errors"
	"io"

	"infeed/core/errs"
)

// Token says where an iterator can be taken up again. It is immutable. What its
// parts mean is the iterator's business.
type Token struct {
	At   []int64  `json:"at,omitempty"`   // numbers, such as an offset or a count
	In   []*Token `json:"in,omitempty"`   // of inputs; null where one is at its start
	Data []byte   `json:"data,omitempty"` // anything else, such as the state of a scan
	Lost *Lost    `json:"lost,omitempty"` // what was left out of damaged files up to here
}

// At returns the token of numbers.
func At(numbers ...int64) *Token { return &Token{At: numbers} }

// Over returns the token of an input and numbers.
func Over(in *Token, numbers ...int64) *Token { return &Token{At: numbers, In: []*Token{in}} }

// Numbers returns the n numbers of a token; zeros for the start. A token of
// something else, or with a negative number, is a StateMismatch error.
func (t *Token) Numbers(op string, n int) ([]int64, error) {
	if t == nil {
		return make([]int64, n), nil
	}
	if len(t.At) != n {
		return nil, errs.New(errs.StateMismatch, op, "its state has %d numbers; %d were expected", len(t.At), n)
	}
	for _, x := range t.At {
		if x < 0 || x > mostNumber {
			return nil, errs.New(errs.StateMismatch, op, "its state has the number %d", x)
		}
	}
	return t.At, nil
}

// mostNumber bounds the numbers of a token, so that what is counted on from there fits.
const mostNumber = 1 << 62

// Input returns the token of input i; nil for the start.
func (t *Token) Input(op string, i int) (*Token, error) {
	if t == nil {
		return nil, nil
	}
	if i >= len(t.In) {
		return nil, errs.New(errs.StateMismatch, op, "its state has %d inputs; more were expected", len(t.In))
	}
	return t.In[i], nil
}

// mostSkipped bounds how many elements a token can be behind the start of a block.
const mostSkipped = 1 << 32

// short is the error of a token that is behind the end of its input.
func short(op string, err error) error {
	if errors.Is(err, io.EOF) {
		return errs.New(errs.StateMismatch, op, "its state is behind the end of its input, which is another than when the state was saved")
	}
	return err
}

// Parts returns the n numbers of a token and the token of its only input.
func (t *Token) Parts(op string, n int) (numbers []int64, in *Token, err error) {
	if numbers, err = t.Numbers(op, n); err != nil {
		return nil, nil, err
	}
	in, err = t.Input(op, 0)
	return numbers, in, err
}

// Behind is Parts of a token whose number says how many elements of its input's block
// were taken.
func (t *Token) Behind(op string) (rows int64, in *Token, err error) {
	numbers, in, err := t.Parts(op, 1)
	if err != nil {
		return 0, nil, err
	}
	if numbers[0] > mostSkipped {
		return 0, nil, errs.New(errs.StateMismatch, op, "its state is %d elements after a block's start", numbers[0])
	}
	return numbers[0], in, nil
}
