package snapshot

import (
	"path"
	"sort"
	"strconv"
	"strings"

	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/vfs"
)

// Names of what tf.data's service writes besides.
const (
	distributedKind = "distributed snapshot"
	tfDoneFile      = "DONE"
	tfErrorFile     = "ERROR"
)

// readDistributed finds the chunks of a snapshot of tf.data's service.
func (f *TFFolder) readDistributed(fs vfs.FS) (err error) {
	f.Kind, f.Version = distributedKind, 2
	if err := f.readOutcome(fs); err != nil {
		return err
	}
	chunks, err := findChunks(fs, f.Path)
	if err != nil {
		return err
	}
	f.Elements = 0
	next := map[int64]int64{} // of each stream
	for _, c := range chunks {
		if f.unread == nil && next[c.stream] != c.number {
			f.unread = lost(path.Dir(c.path), 0, "chunk %d of stream %d is missing: %s follows", next[c.stream], c.stream, path.Base(c.path))
		}
		next[c.stream]++
		f.Parts = append(f.Parts, TFPart{Name: path.Base(c.path), Files: []string{c.path}, Elements: c.elements})
		if c.elements < 0 || f.Elements < 0 {
			f.Elements = dataset.Unknown
		} else {
			f.Elements += c.elements
		}
	}
	return nil
}

// readOutcome reads how the service ended.
func (f *TFFolder) readOutcome(fs vfs.FS) error {
	at := path.Join(f.Path, tfErrorFile)
	text, err := readFile(fs, at)
	if err == nil {
		f.unread = lost(at, 0, "tf.data's service failed to write the snapshot: %.500q", text)
		return nil
	}
	if errs.KindOf(err) != errs.NotFound {
		return err
	}
	f.Finished, err = exists(fs, path.Join(f.Path, tfDoneFile))
	if err == nil && !f.Finished {
		f.unread = lost(path.Join(f.Path, tfMetadata), 0, "it is not finished: tf.data's service has not written the file %s yet", tfDoneFile)
	}
	return err
}

type tfChunk struct {
	stream, number, elements int64
	path                     string
}

// findChunks returns the chunks of a snapshot, stream by stream.
func findChunks(fs vfs.FS, folder string) (found []tfChunk, err error) {
	for _, in := range []string{"chunks", "committed_chunks"} { // as newer and older versions call it
		at := path.Join(folder, in)
		names, err := fs.List(at)
		if err != nil && errs.KindOf(err) != errs.NotFound {
			return nil, err
		}
		for _, name := range names {
			if c, is := parseChunk(name); is {
				c.path = path.Join(at, name)
				found = append(found, c)
			}
		}
	}
	sort.Slice(found, func(i, j int) bool {
		a, b := found[i], found[j]
		return a.stream < b.stream || a.stream == b.stream && a.number < b.number
	})
	return found, nil
}

// parseChunk reads chunk_<stream>_<number>_<elements>, of which older versions leave out
// the last.
func parseChunk(name string) (tfChunk, bool) {
	parts := strings.Split(name, "_")
	if len(parts) < 3 || len(parts) > 4 || parts[0] != "chunk" {
		return tfChunk{}, false
	}
	n := []int64{0, 0, dataset.Unknown}
	for i, digits := range parts[1:] {
		v, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || v < 0 && i < 2 || v > dataset.MaxPosition {
			return tfChunk{}, false
		}
		n[i] = v
	}
	if n[2] < 0 {
		n[2] = dataset.Unknown
	}
	return tfChunk{stream: n[0], number: n[1], elements: n[2]}, true
}
