package snapshot

import (
	"testing"

	"infeed/core/errs"
	"infeed/core/spec"
	"infeed/core/vfs/memfs"
)

// FuzzTFFolder reads folders whose files hold anything: what comes is elements or an
// error that says what is wrong, without a panic and without memory for what is not there.
func FuzzTFFolder(f *testing.F) {
	block := snapped([]byte("0123456789abcdef"), 5)
	record := recordsAs(f, "NONE", []byte("\x08\x15\x12\x00\x22\x25\x24\x0a\x13RaggedTensorVariant\x1a\x0d\x08\x09\x12\x04\x12\x02\x08\x03R\x03\x00\x02\x03"))
	ragged := []byte("\x92\x02H\x08\x03\x120\xa2\x03-\x0a\x1d\xfa\x01\x1a\x12\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x12\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x0a\x03\x80\x02\x01\x0a\x02`\x02\x0a\x03\x80\x02\x09\x1a\x10RaggedTensorSpec")
	sparse := []byte("\x92\x02-\x08\x01\x12\x15\xa2\x03\x12\x0a\x0b\xfa\x01\x08\x12\x02\x08\x03\x12\x02\x08\x04\x0a\x03\x80\x02\x01\x1a\x10SparseTensorSpec")
	legacy := []byte("\x0a\x02ab\x12\x03123\x20\x01\x2a\x01\x09\xc0\x3e\x01")
	f.Add(tfDone, tfTupleSpec, block)
	f.Add(tfDone, ragged, record)
	f.Add([]byte("\x12\x03123\x20\x02\x2a\x01\x15\xc0\x3e\x01"), sparse, record)
	f.Add([]byte("\x0a\x0277\x12\x03123\x20\x02\x2a\x02\x09\x01\xc0\x3e\x01"), []byte{}, record)
	f.Add(legacy, []byte("\x8a\x02\x04\x12\x00\x18\x09"), appendLegacy(nil, 1, "NONE", legacyElement(1)[:1]))
	f.Add(legacy, []byte("\x8a\x02\x04\x12\x00\x18\x09"), appendLegacy(nil, 1, "SNAPPY", legacyElement(1)[:1]))
	f.Add([]byte(`element_spec: "\212\002\x04\022" '\000\030\t' compression: "SNAPPY"`), []byte{}, record)
	scalar := &spec.Element{Components: []spec.Component{numbers64()}}
	f.Fuzz(func(t *testing.T, metadata, elements, file []byte) {
		fs := memfs.New()
		fs.Set("/s/snapshot.metadata", metadata)
		if len(elements) > 0 {
			fs.Set("/s/dataset_spec.pb", elements)
		}
		for _, at := range []string{"DONE", "chunks/chunk_0_0_1", "123/0.shard/0.snapshot"} {
			fs.Set("/s/"+at, file)
		}
		if m, err := readTFMeta(fs, "/s"); err == nil && m.version < 2 {
			_ = fs.Remove("/s/123/0.shard/0.snapshot")
			_ = fs.Remove("/s/123/0.shard")
			fs.Set("/s/123/0.snapshot", file)
		}
		if _, err := DescribeTF(fs, "/s"); errs.KindOf(err) == errs.Internal && err != nil {
			t.Fatal(err)
		}
		for _, o := range []TFOptions{{Compression: Auto}, {Compression: Auto, Raw: true}, {Compression: Auto, Spec: scalar}} {
			if _, err := walkTF(t, fs, "/s", o); errs.KindOf(err) == errs.Internal && err != nil {
				t.Fatal(err)
			}
		}
	})
}
