package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/arena"
)

func TestGoAndCAgreeOnLayout(t *testing.T) {
	require.Equal(t, arena.Layout(), layout())
}
