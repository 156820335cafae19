// Package api holds the exported names of the packages under core against
// api/go.txt, so that a name is added or taken away on purpose only.
//
// The list has a line for every exported constant, variable, function, type,
// method (of interfaces too) and struct field, in every build. After a wanted
// change it is written anew by
//
//	INFEED_UPDATE_API=1 go test ./tests_go/api
package api

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	root = "../.."
	list = root + "/api/go.txt"
)

func TestExportedNamesAreTheListedOnes(t *testing.T) {
	names, err := exported(filepath.Join(root, "core"))
	require.NoError(t, err)
	if os.Getenv("INFEED_UPDATE_API") != "" {
		require.NoError(t, os.WriteFile(list, []byte(strings.Join(names, "\n")+"\n"), 0o644))
	}
	b, err := os.ReadFile(list)
	require.NoError(t, err)
	listed := strings.Split(string(bytes.TrimSpace(b)), "\n")
	advice := "if this is wanted, run `make api` and commit api/go.txt"
	require.Empty(t, strings.Join(without(names, listed), "\n"), "exported, but not in api/go.txt: "+advice)
	require.Empty(t, strings.Join(without(listed, names), "\n"), "in api/go.txt, but not exported any more: "+advice)
}

func TestNamesOfEveryKindAreFound(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "", `package p
		const A, b = 1, 2
		var C int
		func D() {}
		func e() {}
		type F struct { G, h int; I; *J }
		func (f *F) K() {}
		func (f F) l() {}
		type M interface { N(); o(); P }
		type Q[T any] struct{}
		func (q Q[T]) R() {}
		type s struct { T int }
		func (s) U() {}
		type V = F`, 0)
	require.NoError(t, err)
	require.Equal(t, []string{
		"const A", "var C", "func D", "type F", "field F.G", "field F.I", "field F.J", "method F.K",
		"type M", "method M.N", "method M.P", "type Q", "method Q.R", "type V",
	}, fileNames(file))
}

// exported returns the sorted lines for the packages below folder.
func exported(folder string) ([]string, error) {
	var lines []string
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		where, err := filepath.Rel(root, filepath.Dir(path))
		for _, name := range fileNames(file) {
			lines = append(lines, filepath.ToSlash(where)+" "+name)
		}
		return err
	})
	slices.Sort(lines)
	return slices.Compact(lines), err
}

// fileNames returns the exported names that a file declares, with their kinds.
func fileNames(file *ast.File) []string {
	var names []string
	add := func(kind, owner string, identifiers ...*ast.Ident) {
		for _, id := range identifiers {
			if id.IsExported() {
				names = append(names, kind+" "+owner+id.Name)
			}
		}
	}
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				add("func", "", d.Name)
			} else if owner := baseName(d.Recv.List[0].Type); owner.IsExported() {
				add("method", owner.Name+".", d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.ValueSpec:
					add(d.Tok.String(), "", s.Names...)
				case *ast.TypeSpec:
					add("type", "", s.Name)
					if s.Name.IsExported() {
						addMembers(add, s)
					}
				}
			}
		}
	}
	return names
}

func addMembers(add func(kind, owner string, identifiers ...*ast.Ident), s *ast.TypeSpec) {
	var kind string
	var fields *ast.FieldList
	switch t := s.Type.(type) {
	case *ast.StructType:
		kind, fields = "field", t.Fields
	case *ast.InterfaceType:
		kind, fields = "method", t.Methods
	default:
		return
	}
	for _, f := range fields.List {
		if id := baseName(f.Type); len(f.Names) == 0 && id != nil { // embedded
			add(kind, s.Name.Name+".", id)
		}
		add(kind, s.Name.Name+".", f.Names...)
	}
}

// baseName returns the name of a type without pointer, package and type
// parameters; nil where it has none, such as a union of types.
func baseName(e ast.Expr) *ast.Ident {
	switch t := e.(type) {
	case *ast.Ident:
		return t
	case *ast.StarExpr:
		return baseName(t.X)
	case *ast.SelectorExpr:
		return t.Sel
	case *ast.IndexExpr:
		return baseName(t.X)
	case *ast.IndexListExpr:
		return baseName(t.X)
	}
	return nil
}

func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}
