package snapshot

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/stretchr/testify/require"

	"infeed/core/codec"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/spec"
	"infeed/core/tfproto"
	"infeed/core/vfs"
	"infeed/core/vfs/memfs"
)

// legacySpec is of the elements that writeLegacy writes.
var legacySpec = &spec.Element{
	Structure:  spec.Structure{Kind: spec.Tuple, Items: make([]spec.Structure, 3)},
	Components: []spec.Component{numbers64(), {DType: spec.Text, Shape: []int64{2}}, {DType: spec.DType{Kind: 'f', Size: 4}, Shape: []int64{-1}}},
}

// legacyElement returns the tensors of an element.
func legacyElement(i int) []*tfproto.Tensor {
	n := []byte{byte(i), 0, 0, 0, 0, 0, 0, 0}
	return []*tfproto.Tensor{
		{Type: 9, Shape: []int64{}, Data: n},
		{Type: tfproto.String, Shape: []int64{2}, Data: []byte(fmt.Sprint("a", i)), Offsets: []int64{0, 1, int64(len(fmt.Sprint("a", i)))}},
		{Type: 1, Shape: []int64{int64(i % 3)}, Data: bytes.Repeat([]byte{0, 0, byte(i), 0x40}, i%3)},
	}
}

func sizedRecord(dst, record []byte) []byte {
	return append(binary.LittleEndian.AppendUint64(dst, uint64(len(record))), record...)
}

// appendLegacy appends an element as version 0 or 1 has it.
func appendLegacy(dst []byte, version int, kind string, tensors []*tfproto.Tensor) []byte {
	var whole, known, raw []byte
	for _, t := range tensors {
		message := tfproto.AppendTensor(nil, t)
		whole = protoBytes(whole, 1, message)
		if t.Type != tfproto.String {
			message = t.Data
		}
		raw = append(raw, message...)
		known = protoBytes(known, 1, protoNumber(protoBytes(nil, 2, tfproto.AppendShape(nil, t.Shape)), 3, uint64(len(message))))
	}
	if version == 1 && kind == "SNAPPY" {
		return sizedRecord(sizedRecord(dst, known), s2.EncodeSnappy(nil, raw))
	}
	return sizedRecord(dst, whole)
}

// writeLegacy writes a snapshot of the first versions, of five elements in two files.
func writeLegacy(t testing.TB, fs vfs.FS, folder string, version int, kind string) {
	t.Helper()
	metadata := protoBytes(protoBytes(nil, 1, []byte("00d1e2f3a4b5c6d7")), 2, []byte("9f8e7d"))
	metadata = protoNumber(protoNumber(metadata, 3, 1580000000000000), 4, uint64(version))
	metadata = protoNumber(protoBytes(metadata, 5, []byte{9, 7, 1}), 1000, 1)
	require.NoError(t, fs.MakeFolder(folder+"/9f8e7d"))
	require.NoError(t, writeFile(fs, folder+"/snapshot.metadata", metadata))
	for file, of := range [][]int{{0, 1, 2}, {3, 4}} {
		var data []byte
		for _, i := range of {
			data = appendLegacy(data, version, kind, legacyElement(i))
		}
		switch {
		case kind == "GZIP":
			var b bytes.Buffer
			w, err := codec.NewWriter(&b, codec.Gzip, codec.DefaultLevel)
			require.NoError(t, err)
			_, err = w.Write(data)
			require.NoError(t, err)
			require.NoError(t, w.Close())
			data = b.Bytes()
		case kind == "SNAPPY" && version == 0:
			data = snapped(data, 30)
		}
		require.NoError(t, writeFile(fs, fmt.Sprintf("%s/9f8e7d/%08d.snapshot", folder, file), data))
	}
}

func checkLegacy(t *testing.T, got []datasettest.Element) {
	t.Helper()
	require.Len(t, got, 5)
	for i, e := range got {
		require.Empty(t, e.Err)
		want := legacyElement(i)
		require.Equal(t, want[0].Data, e.Data[0])
		require.Equal(t, want[2].Data, e.Data[1])
		require.Equal(t, []string{"a", fmt.Sprint(i)}, e.Texts[0])
	}
}

func TestTheFirstVersionsOfSnapshots(t *testing.T) {
	for _, version := range []int{0, 1} {
		for _, kind := range []string{"NONE", "GZIP", "SNAPPY"} {
			outer := t.TempDir()
			folder := outer + "/00d1e2f3a4b5c6d7"
			writeLegacy(t, vfs.Local(), folder, version, kind)
			require.NoError(t, writeFile(vfs.Local(), outer+"/00d1e2f3a4b5c6d7-graph.pbtxt", []byte("node {}")))
			said, err := ParseCompression(kind)
			require.NoError(t, err)
			about, err := DescribeTF(vfs.Local(), outer)
			require.NoError(t, err)
			require.Equal(t, kind, about.Compression)
			require.EqualValues(t, version, about.Version)
			require.Empty(t, about.Problem)
			for _, at := range []string{outer, folder, folder + "/9f8e7d"} {
				for _, c := range []Compression{Auto, said} {
					d, err := LoadTF(vfs.Local(), at, TFOptions{Compression: c, Spec: legacySpec})
					require.NoError(t, err)
					checkLegacy(t, read(t, vfs.Local(), d))
				}
			}
			d, err := LoadTF(vfs.Local(), outer, TFOptions{Compression: Auto, Spec: legacySpec})
			require.NoError(t, err)
			datasettest.Check(t, d, 10)
			for _, c := range []Compression{None, Gzip, Snappy} {
				if c == said {
					continue
				}
				d, err := LoadTF(vfs.Local(), outer, TFOptions{Compression: c, Spec: legacySpec})
				require.NoError(t, err)
				e := read(t, vfs.Local(), d)[0]
				require.Contains(t, e.Err, fmt.Sprintf("it looks like %s, and compression says %v", kind, c))
			}
		}
	}
}

// The bytes of an element in the description of the format.
func TestTheFirstVersionsByTheirBytes(t *testing.T) {
	scalar := &spec.Element{Components: []spec.Component{numbers64()}}
	five := "\x08\x09\x12\x00\x22\x08\x05\x00\x00\x00\x00\x00\x00\x00"
	eight := "\x00\x00\x00\x00\x00\x00\x00"
	for name, data := range map[string]string{
		"NONE":   "\x10" + eight + "\x0a\x0e" + five,
		"SNAPPY": "\x06" + eight + "\x0a\x04\x12\x00\x18\x08" + "\x0a" + eight + "\x08\x1c\x05\x00\x00\x00\x00\x00\x00\x00",
	} {
		fs := memfs.New()
		fs.Set("/s/snapshot.metadata", []byte("\x0a\x02ab\x12\x01r\x20\x01\x2a\x01\x09\xc0\x3e\x01"))
		fs.Set("/s/r/00000000.snapshot", []byte(data))
		d, err := LoadTF(fs, "/s", TFOptions{Compression: Auto, Spec: scalar})
		require.NoError(t, err, name)
		got := read(t, fs, d)
		require.Len(t, got, 1)
		require.Equal(t, []int64{5}, got[0].Int64s(), name)
	}
}

// What is cut within an element is found. Nothing tells that whole elements are gone, or
// what bytes were.
func TestTheFirstVersionsDamaged(t *testing.T) {
	for _, version := range []int{0, 1} {
		for _, kind := range []string{"NONE", "SNAPPY"} {
			fs := memfs.New()
			writeLegacy(t, fs, "/s", version, kind)
			const file = "/s/9f8e7d/00000001.snapshot"
			whole := bytes.Clone(fs.Bytes(file))
			found := 0
			for n := range whole {
				fs.Set(file, whole[:n])
				got, err := walkTF(t, fs, "/s", TFOptions{Compression: Auto, Spec: legacySpec})
				require.GreaterOrEqual(t, len(got), 3)
				if err != nil {
					require.Equal(t, errs.DataLoss, errs.KindOf(err), "%v", err)
					path, _ := errs.Place(err)
					require.Equal(t, file, path, "%v", err)
					found++
				}
			}
			require.Greater(t, found, len(whole)*9/10)
			for i := range whole { // no checksum tells; it is an error or another element, and no crash
				fs.Set(file, flipped(whole, i))
				_, _ = walkTF(t, fs, "/s", TFOptions{Compression: Auto, Spec: legacySpec})
			}
			fs.Set(file, whole)
			require.NoError(t, fs.Remove("/s/9f8e7d/00000000.snapshot"))
			_, err := walkTF(t, fs, "/s", TFOptions{Compression: Auto, Spec: legacySpec})
			require.Equal(t, errs.DataLoss, errs.KindOf(err))
			require.ErrorContains(t, err, "file 0 of it is missing")
		}
	}
}
