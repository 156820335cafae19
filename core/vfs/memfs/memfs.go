// Package memfs holds files in memory, for tests. Folders are there when a file
// in them is.
package memfs

import (
	"io"
	"path"
	"slices"
	"strings"
	"sync"

	"infeed/core/errs"
	"infeed/core/vfs"
)

// FS is a file system in memory. Any number of goroutines may use it.
type FS struct {
	mu    sync.Mutex
	nodes map[string]*node
	clock int64
}

// node is the content of a file; it lives on in open files when its name is gone.
type node struct {
	data    []byte
	modTime int64
}

// New returns an empty file system.
func New() *FS { return &FS{nodes: map[string]*node{}} }

// Set makes data, which it copies, the content of the file at name. Files that are
// open see the change.
func (fs *FS) Set(name string, data []byte) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	n := fs.node(path.Clean(name))
	n.data = slices.Clone(data)
	n.modTime = fs.tick()
}

// Bytes returns a copy of the content of the file at name, nil when there is none.
func (fs *FS) Bytes(name string) []byte {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if n := fs.nodes[path.Clean(name)]; n != nil {
		return slices.Clone(n.data)
	}
	return nil
}

func (fs *FS) node(name string) *node {
	if fs.nodes[name] == nil {
		fs.nodes[name] = &node{}
	}
	return fs.nodes[name]
}

func (fs *FS) tick() int64 {
	fs.clock++
	return fs.clock
}

// Open implements [vfs.FS].
func (fs *FS) Open(name string) (vfs.File, error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	n := fs.nodes[path.Clean(name)]
	if n == nil {
		return nil, errs.New(errs.NotFound, "open", "%q: no such file", name)
	}
	return &file{fs: fs, node: n}, nil
}

// Create implements [vfs.FS].
func (fs *FS) Create(name string) (vfs.File, error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	n := fs.node(path.Clean(name))
	n.data, n.modTime = nil, fs.tick()
	return &file{fs: fs, node: n, write: true}, nil
}

// Stat implements [vfs.FS].
func (fs *FS) Stat(name string) (vfs.Info, error) {
	name = path.Clean(name)
	fs.mu.Lock()
	n := fs.nodes[name]
	fs.mu.Unlock()
	if n != nil {
		return (&file{fs: fs, node: n}).Stat()
	}
	if _, err := fs.List(name); err != nil {
		return vfs.Info{}, errs.New(errs.NotFound, "stat", "%q: no such file or folder", name)
	}
	return vfs.Info{Dir: true}, nil
}

// List implements [vfs.FS].
func (fs *FS) List(folder string) ([]string, error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	prefix := path.Clean(folder) + "/"
	switch folder {
	case ".":
		prefix = ""
	case "/":
		prefix = "/"
	}
	var names []string
	for name := range fs.nodes {
		if rest, in := strings.CutPrefix(name, prefix); in && (prefix != "" || !path.IsAbs(name)) {
			names = append(names, strings.Split(rest, "/")[0])
		}
	}
	if names == nil && prefix != "" {
		return nil, errs.New(errs.NotFound, "list", "%q: no such folder", folder)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

type file struct {
	fs    *FS
	node  *node
	write bool
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if off < 0 || off > int64(len(f.node.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.node.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *file) Write(p []byte) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if !f.write {
		return 0, errs.New(errs.InvalidArgument, "write", "the file was opened for reading")
	}
	f.node.data = append(f.node.data, p...)
	f.node.modTime = f.fs.tick()
	return len(p), nil
}

func (f *file) Sync() error  { return nil }
func (f *file) Close() error { return nil }

func (f *file) Stat() (vfs.Info, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	return vfs.Info{Size: int64(len(f.node.data)), ModTime: f.node.modTime}, nil
}
