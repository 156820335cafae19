package snapshot

import (
	"errors"
	"io"
	"math"
	"path"

	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/spec"
)

// tfWalk is a walk over what tf.data stored.
type tfWalk struct {
	*tfLoaded
	reading []*tfLane
	turn    int   // lane that has the next number, if all take turns
	given   int64 // elements and errors
	ended   int64 // 1: nothing comes any more
	decoder tfDecoder
}

func (w *tfWalk) Token() *dataset.Token {
	at := []int64{w.given, w.ended}
	for _, l := range w.reading {
		file, offset := l.token()
		at = append(at, file, offset)
	}
	return dataset.At(at...)
}

func (w *tfWalk) Next(limit int64, dst dataset.Sink) (int64, error) {
	if w.ended != 0 {
		return 0, io.EOF
	}
	if w.count > w.given {
		limit = min(limit, w.count-w.given)
	}
	n, damaged, err := w.run(limit)
	for _, l := range w.reading {
		l.held = false
	}
	switch {
	case n > 0 && w.count >= 0 && w.given >= w.count:
		n, err = 0, lost(w.files(), 0, "there are more than the %d elements that were saved", w.count)
	case n > 0:
		return n, w.give(n, dst)
	case damaged != nil: // the one after it can be found
		damaged.pass(w.each)
		w.given++
		return 0, err
	case errors.Is(err, io.EOF) && w.count > w.given:
		err = lost(w.files(), 0, "elements are missing: there are %d; %d were saved", w.given, w.count)
	case errors.Is(err, io.EOF):
		w.ended = 1
		return 0, err
	}
	w.ended = 1 // what follows cannot be told apart from what is missing
	w.given++
	return 0, err
}

// run reads elements of equal shapes, up to limit, and returns how many; none where the
// next one fails. Where that one is there and damaged, it is the next of a lane.
func (w *tfWalk) run(limit int64) (n int64, damaged *tfLane, err error) {
	d := &w.decoder
	d.found = d.found[:0]
	for n < limit {
		was := len(d.found)
		l, err := w.next(w.given + n)
		if err == nil {
			err = w.element(l, w.given+n)
		}
		if err != nil {
			if d.found = d.found[:was]; n > 0 {
				return n, nil, nil
			}
			return 0, l, err
		}
		if n > 0 && !w.decoder.alike(was) {
			d.found = d.found[:was]
			return n, nil, nil
		}
		l.pass(w.each)
		l.held = true
		n++
	}
	return n, nil, nil
}

// next returns the lane in which element number n is the next one.
func (w *tfWalk) next(n int64) (*tfLane, error) {
	if !w.byNumber {
		if err := w.reading[0].fill(); err != nil {
			return nil, err
		}
		return w.reading[0], nil
	}
	var damaged *tfLane
	var failed error
	least := int64(math.MaxInt64)
	for i := range w.reading {
		at := (w.turn + i) % len(w.reading)
		l := w.reading[at]
		err := l.fill()
		switch {
		case errors.Is(err, io.EOF):
		case err != nil:
			failed = err
		case l.look() == n:
			w.turn = (at + 1) % len(w.reading)
			return l, nil
		case l.number == unnumbered:
			damaged = l
		default:
			least = min(least, l.number)
		}
	}
	switch {
	case failed != nil:
		return nil, failed
	case damaged != nil:
		return damaged, nil
	case least == math.MaxInt64:
		return nil, io.EOF
	case least < n:
		return nil, lost(w.files(), 0, "element %d is stored twice: whoever wrote the snapshot was taken up after it was killed", least)
	}
	return nil, lost(w.files(), 0, "element %d is missing: element %d follows", n, least)
}

// element reads the tensors of the next element of a lane, which is number n.
func (w *tfWalk) element(l *tfLane, n int64) error {
	if err := l.damage(w.each); err != nil {
		return err
	}
	if w.byNumber && l.look() == unnumbered {
		return lost(l.block.Path, l.block.Offset(l.row), "the number of element %d cannot be read", n)
	}
	messages, err := w.messages(l)
	if err != nil {
		return lost(l.block.Path, l.block.Offset(l.row), "element %d: %v", n, err)
	}
	for i := range w.decoder.leaves {
		at := l.row
		var message []byte
		if messages != nil {
			message = messages[i]
		} else {
			at += w.extra + i
			message = l.block.Record(at)
		}
		if err := w.decoder.leaf(&w.decoder.leaves[i], message); err != nil {
			return w.wrong(err, l, at, i, n)
		}
	}
	return nil
}

// wrong is the error of a tensor of element n.
func (w *tfWalk) wrong(err error, l *tfLane, at, leaf int, n int64) error {
	name, offset := w.elements.Name(w.decoder.leaves[leaf].first), l.block.Offset(at)
	var other *unfit
	if w.asked && errors.As(err, &other) {
		return errs.New(errs.InvalidArgument, "load", "element_spec does not fit component%s of element %d, in %q at byte %d: %v", name, n, l.block.Path, offset, err)
	}
	return lost(l.block.Path, offset, "component%s of element %d: %v", name, n, err)
}

// files is a place for what concerns all files, which may be only one.
func (w *tfWalk) files() string {
	if len(w.lanes) == 1 && len(w.lanes[0]) == 1 {
		return w.lanes[0][0]
	}
	return path.Join(w.about.Path, w.about.Run)
}

// messages returns the messages of the tensors of the next element of a lane; nil where
// each is a record.
func (w *tfWalk) messages(l *tfLane) ([][]byte, error) {
	if w.about.Version == 2 {
		return nil, nil
	}
	if w.each == 1 {
		return unpackLegacy(l.block.Record(l.row), len(w.decoder.leaves))
	}
	return unsnapLegacy(l.block.Record(l.row), l.block.Record(l.row+1), w.about.types)
}

// alike tells whether the element that begins at tensor i has the shapes of the first.
func (d *tfDecoder) alike(i int) bool {
	for k, t := range d.found[i:] {
		for j, n := range d.found[k].Shape {
			if n != t.Shape[j] {
				return false
			}
		}
	}
	return true
}

// give makes the elements that were found.
func (w *tfWalk) give(n int64, dst dataset.Sink) error {
	shapes := &spec.Element{Structure: w.elements.Structure, Components: append([]spec.Component{}, w.elements.Components...)}
	each, found := len(shapes.Components), w.decoder.found
	for i := range shapes.Components {
		shapes.Components[i].Shape = found[i].Shape
	}
	out, err := dst.Block(shapes, n)
	if err != nil {
		return err
	}
	for i, c := range out.Columns {
		for r := range n {
			t := found[int(r)*each+i]
			if c.Text == nil {
				copy(c.Data[r*c.RowBytes:(r+1)*c.RowBytes], t.Data)
				continue
			}
			for k := range len(t.Offsets) - 1 {
				c.Text.Append(t.Data[t.Offsets[k]:t.Offsets[k+1]])
			}
		}
	}
	w.given += n
	return nil
}
