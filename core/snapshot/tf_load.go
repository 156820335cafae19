package snapshot

import (
	"path"
	"slices"
	"strings"

	"infeed/core/codec"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/record"
	"infeed/core/rng"
	"infeed/core/spec"
	"infeed/core/vfs"
)

// TFOptions say how folders of tf.data's are read.
type TFOptions struct {
	// Compression is what files have to be. Auto looks at them; tf.data does not say.
	Compression Compression
	// Spec is what elements are like. It may be nil where the folder says it.
	Spec *spec.Element
	// Part is the only part that is read, from 0 on; nil: all of them.
	Part *int64
	// Raw gives each tensor that is stored as the message that it is stored as.
	Raw bool
}

// tfLoaded is the dataset of what tf.data stored.
type tfLoaded struct {
	fs       vfs.FS
	about    *TFFolder
	elements *spec.Element
	leaves   []tfLeaf
	extra    int  // tensors before those of an element: 1 where its number is stored
	asked    bool // elements is what the user gave
	count    int64
	lanes    [][]string // files: one lane, or where elements come by number, one for each shard
	byNumber bool

	format record.Format
	codec  codec.Kind
	each   int // records an element
}

// LoadTF returns the elements at a path to what tf.data stored, see [DescribeTF].
//
// They come shard by shard, but where tf.data numbered them in the order of their
// numbers, which is the order in which they were stored.
func LoadTF(fs vfs.FS, at string, o TFOptions) (dataset.Definition, error) {
	f, err := describeTF(fs, at)
	if err != nil {
		return nil, err
	}
	if o.Compression == Zstd {
		return nil, errs.New(errs.InvalidArgument, "load", "compression is ZSTD, which tf.data does not write")
	}
	if f.unread != nil {
		return nil, f.unread
	}
	d := &tfLoaded{fs: tfFS{fs, o.Compression, f.Version}, about: f, count: f.Elements, asked: o.Spec != nil}
	if err := d.setSpec(o); err != nil {
		return nil, err
	}
	if err := d.setLanes(fs, o.Part); err != nil {
		return nil, err
	}
	d.setFormat(o.Compression)
	return d, nil
}

// setSpec finds what elements are like, and what is stored of them.
func (d *tfLoaded) setSpec(o TFOptions) error {
	f := d.about
	switch d.elements = o.Spec; {
	case o.Raw && errs.KindOf(f.noSpec) == errs.DataLoss:
		return f.noSpec
	case o.Raw:
		return d.setRaw()
	case d.elements == nil && f.noSpec != nil:
		return f.noSpec
	case d.elements == nil && f.Spec == nil && f.Kind == "snapshot":
		return errs.New(errs.InvalidArgument, "load", "%q does not say what its elements are like: give element_spec. It stores %d tensors of each, %s; the first is the number of the element, and no component, "+
			"where tf.data's snapshot was left to choose the shards", f.Path, len(f.Types), strings.Join(f.Types, ", "))
	case d.elements == nil && f.Spec == nil:
		return errs.New(errs.NotFound, "load", "%q does not say what its elements are like, since it has no %s: give element_spec. It stores %d tensors of each: %s", f.Path, tfSpec, len(f.Types), strings.Join(f.Types, ", "))
	case d.elements == nil:
		d.elements = f.Spec
	}
	if d.elements.Structure.Leaves() != len(d.elements.Components) {
		return errs.New(errs.InvalidArgument, "load", "element_spec has %d components for a structure of %d", len(d.elements.Components), d.elements.Structure.Leaves())
	}
	d.leaves = tfLeaves(d.elements)
	d.elements = &spec.Element{Structure: renamed(d.elements.Structure), Components: d.elements.Components}
	if len(d.leaves) == 0 {
		return errs.New(errs.Unimplemented, "load", "%q has elements without components, which cannot be told apart", f.Path)
	}
	if f.Spec != nil && d.asked && !agree(d.elements, f.Spec) {
		return errs.New(errs.InvalidArgument, "load", "element_spec is %v; the elements stored in %q have %v", d.elements, f.Path, f.Spec)
	}
	stored := f.types
	if f.Kind == "snapshot" && f.Version == 2 && len(stored) == len(d.leaves)+1 && stored[0] == tfInt64 {
		d.extra, stored = 1, stored[1:]
	}
	same := len(stored) == len(d.leaves)
	for i := 0; same && i < len(stored); i++ {
		same = d.leaves[i].stored(stored[i], d.elements)
	}
	if same {
		return nil
	}
	if d.asked {
		return errs.New(errs.InvalidArgument, "load", "element_spec is %v; %q stores %d tensors of each element: %s", d.elements, f.Path, len(f.Types), strings.Join(f.Types, ", "))
	}
	return lost(path.Join(f.Path, tfMetadata), 0, "it is not of the elements that %s describes: tensors are %s instead of %v", tfSpec, strings.Join(f.Types, ", "), d.elements)
}

// agree tells whether elements can be as two descriptions say.
func agree(a, b *spec.Element) bool {
	return slices.EqualFunc(a.Components, b.Components, func(a, b spec.Component) bool {
		return a.DType == b.DType && slices.EqualFunc(a.Shape, b.Shape, func(n, m int64) bool { return n == m || n < 0 || m < 0 })
	})
}

// setRaw has what is stored of elements given as it is.
func (d *tfLoaded) setRaw() error {
	n := len(d.about.types)
	if n == 0 {
		return errs.New(errs.Unimplemented, "load", "%q does not say how many tensors its elements have", d.about.Path)
	}
	d.elements = &spec.Element{Structure: spec.Structure{Kind: spec.Tuple, Items: make([]spec.Structure, n)}}
	for i := range n {
		d.elements.Components = append(d.elements.Components, spec.Component{DType: spec.Text, Shape: []int64{}})
		d.leaves = append(d.leaves, tfLeaf{form: rawName, first: i})
	}
	return nil
}

// renamed gives sparse tensors the name that they have everywhere.
func renamed(s spec.Structure) spec.Structure {
	if s.Name == sparseName {
		s.Name = "SparseTensor"
	}
	items := s.Items
	s.Items = make([]spec.Structure, len(items))
	for i, item := range items {
		s.Items[i] = renamed(item)
	}
	return s
}

// setFormat finds how elements lie in files.
func (d *tfLoaded) setFormat(said Compression) {
	looks := d.about.Compression
	if said != Auto {
		looks = said.String()
	}
	d.codec = map[string]codec.Kind{"GZIP": codec.Gzip, "ZLIB": codec.Zlib}[looks]
	d.format, d.each = record.TFRecord(), d.extra+len(d.leaves)
	if d.about.Version < 2 {
		d.format, d.each = record.Sized(), 1
		if d.about.Version == 1 && looks == Snappy.String() {
			d.each = 2
		}
	} else if said == Auto {
		d.codec = codec.Auto
	}
}

// setLanes chooses what is read, and what of it side by side.
func (d *tfLoaded) setLanes(fs vfs.FS, part *int64) error {
	parts := d.about.Parts
	if part != nil {
		if *part < 0 || *part >= int64(len(parts)) {
			return errs.New(errs.InvalidArgument, "load", "part %d of %q is asked for; there are %d", *part, d.about.Path, len(parts))
		}
		parts = parts[*part : *part+1]
		d.count = parts[0].Elements
	}
	if err := d.about.find(fs, parts); err != nil {
		return err
	}
	d.byNumber = d.extra > 0 && part == nil
	d.lanes = [][]string{nil}
	for i := range parts {
		if err := parts[i].whole(); err != nil {
			return err
		}
		if d.byNumber && i > 0 {
			d.lanes = append(d.lanes, nil)
		}
		last := &d.lanes[len(d.lanes)-1]
		*last = append(*last, parts[i].Files...)
	}
	return nil
}

func (d *tfLoaded) Spec() *spec.Element { return d.elements }

func (d *tfLoaded) Cardinality() int64 { return d.count }

// Iterate implements dataset.Definition. A token is the number of the next element,
// whether the walk has ended, and for each lane where it is: a file, and an offset in
// what it holds.
func (d *tfLoaded) Iterate(s *dataset.Scope, _ rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	at, err := from.Numbers("load", 2+2*len(d.lanes))
	if err != nil {
		return nil, err
	}
	w := &tfWalk{tfLoaded: d, given: at[0], ended: at[1]}
	w.decoder = tfDecoder{elements: d.elements, leaves: append([]tfLeaf{}, d.leaves...)}
	for i, paths := range d.lanes {
		l, err := d.open(s, paths, at[2+2*i], at[3+2*i])
		if err != nil {
			return nil, err
		}
		w.reading = append(w.reading, l)
	}
	return w, nil
}
