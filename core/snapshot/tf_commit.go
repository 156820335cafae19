package snapshot

import (
	"bytes"
	"encoding/binary"
	"path"
	"strings"
	"time"

	"infeed/core/errs"
	"infeed/core/vfs"
)

// commit makes what was written what the folder holds.
func (s *tfStreams) commit() error {
	for _, t := range s.all {
		if err := t.Close(); err != nil {
			return err
		}
	}
	for i := len(s.made) - 1; i >= 0; i-- { // the names in a folder before its own
		if strings.HasSuffix(s.made[i], ".snapshot") {
			if err := present(s.fs, s.made[i]); err != nil {
				return err
			}
		}
		if err := s.fs.SyncFolder(path.Dir(s.made[i])); err != nil {
			return err
		}
	}
	before, err := readTFMeta(s.fs, s.folder)
	if err != nil || !before.saved() {
		before = nil // there is none, or none that counts
	}
	if err := s.publish(); err != nil {
		return err
	}
	s.made = nil
	removeOwn(s.fs, s.folder)
	if before != nil && before.run != s.run {
		removeRun(s.fs, path.Join(s.folder, before.run))
	}
	return nil
}

// publish puts metadata and spec in the place of those that are there; where that fails,
// those stay.
func (s *tfStreams) publish() error {
	was := map[string][]byte{}
	for _, name := range []string{tfSpec, tfMetadata} {
		data, err := readFile(s.fs, path.Join(s.folder, name))
		if err != nil && errs.KindOf(err) != errs.NotFound {
			return err
		}
		if err == nil {
			was[name] = data
		}
	}
	err := s.exchange(bytes.Equal(was[tfSpec], s.spec))
	if err == nil {
		return nil
	}
	for _, name := range []string{tfSpec, tfMetadata} { // as far as that goes
		if data, there := was[name]; there {
			_ = s.put(name, data)
		} else {
			_ = s.fs.Remove(path.Join(s.folder, name))
		}
	}
	return err
}

// exchange puts new metadata and, unless it is the same, a new spec in the folder. No
// reader may take a spec for another run's: while it changes there are no metadata.
func (s *tfStreams) exchange(same bool) error {
	if same {
		return s.put(tfMetadata, s.metadata())
	}
	err := s.fs.Remove(path.Join(s.folder, tfMetadata))
	if err != nil && errs.KindOf(err) != errs.NotFound {
		return err
	}
	if err := s.fs.SyncFolder(s.folder); err != nil {
		return err
	}
	if err := s.put(tfSpec, s.spec); err != nil {
		return err
	}
	return s.put(tfMetadata, s.metadata())
}

// put gives a file of the folder its content, all at once.
func (s *tfStreams) put(name string, data []byte) error {
	at := path.Join(s.folder, name)
	own := at + "-tmp-" + s.run
	err := writeFile(s.fs, own, data)
	if err == nil {
		err = s.fs.Rename(own, at)
	}
	if err != nil {
		_ = s.fs.Remove(own)
		return err
	}
	return s.fs.SyncFolder(s.folder)
}

// metadata returns the SnapshotMetadataRecord of the run.
func (s *tfStreams) metadata() []byte {
	var types []byte
	for _, t := range s.stored.kinds {
		types = binary.AppendUvarint(types, uint64(t))
	}
	out := protoBytes(nil, 2, []byte(s.run))
	out = protoNumber(out, 3, uint64(time.Now().UnixMicro()))
	out = protoNumber(out, 4, 2)
	out = protoBytes(out, 5, types)
	out = protoNumber(out, 6, uint64(s.count))
	return protoNumber(out, 1000, 1)
}

// removeRun removes a run of tf.data's: what is known to be of it.
func removeRun(fs vfs.FS, run string) {
	shards, _ := byNumber(fs, run, ".shard")
	for _, shard := range shards {
		files, _ := byNumber(fs, shard, ".snapshot")
		for _, f := range files {
			_ = fs.Remove(f)
		}
		_ = fs.Remove(shard)
	}
	_ = fs.Remove(run)
}

// removeTF removes what tf.data, or SaveTF, saved in a folder.
func removeTF(fs vfs.FS, folder string) {
	m, err := readTFMeta(fs, folder)
	if err != nil || !m.saved() {
		return
	}
	_ = fs.Remove(path.Join(folder, tfMetadata))
	_ = fs.Remove(path.Join(folder, tfSpec))
	removeRun(fs, path.Join(folder, m.run))
}

// removeOwn removes what Save stored in a folder.
func removeOwn(fs vfs.FS, folder string) {
	m, err := ReadManifest(fs, folder)
	if errs.KindOf(err) == errs.NotFound {
		return
	}
	_ = fs.Remove(path.Join(folder, manifestName)) // without it there is no snapshot
	if m != nil {
		for _, c := range m.Chunks {
			_ = fs.Remove(path.Join(folder, chunkFolder, c.File))
		}
	}
	_ = fs.Remove(path.Join(folder, chunkFolder))
}
