package dataset_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/par"
)

// What a goroutine begins in a scope that has ended meanwhile is cleaned up too.
func TestChildrenOfAScopeThatHasEnded(t *testing.T) {
	for _, cause := range []error{errs.New(errs.Internal, "x", "an accident"), errs.New(errs.Cancelled, "x", "closed")} {
		s := datasettest.Scope(0)
		cleaned := false
		s.Go(func() {
			<-s.Done()
			c := s.Child()
			<-c.Done()
			require.Equal(t, cause, c.Err())
			c.Defer(func() { cleaned = true })
		})
		s.Fail(cause)
		s.Close()
		require.True(t, cleaned)
	}
	require.Zero(t, par.Live())
}
