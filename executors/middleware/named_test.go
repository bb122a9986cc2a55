package middleware_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/executors/middleware"
	"github.com/toolcrib/toolcrib/tool"
)

func callWith(names ...string) *tool.Call {
	c := callOf(tool.Function, `{}`)
	c.Version.Snapshot.Interaction.Middleware = names
	return c
}

// A tool's middleware runs in the order that its definition names it, inside
// the host's for all tools, and no other tool's does.
func TestNamedMiddlewareWrapsItsTools(t *testing.T) {
	t.Parallel()

	m := executors.NewMux()
	m.Use(
		marking("all"),
		middleware.Named(map[string]tool.Middleware{
			"audit": marking("audit"), "trim": marking("trim"), "idle": marking("idle"),
		}),
	)
	m.Handle(tool.Function, answering("ran"))
	for want, names := range map[string][]string{
		"all(ran)":                          nil,
		"all(audit(ran))":                   {"audit"},
		"all(audit(trim(ran)))":             {"audit", "trim"},
		"all(trim(audit(ran)))":             {"trim", "audit"},
		"all(trim(audit(trim(idle(ran)))))": {"trim", "audit", "trim", "idle"},
	} {
		res, err := m.Execute(t.Context(), callWith(names...))
		require.NoError(t, err)
		require.Equal(t, want, res.Content[0].Text)
	}
}

// Middleware may be what guards a tool, so a worker that lacks it refuses the
// call before any of it ran.
func TestNamedMiddlewareIsNeverSkipped(t *testing.T) {
	t.Parallel()

	ran := false
	running := tool.ExecutorFunc(func(context.Context, *tool.Call) (*tool.Result, error) {
		ran = true
		return &tool.Result{}, nil
	})
	for _, known := range []map[string]tool.Middleware{
		nil, {"audit": func(tool.Executor) tool.Executor { return running }},
	} {
		_, err := middleware.Named(known)(running).Execute(t.Context(), callWith("audit", "approve"))
		e := tool.AsError(err)
		require.Equal(t, tool.Invalid, e.Kind)
		require.Contains(t, e.Msg, "the tool thing@1.0.0 needs middleware")
		require.Contains(t, e.Path, "/interaction/middleware/")
		require.False(t, e.Sent)
		require.False(t, ran)
	}

	lost := func(next tool.Executor) tool.Executor {
		return tool.ExecutorFunc(func(_ context.Context, call *tool.Call) (*tool.Result, error) {
			return next.Execute(context.Background(), call) //nolint:contextcheck // The mistake under test.
		})
	}
	_, err := middleware.Named(map[string]tool.Middleware{"lost": lost, "audit": marking("audit")})(running).Execute(
		t.Context(), callWith("lost", "audit"),
	)
	require.Equal(t, tool.InternalError, tool.KindOf(err))
	require.ErrorContains(t, err, "not derived")
	require.False(t, ran)
}

// Each middleware is constructed once, whatever calls come, so that it may
// count and limit them.
func TestNamedMiddlewareIsConstructedOnce(t *testing.T) {
	t.Parallel()

	made := 0
	counting := func(next tool.Executor) tool.Executor {
		made++
		return next
	}
	e := middleware.Named(map[string]tool.Middleware{"count": counting})(answering("ran"))
	for range 3 {
		_, err := e.Execute(t.Context(), callWith("count"))
		require.NoError(t, err)
	}
	require.Equal(t, 1, made)
}
