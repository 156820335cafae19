package snapshot

import (
	"path"

	"infeed/core/errs"
	"infeed/core/vfs"
)

// present fails where a file that was written is not there any more: who removes files
// while they are written, is not to make others lose what they have.
func present(fs vfs.FS, at string) error {
	_, err := fs.Stat(at)
	if errs.KindOf(err) == errs.NotFound {
		return lost(at, 0, "it was removed before all was written; write it again, and remove nothing meanwhile")
	}
	return err
}

// present fails where chunks are not there any more.
func (w *Writer) present() error {
	for _, c := range w.done.journal.chunks {
		if err := present(w.fs, path.Join(w.folder, chunkFolder, c.File)); err != nil {
			return err
		}
	}
	return nil
}

// publish gives the manifest its name.
func (w *Writer) publish() (*Manifest, error) {
	j := w.done.journal
	m := &Manifest{manifestFormat, version, w.id, w.o.Compression.String(), 0, w.layout.spec, w.o.About, j.infos()}
	var err error
	if m.Elements, _, err = count(m.Chunks); err != nil {
		return nil, err
	}
	text, err := seal(m)
	if err != nil {
		return nil, err
	}
	own, name := path.Join(w.folder, w.id+".tmp"), path.Join(w.folder, manifestName)
	if err := writeFile(w.fs, own, text); err != nil {
		return nil, err
	}
	if w.o.Replace {
		err = w.fs.Rename(own, name)
	} else {
		err = w.fs.Link(own, name)
		_ = w.fs.Remove(own) // one that stays is no harm
	}
	if err != nil {
		return nil, err
	}
	return m, w.fs.SyncFolder(w.folder)
}

// clean removes what the commit made useless. What cannot be removed is no harm.
func (w *Writer) clean(m, before *Manifest) {
	_ = w.fs.Remove(path.Join(w.folder, journalPrefix+w.id))
	if before == nil {
		return
	}
	for _, c := range before.Chunks {
		_ = w.fs.Remove(path.Join(w.folder, chunkFolder, c.File))
	}
}
