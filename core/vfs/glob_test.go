package vfs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/errs"
	"infeed/core/vfs"
	"infeed/core/vfs/faultfs"
	"infeed/core/vfs/memfs"
)

// The names and what patterns find among them are those that TensorFlow 2.21 was
// asked about, in the same order.
func TestGlobFindsWhatTensorFlowFinds(t *testing.T) {
	fs := memfs.New()
	for _, name := range []string{"a.txt", "b.txt", ".hid", "d1/x.txt", "d2/e/y.txt", "b[m]/z", "c{1}", "ca", "cb", "q*", "n-1", "n!1", `q\x`, "/w/a.txt", "/w/b.txt"} {
		fs.Set(name, nil)
	}
	for pattern, want := range map[string][]string{
		"*":          {"./.hid", "./a.txt", "./b.txt", "./b[m]", "./ca", "./cb", "./c{1}", "./d1", "./d2", "./n!1", "./n-1", "./q*", `./q\x`},
		"?.txt":      {"./a.txt", "./b.txt"},
		"c{a,b}":     nil,
		"c[ab]":      {"./ca", "./cb"},
		"c{1}":       {"c{1}"},
		"d*/*":       {"./d1/x.txt", "./d2/e"},
		"**/*.txt":   {"./d1/x.txt"},
		"b[m]/*":     nil,
		`b\[m\]/*`:   {"./b[m]/z"},
		"b[[]m]/z":   {"./b[m]/z"},
		".h*":        {"./.hid"},
		"n[!!]1":     {"./n-1"},
		"n[^!]1":     {"./n-1"},
		"n[-x]1":     {"./n-1"},
		`q\*`:        {"./q*"},
		`q\\x`:       {`./q\x`},
		"*/":         {"./.hid", "./a.txt", "./b.txt", "./b[m]", "./ca", "./cb", "./c{1}", "./d1", "./d2", "./n!1", "./n-1", "./q*", `./q\x`},
		"./*.txt":    {"./a.txt", "./b.txt"},
		"d2/*/y.txt": {"d2/e/y.txt"},
		"nomatch*":   nil,
		"nofile":     nil,
		"a.txt":      {"a.txt"},
		"[a":         nil,
		"/w/*.txt":   {"/w/a.txt", "/w/b.txt"},
		"/w//*.txt":  {"/w/a.txt", "/w/b.txt"},
		"[a-b].txt":  {"./a.txt", "./b.txt"},
		"[]a].txt":   {"./a.txt"},
		"*/e/*":      {"./d2/e/y.txt"},
		"*/e/absent": nil,
	} {
		found, err := vfs.Glob(fs, pattern)
		require.NoError(t, err, pattern)
		if want == nil {
			require.Empty(t, found, pattern)
		} else {
			require.Equal(t, want, found, pattern)
		}
	}
}

func TestGlobTellsOfFoldersItCannotRead(t *testing.T) {
	fs := memfs.New()
	fs.Set("a/b/c", nil)
	for n := range 4 {
		faulty := faultfs.New(fs, n)
		_, err := vfs.Glob(faulty, "a/*/c")
		if faulty.Failed() {
			require.Equal(t, errs.DataLoss, errs.KindOf(err), "operation %d", n)
		} else {
			require.Equal(t, 3, n)
		}
	}
}

func FuzzGlob(f *testing.F) {
	for _, s := range []string{"a*b", "[a-z]?", `\[*\]`, "[!]a]", "[", "é?", "*****************a"} {
		f.Add(s, "name")
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		fs := memfs.New()
		fs.Set("folder/"+name, nil)
		_, err := vfs.Glob(fs, "folder/"+pattern)
		require.NoError(t, err)
	})
}
