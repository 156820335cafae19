package transform

import (
	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
)

type filter struct {
	in      dataset.Definition
	program dataset.Program
	height  uint64
}

// Filter returns the elements for which a program, whose results are scalars of
// bool, says true.
func Filter(in dataset.Definition, predicate dataset.Program, height uint64) (dataset.Definition, error) {
	if err := isPredicate("filter", predicate.Spec()); err != nil {
		return nil, err
	}
	return &filter{in: in, program: predicate, height: height}, nil
}

// isPredicate fails where results of a program are no single truth value.
func isPredicate(op string, e *spec.Element) error {
	if len(e.Components) != 1 || e.Structure.Kind != spec.Leaf || e.Components[0].DType.Kind != 'b' || len(e.Components[0].Shape) != 0 {
		return errs.New(errs.InvalidArgument, op, "predicate must return a bool scalar; it returns %v", e)
	}
	return nil
}

func (f *filter) Spec() *spec.Element { return f.in.Spec() }

// Cardinality is unknown but where nothing can be left, as tf.data's.
func (f *filter) Cardinality() int64 { return dataset.Unknown }

func (f *filter) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	run := &running{scope: s, program: f.program, key: chanceKey(pass, f.height)}
	return eachRow("filter", f.in, s, callers(s, f.program), pass, from, run.choose)
}

// choose adds the rows for which the program says true to a job.
func (r *running) choose(j *dataset.Job, in []block.Block, first int64) {
	verdicts := borrow()
	defer giveBack(verdicts)
	p := scratch.Get().(*[]int64)
	defer scratch.Put(p)
	for len(in) > 0 {
		verdicts.Reset()
		n, failed := r.run(in, first, verdicts)
		*p = trues((*p)[:0], verdicts)
		err := keepOf(in, *p, &j.Out)
		if failed == nil {
			failed = err
		}
		if failed != nil {
			j.Fails = append(j.Fails, dataset.Failure{After: len(j.Out.Blocks()), Err: failed})
			n++
		}
		in, first = behind(in, n), first+n
	}
}

// keepOf makes the chosen rows of blocks in dst, which are counted over all of them. It
// changes chosen.
func keepOf(in []block.Block, chosen []int64, dst dataset.Sink) error {
	for at := int64(0); len(chosen) > 0; in = in[1:] {
		n := 0
		for ; n < len(chosen) && chosen[n] < at+in[0].Rows; n++ {
			chosen[n] -= at
		}
		if err := keep(in[0], chosen[:n], dst); err != nil {
			return err
		}
		chosen, at = chosen[n:], at+in[0].Rows
	}
	return nil
}

// trues appends the numbers of the rows whose value is true.
func trues(to []int64, verdicts *block.Buffer) []int64 {
	at := int64(0)
	for _, v := range verdicts.Blocks() {
		for i, yes := range v.Columns[0].Data[:v.Rows] {
			if yes != 0 {
				to = append(to, at+int64(i))
			}
		}
		at += v.Rows
	}
	return to
}

// keep makes the chosen rows of a block in dst.
func keep(b block.Block, chosen []int64, dst dataset.Sink) error {
	if len(chosen) == 0 {
		return nil
	}
	if int64(len(chosen)) < b.Rows {
		return choose(b, chosen, dst)
	}
	out, err := dst.Block(b.Shapes, b.Rows)
	if err == nil {
		out.Copy(0, b)
	}
	return err
}
