package middleware_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/middleware"
	"github.com/toolcrib/toolcrib/schema/jsonvalue/jsonvaluetest"
	"github.com/toolcrib/toolcrib/tool"
)

// No executor is given arguments in a form that upstream may read differently
// from the one that was checked.
func TestArgumentsAreSentCanonical(t *testing.T) {
	t.Parallel()

	for _, c := range jsonvaluetest.Cases() {
		var sent []string
		var e tool.Executor = tool.ExecutorFunc(func(_ context.Context, call *tool.Call) (*tool.Result, error) {
			sent = append(sent, string(call.Arguments))
			return &tool.Result{Content: []tool.Content{tool.Text("ok")}}, nil
		})
		for _, m := range slices.Backward(middleware.Standard(middleware.Options{Logger: slog.New(slog.DiscardHandler)})) {
			e = m(e)
		}
		call := &tool.Call{Arguments: json.RawMessage(c.Raw)}
		_, err := e.Execute(t.Context(), call)
		require.Equal(t, c.Raw, string(call.Arguments), "the caller's call is not changed")
		if c.Canonical == "" {
			require.Equal(t, tool.Invalid, tool.KindOf(err), c.Name)
			require.ErrorContains(t, err, c.Msg, c.Name)
			require.False(t, tool.AsError(err).Sent, c.Name)
			require.Empty(t, sent, c.Name)
			continue
		}
		require.NoError(t, err, c.Name)
		require.Equal(t, []string{c.Canonical}, sent, c.Name)
	}
}
