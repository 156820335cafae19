package vfs

import (
	"slices"
	"strings"
	"unicode/utf8"

	"infeed/core/errs"
)

// special are the characters that make a pattern of a path, as for TensorFlow:
// braces are ordinary.
const special = `*?[\`

// Glob returns the sorted paths that match a pattern; none is no error.
//
// Within one part of a path, * matches any text, ? one character, [a-c] a
// character of a set and [!a-c] or [^a-c] one outside it; a backslash takes the
// special sense from the next character. Names that begin with a dot are like
// others. What a pattern without a folder finds begins with "./", and a path
// without special characters is returned as it is if something is there: both as
// tf.io.matching_files.
func Glob(fs FS, pattern string) ([]string, error) {
	if !strings.ContainsAny(pattern, special) {
		if _, err := fs.Stat(pattern); err != nil {
			return nil, absent(err)
		}
		return []string{pattern}, nil
	}
	found := []string{""}
	if strings.HasPrefix(pattern, "/") {
		found[0] = "/"
	}
	for part := range strings.SplitSeq(pattern, "/") {
		if part == "" {
			continue
		}
		var next []string
		for _, at := range found {
			more, err := expand(fs, at, part)
			if err != nil {
				return nil, err
			}
			next = append(next, more...)
		}
		found = next
	}
	slices.Sort(found)
	return found, nil
}

// expand returns what a part of a pattern matches in the folder at.
func expand(fs FS, at, part string) ([]string, error) {
	if !strings.ContainsAny(part, special) {
		path := join(at, part)
		if _, err := fs.Stat(path); err != nil {
			return nil, absent(err)
		}
		return []string{path}, nil
	}
	if at == "" {
		at = "."
	}
	names, err := fs.List(at)
	if err != nil {
		return nil, absent(err)
	}
	var out []string
	for _, name := range names {
		if match(part, name) {
			out = append(out, join(at, name))
		}
	}
	return out, nil
}

func join(folder, name string) string {
	if folder == "" || strings.HasSuffix(folder, "/") {
		return folder + name
	}
	return folder + "/" + name
}

// absent returns nil for the error of a path where nothing is.
func absent(err error) error {
	if errs.KindOf(err) == errs.NotFound {
		return nil
	}
	return err
}

// match tells whether a name matches a pattern. It goes back to the last star
// only, so that it takes no longer than the product of the lengths.
func match(pattern, name string) bool {
	var afterStar, retry string
	starred := false
	for {
		if strings.HasPrefix(pattern, "*") {
			pattern = pattern[1:]
			afterStar, retry, starred = pattern, name, true
			continue
		}
		if pattern == "" && name == "" {
			return true
		}
		if restP, restN, ok := matchOne(pattern, name); ok {
			pattern, name = restP, restN
			continue
		}
		if !starred || retry == "" {
			return false
		}
		_, n := utf8.DecodeRuneInString(retry)
		retry = retry[n:]
		pattern, name = afterStar, retry
	}
}

// matchOne matches one character of name, and returns what is left of both.
func matchOne(pattern, name string) (restP, restN string, ok bool) {
	if pattern == "" || name == "" {
		return
	}
	c, n := utf8.DecodeRuneInString(name)
	switch pattern[0] {
	case '?':
		return pattern[1:], name[n:], true
	case '[':
		if in, rest, closed := matchSet(pattern[1:], c); closed {
			return rest, name[n:], in
		}
	case '\\':
		if len(pattern) > 1 {
			pattern = pattern[1:]
		}
	}
	p, m := utf8.DecodeRuneInString(pattern)
	return pattern[m:], name[n:], p == c && pattern[:m] == name[:n]
}

// matchSet tells whether c is in the set that begins after a [; closed is false
// when the set has no end, and then the [ stands for itself.
func matchSet(set string, c rune) (in bool, rest string, closed bool) {
	outside := strings.HasPrefix(set, "!") || strings.HasPrefix(set, "^")
	if outside {
		set = set[1:]
	}
	for first := true; set != ""; first = false {
		if set[0] == ']' && !first {
			return in != outside, set[1:], true
		}
		var low rune
		low, set = setMember(set)
		high := low
		if len(set) > 1 && set[0] == '-' && set[1] != ']' {
			high, set = setMember(set[1:])
		}
		in = in || low <= c && c <= high
	}
	return false, "", false
}

// setMember returns the first character of a set, which a backslash may precede.
func setMember(set string) (rune, string) {
	if set[0] == '\\' && len(set) > 1 {
		set = set[1:]
	}
	c, n := utf8.DecodeRuneInString(set)
	return c, set[n:]
}
