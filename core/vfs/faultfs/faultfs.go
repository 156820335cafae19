// Package faultfs makes one operation of a file system fail, for tests that do so
// with every operation in turn:
//
//	for n := 0; ; n++ {
//		fs := faultfs.New(inner, n)
//		... // what is tested succeeds, or fails with a clear error
//		if !fs.Failed() {
//			break
//		}
//	}
package faultfs

import (
	"sync/atomic"

	"infeed/core/errs"
	"infeed/core/vfs"
)

// FS passes operations on and fails one of them.
type FS struct {
	inner vfs.FS
	left  atomic.Int64
}

// New returns a file system like inner whose n-th operation, from 0, fails. The
// operations are those of [vfs.FS] and of the files it opens.
func New(inner vfs.FS, n int) *FS {
	fs := &FS{inner: inner}
	fs.left.Store(int64(n))
	return fs
}

// Steps returns how many operations there were, when none failed and n was given to New.
func (fs *FS) Steps(n int) int { return n - int(fs.left.Load()) }

// Failed tells whether the operation that was to fail has failed.
func (fs *FS) Failed() bool { return fs.left.Load() < 0 }

func (fs *FS) step(op string) error {
	if fs.left.Add(-1) == -1 {
		return errs.New(errs.DataLoss, op, "injected fault")
	}
	return nil
}

// Open implements [vfs.FS].
func (fs *FS) Open(path string) (vfs.File, error) {
	if err := fs.step("open"); err != nil {
		return nil, err
	}
	return fs.file(fs.inner.Open(path))
}

// Create implements [vfs.FS].
func (fs *FS) Create(path string) (vfs.File, error) {
	if err := fs.step("create"); err != nil {
		return nil, err
	}
	return fs.file(fs.inner.Create(path))
}

// Stat implements [vfs.FS].
func (fs *FS) Stat(path string) (vfs.Info, error) {
	if err := fs.step("stat"); err != nil {
		return vfs.Info{}, err
	}
	return fs.inner.Stat(path)
}

// List implements [vfs.FS].
func (fs *FS) List(path string) ([]string, error) {
	if err := fs.step("list"); err != nil {
		return nil, err
	}
	return fs.inner.List(path)
}

// MakeFolder implements [vfs.FS].
func (fs *FS) MakeFolder(path string) error {
	if err := fs.step("make folder"); err != nil {
		return err
	}
	return fs.inner.MakeFolder(path)
}

// Rename implements [vfs.FS].
func (fs *FS) Rename(from, to string) error {
	if err := fs.step("rename"); err != nil {
		return err
	}
	return fs.inner.Rename(from, to)
}

// Link implements [vfs.FS].
func (fs *FS) Link(from, to string) error {
	if err := fs.step("link"); err != nil {
		return err
	}
	return fs.inner.Link(from, to)
}

// Remove implements [vfs.FS].
func (fs *FS) Remove(path string) error {
	if err := fs.step("remove"); err != nil {
		return err
	}
	return fs.inner.Remove(path)
}

// SyncFolder implements [vfs.FS].
func (fs *FS) SyncFolder(path string) error {
	if err := fs.step("sync"); err != nil {
		return err
	}
	return fs.inner.SyncFolder(path)
}

func (fs *FS) file(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return &file{f, fs}, nil
}

type file struct {
	vfs.File
	fs *FS
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if err := f.fs.step("read"); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

// Write that fails has written half.
func (f *file) Write(p []byte) (int, error) {
	if err := f.fs.step("write"); err != nil {
		n, _ := f.File.Write(p[:len(p)/2])
		return n, err
	}
	return f.File.Write(p)
}

func (f *file) Sync() error {
	if err := f.fs.step("sync"); err != nil {
		return err
	}
	return f.File.Sync()
}

// Close that fails has closed.
func (f *file) Close() error {
	err := f.fs.step("close")
	if inner := f.File.Close(); err == nil {
		err = inner
	}
	return err
}

func (f *file) Stat() (vfs.Info, error) {
	if err := f.fs.step("stat"); err != nil {
		return vfs.Info{}, err
	}
	return f.File.Stat()
}
