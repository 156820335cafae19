package snapshot

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/stretchr/testify/require"

	"infeed/core/codec"
	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/record"
	"infeed/core/spec"
	"infeed/core/tfproto"
	"infeed/core/vfs"
	"infeed/core/vfs/memfs"
)

// Bytes as TensorFlow writes them, of a dataset of 5 elements that are a tuple of float32[2]
// and a string.
var (
	tfTupleSpec = []byte("\xa2\x03\x16\x0a\x0b\x8a\x02\x08\x12\x04\x12\x02\x08\x02\x18\x01\x0a\x07\x8a\x02\x04\x12\x00\x18\x07")
	tfDone      = []byte("\x12\x03123\x18\x80\x80\xf9\xc0\xc1\xc4\x82\x03\x20\x02\x2a\x02\x01\x07\x30\x05\xc0\x3e\x01")
)

// writeTF writes a folder as tf.data does, of 5 elements in two shards, of which one has
// two files.
func writeTF(t *testing.T, fs vfs.FS, folder string, kind string) {
	t.Helper()
	require.NoError(t, fs.MakeFolder(folder+"/123/00000000.shard"))
	require.NoError(t, fs.MakeFolder(folder+"/123/00000010.shard"))
	require.NoError(t, writeFile(fs, folder+"/dataset_spec.pb", tfTupleSpec))
	require.NoError(t, writeFile(fs, folder+"/snapshot.metadata", tfDone))
	number := byte(0)
	for _, f := range []struct {
		name  string
		count int
	}{{"00000000.shard/00000000.snapshot", 2}, {"00000000.shard/00000001.snapshot", 1}, {"00000010.shard/00000000.snapshot", 2}} {
		var records [][]byte
		for range f.count {
			values := &tfproto.Tensor{Type: 1, Shape: []int64{2}, Data: []byte{number, 0, 0, 0, 0, 0, 0, number}}
			text := &tfproto.Tensor{Type: tfproto.String, Data: []byte{'a', number}, Offsets: []int64{0, 2}}
			records = append(records, tfproto.AppendTensor(nil, values), tfproto.AppendTensor(nil, text))
			number++
		}
		data := recordsAs(t, kind, records...)
		require.NoError(t, writeFile(fs, folder+"/123/"+f.name, data))
	}
}

// recordsAs returns a file of records, compressed as a kind says.
func recordsAs(t testing.TB, kind string, records ...[]byte) []byte {
	t.Helper()
	plain := memfs.New()
	c := codec.None
	if kind == "GZIP" {
		c = codec.Gzip
	}
	w, err := record.NewWriter(plain, "/f", c, codec.DefaultLevel)
	require.NoError(t, err)
	for _, r := range records {
		require.NoError(t, w.Write(r))
	}
	require.NoError(t, w.Close())
	if kind == "SNAPPY" {
		return snapped(plain.Bytes("/f"), 50)
	}
	return plain.Bytes("/f")
}

// snapped returns data in blocks of a size.
func snapped(data []byte, size int) (out []byte) {
	for len(data) > 0 {
		n := min(size, len(data))
		b := s2.EncodeSnappy(nil, data[:n])
		out = append(binary.BigEndian.AppendUint32(out, uint32(len(b))), b...)
		data = data[n:]
	}
	return out
}

func TestTensorFlowsFoldersAreRead(t *testing.T) {
	for _, kind := range []string{"NONE", "GZIP", "SNAPPY"} {
		folder := t.TempDir()
		writeTF(t, vfs.Local(), folder, kind)
		for _, name := range []string{"AUTO", kind} {
			c, err := ParseCompression(name)
			require.NoError(t, err)
			d, err := LoadTF(vfs.Local(), folder, TFOptions{Compression: c})
			require.NoError(t, err)
			require.EqualValues(t, 5, d.Cardinality())
			require.Equal(t, "(float32[2], object[])", d.Spec().String())
			got := read(t, vfs.Local(), d)
			require.Len(t, got, 5)
			for i, e := range got {
				require.Empty(t, e.Err)
				require.Equal(t, []byte{byte(i), 0, 0, 0, 0, 0, 0, byte(i)}, e.Data[0])
				require.Equal(t, []string{"a" + string(rune(i))}, e.Texts[0])
			}
			datasettest.Check(t, d, 10)
		}
	}
}

func TestDamagedFoldersOfTensorFlow(t *testing.T) {
	const first = "/s/123/00000000.shard/00000000.snapshot"
	for name, c := range map[string]struct {
		damage func(fs *memfs.FS)
		kind   errs.Kind
		said   string
	}{
		"no metadata":       {func(fs *memfs.FS) { require.NoError(t, fs.Remove("/s/snapshot.metadata")) }, errs.NotFound, "snapshot.metadata"},
		"not finished":      {func(fs *memfs.FS) { fs.Set("/s/snapshot.metadata", tfDone[:len(tfDone)-3]) }, errs.DataLoss, "not finished"},
		"another version":   {func(fs *memfs.FS) { fs.Set("/s/snapshot.metadata", append([]byte{}, append(tfDone, 0x20, 3)...)) }, errs.Unimplemented, "version 3"},
		"no spec":           {func(fs *memfs.FS) { require.NoError(t, fs.Remove("/s/dataset_spec.pb")) }, errs.NotFound, "dataset_spec.pb"},
		"cut spec":          {func(fs *memfs.FS) { fs.Set("/s/dataset_spec.pb", tfTupleSpec[:9]) }, errs.DataLoss, "no spec"},
		"another spec":      {func(fs *memfs.FS) { fs.Set("/s/dataset_spec.pb", []byte("\xa2\xaf\x42\x01x")) }, errs.DataLoss, "no spec"},
		"a spec of others":  {func(fs *memfs.FS) { fs.Set("/s/dataset_spec.pb", []byte("\x92\x02\x0f\x08\x05\x1a\x0bDatasetSpec")) }, errs.Unimplemented, "component is a DatasetSpec"},
		"the run is gone":   {func(fs *memfs.FS) { fs.Set("/s/snapshot.metadata", []byte("\x12\x01x\x20\x02\x30\x05\xc0\x3e\x01")) }, errs.DataLoss, "folder of the run"},
		"a run elsewhere":   {func(fs *memfs.FS) { fs.Set("/s/snapshot.metadata", []byte("\x12\x05../..\x20\x02\xc0\x3e\x01")) }, errs.DataLoss, "no metadata"},
		"a cut file":        {func(fs *memfs.FS) { fs.Set(first, fs.Bytes(first)[:50]) }, errs.DataLoss, first},
		"a missing element": {func(fs *memfs.FS) { require.NoError(t, fs.Remove("/s/123/00000000.shard/00000001.snapshot")) }, errs.DataLoss, "elements are missing: there are 4; 5 were saved"},
		"too many elements": {func(fs *memfs.FS) { fs.Set("/s/snapshot.metadata", []byte("\x12\x03123\x20\x02\x30\x04\xc0\x3e\x01")) }, errs.DataLoss, "more than the 4 elements"},
		"a flipped byte":    {func(fs *memfs.FS) { b := fs.Bytes(first); b[20] ^= 1; fs.Set(first, b) }, errs.DataLoss, first},
		"half of an element": {func(fs *memfs.FS) {
			f := "/s/123/00000010.shard/00000000.snapshot"
			b := fs.Bytes(f)
			fs.Set(f, b[:len(b)-16-8])
		}, errs.DataLoss, ""},
	} {
		fs := memfs.New()
		writeTF(t, fs, "/s", "NONE")
		c.damage(fs)
		d, err := LoadTF(fs, "/s", TFOptions{Compression: Auto})
		if err == nil {
			s := dataset.NewScope(fs, 0)
			it, opened := d.Iterate(s, dataset.PassKey(0), nil)
			require.NoError(t, opened)
			_, err = datasettest.TakeUntil(it, 3, 10)
			s.Close()
		}
		require.Error(t, err, name)
		require.Equal(t, c.kind, errs.KindOf(err), "%s: %v", name, err)
		require.ErrorContains(t, err, c.said, name)
		_, err = LoadTF(fs, "/s", TFOptions{Compression: Auto, Raw: true}) // as for infeed verify
		require.Equal(t, strings.HasSuffix(c.said, "no spec"), err != nil && strings.HasSuffix(err.Error(), "no spec of elements that tf.data saved"), name)
	}
}

// Messages of the same size may be of tensors of other shapes and dtypes.
func TestTensorsOfTheSameSizeInFoldersOfTensorFlow(t *testing.T) {
	fs := memfs.New()
	data := bytes.Repeat([]byte{1, 2, 3, 4, 5, 6, 7, 8}, 3)
	var records [][]byte
	shapes := [][]int64{{2, 3}, {3, 2}, {3, 2}, {6, 1}, {2, 3}}
	for _, shape := range shapes {
		records = append(records, tfproto.AppendTensor(nil, &tfproto.Tensor{Type: 1, Shape: shape, Data: data}))
	}
	records = append(records, tfproto.AppendTensor(nil, &tfproto.Tensor{Type: 3, Shape: []int64{2, 3}, Data: data}))
	fs.Set("/s/snapshot.metadata", []byte("\x12\x03123\x20\x02\x2a\x01\x01\x30\x06\xc0\x3e\x01"))
	fs.Set("/s/123/00000000.shard/00000000.snapshot", recordsAs(t, "NONE", records...))
	d, err := LoadTF(fs, "/s", TFOptions{Compression: Auto, Spec: &spec.Element{Components: []spec.Component{{DType: spec.DType{Kind: 'f', Size: 4}, Shape: []int64{-1, -1}}}}})
	require.NoError(t, err)
	got := read(t, fs, d)
	for i, shape := range shapes {
		require.Equal(t, fmt.Sprint(shape), got[i].Shapes)
		require.Equal(t, data, got[i].Data[0])
	}
	require.Contains(t, got[5].Err, "it is int32[2 3]; float32[-1 -1] was promised")
	datasettest.Check(t, d, 10)
}
