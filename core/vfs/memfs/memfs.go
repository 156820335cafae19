// Package memfs holds files in memory, for tests. Folders are there when a file
// in them is.
//
// [FS.Crash] is what a loss of power may leave: what was synced, and any part of what
// was not.
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

	durable map[string]*node // the names, as their folders were synced
	onSync  func()
}

// node is the content of a file; it lives on in open files when its name is gone.
type node struct {
	data    []byte
	modTime int64
	synced  []byte // what was synced of data
}

// New returns an empty file system.
func New() *FS { return &FS{nodes: map[string]*node{}, durable: map[string]*node{}} }

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

// MakeFolder implements [vfs.FS]: there is nothing to do.
func (fs *FS) MakeFolder(string) error { return nil }

// Rename implements [vfs.FS].
func (fs *FS) Rename(from, to string) error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	from, to = path.Clean(from), path.Clean(to)
	n := fs.nodes[from]
	if n == nil {
		return errs.New(errs.NotFound, "rename", "%q: no such file", from)
	}
	delete(fs.nodes, from)
	fs.nodes[to] = n
	return nil
}

// Link implements [vfs.FS].
func (fs *FS) Link(from, to string) error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	from, to = path.Clean(from), path.Clean(to)
	switch n := fs.nodes[from]; {
	case n == nil:
		return errs.New(errs.NotFound, "link", "%q: no such file", from)
	case fs.nodes[to] != nil:
		return errs.New(errs.AlreadyExists, "link", "%q: there is a file", to)
	default:
		fs.nodes[to] = n
	}
	return nil
}

// Remove implements [vfs.FS].
func (fs *FS) Remove(name string) error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if name = path.Clean(name); fs.nodes[name] == nil {
		return errs.New(errs.NotFound, "remove", "%q: no such file", name)
	}
	delete(fs.nodes, name)
	return nil
}

// SyncFolder implements [vfs.FS].
func (fs *FS) SyncFolder(folder string) error {
	fs.syncs()
	defer fs.syncs()
	fs.mu.Lock()
	defer fs.mu.Unlock()
	folder = path.Clean(folder)
	for name := range fs.durable {
		if path.Dir(name) == folder && fs.nodes[name] == nil {
			delete(fs.durable, name)
		}
	}
	for name, n := range fs.nodes {
		if path.Dir(name) == folder {
			fs.durable[name] = n
		}
	}
	return nil
}

// OnSync has f called before and after each sync; nil: nothing.
func (fs *FS) OnSync(f func()) { fs.onSync = f }

func (fs *FS) syncs() {
	if fs.onSync != nil {
		fs.onSync()
	}
}

// Crash returns a file system as a loss of power may leave this one. choose(n) returns
// a number below n, for each thing that may or may not have reached the disk: names
// whose folder was not synced, and how much of a file was written beyond its last sync.
func (fs *FS) Crash(choose func(n int) int) *FS {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	names := map[string]bool{}
	for name := range fs.nodes {
		names[name] = true
	}
	for name := range fs.durable {
		names[name] = true
	}
	ordered := make([]string, 0, len(names))
	for name := range names {
		ordered = append(ordered, name)
	}
	slices.Sort(ordered)
	out := New()
	kept := map[*node]*node{}
	for _, name := range ordered {
		n := fs.durable[name]
		if now := fs.nodes[name]; now != n && choose(2) == 1 {
			n = now
		}
		if n == nil {
			continue
		}
		if kept[n] == nil {
			kept[n] = n.crashed(choose)
		}
		out.nodes[name], out.durable[name] = kept[n], kept[n]
	}
	return out
}

func (n *node) crashed(choose func(n int) int) *node {
	data := slices.Clone(n.synced)
	if more := len(n.data) - len(data); more > 0 {
		data = append(data, n.data[len(data):len(data)+choose(more+1)]...)
		if at := len(n.synced); at < len(data) && choose(4) == 0 { // its place is there, not what was written
			data[at+choose(len(data)-at)] ^= 0x5a
		}
	}
	return &node{data: data, modTime: n.modTime, synced: slices.Clone(data)}
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

// Sync implements [vfs.File].
func (f *file) Sync() error {
	f.fs.syncs()
	defer f.fs.syncs()
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	f.node.synced = slices.Clone(f.node.data)
	return nil
}

func (f *file) Close() error { return nil }

func (f *file) Stat() (vfs.Info, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	return vfs.Info{Size: int64(len(f.node.data)), ModTime: f.node.modTime}, nil
}
