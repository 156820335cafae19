package vfs

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"infeed/core/errs"
)

// Local returns the file system of the machine.
func Local() FS { return local{} }

type local struct{}

func (local) Open(path string) (File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, wrap(err, "open", path)
	}
	file := &localFile{f, path}
	info, err := file.Stat()
	if err == nil && info.Dir {
		err = wrap(syscall.EISDIR, "open", path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return file, nil
}

func (local) Create(path string) (File, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, wrap(err, "create", path)
	}
	return &localFile{f, path}, nil
}

func (local) Stat(path string) (Info, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Info{}, wrap(err, "stat", path)
	}
	return describe(info), nil
}

func (local) List(path string) ([]string, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, wrap(err, "list", path)
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	slices.Sort(names)
	return names, nil
}

func (local) MakeFolder(path string) error {
	return wrap(os.MkdirAll(path, 0o777), "make folder", path)
}
func (local) Rename(from, to string) error { return wrap(os.Rename(from, to), "rename", from) }
func (local) Link(from, to string) error   { return wrap(os.Link(from, to), "link", to) }
func (local) Remove(path string) error     { return wrap(os.Remove(path), "remove", path) }

func (local) SyncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return wrap(err, "sync", path)
	}
	err = f.Sync()
	return wrap(errors.Join(err, f.Close()), "sync", path)
}

func describe(info os.FileInfo) Info {
	return Info{Size: info.Size(), ModTime: info.ModTime().UnixNano(), Dir: info.IsDir()}
}

// localFile adds the path to the errors of an os.File.
type localFile struct {
	f    *os.File
	path string
}

func (l *localFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := l.f.ReadAt(p, off)
	if err != nil && err != io.EOF {
		return n, &errs.Error{Op: "read", Kind: kindOf(err), Path: l.path, Offset: off + int64(n), Err: reason(err)}
	}
	return n, err
}

func (l *localFile) Write(p []byte) (int, error) {
	n, err := l.f.Write(p)
	return n, wrap(err, "write", l.path)
}

func (l *localFile) Sync() error  { return wrap(l.f.Sync(), "sync", l.path) }
func (l *localFile) Close() error { return wrap(l.f.Close(), "close", l.path) }

func (l *localFile) Stat() (Info, error) {
	info, err := l.f.Stat()
	if err != nil {
		return Info{}, wrap(err, "stat", l.path)
	}
	return describe(info), nil
}

// wrap makes what the system says an error with a kind and advice; nil stays nil.
func wrap(err error, op, path string) error {
	if err == nil {
		return nil
	}
	return errs.Wrap(reason(err), kindOf(err), op, "%q%s", path, advice(err, path))
}

// advices are what to do about errors wherever they come.
var advices = []struct {
	err  error
	text string
}{
	{syscall.EISDIR, " is a folder; give the files in it"},
	{syscall.EMFILE, manyFiles}, {syscall.ENFILE, manyFiles},
	{os.ErrNotExist, " (look at the folder and the name)"},
	{os.ErrPermission, " (look at who may read and write it)"},
	{syscall.ENOSPC, fullDisk}, {syscall.EDQUOT, fullDisk},
	{syscall.EFBIG, " (raise `ulimit -f`, or write to a file system that takes larger files)"},
}

const (
	manyFiles = " (open fewer files at a time, or raise `ulimit -n`)"
	fullDisk  = " (make room on that disk, or write to another one)"
)

// advice returns what to do about an error of a path, or nothing.
func advice(err error, path string) string {
	if errors.Is(err, os.ErrNotExist) {
		switch {
		case strings.Contains(path, "://"):
			return " (a URL: only files of this machine are read; copy or mount them)"
		case strings.ContainsAny(path, "*?["):
			return " (a pattern? This takes names, and list_files gives those that match)"
		case path != "" && !filepath.IsAbs(path):
			if here, err := os.Getwd(); err == nil {
				return " (looked for in " + here + ")"
			}
		}
	}
	for _, a := range advices {
		if errors.Is(err, a.err) {
			return a.text
		}
	}
	return ""
}

// reason drops the operation and path that os puts before the reason.
func reason(err error) error {
	var p *os.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err
	case errors.As(err, &l):
		return l.Err
	}
	return err
}

func kindOf(err error) errs.Kind {
	for _, c := range []struct {
		kind   errs.Kind
		causes []error
	}{
		{errs.NotFound, []error{os.ErrNotExist, syscall.ENOTDIR}},
		{errs.AlreadyExists, []error{os.ErrExist}},
		{errs.InvalidArgument, []error{os.ErrPermission, syscall.EISDIR, syscall.EINVAL, syscall.ENAMETOOLONG, syscall.ELOOP, syscall.ESPIPE, syscall.EROFS}},
		{errs.ResourceExhausted, []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOSPC, syscall.EDQUOT, syscall.ENOMEM, syscall.EFBIG}},
	} {
		for _, cause := range c.causes {
			if errors.Is(err, cause) {
				return c.kind
			}
		}
	}
	return errs.DataLoss
}
