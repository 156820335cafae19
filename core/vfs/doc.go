// Package vfs is the only package of infeed that opens files.
//
// An [FS] is what the engine needs of a file system and no more; [Local] is the
// machine's own. Package memfs holds files in memory, and faultfs makes single
// operations fail, so that tests meet what disks do rarely.
//
// Every error is one of core/errs that names the path: NotFound, AlreadyExists,
// InvalidArgument for what cannot be read as a file, ResourceExhausted where
// descriptors or space run out, DataLoss for the rest. The end of a file is a bare
// io.EOF.
//
// A path is a path: no character of it is special. [Glob] is for callers who ask
// for a pattern.
package vfs

import "io"

// FS is a file system. Any number of goroutines may use it.
type FS interface {
	// Open opens a file for reading.
	Open(path string) (File, error)
	// Create opens a file for writing; it is new, or what it held is gone.
	Create(path string) (File, error)
	// Stat describes what is at a path.
	Stat(path string) (Info, error)
	// List returns the names in a folder, sorted.
	List(path string) ([]string, error)
	// MakeFolder makes a folder, and those above it that are not there yet.
	MakeFolder(path string) error
	// Rename gives a file another name; what had that name is gone.
	Rename(from, to string) error
	// Link gives a file one name more, which nothing has yet: else AlreadyExists.
	Link(from, to string) error
	// Remove takes the name of a file, or an empty folder, away.
	Remove(path string) error
	// SyncFolder returns when the names in a folder would survive a loss of power.
	SyncFolder(path string) error
}

// File is an open file. What it was opened for is all it can do. Any number of
// goroutines may call ReadAt.
type File interface {
	io.ReaderAt
	io.Writer
	io.Closer
	// Sync returns when what was written would survive a loss of power.
	Sync() error
	// Stat describes the file as it is now.
	Stat() (Info, error)
}

// Info describes a file or folder.
type Info struct {
	Size    int64
	ModTime int64 // nanoseconds since 1970
	Dir     bool
}
