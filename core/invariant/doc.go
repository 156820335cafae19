// Package invariant holds checks of what must always be true. They are compiled
// in with the build tag invariants, and in race builds; otherwise [Enabled] is a
// false constant and code behind it disappears.
package invariant

import "fmt"

// Check panics with the text when ok is false. Callers guard it with Enabled, so
// that arguments are not even computed in other builds.
func Check(ok bool, format string, args ...any) {
	if !ok {
		panic("invariant: " + fmt.Sprintf(format, args...))
	}
}

// Scribble overwrites memory whose content nobody may rely on any more.
func Scribble(b []byte) {
	if !Enabled || len(b) == 0 {
		return
	}
	b[0] = 0xdb
	for n := 1; n < len(b); n *= 2 {
		copy(b[n:], b[:n])
	}
}
