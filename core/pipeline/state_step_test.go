package pipeline

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStepsOfFunctionsThatHadNoProgramAreTheSame(t *testing.T) {
	const a, b = "#0123456789ab", "#ba9876543210"
	same := [][2]string{
		{"map(f)", "map(f)"}, {"map(f)", "map(f" + a + ")"}, {"map(f" + a + ")", "map(f" + a + ")"},
		{"group(key, f)", "group(key" + a + ", f" + b + ")"},
		{"group(key" + a + ", f)", "group(key" + a + ", f" + b + ")"},
		{"group(key, f" + b + ")", "group(key" + a + ", f" + b + ")"},
		{"group(f, f" + a + ")", "group(f" + a + ", f" + a + ")"},
		{"", ""},
	}
	for _, s := range same {
		require.True(t, sameStep(s[0], s[1]), "%q %q", s[0], s[1])
	}
	other := [][2]string{
		{"map(f)", "map(g" + a + ")"}, {"map(f" + b + ")", "map(f" + a + ")"}, {"map(f" + a + ")", "map(f)"},
		{"group(key" + b + ", f)", "group(key" + a + ", f" + b + ")"}, {"", "map(f" + a + ")"}, {"f)", "(f" + a + ")"},
	}
	for _, s := range other {
		require.False(t, sameStep(s[0], s[1]), "%q %q", s[0], s[1])
	}
}
