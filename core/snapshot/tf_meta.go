package snapshot

import (
	"encoding/binary"
	"path"
	"sort"
	"strconv"
	"strings"

	"infeed/core/errs"
	"infeed/core/spec"
	"infeed/core/tfproto"
	"infeed/core/vfs"
)

// Names of files that tf.data.Dataset.save writes.
const (
	tfMetadata = "snapshot.metadata"
	tfSpec     = "dataset_spec.pb"
)

// tfMeta is a SnapshotMetadataRecord of tf.data's.
type tfMeta struct {
	run       string
	version   uint64
	elements  int64
	finalized bool
}

// protoFields calls f for each field of a serialized message: value of numbers, data of
// the others. False: it is cut or no message.
func protoFields(b []byte, f func(field int, value uint64, data []byte) bool) bool {
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 || tag>>3 == 0 || tag>>3 > 1<<28 {
			return false
		}
		b = b[n:]
		var value uint64
		var data []byte
		switch tag & 7 {
		case 0:
			if value, n = binary.Uvarint(b); n <= 0 {
				return false
			}
			b = b[n:]
		case 2:
			size, n := binary.Uvarint(b)
			if n <= 0 || size > uint64(len(b)-n) {
				return false
			}
			data, b = b[n:n+int(size)], b[n+int(size):]
		case 1, 5:
			size := map[uint64]int{1: 8, 5: 4}[tag&7]
			if len(b) < size {
				return false
			}
			b = b[size:]
		default:
			return false
		}
		if !f(int(tag>>3), value, data) {
			return false
		}
	}
	return true
}

// readTFMeta reads what a folder of tf.data's says of itself.
func readTFMeta(fs vfs.FS, folder string) (*tfMeta, error) {
	at := path.Join(folder, tfMetadata)
	text, err := readFile(fs, at)
	if err != nil {
		return nil, err
	}
	m := &tfMeta{} // what is zero is not written
	ok := protoFields(text, func(field int, value uint64, data []byte) bool {
		switch field {
		case 2:
			m.run = string(data)
		case 4:
			m.version = value
		case 6:
			m.elements = int64(value)
		case 1000:
			m.finalized = value != 0
		}
		return true
	})
	switch {
	case !ok || m.run == "" || strings.ContainsAny(m.run, "/\\") || m.run == "..":
		return nil, lost(at, 0, "this is no metadata of a dataset that tf.data saved")
	case m.version != 2:
		return nil, errs.New(errs.Unimplemented, "load", "%q is of version %d of tf.data's snapshots; version 2 is read", folder, m.version)
	case !m.finalized:
		return nil, lost(at, 0, "the dataset was not finished when tf.data saved it; save it again")
	}
	return m, nil
}

// readTFSpec reads what elements are like.
func readTFSpec(fs vfs.FS, folder string) (*spec.Element, error) {
	at := path.Join(folder, tfSpec)
	text, err := readFile(fs, at)
	if err != nil {
		return nil, err
	}
	r := &tfSpecReader{path: at, out: &spec.Element{}}
	r.out.Structure = r.structure(text, 0)
	return r.out, r.err
}

// tfSpecReader reads a StructuredValue of TensorSpecs.
type tfSpecReader struct {
	path string
	out  *spec.Element
	err  error
}

func (r *tfSpecReader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *tfSpecReader) fields(b []byte, f func(field int, value uint64, data []byte)) {
	if !protoFields(b, func(field int, value uint64, data []byte) bool { f(field, value, data); return r.err == nil }) {
		r.fail(lost(r.path, 0, "this is no spec of elements that tf.data saved"))
	}
}

func (r *tfSpecReader) structure(b []byte, depth int) (s spec.Structure) {
	if depth > 60 {
		r.fail(lost(r.path, 0, "its spec is nested too deep"))
		return
	}
	r.fields(b, func(field int, _ uint64, data []byte) {
		switch field {
		case 33:
			r.tensor(data)
		case 51, 52:
			s.Kind = spec.Tuple
			r.fields(data, func(_ int, _ uint64, item []byte) { s.Items = append(s.Items, r.structure(item, depth+1)) })
		case 53:
			s.Kind = spec.Dict
			r.pairs(&s, data, 1, true, depth)
		case 54:
			s.Kind = spec.NamedTuple
			r.fields(data, func(field int, _ uint64, name []byte) {
				if field == 1 {
					s.Name = string(name)
				}
			})
			r.pairs(&s, data, 2, false, depth)
		default:
			r.fail(errs.New(errs.Unimplemented, "load", "%q has elements with components that are no plain tensors (field %d of their spec), such as ragged or sparse ones", r.path, field))
		}
	})
	return s
}

// pairs reads the keys and values in a field, for a dict in the order of keys.
func (r *tfSpecReader) pairs(s *spec.Structure, b []byte, in int, sorted bool, depth int) {
	var keys []string
	values := map[string][]byte{}
	r.fields(b, func(field int, _ uint64, pair []byte) {
		if field != in {
			return
		}
		var key string
		var value []byte
		r.fields(pair, func(field int, _ uint64, data []byte) {
			if field == 1 {
				key = string(data)
			} else {
				value = data
			}
		})
		if _, twice := values[key]; !twice {
			keys = append(keys, key)
		}
		values[key] = value
	})
	if sorted {
		sort.Strings(keys)
	}
	for _, k := range keys {
		s.Keys = append(s.Keys, k)
		s.Items = append(s.Items, r.structure(values[k], depth+1))
	}
}

// tensor reads a TensorSpecProto.
func (r *tfSpecReader) tensor(b []byte) {
	c := spec.Component{Shape: []int64{}}
	r.fields(b, func(field int, value uint64, data []byte) {
		switch field {
		case 2:
			r.fields(data, func(field int, unknown uint64, dim []byte) {
				if field == 3 && unknown != 0 {
					r.fail(errs.New(errs.Unimplemented, "load", "%q has a component of unknown rank", r.path))
				}
				if field != 2 {
					return
				}
				n := int64(0)
				r.fields(dim, func(field int, value uint64, _ []byte) {
					if field == 1 {
						n = int64(value)
					}
				})
				c.Shape = append(c.Shape, max(n, -1))
			})
		case 3:
			d, known := tfDType(tfproto.DataType(value))
			if !known {
				r.fail(errs.New(errs.Unimplemented, "load", "%q has a component of dtype %d of TensorFlow's, which has no plain values", r.path, value))
			}
			c.DType = d
		}
	})
	r.out.Components = append(r.out.Components, c)
}

// tfFiles returns the files of a run: shard by shard in the order of their numbers, and
// of each its files in the order of theirs.
func tfFiles(fs vfs.FS, folder string, m *tfMeta) ([]string, error) {
	run := path.Join(folder, m.run)
	shards, err := byNumber(fs, run, ".shard")
	if err != nil {
		if errs.KindOf(err) == errs.NotFound && m.elements == 0 {
			return nil, nil
		}
		return nil, lost(run, 0, "the folder of the run that the metadata names cannot be read: %v", err)
	}
	var out []string
	for _, shard := range shards {
		files, err := byNumber(fs, shard, ".snapshot")
		if err != nil {
			return nil, err
		}
		out = append(out, files...)
	}
	return out, nil
}

// byNumber returns the paths in a folder whose name is a number and an ending.
func byNumber(fs vfs.FS, folder, ending string) ([]string, error) {
	names, err := fs.List(folder)
	if err != nil {
		return nil, err
	}
	type entry struct {
		number uint64
		path   string
	}
	var found []entry
	for _, name := range names {
		digits, is := strings.CutSuffix(name, ending)
		if n, err := strconv.ParseUint(digits, 10, 64); is && err == nil {
			found = append(found, entry{n, path.Join(folder, name)})
		}
	}
	sort.Slice(found, func(i, j int) bool { return found[i].number < found[j].number })
	out := make([]string, len(found))
	for i, e := range found {
		out[i] = e.path
	}
	return out, nil
}

// tfDType returns the dtype of values; false where there are no plain ones.
func tfDType(t tfproto.DataType) (spec.DType, bool) {
	if t == tfproto.String {
		return spec.Text, true
	}
	d, known := t.DType()
	if d.Kind == 'V' {
		d.Label = t.Name()
	}
	return d, known
}
