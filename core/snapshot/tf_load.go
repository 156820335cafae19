package snapshot

import (
	"errors"
	"io"

	"infeed/core/codec"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/record"
	"infeed/core/rng"
	"infeed/core/spec"
	"infeed/core/tfproto"
	"infeed/core/vfs"
)

// tfSaved is the dataset that tf.data.Dataset.save stored, shard by shard. Every
// component of an element is a record with a TensorProto.
type tfSaved struct {
	fs       vfs.FS
	elements *spec.Element
	count    int64
	paths    []string
	codec    codec.Kind
}

// LoadTF returns the elements of a folder that tf.data.Dataset.save wrote. How files are
// compressed shows in them; AUTO looks, other kinds are what they have to be.
func LoadTF(fs vfs.FS, folder string, compression Compression) (dataset.Definition, error) {
	m, err := readTFMeta(fs, folder)
	if err != nil {
		return nil, err
	}
	e, err := readTFSpec(fs, folder)
	if err != nil {
		return nil, err
	}
	d := &tfSaved{fs: snappyFS{fs}, elements: e, count: m.elements, codec: codec.Auto}
	switch compression {
	case None:
		d.fs, d.codec = fs, codec.None
	case Gzip:
		d.fs, d.codec = fs, codec.Gzip
	case Snappy:
		d.codec = codec.None
	case Zstd:
		return nil, errs.New(errs.InvalidArgument, "load", "tf.data does not write ZSTD")
	}
	d.paths, err = tfFiles(fs, folder, m)
	return d, err
}

func (d *tfSaved) Spec() *spec.Element { return d.elements }

func (d *tfSaved) Cardinality() int64 {
	if d.count < 0 {
		return dataset.Unknown
	}
	return d.count
}

// tfWalk is a walk over the records of all files.
type tfWalk struct {
	*tfSaved
	reader *record.Reader
	block  record.Block
	row    int          // next record of the block
	begin  record.Token // before the block
	given  int64        // elements and errors
	ended  int64        // 1: nothing comes any more

	found []*tfproto.Tensor // of the elements of the run that is being made
}

// Iterate implements dataset.Definition. A token is a file, an offset in what it holds,
// how many records to pass from there, the number of the next element, and whether the
// walk has ended.
func (d *tfSaved) Iterate(s *dataset.Scope, _ rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	at, err := from.Numbers("load", 5)
	if err != nil {
		return nil, err
	}
	w := &tfWalk{tfSaved: d, given: at[3], ended: at[4]}
	w.begin = record.Token{File: int(at[0]), Offset: at[1]}
	if w.reader, err = record.NewReader(d.fs, d.paths, record.TFRecord(), record.Options{Compression: d.codec}, w.begin); err != nil {
		return nil, err
	}
	s.Defer(w.reader.Close)
	for n := at[2]; n > 0 && w.ended == 0; n -= int64(w.block.Len()) {
		if err := w.refill(); err != nil {
			return nil, errs.Wrap(err, errs.StateMismatch, "load", "the elements before its state cannot be read again")
		}
		if n <= int64(w.block.Len()) {
			w.row = int(n)
			break
		}
	}
	return w, nil
}

func (w *tfWalk) Token() *dataset.Token {
	return dataset.At(int64(w.begin.File), w.begin.Offset, int64(w.row), w.given, w.ended)
}

// records is how many records are read at a time.
const records = 1024

// refill reads the next records.
func (w *tfWalk) refill() error {
	w.row = 0
	w.begin = w.reader.Token()
	w.block.Starts, w.block.Ends = w.block.Starts[:0], w.block.Ends[:0]
	err := w.reader.Next(&w.block, records)
	if err == nil {
		w.begin = w.block.Token
	}
	return err
}

func (w *tfWalk) Next(limit int64, dst dataset.Sink) (int64, error) {
	if w.ended != 0 {
		return 0, io.EOF
	}
	if w.count > w.given {
		limit = min(limit, w.count-w.given)
	}
	n, err := w.run(limit)
	if n > 0 && w.count >= 0 && w.given >= w.count {
		n, err = 0, lost(w.block.Path, w.block.Token.Offset, "there are more than the %d elements that were saved", w.count)
	}
	if n > 0 {
		return n, w.give(n, dst)
	}
	if errors.Is(err, io.EOF) {
		w.ended = 1
		if w.count >= 0 && w.given < w.count {
			err = lost(w.end(), 0, "elements are missing: there are %d; %d were saved", w.given, w.count)
			w.given++
		}
		return 0, err
	}
	w.ended = 1 // what follows cannot be told apart from what is missing
	w.given++
	return 0, err
}

// end returns the last file.
func (w *tfWalk) end() string {
	if len(w.paths) == 0 {
		return tfMetadata
	}
	return w.paths[len(w.paths)-1]
}

// run reads elements of equal shapes, up to limit, and returns how many; none where
// the next one fails. All but those of one element lie in one block of records.
func (w *tfWalk) run(limit int64) (int64, error) {
	each := len(w.elements.Components)
	w.found = w.found[:0]
	for n := int64(0); n < limit; n++ {
		if n > 0 && w.row+each > w.block.Len() {
			return n, nil
		}
		start := w.row
		if err := w.element(); err != nil {
			w.row = start
			if n == 0 {
				return 0, err
			}
			w.found = w.found[:int(n)*each]
			return n, nil
		}
		if n > 0 && !sameShapes(w.found[:each], w.found[int(n)*each:]) {
			w.row, w.found = start, w.found[:int(n)*each]
			return n, nil
		}
	}
	return limit, nil
}

// element reads the tensors of one element.
func (w *tfWalk) element() error {
	for i := range w.elements.Components {
		for w.row >= w.block.Len() {
			for _, t := range w.found { // their memory is used again
				t.Data = append([]byte{}, t.Data...)
			}
			if err := w.refill(); err != nil {
				if errors.Is(err, io.EOF) && i > 0 {
					return lost(w.end(), 0, "the last element has %d components of %d", i, len(w.elements.Components))
				}
				return err
			}
		}
		t, err := tfproto.ReadTensor(w.block.Record(w.row))
		if err == nil {
			err = w.fits(t, i)
		}
		if err != nil {
			return lost(w.block.Path, w.block.Token.Offset, "component %d of element %d: %v", i, w.given+int64(len(w.found)/len(w.elements.Components)), err)
		}
		w.row++
		w.found = append(w.found, t)
	}
	return nil
}

// fits fails for a tensor of another kind than the spec promises.
func (w *tfWalk) fits(t *tfproto.Tensor, i int) error {
	c := w.elements.Components[i]
	d, _ := tfDType(t.Type)
	same := d == c.DType && len(t.Shape) == len(c.Shape)
	for k := 0; same && k < len(c.Shape); k++ {
		same = c.Shape[k] < 0 || c.Shape[k] == t.Shape[k]
	}
	if !same {
		return errs.New(errs.DataLoss, "load", "it is %v%v; %v was promised", d, t.Shape, c)
	}
	return nil
}

func sameShapes(a, b []*tfproto.Tensor) bool {
	for i := range a {
		for k, n := range a[i].Shape {
			if n != b[i].Shape[k] {
				return false
			}
		}
	}
	return true
}

// give makes the elements that were found.
func (w *tfWalk) give(n int64, dst dataset.Sink) error {
	shapes := &spec.Element{Structure: w.elements.Structure, Components: append([]spec.Component{}, w.elements.Components...)}
	each := len(shapes.Components)
	for i := range shapes.Components {
		shapes.Components[i].Shape = w.found[i].Shape
	}
	out, err := dst.Block(shapes, n)
	if err != nil {
		return err
	}
	for i, c := range out.Columns {
		for r := range n {
			t := w.found[int(r)*each+i]
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
