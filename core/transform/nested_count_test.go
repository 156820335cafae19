package transform_test

import (
	"encoding/json"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/dataset"
)

// counter counts what is open.
type counter struct {
	mu         sync.Mutex
	open, peak int
}

func (c *counter) opened() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open++
	c.peak = max(c.peak, c.open)
}

func (c *counter) closed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
}

func (c *counter) now() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open
}

func (c *counter) most() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.peak
}

func text(t *testing.T, token *dataset.Token) string {
	t.Helper()
	b, err := json.Marshal(token)
	require.NoError(t, err)
	return string(b)
}
