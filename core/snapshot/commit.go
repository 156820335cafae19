package snapshot

import "path"

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
