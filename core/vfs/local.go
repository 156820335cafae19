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
	advice := ""
	absent := errors.Is(err, os.ErrNotExist)
	switch {
	case absent && strings.Contains(path, "://"):
		advice = " (a URL: only files of this machine are read; copy or mount them)"
	case absent && strings.ContainsAny(path, "*?["):
		advice = " (a pattern? This takes names, and list_files gives those that match)"
	case absent && path != "" && !filepath.IsAbs(path):
		if here, hereErr := os.Getwd(); hereErr == nil {
			advice = " (looked for in " + here + ")"
		}
	case errors.Is(err, syscall.EISDIR):
		advice = " is a folder; give the files in it"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		advice = " (open fewer files at a time, or raise `ulimit -n`)"
	case errors.Is(err, os.ErrNotExist):
		advice = " (look at the folder and the name)"
	case errors.Is(err, os.ErrPermission):
		advice = " (look at who may read and write it)"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		advice = " (make room on that disk, or write to another one)"
	case errors.Is(err, syscall.EFBIG):
		advice = " (raise `ulimit -f`, or write to a file system that takes larger files)"
	}
	return errs.Wrap(reason(err), kindOf(err), op, "%q%s", path, advice)
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
