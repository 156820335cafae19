package snapshot

import (
	"path"
	"slices"
	"sync"

	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
	"infeed/core/vfs"
)

// loaded is the dataset of a snapshot that is there.
type loaded struct {
	*Reader
	elements int64
	mu       sync.Mutex
	users    int // scopes in which it is open
}

// Load returns the elements of the snapshot in a folder: of what Save wrote there, or
// of the only snapshot that Keep wrote below it.
func Load(fs vfs.FS, folder string) (dataset.Indexed, error) {
	at, err := Find(fs, folder)
	if err != nil {
		return nil, err
	}
	r, m, err := NewReader(fs, at)
	if err != nil {
		return nil, ofSaved.to(err)
	}
	r.advice = ofSaved
	return &loaded{Reader: r, elements: m.Elements}, nil
}

// LoadStream is Load for the elements of one stream.
func LoadStream(fs vfs.FS, folder string, stream int64) (dataset.Indexed, error) {
	at, err := Find(fs, folder)
	if err != nil {
		return nil, err
	}
	m, err := ReadManifest(fs, at)
	if err != nil {
		return nil, err
	}
	var chunks []ChunkInfo
	for _, c := range m.Chunks {
		if !c.ordering() && int64(c.stream()) == stream {
			chunks = append(chunks, c)
		}
	}
	r := newReader(fs, at, newLayout(m.Spec), chunks)
	r.advice = ofSaved
	return &loaded{Reader: r, elements: r.Len()}, nil
}

// Streams returns the numbers of the streams of the snapshot in a folder, at least one.
func Streams(fs vfs.FS, folder string) ([]int64, error) {
	at, err := Find(fs, folder)
	if err != nil {
		return nil, err
	}
	m, err := ReadManifest(fs, at)
	if err != nil {
		return nil, err
	}
	out := []int64{}
	for _, c := range m.Chunks {
		if !c.ordering() {
			out = append(out, int64(c.stream()))
		}
	}
	if len(out) == 0 {
		out = append(out, 0)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// Find returns the folder of the snapshot at a path: it itself, or the only one in it.
func Find(fs vfs.FS, folder string) (string, error) {
	if there, err := exists(fs, path.Join(folder, manifestName)); there || err != nil {
		return folder, err
	}
	names, err := fs.List(folder)
	if errs.KindOf(err) == errs.NotFound {
		what := "is not there"
		if there, _ := exists(fs, folder); there {
			what = "is a file"
		}
		return "", errs.New(errs.NotFound, "load", "%q %s; give the folder that save or snapshot wrote", folder, what)
	}
	if err != nil {
		return "", err
	}
	var found []string
	begun := false
	for _, name := range names {
		at := path.Join(folder, name)
		whole, err := exists(fs, path.Join(at, manifestName))
		if err != nil {
			return "", err
		}
		if whole {
			found = append(found, at)
			continue
		}
		part, err := exists(fs, path.Join(at, chunkFolder))
		if err != nil {
			return "", err
		}
		begun = begun || part || name == chunkFolder
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", errs.New(errs.InvalidArgument, "load", "%q has %d snapshots; give the path of one, such as %q", folder, len(found), found[0])
	case begun:
		return "", lost(folder, 0, "the snapshot in it was not finished; write it again")
	}
	return "", errs.New(errs.NotFound, "load", "%q holds no snapshot: it has no %s, and no %s of tf.data's", folder, manifestName, tfMetadata)
}

// exists tells whether there is something at a path.
func exists(fs vfs.FS, at string) (bool, error) {
	_, err := fs.Stat(at)
	if err != nil && errs.KindOf(err) == errs.NotFound {
		return false, nil
	}
	return err == nil, err
}

func (l *loaded) Spec() *spec.Element { return l.layout.spec }
func (l *loaded) Cardinality() int64  { return l.elements }

func (l *loaded) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.Walk(l, s, pass, from)
}

// Open implements dataset.Indexed. Files stay open as long as a scope needs them.
func (l *loaded) Open(s *dataset.Scope, _ rng.Key) (dataset.RandomAccess, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.users++; l.users == 1 {
		l.reopen()
	}
	s.Defer(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.users--; l.users == 0 {
			l.Close()
		}
	})
	return l.Reader, nil
}
