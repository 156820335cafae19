package snapshot

import (
	"path"

	"infeed/core/block"
	"infeed/core/errs"
	"infeed/core/spec"
	"infeed/core/vfs"
)

// ownStore writes elements in the place of what a folder holds.
type ownStore struct {
	*Writer
	made      []string // folders that were not there, the inner ones first
	committed bool
}

func newOwnStore(fs vfs.FS, folder string, e *spec.Element, o Options) (store, error) {
	made, err := missing(fs, path.Join(folder, chunkFolder))
	if err != nil {
		return nil, err
	}
	w, err := NewWriter(fs, folder, e, o)
	if err != nil {
		removeAll(fs, made)
		return nil, err
	}
	return &ownStore{Writer: w, made: made}, nil
}

// missing returns the folders that have to be made for one to be there, the inner ones
// first.
func missing(fs vfs.FS, folder string) (out []string, err error) {
	for above := path.Dir(folder); ; folder, above = above, path.Dir(above) {
		info, err := fs.Stat(folder)
		if err == nil && !info.Dir {
			err = errs.New(errs.InvalidArgument, "save", "%q is a file, and a folder is needed there; give another path", folder)
		}
		if err == nil || errs.KindOf(err) != errs.NotFound {
			return out, err
		}
		if out = append(out, folder); folder == above {
			return out, nil
		}
	}
}

// removeAll removes files and empty folders, as far as that goes.
func removeAll(fs vfs.FS, paths []string) {
	for _, at := range paths {
		_ = fs.Remove(at)
	}
}

func (s *ownStore) add(b block.Block, streams []int64) error {
	err := s.Add(b, streams)
	s.Mark(nil)
	return err
}

func (s *ownStore) commit() error {
	if err := s.Commit(); err != nil {
		return err
	}
	s.committed = true
	removeTF(s.fs, s.folder)
	return nil
}

// drop ends the writer, and removes what was not committed.
func (s *ownStore) drop() {
	s.Drop()
	if s.committed || s.named() {
		return
	}
	for _, c := range s.done.journal.chunks {
		_ = s.fs.Remove(path.Join(s.folder, chunkFolder, c.File))
	}
	removeAll(s.fs, s.made)
}

// named tells whether the manifest is, or may be, of this writer: where it got its name
// and the folder could not be synced.
func (s *ownStore) named() bool {
	m, err := ReadManifest(s.fs, s.folder)
	if err != nil {
		return errs.KindOf(err) != errs.NotFound
	}
	return m.Writer == s.id
}
