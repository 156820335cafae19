package snapshot

import (
	"bytes"
	"encoding/json"
	"path"
	"strings"

	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/spec"
	"infeed/core/vfs"
)

const (
	journalFormat = "infeed.journal"
	journalPrefix = "journal-"
)

// journal is what a writer has committed so far.
type journal struct {
	head   journalHead
	writer string
	chunks []journalLine
	count  int64 // of elements
}

type journalHead struct {
	Format      string          `json:"format"`
	Version     int             `json:"version"`
	Compression string          `json:"compression"`
	Spec        *spec.Element   `json:"spec"`
	About       json.RawMessage `json:"about"`
	Seeds       []uint64        `json:"seeds"`
	// Ordered says that chunks are in groups, each of which ends with one of the order.
	Ordered bool `json:"ordered,omitempty"`
}

type journalLine struct {
	ChunkInfo
	Token *dataset.Token `json:"token"`
}

// parseJournal reads the lines that are whole, and of groups those that are; nil where
// not even the first line is of a journal.
func parseJournal(text []byte) *journal {
	j := &journal{}
	var group []journalLine
	for first := true; ; first = false {
		n := bytes.IndexByte(text, '\n') + 1
		if n == 0 {
			break
		}
		line := text[:n]
		text = text[n:]
		if first {
			if unseal(line, &j.head) != nil || j.head.Format != journalFormat || j.head.Version != version || j.head.Spec == nil {
				return nil
			}
			continue
		}
		var l journalLine
		if unseal(line, &l) != nil {
			break
		}
		group = append(group, l)
		if j.head.Ordered && !l.ordering() {
			continue
		}
		if !j.add(group) {
			break
		}
		group = nil
	}
	if j.head.Spec == nil {
		return nil
	}
	return j
}

// add adds chunks that were committed together; false where they cannot be.
func (j *journal) add(group []journalLine) bool {
	n, ordered, err := count(without(group))
	if err != nil || ordered != j.head.Ordered || j.count+n > dataset.MaxPosition {
		return false
	}
	j.chunks = append(j.chunks, group...)
	j.count += n
	return true
}

// without returns chunks without tokens.
func without(lines []journalLine) []ChunkInfo {
	out := make([]ChunkInfo, len(lines))
	for i, c := range lines {
		out[i] = c.ChunkInfo
	}
	return out
}

// bestJournal returns the journal in a folder that has most elements of a kind, divided
// into streams or not, made with so many seeds; nil: there is none.
func bestJournal(fs vfs.FS, folder string, l *layout, ordered bool, seeds int) (*journal, error) {
	names, err := fs.List(folder)
	if err != nil {
		if errs.KindOf(err) == errs.NotFound {
			return nil, nil
		}
		return nil, err
	}
	var best *journal
	for _, name := range names {
		writer, is := strings.CutPrefix(name, journalPrefix)
		if !is || strings.HasSuffix(name, ".tmp") {
			continue
		}
		text, err := readFile(fs, path.Join(folder, name))
		if err != nil {
			if errs.KindOf(err) == errs.NotFound { // its writer has just committed
				continue
			}
			return nil, err
		}
		j := parseJournal(text)
		if j == nil || !j.head.Spec.Equal(l.spec) || len(j.head.Seeds) != seeds || j.head.Ordered != ordered {
			continue
		}
		if err := j.cut(fs, folder); err != nil {
			return nil, err
		}
		if j.writer = writer; best == nil || j.count > best.count {
			best = j
		}
	}
	return best, nil
}

// cut ends a journal before the first chunks that are not there: somebody removed them, and
// their elements are made again.
func (j *journal) cut(fs vfs.FS, folder string) error {
	lines := j.chunks
	j.chunks, j.count = nil, 0
	var group []journalLine
	for _, l := range lines {
		there, err := exists(fs, path.Join(folder, chunkFolder, l.File))
		if err != nil {
			return err
		}
		if !there {
			return nil
		}
		if group = append(group, l); !j.head.Ordered || l.ordering() {
			j.add(group)
			group = nil
		}
	}
	return nil
}

// infos returns the chunks without tokens.
func (j *journal) infos() []ChunkInfo { return without(j.chunks) }

// token returns where the dataset above goes on.
func (j *journal) token() *dataset.Token {
	if len(j.chunks) == 0 {
		return nil
	}
	return j.chunks[len(j.chunks)-1].Token
}

// begin makes the file of a new journal with the lines that there are already, and
// returns it for more.
func (j *journal) begin(fs vfs.FS, folder, writer string) (vfs.File, error) {
	text, err := seal(j.head)
	if err != nil {
		return nil, err
	}
	for _, c := range j.chunks {
		line, err := seal(c)
		if err != nil {
			return nil, err
		}
		text = append(text, line...)
	}
	at := path.Join(folder, journalPrefix+writer)
	f, err := fs.Create(at + ".tmp")
	if err != nil {
		return nil, err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = fs.Rename(at+".tmp", at)
	}
	if err == nil {
		err = fs.SyncFolder(folder)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
