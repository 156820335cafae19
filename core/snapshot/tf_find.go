package snapshot

import (
	"path"
	"sort"
	"strconv"
	"strings"

	"infeed/core/errs"
	"infeed/core/vfs"
)

// findTF returns the folder in which the metadata are that a path leads to, and the run
// that the path names, if it does.
func findTF(fs vfs.FS, at string) (folder, run string, err error) {
	names, err := fs.List(at)
	if err != nil {
		return "", "", err
	}
	var inside []string
	for _, name := range names {
		if name == tfMetadata {
			return at, "", nil
		}
		if strings.HasSuffix(name, ".shard") || strings.HasSuffix(name, ".snapshot") {
			run = path.Base(at)
		}
		there, err := exists(fs, path.Join(at, name, tfMetadata))
		if err != nil {
			return "", "", err
		}
		if there {
			inside = append(inside, path.Join(at, name))
		}
	}
	if run != "" {
		above := path.Dir(at)
		there, err := exists(fs, path.Join(above, tfMetadata))
		if err == nil && !there {
			err = errs.New(errs.NotFound, "load", "%q has elements that tf.data wrote, but %q has no %s", at, above, tfMetadata)
		}
		return above, run, err
	}
	folder, err = onlyTF(fs, at, inside)
	return folder, "", err
}

// onlyTF returns the one of the folders inside a path that is meant: the only one, or the
// only one that is finished.
func onlyTF(fs vfs.FS, at string, inside []string) (string, error) {
	if len(inside) == 0 {
		return "", errs.New(errs.NotFound, "load", "%q holds nothing that tf.data saved: it has no %s", at, tfMetadata)
	}
	if len(inside) == 1 {
		return inside[0], nil
	}
	var finished []string
	for _, folder := range inside {
		m, err := readTFMeta(fs, folder)
		if err == nil && m.distributed {
			m.finished, err = exists(fs, path.Join(folder, tfDoneFile))
		}
		if err == nil && m.finished {
			finished = append(finished, folder)
		}
	}
	if len(finished) == 1 {
		return finished[0], nil
	}
	if len(finished) == 0 {
		finished = inside
	}
	return "", errs.New(errs.InvalidArgument, "load", "%q has %d snapshots of tf.data's; give the path of one, such as %q", at, len(finished), finished[0])
}

// byNumber returns the paths in a folder whose name is a number and an ending.
func byNumber(fs vfs.FS, folder, ending string) ([]string, error) {
	names, err := fs.List(folder)
	if err != nil {
		return nil, err
	}
	type entry struct {
		number uint64
		path   string
	}
	var found []entry
	for _, name := range names {
		digits, is := strings.CutSuffix(name, ending)
		if n, err := strconv.ParseUint(digits, 10, 64); is && err == nil {
			found = append(found, entry{n, path.Join(folder, name)})
		}
	}
	sort.Slice(found, func(i, j int) bool { return found[i].number < found[j].number })
	out := make([]string, len(found))
	for i, e := range found {
		out[i] = e.path
	}
	return out, nil
}
