package storetest

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
)

// atOnce calls do n times at once, with numbers from zero, and returns the errors.
func atOnce(n int, do func(i int) error) []error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = do(i) })
	}
	all.Wait()
	return errs
}

// requireAllBut requires that all but so many failed with tool.Conflict and these words.
func requireAllBut(t *testing.T, succeeded int, errs []error, words string) {
	t.Helper()
	for _, err := range errs {
		if err == nil {
			succeeded--
			continue
		}
		RequireKind(t, tool.Conflict, err)
		require.ErrorContains(t, err, words)
	}
	require.Zero(t, succeeded)
}
