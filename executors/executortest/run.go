package executortest

import (
	"encoding/json"
	"log/slog"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/middleware"
	"github.com/toolcrib/toolcrib/tool"
)

// Run runs the suite. Run it with the race detector too: it finds retained
// memory, and state that calls share.
func Run(t *testing.T, h Harness) {
	t.Helper()
	t.Run("outcomes", func(t *testing.T) { t.Parallel(); runEnds(t, h) })
	t.Run("deadline", func(t *testing.T) { t.Parallel(); runDeadline(t, h) })
	t.Run("cancellation", func(t *testing.T) { t.Parallel(); runCancellation(t, h) })
	t.Run("expired deadline", func(t *testing.T) { t.Parallel(); runExpired(t, h) })
	t.Run("size", func(t *testing.T) { t.Parallel(); runSize(t, h) })
	t.Run("secrets", func(t *testing.T) { t.Parallel(); runSecrets(t, h) })
	t.Run("idempotency key", func(t *testing.T) { t.Parallel(); runKeys(t, h) })
	t.Run("concurrency", func(t *testing.T) { t.Parallel(); runConcurrency(t, h) })
	t.Run("memory", func(t *testing.T) { t.Parallel(); runMemory(t, h) })
	t.Run("panic", func(t *testing.T) { t.Parallel(); runPanic(t, h) })
}

// standard wraps e in the platform's middleware.
func standard(e tool.Executor) tool.Executor {
	for _, m := range slices.Backward(middleware.Standard(middleware.Options{
		Logger: slog.New(slog.DiscardHandler), MaxResultBytes: MaxBytes,
	})) {
		e = m(e)
	}
	return e
}

// requireOne checks that a call returned either a result or an error.
func requireOne(t *testing.T, res *tool.Result, err error) {
	t.Helper()
	require.NotEqual(t, res == nil, err == nil, "want a result or an error, and not both")
}

// requireError checks that a call failed with a *tool.Error, and returns it.
func requireError(t *testing.T, res *tool.Result, err error) *tool.Error {
	t.Helper()
	require.Nil(t, res)
	var e *tool.Error
	require.ErrorAs(t, err, &e, "an executor fails with a *tool.Error")
	require.NotEmpty(t, e.Msg, "the error has a message")
	require.Contains(t, tool.Kinds(), e.Kind)
	return e
}

func encode(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return string(raw)
}
