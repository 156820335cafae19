package pipeline

import (
	"encoding/json"
	"slices"

	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/snapshot"
	"infeed/core/vfs"
)

// snapshotOps makes the operations that keep elements in folders.
var snapshotOps = map[string]func() Op{
	"snapshot": func() Op { return &Snapshot{} },
	"save":     func() Op { return &Save{} },
	"load":     func() Op { return &Load{} },
	"load_tf":  func() Op { return &LoadTF{} },
}

// Stored says where and how elements are kept. None of it is part of the structure of
// a dataset: folders may move.
type Stored struct {
	Path        string          `json:"path"`
	Compression string          `json:"compression"`
	About       json.RawMessage `json:"about"` // for the manifest
}

func (s *Stored) options() (o snapshot.Options, err error) {
	o.About = s.About
	o.Compression, err = snapshot.ParseCompression(s.Compression)
	return o, err
}

// Snapshot writes elements while it gives them, and reads them when they are there. Path
// is the folder of this very definition.
type Snapshot struct {
	onOne
	Stored
}

// buildOn implements builtOnNode: a pass that was broken off goes on with the seeds that
// it began with.
func (s *Snapshot) buildOn(n *Node, inputs []dataset.Definition) (dataset.Definition, error) {
	o, err := s.options()
	if err != nil {
		return nil, err
	}
	input := n.Inputs[0]
	seeds := input.seeds()
	return snapshot.Keep(inputs[0], s.Path, o, seeds, func(others []uint64) (dataset.Definition, error) {
		if slices.Equal(others, seeds) {
			return inputs[0], nil
		}
		if len(others) != len(seeds) {
			return nil, errs.New(errs.StateMismatch, "snapshot", "%q was begun with %d seeds; the dataset has %d", s.Path, len(others), len(seeds))
		}
		d, _, err := input.withSeeds(&others).build(0)
		return d, err
	})
}

func (s *Snapshot) build([]dataset.Definition, int) (dataset.Definition, error) {
	return nil, errs.New(errs.Internal, "snapshot", "it is built on a node")
}

func (s *Snapshot) text() string { return "snapshot()" }

// Save writes elements; it has one element, their number. With Shards the last component
// of an element is the stream to which the others go. TF: in the format of tf.data.
type Save struct {
	onOne
	Stored
	Shards bool `json:"shards"`
	TF     bool `json:"tf"`
}

func (s *Save) build(inputs []dataset.Definition, _ int) (dataset.Definition, error) {
	o, err := s.options()
	if err != nil {
		return nil, err
	}
	if s.TF {
		return snapshot.SaveTF(inputs[0], s.Path, o.Compression, s.Shards)
	}
	return snapshot.Save(inputs[0], s.Path, o, s.Shards)
}

func (s *Save) text() string { return "save()" }

// Load is the elements that were written in a folder, or those of one stream.
type Load struct {
	noInputs
	Path   string `json:"path"`
	Stream *int64 `json:"stream"`
}

func (l *Load) build([]dataset.Definition, int) (dataset.Definition, error) {
	if l.Stream != nil {
		return snapshot.LoadStream(vfs.Local(), l.Path, *l.Stream)
	}
	return snapshot.Load(vfs.Local(), l.Path)
}

func (l *Load) text() string { return "load()" }

// LoadTF is the elements that tf.data saved in a folder.
type LoadTF struct {
	noInputs
	Path string `json:"path"`
	// Compression is NONE, GZIP or SNAPPY, or AUTO, which looks.
	Compression string `json:"compression"`
}

func (l *LoadTF) build([]dataset.Definition, int) (dataset.Definition, error) {
	c, err := snapshot.ParseCompression(l.Compression)
	if err != nil {
		return nil, err
	}
	return snapshot.LoadTF(vfs.Local(), l.Path, c)
}

func (l *LoadTF) text() string { return "load()" }
