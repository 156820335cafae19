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

// Whoever waits for a stage waits in the scope around it.
func TestPanicsInAScopeEndTheScopeAroundIt(t *testing.T) {
	for want, cause := range map[errs.Kind]any{
		errs.Internal:          "an accident",
		errs.ResourceExhausted: errs.New(errs.ResourceExhausted, "x", "no memory"),
	} {
		s := datasettest.Scope(0)
		s.Child().Go(func() { panic(cause) })
		<-s.Done()
		require.Equal(t, want, errs.KindOf(s.Err()))
		s.Child().Close()
		s.Close()
	}
	s := datasettest.Scope(0)
	s.Child().Close()
	require.NoError(t, s.Err())
	s.Close()
}
