package bench

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a benchmark opened is closed before the next one begins, also when it
// failed: the connections of all of them are more than PostgreSQL has.
func TestBenchmarkClosesWhatItOpened(t *testing.T) {
	t.Parallel()
	var closed []string
	l := &lab{cfg: Config{Progress: io.Discard}}
	open := func(name string) {
		l.later(func(context.Context) error { closed = append(closed, name); return nil })
	}
	open("postgres")
	failed := errors.New("measured nothing")
	for _, want := range []error{nil, failed} {
		closed = nil
		_, err := l.run(t.Context(), benchmark{name: "chain", run: func(context.Context, *lab) ([]Figure, error) {
			open("pool")
			open("worker")
			return nil, want
		}})
		require.ErrorIs(t, err, want)
		require.Equal(t, []string{"worker", "pool"}, closed, "in reverse, and not what all benchmarks share")
	}
	require.NoError(t, l.close(t.Context()))
	require.Equal(t, []string{"worker", "pool", "postgres"}, closed)
}
