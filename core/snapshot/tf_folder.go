package snapshot

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/spec"
	"infeed/core/tfproto"
	"infeed/core/vfs"
)

// TFFolder is what a folder of tf.data's says of itself.
type TFFolder struct {
	Kind     string        `json:"kind"` // saved, snapshot, or distributed snapshot
	Path     string        `json:"path"` // where its metadata are
	Run      string        `json:"run"`
	Version  int64         `json:"version"`
	Written  int64         `json:"written"` // microseconds since 1970; 0 where it does not say
	Finished bool          `json:"finished"`
	Problem  string        `json:"problem"`  // why it cannot be read, as far as that is known
	Elements int64         `json:"elements"` // dataset.Unknown where it does not say
	Types    []string      `json:"types"`    // of what is stored of an element, by TensorFlow's names
	Spec     *spec.Element `json:"spec"`     // nil where it does not say
	Parts    []TFPart      `json:"parts"`
	// Compression is what the first file looks like: NONE, GZIP, ZLIB, SNAPPY; or nothing.
	Compression string `json:"compression"`

	types  []tfproto.DataType
	unread error // why it cannot be read
	noSpec error // why its spec cannot be read
}

// TFPart is a shard, or a chunk of tf.data's service.
type TFPart struct {
	Name     string   `json:"name"`
	Files    []string `json:"files"` // their paths
	Bytes    int64    `json:"bytes"`
	Elements int64    `json:"elements"` // dataset.Unknown where that is not known

	folder string // of the files; empty where they are known
}

// DescribeTF says what is at a path: the folder of a dataset that tf.data saved, of a
// snapshot, or of one of its runs, or a folder with one of them in it.
func DescribeTF(fs vfs.FS, at string) (*TFFolder, error) {
	f, err := describeTF(fs, at)
	if err != nil {
		return nil, err
	}
	if err := f.find(fs, f.Parts); err != nil {
		return nil, err
	}
	for i := range f.Parts {
		p := &f.Parts[i]
		if err := p.whole(); err != nil && f.unread == nil {
			f.unread = err
		}
		for _, file := range p.Files {
			info, err := fs.Stat(file)
			if err != nil {
				return nil, err
			}
			p.Bytes += info.Size
		}
	}
	if err := cmp.Or(f.unread, f.noSpec); err != nil {
		f.Problem = err.Error()
	}
	return f, nil
}

// describeTF is DescribeTF without the files of parts, which find finds.
func describeTF(fs vfs.FS, at string) (*TFFolder, error) {
	folder, run, err := findTF(fs, at)
	if err != nil {
		return nil, err
	}
	m, err := readTFMeta(fs, folder)
	if err != nil {
		return nil, err
	}
	f := &TFFolder{Kind: "saved", Path: folder, Run: m.run, Version: int64(m.version), Written: m.written, Elements: m.elements, Finished: m.finished, types: m.types}
	if err := f.readSpec(fs, m); err != nil {
		return nil, err
	}
	if m.distributed {
		err = f.readDistributed(fs)
	} else {
		err = f.readRun(fs, m, run)
	}
	if len(f.types) == 0 && f.Spec != nil { // it does not say itself what is stored
		f.types = tfTypes(f.Spec)
	}
	for _, t := range f.types {
		f.Types = append(f.Types, tfTypeName(t))
	}
	return f, err
}

// readSpec reads what elements are like, where the folder says it.
func (f *TFFolder) readSpec(fs vfs.FS, m *tfMeta) error {
	at := path.Join(f.Path, tfSpec)
	text, err := readFile(fs, at)
	if errs.KindOf(err) == errs.NotFound && m.distributed {
		at, text, err = path.Join(f.Path, tfMetadata), m.spec, nil
	}
	switch {
	case err == nil:
		f.Spec, f.noSpec = parseTFSpec(text, at)
	case errs.KindOf(err) != errs.NotFound:
		return err
	}
	if f.noSpec != nil {
		f.Spec = nil
	}
	return nil
}

// find finds the files of parts, and looks at the first that is not empty.
func (f *TFFolder) find(fs vfs.FS, parts []TFPart) (err error) {
	for i := range parts {
		p := &parts[i]
		if p.folder != "" {
			if p.Files, err = byNumber(fs, p.folder, ".snapshot"); err != nil {
				return err
			}
		}
		for _, file := range p.Files {
			if f.Compression != "" {
				break
			}
			if f.Compression, err = tfLooks(fs, file, f.Version); err != nil {
				return err
			}
		}
	}
	return nil
}

// tfTypeName returns TensorFlow's name of a type, or its number.
func tfTypeName(t tfproto.DataType) string {
	if t == tfproto.VariantType {
		return "variant"
	}
	if name := t.Name(); name != "" {
		return name
	}
	return strconv.Itoa(int(t))
}

// readRun finds the shards of the run that the metadata name, or of the one that was
// asked for.
func (f *TFFolder) readRun(fs vfs.FS, m *tfMeta, run string) error {
	if m.hash != "" || m.version < 2 { // it does not count its elements
		f.Kind, f.Elements = "snapshot", dataset.Unknown
	}
	if f.Elements < 0 {
		f.Elements = dataset.Unknown
	}
	at := path.Join(f.Path, tfMetadata)
	switch {
	case run != "" && run != m.run:
		f.Run, f.Finished = run, false
		f.unread = lost(at, 0, "it names run %s instead of %s, which may not be finished; give the folder above it for that one", m.run, run)
	case !m.finished:
		f.unread = lost(at, 0, "it is not finished: tf.data was stopped while it wrote it; write it again")
	}
	folder := path.Join(f.Path, f.Run)
	shards, err := byNumber(fs, folder, ".shard")
	if m.version < 2 && err == nil {
		if len(shards) > 0 {
			f.unread = lost(at, 0, "it is of version %d, and run %s has shards, as version 2 has", m.version, f.Run)
			return nil
		}
		names, err := byNumber(fs, folder, ".snapshot")
		if len(names) > 0 {
			f.Parts = []TFPart{{Name: f.Run, Elements: f.Elements, folder: folder}}
		}
		return err
	}
	for _, shard := range shards {
		f.Parts = append(f.Parts, TFPart{Name: path.Base(shard), Elements: dataset.Unknown, folder: shard})
	}
	if len(f.Parts) == 1 {
		f.Parts[0].Elements = f.Elements
	}
	f.missing(fs, folder, err)
	return nil
}

// missing notes the error of listing a run. One without elements may have no folder:
// copies leave out what is empty. Where there is another, it is this one that is gone.
func (f *TFFolder) missing(fs vfs.FS, folder string, err error) {
	if err == nil || f.unread != nil {
		return
	}
	if errs.KindOf(err) == errs.NotFound && f.Elements <= 0 && !f.otherRuns(fs) {
		return
	}
	f.unread = lost(folder, 0, "the folder of the run that the metadata name cannot be read: %v", err)
}

// otherRuns tells whether there are runs.
func (f *TFFolder) otherRuns(fs vfs.FS) bool {
	names, _ := fs.List(f.Path)
	for _, name := range names {
		inside, _ := fs.List(path.Join(f.Path, name))
		if slices.ContainsFunc(inside, func(n string) bool { return strings.HasSuffix(n, ".shard") || strings.HasSuffix(n, ".snapshot") }) {
			return true
		}
	}
	return false
}

// whole fails where files of a shard are missing.
func (p *TFPart) whole() error {
	if p.folder == "" {
		return nil
	}
	for i, file := range p.Files {
		if n, _ := strconv.ParseUint(strings.TrimSuffix(path.Base(file), ".snapshot"), 10, 64); n != uint64(i) {
			return lost(p.folder, 0, "file %d of it is missing: %s follows", i, path.Base(file))
		}
	}
	if len(p.Files) == 0 {
		return lost(p.folder, 0, "it has no file, and should have one")
	}
	return nil
}
