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
	made      bool // the folder was not there
	committed bool
}

func newOwnStore(fs vfs.FS, folder string, e *spec.Element, o Options) (store, error) {
	there, err := exists(fs, folder)
	if err != nil {
		return nil, err
	}
	w, err := NewWriter(fs, folder, e, o)
	if err != nil {
		if !there {
			removeFolders(fs, folder)
		}
		return nil, err
	}
	return &ownStore{Writer: w, made: !there}, nil
}

func removeFolders(fs vfs.FS, folder string) {
	_ = fs.Remove(path.Join(folder, chunkFolder))
	_ = fs.Remove(folder)
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
	if s.made {
		removeFolders(s.fs, s.folder)
	}
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
