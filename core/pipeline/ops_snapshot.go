package pipeline

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/snapshot"
	"infeed/core/source"
	"infeed/core/spec"
	"infeed/core/transform"
	"infeed/core/vfs"
)

// snapshotOps makes the operations that keep elements in folders.
var snapshotOps = map[string]func() Op{
	"snapshot": func() Op { return &Snapshot{} },
	"save":     func() Op { return &Save{} },
	"parts":    func() Op { return &Parts{} },
	"load":     func() Op { return &Load{} },
	"load_tf":  func() Op { return &LoadTF{} },
}

// Stored says where and how elements are kept. None of it is part of the structure of
// a dataset: folders may move.
type Stored struct {
	Path        string          `json:"path"`
	Compression string          `json:"compression"`
	About       json.RawMessage `json:"about"` // for the manifest
	// ShardFunc gives the number of the stream to which an element goes; null: all go to one.
	ShardFunc *Function `json:"shard_func"`
	// ChunkBytes is after how many bytes of elements they are committed; 0: as many as suit.
	ChunkBytes int64 `json:"chunk_bytes"`
}

// options returns them for elements with a spec.
func (s *Stored) options(e *spec.Element) (o snapshot.Options, err error) {
	o.About, o.ChunkBytes = s.About, s.ChunkBytes
	if s.ShardFunc != nil {
		if o.Shard, err = s.ShardFunc.program(e); err != nil {
			return o, err
		}
	}
	o.Compression, err = snapshot.ParseCompression(s.Compression)
	return o, err
}

// Snapshot writes elements while it gives them, and reads them when they are there. Path
// is the folder of this very definition.
type Snapshot struct {
	onOne
	Stored
	// Reader is the definition that makes the elements of later passes out of "load" and
	// "parts" of the folder; null: they come as they were written.
	Reader json.RawMessage `json:"reader"`

	reader *Node
}

// buildOn implements builtOnNode: a pass that was broken off goes on with the seeds that
// it began with.
func (s *Snapshot) buildOn(n *Node, inputs []dataset.Definition) (dataset.Definition, error) {
	o, err := s.options(inputs[0].Spec())
	if err != nil {
		return nil, err
	}
	input, in := n.Inputs[0], transform.InTurn(inputs[0])
	k := snapshot.KeepOptions{Seeds: input.seeds()}
	k.Reseeded = func(others []uint64) (dataset.Definition, error) {
		if slices.Equal(others, k.Seeds) {
			return in, nil
		}
		if len(others) != len(k.Seeds) {
			return nil, errs.New(errs.StateMismatch, "snapshot", "%q was begun with %d seeds; the dataset has %d", s.Path, len(others), len(k.Seeds))
		}
		d, _, err := input.withSeeds(&others).build()
		if err != nil {
			return nil, err
		}
		return transform.InTurn(d), nil
	}
	if s.reader != nil {
		k.Reader = func() (dataset.Definition, error) {
			d, _, err := s.reader.build()
			return d, err
		}
	}
	return snapshot.Keep(in, s.Path, o, k)
}

func (s *Snapshot) build([]dataset.Definition, int) (dataset.Definition, error) {
	return nil, errs.New(errs.InvalidArgument, "snapshot", "there can be none in a dataset that is made for each element; put snapshot behind flat_map or interleave")
}

func (s *Snapshot) resolve(find Finding) (err error) {
	if !isNull(s.Reader) {
		s.reader, err = readNode(s.Reader, find)
	}
	return err
}

func (s *Snapshot) seeds() []uint64 {
	if s.reader == nil {
		return nil
	}
	return s.reader.seeds()
}

func (s *Snapshot) withSeeds(seeds *[]uint64) Op {
	out := *s
	if s.reader != nil {
		out.reader = s.reader.withSeeds(seeds)
	}
	return &out
}

func (s *Snapshot) text() string {
	if s.reader == nil {
		return "snapshot()"
	}
	texts := s.reader.texts(nil)
	return fmt.Sprintf("snapshot(reader_func={%s})", strings.Join(texts, ", "))
}

// Save writes elements; it has one element, their number. TF: in the format of tf.data.
type Save struct {
	onOne
	Stored
	TF bool `json:"tf"`
}

func (s *Save) build(inputs []dataset.Definition, _ int) (dataset.Definition, error) {
	o, err := s.options(inputs[0].Spec())
	if err != nil {
		return nil, err
	}
	in := transform.InTurn(inputs[0])
	if s.TF {
		return snapshot.SaveTF(in, s.Path, o.Compression, o.Shard)
	}
	return snapshot.Save(in, s.Path, o)
}

func (s *Save) text() string { return "save()" }

// Parts is the numbers of the streams that were written in a folder.
type Parts struct {
	noInputs
	Path string `json:"path"`
}

func (p *Parts) build([]dataset.Definition, int) (dataset.Definition, error) {
	numbers, err := snapshot.Streams(vfs.Local(), p.Path)
	if err != nil {
		return nil, err
	}
	return source.Slices(keys, int64(len(numbers)), [][]byte{bytesOf(numbers)})
}

func bytesOf(numbers []int64) []byte {
	var b []byte
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	return b
}

func (p *Parts) text() string { return "parts()" }

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

// LoadTF is the elements that tf.data stored in a folder.
type LoadTF struct {
	noInputs
	Path string `json:"path"`
	// Compression is NONE, GZIP or SNAPPY, or AUTO, which looks.
	Compression string `json:"compression"`
	// Spec is what elements are like, where the folder does not say it.
	Spec *spec.Element `json:"spec"`
	// Stream is the only part that is read.
	Stream *int64 `json:"stream"`
	// Raw gives tensors as the messages that are stored.
	Raw bool `json:"raw"`
}

func (l *LoadTF) build([]dataset.Definition, int) (dataset.Definition, error) {
	c, err := snapshot.ParseCompression(l.Compression)
	if err != nil {
		return nil, err
	}
	return snapshot.LoadTF(vfs.Local(), l.Path, snapshot.TFOptions{Compression: c, Spec: l.Spec, Part: l.Stream, Raw: l.Raw})
}

func (l *LoadTF) text() string { return "load()" }
