package source

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/codec"
	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/record"
	"infeed/core/rng"
	"infeed/core/vfs"
	"infeed/core/vfs/memfs"
)

// on is a dataset whose files are in a file system of its own.
type on struct {
	dataset.Definition
	fs vfs.FS
}

func (o on) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	s.FS = o.fs
	return o.Definition.Iterate(s, pass, from)
}

// texts reads a pass over a dataset of texts; errors are written as "!" and what they
// say.
func texts(t testing.TB, d dataset.Definition) []string {
	t.Helper()
	out := []string{}
	for _, e := range datasettest.ReadAll(t, d, dataset.PassKey(0), 1<<40) {
		if e.Err != "" {
			out = append(out, "!"+e.Err)
		} else {
			out = append(out, e.Texts[0][0])
		}
	}
	return out
}

// tfrecord writes a TFRecord file.
func tfrecord(t testing.TB, fs vfs.FS, path string, kind codec.Kind, records ...string) {
	t.Helper()
	w, err := record.NewWriter(fs, path, kind, codec.DefaultLevel)
	require.NoError(t, err)
	for _, r := range records {
		require.NoError(t, w.Write([]byte(r)))
	}
	require.NoError(t, w.Close())
}

// pack compresses text.
func pack(t testing.TB, kind codec.Kind, text string) []byte {
	t.Helper()
	var b strings.Builder
	w, err := codec.NewWriter(&b, kind, codec.DefaultLevel)
	require.NoError(t, err)
	_, err = w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return []byte(b.String())
}

// numbered returns n records of several lengths, the empty one among them.
func numbered(name string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = strings.Repeat(fmt.Sprint(name, i, "."), i%5)
	}
	return out
}

// kinds are the three sources of records over the same records, and how to write them.
func kinds(t testing.TB) map[string]struct {
	open  func(f Files) (dataset.Definition, error)
	write func(fs *memfs.FS, path string, kind codec.Kind, records ...string)
} {
	type source = struct {
		open  func(f Files) (dataset.Definition, error)
		write func(fs *memfs.FS, path string, kind codec.Kind, records ...string)
	}
	return map[string]source{
		"TFRecord": {TFRecord, func(fs *memfs.FS, path string, kind codec.Kind, records ...string) {
			tfrecord(t, fs, path, kind, records...)
		}},
		"TextLine": {TextLine, func(fs *memfs.FS, path string, kind codec.Kind, records ...string) {
			fs.Set(path, pack(t, kind, strings.Join(records, "\r\n")+"\n"))
		}},
		"FixedLength": {func(f Files) (dataset.Definition, error) { return FixedLength(f, 20, 3, 2) },
			func(fs *memfs.FS, path string, kind codec.Kind, records ...string) {
				text := "hhh"
				for _, r := range records {
					text += fmt.Sprintf("%-20.20s", r)
				}
				fs.Set(path, pack(t, kind, text+"ff"))
			}},
	}
}

// counted is a file system that counts open files.
type counted struct {
	vfs.FS
	open, most atomic.Int64
}

func (c *counted) Open(path string) (vfs.File, error) {
	f, err := c.FS.Open(path)
	if err != nil {
		return nil, err
	}
	if n := c.open.Add(1); n > c.most.Load() {
		c.most.Store(n)
	}
	return &countedFile{f, c}, nil
}

type countedFile struct {
	vfs.File
	c *counted
}

func (f *countedFile) Close() error {
	f.c.open.Add(-1)
	return f.File.Close()
}

func asJSON(t testing.TB, token *dataset.Token) string {
	t.Helper()
	b, err := json.Marshal(token)
	require.NoError(t, err)
	return string(b)
}
