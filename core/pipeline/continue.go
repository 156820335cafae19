package pipeline

import (
	"errors"
	"io"

	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
	"infeed/core/transform"
)

// continued returns the dataset of one of the readers that go on with a rest.
func (d *Dataset) continued(rest *Rest) (*Dataset, error) {
	if rest == nil {
		return d, nil
	}
	s, _ := d.sharing()
	root, err := s.reader(rest, s.shard.NumShards, s.shard.Index, nil)
	if err != nil {
		return nil, err
	}
	out, err := New(root)
	if err == nil {
		out.elements, out.rest = d.elements, rest
	}
	return out, err
}

// watch looks at what a reader takes.
type watch interface {
	share(dataset.Definition) dataset.Definition // of the source
	rows(dataset.Definition) dataset.Definition  // what the low operations make of it
}

// reader returns the definition of reader i of n of a rest.
func (s *sharing) reader(rest *Rest, n, i int64, w watch) (*Node, error) {
	sources, err := rest.sources(s.source)
	if err != nil {
		return nil, err
	}
	share, err := transform.Shard(sources[len(sources)-1], n, i)
	if err != nil {
		return nil, err
	}
	if w != nil {
		share = w.share(share)
	}
	parts, err := s.begun(rest, sources, n, i)
	if err != nil {
		return nil, err
	}
	if !s.more() || len(parts) == 0 && w == nil {
		return replaced(s.path, share, s.height), nil
	}
	rows, height, err := s.rows(share)
	if err != nil {
		return nil, err
	}
	if len(parts) > 0 {
		rows = &parting{append(parts, piece{rows, nil})}
	}
	if w != nil {
		rows = w.rows(rows)
	}
	return replaced(s.path[:s.low+1], rows, height), nil
}

// begun returns the elements that reader i of n has to end.
func (s *sharing) begun(rest *Rest, sources []dataset.Definition, n, i int64) (parts []piece, err error) {
	if rest == nil {
		return nil, nil
	}
	for k, b := range rest.Begun {
		if int64(k)%n != i {
			continue
		}
		if b.Layer < 0 || b.Layer >= int64(len(rest.Layers)) || !s.more() {
			return nil, errs.New(errs.StateMismatch, "load_state_dict", "the state has an element that was begun in layer %d of %d", b.Layer, len(rest.Layers))
		}
		taken, err := rest.Layers[b.Layer].all()
		if err != nil {
			return nil, err
		}
		p := piece{from: b.Token}
		if p.Definition, err = s.takenBy(sources[b.Layer], taken, b.Reader); err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// takenBy returns what the low operations make of the elements that one of some
// readers took.
func (s *sharing) takenBy(source dataset.Definition, taken []int64, reader int64) (dataset.Definition, error) {
	share, err := transform.Shard(source, int64(len(taken)), reader)
	if err != nil {
		return nil, errs.Wrap(err, errs.StateMismatch, "load_state_dict", "the state is of reader %d of %d", reader+1, len(taken))
	}
	if share, err = transform.Take(share, taken[reader]); err != nil {
		return nil, err
	}
	rows, _, err := s.rows(share)
	return rows, err
}

// piece is the elements of a dataset from a token on.
type piece struct {
	dataset.Definition
	from *dataset.Token
}

// parting is pieces one after the other. Its token is the number of the piece and the
// token in it.
type parting struct{ pieces []piece }

func (p *parting) Spec() *spec.Element { return p.pieces[0].Spec() }
func (p *parting) Cardinality() int64  { return dataset.Unknown }

func (p *parting) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	it := &partingIterator{parting: p, scope: s, pass: pass}
	if from == nil {
		return it, it.begin(p.pieces[0].from)
	}
	at, err := from.Numbers("shard", 1)
	if err != nil {
		return nil, err
	}
	if it.at = at[0]; it.at >= int64(len(p.pieces)) {
		return nil, errs.New(errs.StateMismatch, "shard", "its state is in piece %d of %d", it.at, len(p.pieces))
	}
	in, err := from.Input("shard", 0)
	if err != nil {
		return nil, err
	}
	return it, it.begin(in)
}

type partingIterator struct {
	*parting
	scope *dataset.Scope
	pass  rng.Key
	at    int64 // the piece
	inner *dataset.Scope
	in    dataset.Iterator
}

// begin begins the piece at a token.
func (it *partingIterator) begin(from *dataset.Token) (err error) {
	if it.inner != nil {
		it.inner.Close()
	}
	it.inner = it.scope.Child()
	it.in, err = it.pieces[it.at].Iterate(it.inner, it.pass, from)
	return err
}

func (it *partingIterator) Token() *dataset.Token { return dataset.Over(it.in.Token(), it.at) }

func (it *partingIterator) Next(limit int64, dst dataset.Sink) (int64, error) {
	n, err := it.in.Next(limit, dst)
	if !errors.Is(err, io.EOF) || it.at == int64(len(it.pieces))-1 {
		return n, err
	}
	it.at++
	return 0, it.begin(it.pieces[it.at].from)
}
