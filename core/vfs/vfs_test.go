package vfs_test

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/errs"
	"infeed/core/vfs"
	"infeed/core/vfs/faultfs"
	"infeed/core/vfs/memfs"
)

// systems are the file systems that must behave alike.
func systems(t *testing.T) map[string]struct {
	vfs.FS
	folder string
} {
	return map[string]struct {
		vfs.FS
		folder string
	}{"local": {vfs.Local(), t.TempDir()}, "memory": {memfs.New(), "/folder"}}
}

func write(t *testing.T, fs vfs.FS, path, text string) {
	t.Helper()
	f, err := fs.Create(path)
	require.NoError(t, err)
	n, err := f.Write([]byte(text))
	require.NoError(t, err)
	require.Equal(t, len(text), n)
	require.NoError(t, f.Sync())
	require.NoError(t, f.Close())
}

func TestFilesAreReadBack(t *testing.T) {
	for name, fs := range systems(t) {
		path := filepath.Join(fs.folder, "train[m]_*{1}")
		write(t, fs, path, "to be replaced")
		write(t, fs, path, "hello")
		f, err := fs.Open(path)
		require.NoError(t, err, name)
		p := make([]byte, 10)
		n, err := f.ReadAt(p, 1)
		require.Equal(t, io.EOF, err, name)
		require.Equal(t, "ello", string(p[:n]), name)
		n, err = f.ReadAt(p, 99)
		require.Equal(t, io.EOF, err, name)
		require.Zero(t, n, name)
		n, err = f.ReadAt(p[:2], 0)
		require.NoError(t, err, name)
		require.Equal(t, "he", string(p[:n]), name)
		ofFile, err := f.Stat()
		require.NoError(t, err)
		require.Equal(t, int64(5), ofFile.Size)
		ofPath, err := fs.Stat(path)
		require.NoError(t, err)
		require.Equal(t, ofFile, ofPath, name)
		_, err = f.Write([]byte("x"))
		require.Error(t, err, "%s: opened for reading", name)
		require.NoError(t, f.Close())
		folder, err := fs.Stat(fs.folder)
		require.NoError(t, err)
		require.True(t, folder.Dir, name)
		names, err := fs.List(fs.folder)
		require.NoError(t, err)
		require.Equal(t, []string{"train[m]_*{1}"}, names)
	}
}

func TestAbsentFilesAreNotFound(t *testing.T) {
	for name, fs := range systems(t) {
		path := filepath.Join(fs.folder, "absent")
		_, err := fs.Open(path)
		require.Equal(t, errs.NotFound, errs.KindOf(err), name)
		require.ErrorContains(t, err, `"`+path+`"`)
		_, err = fs.Stat(path)
		require.Equal(t, errs.NotFound, errs.KindOf(err), name)
		_, err = fs.List(path)
		require.Equal(t, errs.NotFound, errs.KindOf(err), name)
	}
	_, err := vfs.Local().Open("absent")
	here, _ := os.Getwd()
	require.ErrorContains(t, err, "looked for in "+here)
	_, err = vfs.Local().Open(filepath.Join(t.TempDir(), "part-*"))
	require.ErrorContains(t, err, "list_files gives those that match")
	_, err = vfs.Local().Open("gs://bucket/part-0")
	require.ErrorContains(t, err, "only files of this machine are read")
	_, err = vfs.Local().Create(filepath.Join(t.TempDir(), "absent", "x"))
	require.Equal(t, errs.NotFound, errs.KindOf(err))
}

func TestErrorsOfTheMachineHaveKinds(t *testing.T) {
	fs, folder := vfs.Local(), t.TempDir()
	_, err := fs.Open(folder)
	require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
	require.ErrorContains(t, err, "is a folder")
	_, err = fs.Open(filepath.Join(folder, string(make([]byte, 300))))
	require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
	full, err := fs.Create("/dev/full")
	require.NoError(t, err)
	_, err = full.Write([]byte("x"))
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.ErrorContains(t, err, `"/dev/full" (make room on that disk, or write to another one): no space left`)
	require.Equal(t, errs.ResourceExhausted, errs.KindOf(err))
	require.NoError(t, full.Close())
	_, err = full.Write([]byte("x"))
	require.ErrorContains(t, err, `write: "/dev/full": file already closed`)
}

func TestTooManyOpenFilesSayWhatToDo(t *testing.T) {
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	low := syscall.Rlimit{Cur: 3, Max: limit.Max}
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low))
	_, err := vfs.Local().Open("/dev/null")
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit))
	require.Equal(t, errs.ResourceExhausted, errs.KindOf(err))
	require.ErrorContains(t, err, "ulimit -n")
}

func TestEveryOperationCanFail(t *testing.T) {
	failed := map[string]bool{}
	for n := 0; ; n++ {
		mem := memfs.New()
		mem.Set("a", []byte("hello"))
		fs := faultfs.New(mem, n)
		if err := everything(fs); err != nil {
			require.ErrorContains(t, err, "injected fault")
			require.True(t, fs.Failed())
			failed[err.(*errs.Error).Op] = true
		}
		if !fs.Failed() {
			require.Equal(t, 9, n)
			break
		}
		if n == 5 { // the write
			require.Equal(t, "n", string(mem.Bytes("b")), "half of it")
		}
	}
	require.Len(t, failed, 8)
}

func everything(fs vfs.FS) error {
	_, err := fs.Stat("a")
	if err != nil {
		return err
	}
	if _, err := fs.List("."); err != nil {
		return err
	}
	f, err := fs.Open("a")
	if err != nil {
		return err
	}
	if _, err := f.ReadAt(make([]byte, 2), 0); err != nil {
		return err
	}
	g, err := fs.Create("b")
	if err != nil {
		return err
	}
	if _, err := g.Write([]byte("no")); err != nil {
		return err
	}
	if err := g.Sync(); err != nil {
		return err
	}
	if _, err := g.Stat(); err != nil {
		return err
	}
	return g.Close()
}

func TestNamesChange(t *testing.T) {
	for name, fs := range systems(t) {
		at := func(file string) string { return filepath.Join(fs.folder, "deep", "er", file) }
		require.NoError(t, fs.MakeFolder(filepath.Join(fs.folder, "deep", "er")), name)
		require.NoError(t, fs.MakeFolder(filepath.Join(fs.folder, "deep", "er")), name)
		write(t, fs, at("a"), "one")
		write(t, fs, at("b"), "two")
		require.Equal(t, errs.AlreadyExists, errs.KindOf(fs.Link(at("a"), at("b"))), name)
		require.NoError(t, fs.Link(at("a"), at("c")), name)
		require.NoError(t, fs.Rename(at("b"), at("a")), name)
		require.NoError(t, fs.SyncFolder(filepath.Dir(at("a"))), name)
		names, err := fs.List(filepath.Dir(at("a")))
		require.NoError(t, err, name)
		require.Equal(t, []string{"a", "c"}, names, name)
		require.Equal(t, "two", content(t, fs, at("a")), name)
		require.Equal(t, "one", content(t, fs, at("c")), name)
		require.NoError(t, fs.Remove(at("c")), name)
		for _, err := range []error{fs.Remove(at("c")), fs.Rename(at("c"), at("d")), fs.Link(at("c"), at("d"))} {
			require.Equal(t, errs.NotFound, errs.KindOf(err), name)
			require.ErrorContains(t, err, "no such file", name)
		}
	}
}

func content(t *testing.T, fs vfs.FS, path string) string {
	t.Helper()
	f, err := fs.Open(path)
	require.NoError(t, err)
	defer f.Close()
	p := make([]byte, 100)
	n, err := f.ReadAt(p, 0)
	require.Equal(t, io.EOF, err)
	return string(p[:n])
}

// What was synced is there after a crash; what was not may be, in part.
func TestCrash(t *testing.T) {
	fs := memfs.New()
	write(t, fs, "/d/synced", "abc")
	require.NoError(t, fs.SyncFolder("/d"))
	write(t, fs, "/d/nameless", "xyz")
	require.NoError(t, fs.Rename("/d/synced", "/d/renamed"))
	f, err := fs.Create("/d/open")
	require.NoError(t, err)
	_, err = f.Write([]byte("12345"))
	require.NoError(t, err)

	least := fs.Crash(func(int) int { return 0 })
	require.Equal(t, "abc", content(t, least, "/d/synced"))
	for _, gone := range []string{"/d/nameless", "/d/renamed", "/d/open"} {
		require.Nil(t, least.Bytes(gone))
	}
	most := fs.Crash(func(n int) int { return n - 1 })
	require.Nil(t, most.Bytes("/d/synced"))
	require.Equal(t, "abc", content(t, most, "/d/renamed"))
	require.Equal(t, "xyz", content(t, most, "/d/nameless"))
	require.Equal(t, "12345", content(t, most, "/d/open"))
}
