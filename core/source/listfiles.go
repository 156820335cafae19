package source

import (
	"sort"
	"strings"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
	"infeed/core/vfs"
)

// Shuffle says how an order is shuffled.
type Shuffle struct {
	Seed     uint64
	EachPass bool // another order in each pass
}

// listed is the dataset of paths.
type listed struct {
	paths   *block.Text
	shuffle *Shuffle
}

// ListFiles returns the paths that match patterns, as [vfs.Glob] reads them, sorted
// byte by byte, or shuffled if shuffle is given. A path that matches several patterns
// comes as often. Folders are looked at now, not at each pass; no match is an error.
func ListFiles(fs vfs.FS, patterns []string, shuffle *Shuffle) (dataset.Definition, error) {
	var found []string
	for _, p := range patterns {
		paths, err := vfs.Glob(fs, p)
		if err != nil {
			return nil, err
		}
		found = append(found, paths...)
	}
	if len(found) == 0 {
		return nil, errs.New(errs.InvalidArgument, "list_files", "no files match %s; look at the folder and the pattern", quoted(patterns))
	}
	sort.Strings(found)
	l := &listed{paths: &block.Text{}, shuffle: shuffle}
	for _, p := range found {
		l.paths.Append([]byte(p))
	}
	return l, nil
}

// quoted lists the first of some patterns.
func quoted(patterns []string) string {
	const some = 5
	out := `"` + strings.Join(patterns[:min(some, len(patterns))], `", "`) + `"`
	if len(patterns) > some {
		out += " and others"
	}
	return out
}

func (*listed) Spec() *spec.Element  { return textScalar }
func (l *listed) Cardinality() int64 { return int64(l.paths.Len()) }

func (l *listed) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.Walk(l, s, pass, from)
}

func (l *listed) Open(_ *dataset.Scope, pass rng.Key) (dataset.RandomAccess, error) {
	if l.shuffle == nil {
		return &listedPass{paths: l.paths}, nil
	}
	const what = 0x66696c6573 // "files"
	key := rng.NewKey(l.shuffle.Seed, what)
	if l.shuffle.EachPass {
		key = pass.Derive(what, l.shuffle.Seed)
	}
	return &listedPass{l.paths, rng.NewPermutation(l.Cardinality(), key)}, nil
}

// listedPass is the paths in an order; nil: as they are.
type listedPass struct {
	paths *block.Text
	order *rng.Permutation
}

func (l *listedPass) Fetch(index []int64, dst dataset.Sink) error {
	out, err := dst.Block(textScalar, int64(len(index)))
	if err != nil {
		return err
	}
	for _, i := range index {
		if i < 0 || i >= int64(l.paths.Len()) {
			return errs.New(errs.Internal, "list_files", "path %d of %d", i, l.paths.Len())
		}
		if l.order != nil {
			i = l.order.At(i)
		}
		out.Columns[0].Text.Append(l.paths.At(int(i)))
	}
	return nil
}
