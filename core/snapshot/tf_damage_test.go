package snapshot

import (
	"bytes"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/spec"
	"infeed/core/tfproto"
	"infeed/core/vfs"
	"infeed/core/vfs/memfs"
)

// walkTF returns the elements of a folder up to the first error, which may be that of
// opening it. Reading ahead gives the same.
func walkTF(t testing.TB, fs vfs.FS, folder string, o TFOptions) ([]datasettest.Element, error) {
	t.Helper()
	d, err := LoadTF(fs, folder, o)
	if err != nil {
		return nil, err
	}
	took := func(workers int) ([]datasettest.Element, error) {
		s := dataset.NewScope(fs, workers)
		defer s.Close()
		it, err := d.Iterate(s, dataset.PassKey(0), nil)
		require.NoError(t, err)
		return datasettest.TakeUntil(it, 3, 100)
	}
	got, err := took(0)
	ahead, failed := took(1)
	require.Equal(t, got, ahead)
	require.Equal(t, err, failed)
	return got, err
}

// flipped returns data with a bit of byte i flipped.
func flipped(data []byte, i int) []byte {
	out := bytes.Clone(data)
	out[i] ^= 1 << (i % 8)
	return out
}

// numberedSpec is of the elements that writeNumbered writes.
var numberedSpec = &spec.Element{Components: []spec.Component{{DType: spec.DType{Kind: 'f', Size: 4}, Shape: []int64{2}}}}

// writeNumbered writes a snapshot as tf.data does by default: elements with these numbers
// in each shard, each a number and a tensor. A negative number begins a new file.
func writeNumbered(t testing.TB, fs *memfs.FS, kind string, shards ...[]int) {
	t.Helper()
	metadata := protoBytes(protoBytes(nil, 1, []byte("77")), 2, []byte("123"))
	metadata = protoNumber(protoBytes(protoNumber(metadata, 4, 2), 5, []byte{9, 1}), 1000, 1)
	fs.Set("/s/snapshot.metadata", metadata)
	for s, numbers := range shards {
		file := 0
		var records [][]byte
		for i, n := range numbers {
			if n >= 0 {
				data := []byte{byte(n), 0, 0, 0, 0, 0, 0, 0}
				records = append(records, tfproto.AppendTensor(nil, &tfproto.Tensor{Type: 9, Data: data}),
					tfproto.AppendTensor(nil, &tfproto.Tensor{Type: 1, Shape: []int64{2}, Data: data}))
			}
			if n < 0 || i == len(numbers)-1 {
				fs.Set(fmt.Sprintf("/s/123/%08d.shard/%08d.snapshot", s, file), recordsAs(t, kind, records...))
				file, records = file+1, nil
			}
		}
	}
}

func numbersOf(elements []datasettest.Element) (out []int) {
	for _, e := range elements {
		out = append(out, int(e.Data[0][0]))
	}
	return out
}

// Elements with numbers come in the order of these, whatever shards they are in.
func TestElementsComeByTheirNumbers(t *testing.T) {
	for _, kind := range []string{"NONE", "GZIP", "SNAPPY"} {
		for _, shards := range [][][]int{
			{{0, 3, 6}, {1, 4, 7}, {2, 5}},
			{{0, 1, 2, 3, -1, 4, 5}, {6, 7}},
			{{7}, {0, 1, 2, 3, 4, 5}, {6}},
			{{0, 1, 2, 3, 4, 5, 6, 7}},
		} {
			fs := memfs.New()
			writeNumbered(t, fs, kind, shards...)
			got, err := walkTF(t, fs, "/s", TFOptions{Compression: Auto, Spec: numberedSpec})
			require.NoError(t, err)
			require.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 7}, numbersOf(got))
			d, err := LoadTF(fs, "/s", TFOptions{Compression: Auto, Spec: numberedSpec})
			require.NoError(t, err)
			datasettest.Check(t, d, 20)
		}
	}
}

// Numbers tell what is missing, and what was stored twice.
func TestElementsWhoseNumbersAreWrong(t *testing.T) {
	for said, shards := range map[string][][]int{
		"element 3 is missing: element 4 follows": {{0, 2, 6}, {1, 4, 5}},
		"element 2 is stored twice":               {{0, 2, 2, 4}, {1, 3, 5}},
		"element 4 is stored twice":               {{0, 2, 4, 6, 8, -1, 4, 6}, {1, 3, 5, 7}},
		"element 0 is missing: element 1 follows": {{1}, {2}},
	} {
		fs := memfs.New()
		writeNumbered(t, fs, "NONE", shards...)
		_, err := walkTF(t, fs, "/s", TFOptions{Compression: Auto, Spec: numberedSpec})
		require.Equal(t, errs.DataLoss, errs.KindOf(err))
		require.ErrorContains(t, err, said)
	}
}

// A damaged element is an error at its place, and those after it come.
func TestDamagedElementsArePassed(t *testing.T) {
	for what, at := range map[string]int{"its number": 12 + 8, "its tensor": 12 + 14 + 4 + 12 + 10} {
		for _, shards := range [][][]int{{{0, 3, 6}, {1, 4, 7}, {2, 5}}, {{0, 1, 2, 3, 4, 5, 6, 7}}} {
			fs := memfs.New()
			writeNumbered(t, fs, "NONE", shards...)
			const file = "/s/123/00000000.shard/00000000.snapshot"
			element := 2*16 + 14 + 18
			fs.Set(file, flipped(fs.Bytes(file), element+at))
			d, err := LoadTF(fs, "/s", TFOptions{Compression: Auto, Spec: numberedSpec})
			require.NoError(t, err)
			got := read(t, fs, d)
			require.Len(t, got, 8, what)
			for i, e := range got {
				if i == shards[0][1] {
					require.Contains(t, e.Err, fmt.Sprintf("%s at byte %d", file, element+(at/30)*30), what)
					continue
				}
				require.Empty(t, e.Err, what)
				require.EqualValues(t, i, e.Data[0][0])
			}
			datasettest.Check(t, d, 20)
		}
	}
}

// Whatever bit of a file is flipped, and wherever it is cut: elements are as they were,
// or there is an error, which for files of elements names file and place.
func TestEveryBitAndCutOfAFolderOfTensorFlow(t *testing.T) {
	for _, kind := range []string{"NONE", "GZIP", "SNAPPY"} {
		fs := memfs.New()
		writeTF(t, fs, "/saved", kind)
		writeNumbered(t, fs, kind, []int{0, 2, -1, 4}, []int{1, 3, 5})
		for _, folder := range []string{"/saved", "/s"} {
			o := TFOptions{Compression: Auto}
			if folder == "/s" {
				o.Spec = numberedSpec
			}
			want, err := walkTF(t, fs, folder, o)
			require.NoError(t, err)
			files := []string{folder + "/snapshot.metadata"}
			about, err := DescribeTF(fs, folder)
			require.NoError(t, err)
			for _, p := range about.Parts {
				files = append(files, p.Files...)
			}
			if o.Spec == nil {
				files = append(files, folder+"/dataset_spec.pb")
			}
			for _, file := range files {
				whole := bytes.Clone(fs.Bytes(file))
				last := file == about.Parts[len(about.Parts)-1].Files[0]
				for i := range whole {
					fs.Set(file, flipped(whole, i))
					requireAsBefore(t, fs, folder, o, file, want, fmt.Sprintf("%s %s: bit of byte %d", kind, file, i))
					fs.Set(file, whole[:i])
					if last && folder == "/s" {
						continue // nothing tells that the last element was not the one before
					}
					requireAsBefore(t, fs, folder, o, file, want, fmt.Sprintf("%s %s: cut to %d", kind, file, i))
				}
				fs.Set(file, whole)
			}
		}
	}
}

func requireAsBefore(t *testing.T, fs vfs.FS, folder string, o TFOptions, file string, want []datasettest.Element, name string) {
	t.Helper()
	got, err := walkTF(t, fs, folder, o)
	if err == nil && strings.HasSuffix(file, "/dataset_spec.pb") {
		require.Len(t, got, len(want), name) // a name of a field may be another
		return
	}
	if err == nil {
		require.Equal(t, want, got, name)
		return
	}
	rest := want // whole elements may be missing, of which only their number tells
	for _, e := range got {
		i := slices.IndexFunc(rest, func(w datasettest.Element) bool { return reflect.DeepEqual(w, e) })
		require.GreaterOrEqual(t, i, 0, "%s: %v", name, e)
		rest = rest[i+1:]
	}
	if strings.HasSuffix(file, ".snapshot") {
		require.Equal(t, errs.DataLoss, errs.KindOf(err), "%s: %v", name, err)
		path, _ := errs.Place(err)
		require.Contains(t, []string{file, folder + "/123"}, path, "%s: %v", name, err)
	}
}

// Sizes that files claim take no memory.
func TestHostileSizesTakeNoMemory(t *testing.T) {
	scalar := &spec.Element{Components: []spec.Component{numbers64(-1)}}
	huge := "\xff\xff\xff\xff\xff\xff\xff\x7f"
	for name, c := range map[string]struct {
		version  int
		file     string
		elements *spec.Element
	}{
		"a record":                        {1, huge + "\x0a\x02", scalar},
		"a record, as far as a file goes": {1, "\xff\xff\xff\x00\x00\x00\x00\x00\x0a\x02\x08\x09", scalar},
		"a block of Snappy data":          {0, "\x00\x00\x00\x10\xff\xff\xff\xff\x07" + strings.Repeat("a", 20), scalar},
		"a tensor":                        {1, "\x10\x00\x00\x00\x00\x00\x00\x00\x0a\x0e\x08\x09\x12\x08\x12\x06\x08\x80\x80\x80\x80\x08\x22\x00", scalar},
		"packed tensors": {1, "\x0a\x00\x00\x00\x00\x00\x00\x00\x0a\x08\x12\x00\x18\x80\x80\x80\x80\x04" +
			"\x07\x00\x00\x00\x00\x00\x00\x00\x80\x80\x80\x80\x04\x00a", scalar},
	} {
		fs := memfs.New()
		fs.Set("/s/snapshot.metadata", protoNumber(protoBytes(protoNumber([]byte("\x0a\x02ab\x12\x01r"), 4, uint64(c.version)), 5, []byte{9}), 1000, 1))
		fs.Set("/s/r/00000000.snapshot", []byte(c.file))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := walkTF(t, fs, "/s", TFOptions{Compression: Auto, Spec: c.elements})
		runtime.ReadMemStats(&after)
		require.Equal(t, errs.DataLoss, errs.KindOf(err), "%s: %v", name, err)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4<<20), name)
	}
}
