// Package testkit finds the files that tests read.
//
// testdata/tf holds files that TensorFlow wrote, with what they hold. Files of other
// projects are not copied into this one: they lie in the folder shared beside the
// checkout, or where the environment variable INFEED_SHARED says. Where that folder
// is absent, tests that need it are skipped and say so.
package testkit

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Root returns the folder of the checkout.
func Root(t testing.TB) string {
	t.Helper()
	folder, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder
		}
		if filepath.Dir(folder) == folder {
			break
		}
		folder = filepath.Dir(folder)
	}
	t.Fatalf("no go.mod above the folder of the test (%v)", err)
	return ""
}

// TF returns the path of a file below testdata/tf.
func TF(t testing.TB, name string) string {
	t.Helper()
	return filepath.Join(Root(t), "testdata", "tf", filepath.FromSlash(name))
}

// Shared returns the path of a file in the shared folder, and skips the test if
// there is no such folder.
func Shared(t testing.TB, name string) string {
	t.Helper()
	folder := os.Getenv("INFEED_SHARED")
	if folder == "" {
		folder = filepath.Join(filepath.Dir(Root(t)), "shared")
	}
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("needs files of other projects, which are not in %s (INFEED_SHARED names another folder)", folder)
	}
	return filepath.Join(folder, filepath.FromSlash(name))
}

// JSON reads a file of JSON into v; numbers without a type stay exact.
func JSON(t testing.TB, path string, v any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		err = d.Decode(v)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// NPZ returns what the arrays of a file that numpy.savez wrote hold, by their names.
func NPZ(t testing.TB, path string) map[string][]byte {
	t.Helper()
	file, err := zip.OpenReader(path)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	defer file.Close()
	out := map[string][]byte{}
	for _, entry := range file.File {
		r, err := entry.Open()
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		data, err := io.ReadAll(r)
		const head = 10 // mark, version, and in two bytes the size of what describes the array
		if err != nil || len(data) < head || data[6] != 1 {
			t.Fatalf("%s: %s is no array of version 1 (%v)", path, entry.Name, err)
		}
		out[strings.TrimSuffix(entry.Name, ".npy")] = data[head+int(binary.LittleEndian.Uint16(data[8:])):]
	}
	return out
}
