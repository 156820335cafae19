package arch

import (
	"go/parser"
	"go/token"
	"testing"

	"github.com/stretchr/testify/require"
)

// The rules find what they are there to find.
func TestRulesFindWhatIsWrong(t *testing.T) {
	for want, c := range map[string]struct{ pkg, source string }{
		"imports core/pipeline, which is not below it":   {"core/rng", `package rng; import "infeed/core/pipeline"`},
		"imports core/kernel, which is not below it":     {"core/codec", `package codec; import "infeed/core/kernel"`},
		"imports core/vfs/memfs, which is not below":     {"core/vfs", `package vfs; import "infeed/core/vfs/memfs"`},
		"has no place in levels":                         {"core/soup", `package soup`},
		"starts goroutines; only core/par may":           {"core/feed", `package feed; func f() { go f() }`},
		"imports C; only core/kernel and capi may":       {"core/feed", `package feed; import "C"`},
		"opens files; only core/vfs may":                 {"core/feed", `package feed; import "os"; func f() { os.Open("x") }`},
		"opens files; only core/vfs":                     {"core/feed", `package feed; import o "os"; var f = o.ReadFile`},
		"imports core/dataset/datasettest, which is for": {"core/pipeline", `package pipeline; import "infeed/core/dataset/datasettest"`},
		"which infeed does not depend on":                {"core/feed", `package feed; import "github.com/pkg/errors"`},
	} {
		parsed, err := parser.ParseFile(token.NewFileSet(), "x.go", c.source, 0)
		require.NoError(t, err)
		found := complaints(file{c.pkg, "x.go", parsed})
		require.Len(t, found, 1, want)
		require.Contains(t, found[0], want)
	}
}

func TestRulesAllowWhatIsRight(t *testing.T) {
	for _, c := range []struct{ pkg, source string }{
		{"core/pipeline", `package pipeline; import ("infeed/core/rng"; "os"; "fmt")
			func f(o interface{ Open() }) { o.Open(); fmt.Println(os.Stderr); os.NewFile(0, "") }`},
		{"core/vfs/memfs", `package memfs; import "infeed/core/vfs"`},
		{"core/par", `package par; func f() { go f() }`},
		{"core/vfs", `package vfs; import "os"; var f = os.Open`},
		{"core/dataset/datasettest", `package datasettest; import "github.com/stretchr/testify/require"; import "infeed/core/dataset"`},
		{"capi", `package main; import "C"; import "infeed/core/pipeline"`},
	} {
		parsed, err := parser.ParseFile(token.NewFileSet(), "x.go", c.source, 0)
		require.NoError(t, err)
		require.Empty(t, complaints(file{c.pkg, "x.go", parsed}), "%s", c.source)
	}
}
