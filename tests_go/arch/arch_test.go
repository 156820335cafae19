// Package arch holds the architecture of infeed as rules over its source.
package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../.."

// levels is the order of the packages: each may import those on lines above its
// own, and the standard library. A sub-package belongs to its parent and may
// import it.
const levels = `
	errs
	invariant spec
	vfs par kernel codec
	block csvtext rng
	record tfproto state arena
	dataset
	source transform op snapshot feed
	pipeline
	capi
`

// proving tells whether a package is there for tests only, such as datasettest. It
// may use what tests use, and no product package may import it.
func proving(folder string) bool { return strings.HasSuffix(folder, "test") }

// exempt is what single packages may do that others may not.
var exempt = map[string][]string{
	"starts goroutines": {"core/par"},
	"imports C":         {"core/kernel", "capi"},
	"opens files":       {"core/vfs"},
}

// openers are the functions that open or make files by name. Descriptors that a
// package was given, or made in memory, are not files.
var openers = map[string][]string{
	"os":        {"Open", "OpenFile", "Create", "CreateTemp", "ReadFile", "WriteFile", "Mkdir", "MkdirAll", "MkdirTemp", "Rename", "Remove", "RemoveAll", "ReadDir", "Truncate", "Link", "Symlink", "OpenRoot", "DirFS"},
	"syscall":   {"Open", "Openat", "Creat", "Mkdir", "Rename", "Unlink"},
	"io/ioutil": {"ReadFile", "WriteFile", "ReadDir", "TempFile", "TempDir"},
}

// file is one parsed source file that goes into the product.
type file struct {
	pkg  string // folder from the root, with slashes
	name string
	ast  *ast.File
}

func sources(t *testing.T) []file {
	t.Helper()
	var out []file
	fset := token.NewFileSet()
	for _, top := range []string{"core", "capi"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			parsed, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
			if err != nil {
				return err
			}
			where, err := filepath.Rel(root, filepath.Dir(path))
			out = append(out, file{filepath.ToSlash(where), filepath.Base(path), parsed})
			return err
		})
		require.NoError(t, err)
	}
	require.NotEmpty(t, out)
	return out
}

// name is what levels calls a package.
func name(folder string) string {
	return strings.Split(strings.TrimPrefix(folder, "core/"), "/")[0]
}

func levelOf(folder string) (int, bool) {
	for i, line := range strings.Split(strings.TrimSpace(levels), "\n") {
		if slices.Contains(strings.Fields(line), name(folder)) {
			return i, true
		}
	}
	return 0, false
}

// complaints returns what the rules have against a file.
func complaints(f file) []string {
	var out []string
	level, known := levelOf(f.pkg)
	if !known {
		return []string{"the package has no place in levels"}
	}
	for _, spec := range f.ast.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		if path == "C" {
			out = append(out, forbidden("imports C", f)...)
			continue
		}
		inside, found := strings.CutPrefix(path, "infeed/")
		if !found {
			if strings.Contains(strings.Split(path, "/")[0], ".") && !allowedModule(path) && !proving(f.pkg) {
				out = append(out, "imports "+path+", which infeed does not depend on")
			}
			if path == "golang.org/x/sync/errgroup" {
				out = append(out, forbidden("starts goroutines", f)...)
			}
			continue
		}
		theirs, _ := levelOf(inside)
		ownParent := name(inside) == name(f.pkg) && strings.HasPrefix(f.pkg, inside+"/")
		if proving(inside) {
			out = append(out, "imports "+inside+", which is for tests")
		}
		if theirs >= level && !ownParent {
			out = append(out, "imports "+inside+", which is not below it")
		}
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			out = append(out, forbidden("starts goroutines", f)...)
		case *ast.SelectorExpr:
			if opens(f.ast, n) {
				out = append(out, forbidden("opens files", f)...)
			}
		}
		return true
	})
	return out
}

// modules are the dependencies of the product, by the beginning of their path.
var modules = []string{"github.com/klauspost/compress"}

func allowedModule(path string) bool {
	return slices.ContainsFunc(modules, func(m string) bool { return path == m || strings.HasPrefix(path, m+"/") })
}

func forbidden(what string, f file) []string {
	if slices.Contains(exempt[what], f.pkg) || proving(f.pkg) {
		return nil
	}
	return []string{what + "; only " + strings.Join(exempt[what], " and ") + " may"}
}

// opens tells whether s is a call or mention of a function that opens files.
func opens(f *ast.File, s *ast.SelectorExpr) bool {
	id, ok := s.X.(*ast.Ident)
	if !ok {
		return false
	}
	for _, spec := range f.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		local := path[strings.LastIndex(path, "/")+1:]
		if spec.Name != nil {
			local = spec.Name.Name
		}
		if local == id.Name && slices.Contains(openers[path], s.Sel.Name) {
			return true
		}
	}
	return false
}

func TestEveryFileKeepsToTheRules(t *testing.T) {
	for _, f := range sources(t) {
		for _, c := range complaints(f) {
			t.Errorf("%s/%s %s", f.pkg, f.name, c)
		}
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	said := map[string]int{}
	for _, f := range sources(t) {
		said[f.pkg] += 0
		if f.ast.Doc != nil {
			said[f.pkg]++
			text := f.ast.Doc.Text()
			first := "Package " + f.ast.Name.Name + " "
			if f.ast.Name.Name == "main" {
				first = "Command " + filepath.Base(f.pkg) + " "
			}
			require.True(t, strings.HasPrefix(text, first), "%s: the comment of the package begins with %.40q, not %q", f.pkg, text, first)
		}
	}
	for pkg, n := range said {
		require.Equal(t, 1, n, "%s has %d package comments; it needs one", pkg, n)
	}
}

// Folders that hold no product have no place here by mistake.
func TestNoPackageIsCalledAfterNothing(t *testing.T) {
	for _, f := range sources(t) {
		for _, bad := range []string{"util", "utils", "common", "helper", "helpers", "misc", "base"} {
			require.NotEqual(t, bad, filepath.Base(f.pkg))
		}
	}
	_, err := os.Stat(filepath.Join(root, "core"))
	require.NoError(t, err)
}
