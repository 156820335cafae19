package snapshot

import (
	"encoding/json"
	"path"
	"regexp"
	"strconv"
	"strings"

	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/spec"
	"infeed/core/vfs"
)

const (
	manifestFormat = "infeed.snapshot"
	manifestName   = "manifest.json"
	chunkFolder    = "chunks"
	version        = 1
)

// Manifest says what belongs to a snapshot.
type Manifest struct {
	Format      string          `json:"format"`
	Version     int             `json:"version"`
	Writer      string          `json:"writer"`
	Compression string          `json:"compression"`
	Elements    int64           `json:"elements"`
	Spec        *spec.Element   `json:"spec"`
	About       json.RawMessage `json:"about"`
	Chunks      []ChunkInfo     `json:"chunks"`
}

// ChunkInfo is a chunk as manifests and journals list it.
type ChunkInfo struct {
	File     string `json:"file"`
	Elements int64  `json:"elements"`
	Bytes    int64  `json:"bytes"`
	Footer   uint32 `json:"footer"` // its checksum
}

var chunkNames = regexp.MustCompile(`^[0-9a-f]{16}-([0-9]{4}|order)-[0-9]{6,}\.chunk$`)

// stream returns the number of the stream that a chunk belongs to; that of the order
// belongs to none.
func (c *ChunkInfo) stream() int {
	n, _ := strconv.Atoi(c.File[17:21]) // four digits, as check found
	return n
}

// ordering tells whether a chunk has the order of those before it, back to the last one
// that has.
func (c *ChunkInfo) ordering() bool { return strings.Contains(c.File, orderName) }

func (c *ChunkInfo) check() error {
	if !chunkNames.MatchString(c.File) || c.Elements < 0 || c.Elements > dataset.MaxPosition || c.Bytes < 0 {
		return errs.New(errs.DataLoss, "snapshot", "a chunk %.80q of %d elements in %d bytes cannot be", c.File, c.Elements, c.Bytes)
	}
	return nil
}

// count sums the elements of chunks, and tells whether their order is among them.
func count(chunks []ChunkInfo) (n int64, ordered bool, err error) {
	for i := range chunks {
		if err := chunks[i].check(); err != nil {
			return 0, false, err
		}
		ordered = ordered || chunks[i].ordering()
		if !chunks[i].ordering() {
			n += chunks[i].Elements
		}
		if n > dataset.MaxPosition {
			return 0, false, errs.New(errs.DataLoss, "snapshot", "it would have more than %d elements", dataset.MaxPosition)
		}
	}
	if ordered {
		err = checkGroups(chunks)
	}
	return n, ordered, err
}

// checkGroups checks that chunks come in groups: one of each stream that has elements, by
// number, and the order of these.
func checkGroups(chunks []ChunkInfo) error {
	elements, last := int64(0), -1
	for i := range chunks {
		c := &chunks[i]
		switch {
		case c.ordering() && c.Elements == elements:
			elements, last = 0, -1
		case c.ordering():
			return errs.New(errs.DataLoss, "snapshot", "%s orders %d elements, not %d", c.File, c.Elements, elements)
		case c.stream() <= last:
			return errs.New(errs.DataLoss, "snapshot", "%s is not where it belongs", c.File)
		default:
			elements, last = elements+c.Elements, c.stream()
		}
	}
	if last >= 0 {
		return errs.New(errs.DataLoss, "snapshot", "the last %d elements have no order", elements)
	}
	return nil
}

// ReadManifest reads the manifest of the snapshot in a folder. Without one, it is a
// NotFound error.
func ReadManifest(fs vfs.FS, folder string) (*Manifest, error) {
	at := path.Join(folder, manifestName)
	line, err := readFile(fs, at)
	if err != nil {
		return nil, err
	}
	m := &Manifest{}
	if err := unseal(line, m); err != nil {
		return nil, lost(at, 0, "this manifest of a snapshot is damaged: %v", err)
	}
	if m.Format != manifestFormat || m.Version < 1 {
		return nil, lost(at, 0, "this is no manifest of a snapshot but %.40q", m.Format)
	}
	if m.Version > version {
		return nil, errs.New(errs.Unimplemented, "snapshot", "%s has version %d; this infeed reads versions up to %d: use a newer one", at, m.Version, version)
	}
	if m.Spec == nil || m.Spec.Structure.Leaves() != len(m.Spec.Components) {
		return nil, lost(at, 0, "its spec is none of elements")
	}
	if n, _, err := count(m.Chunks); err != nil || n != m.Elements {
		return nil, lost(at, 0, "its chunks do not have %d elements (%d; %v)", m.Elements, n, err)
	}
	return m, nil
}
