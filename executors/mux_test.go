package executors_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/executors/internalcall"
	"github.com/toolcrib/toolcrib/tool"
)

func callOf(impl tool.Implementation, config string) *tool.Call {
	return &tool.Call{
		Egress: tool.EgressNone, Version: &tool.Version{Slug: "thing", Number: "1.0.0", Snapshot: tool.Snapshot{
			Definition: tool.Definition{Implementation: impl, Config: []byte(config)},
		}},
	}
}

func answering(text string) tool.Executor {
	return tool.ExecutorFunc(func(context.Context, *tool.Call) (*tool.Result, error) {
		return &tool.Result{Content: []tool.Content{tool.Text(text)}}, nil
	})
}

func marking(mark string) tool.Middleware {
	return func(next tool.Executor) tool.Executor {
		return tool.ExecutorFunc(func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
			res, err := next.Execute(ctx, call)
			if res != nil {
				res.Content[0].Text = mark + "(" + res.Content[0].Text + ")"
			}
			return res, err
		})
	}
}

func TestMuxDispatchesByType(t *testing.T) {
	t.Parallel()

	m := executors.NewMux()
	m.Use(marking("outer"), marking("inner"))
	m.Handle(tool.HTTP, answering("http"))
	m.Handle(tool.Internal, internalcall.New(nil, nil))
	m.Handle(tool.Function, answering("function"))
	require.Equal(t, []tool.Implementation{tool.Function, tool.HTTP, tool.Internal}, m.Types())

	for config, want := range map[string]string{
		`{"type": "function"}`: "outer(inner(function))", `{"type": "http"}`: "outer(inner(http))",
	} {
		res, err := m.Execute(t.Context(), callOf("", config))
		require.NoError(t, err)
		require.Equal(t, want, res.Content[0].Text, "the configuration's type is the fallback")
	}
	res, err := m.Execute(t.Context(), callOf(tool.HTTP, `{"type": "function"}`))
	require.NoError(t, err)
	require.Equal(t, "outer(inner(http))", res.Content[0].Text, "the definition's type comes first")
}

// TestMuxNeverSucceedsWithoutRunning proves that a type without an executor is
// an error that names it.
func TestMuxNeverSucceedsWithoutRunning(t *testing.T) {
	t.Parallel()

	m := executors.NewMux()
	for impl, want := range map[tool.Implementation]string{
		tool.MCP:    `tool thing@1.0.0: no executor for implementation type "mcp"`,
		"teleport":  `tool thing@1.0.0: no executor for implementation type "teleport"`,
		"":          `tool thing@1.0.0 has no implementation type`,
		tool.Client: `tool thing@1.0.0: no executor for implementation type "client"`,
	} {
		res, err := m.Execute(t.Context(), callOf(impl, `{}`))
		require.Nil(t, res)
		require.Equal(t, tool.Invalid, tool.KindOf(err))
		require.Equal(t, want, tool.AsError(err).Msg)
	}
	_, err := m.Execute(t.Context(), &tool.Call{})
	require.Equal(t, tool.InternalError, tool.KindOf(err))
}

func TestMuxRefusesBadWiring(t *testing.T) {
	t.Parallel()

	m := executors.NewMux()
	m.Handle(tool.HTTP, answering(""))
	require.Panics(t, func() { m.Handle(tool.HTTP, answering("")) })
	require.Panics(t, func() { m.Handle("", answering("")) })
	require.Panics(t, func() { m.Handle(tool.MCP, nil) })
}
