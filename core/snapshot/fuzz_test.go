package snapshot

import (
	"testing"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/vfs/memfs"
)

// chunkOf returns a chunk with this data and footer, whose checksums are right, and how
// a manifest lists it.
func chunkOf(data, footer []byte, elements int64) ([]byte, ChunkInfo) {
	b := append(chunkHeader(), data...)
	at := int64(len(b))
	b = append(b, footer...)
	b = append(b, chunkTrailer(at, footer)...)
	return b, ChunkInfo{"0123456789abcdef-0000-000000.chunk", elements, int64(len(b)), checksum(footer)}
}

// FuzzChunk reads chunks that say anything, with right checksums of footers: what
// comes is elements or DataLoss, without a panic and without memory for what is not
// there.
func FuzzChunk(f *testing.F) {
	for _, c := range []Compression{None, Gzip, Snappy, Zstd} {
		fs := memfs.New()
		save(f, fs, made{n: 3}, "/s", Options{Compression: c})
		m, err := ReadManifest(fs, "/s")
		if err != nil {
			f.Fatal(err)
		}
		b := fs.Bytes("/s/chunks/" + m.Chunks[0].File)
		tail := b[len(b)-trailerBytes:]
		at := int(le.Uint64(tail))
		f.Add(b[headerBytes:at], b[at:len(b)-trailerBytes], int64(3))
	}
	f.Fuzz(func(t *testing.T, data, footer []byte, elements int64) {
		if elements < 0 || elements > dataset.MaxPosition {
			return
		}
		fs := memfs.New()
		b, info := chunkOf(data, footer, elements)
		fs.Set("/s/chunks/"+info.File, b)
		r := newReader(fs, "/s", newLayout(madeSpec), []ChunkInfo{info})
		defer r.Close()
		for i := range min(elements, 5) {
			var out block.Buffer
			err := r.Fetch([]int64{i}, &out)
			if k := errs.KindOf(err); err != nil && k != errs.DataLoss && k != errs.ResourceExhausted && k != errs.InvalidArgument {
				t.Fatalf("element %d: %v", i, err)
			}
		}
	})
}

func FuzzManifest(f *testing.F) {
	fs := memfs.New()
	save(f, fs, made{n: 3}, "/s", Options{})
	text := fs.Bytes("/s/manifest.json")
	f.Add(text[:len(text)-sealBytes])
	f.Fuzz(func(t *testing.T, body []byte) {
		fs := memfs.New()
		fs.Set("/s/manifest.json", sealed(body))
		m, err := ReadManifest(fs, "/s")
		if err == nil {
			newLayout(m.Spec)
		} else if k := errs.KindOf(err); k != errs.DataLoss && k != errs.Unimplemented {
			t.Fatal(err)
		}
	})
}

func FuzzJournal(f *testing.F) {
	fs := memfs.New()
	w, err := NewWriter(fs, "/s", madeSpec, Options{})
	if err != nil {
		f.Fatal(err)
	}
	var b block.Buffer
	if err := (made{}).Fetch([]int64{0}, &b); err != nil {
		f.Fatal(err)
	}
	_ = w.Add(b.Blocks()[0], nil)
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(fs.Bytes("/s/" + journalPrefix + w.id))
	f.Fuzz(func(t *testing.T, text []byte) {
		j := parseJournal(text)
		if j == nil {
			return
		}
		newLayout(j.head.Spec)
		if n, _, err := count(j.infos()); err != nil || n != j.count {
			t.Fatalf("%d elements, not %d: %v", n, j.count, err)
		}
	})
}

// sealed is seal for what may be no JSON.
func sealed(body []byte) []byte {
	out := append([]byte{}, body...)
	return append(out, sealOf(body)...)
}
