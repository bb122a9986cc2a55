package internalcall_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/executortest"
	"github.com/toolcrib/toolcrib/executors/internalcall"
	"github.com/toolcrib/toolcrib/tool"
)

type builtins map[string]tool.Executor

func (b builtins) Lookup(key string) (tool.Executor, bool) { e, ok := b[key]; return e, ok }

func (b builtins) Configurable(key string) bool { return key == "clock" }

func (b builtins) Remote(string, json.RawMessage, json.RawMessage) json.RawMessage { return nil }
func (b builtins) Untrusted(string) bool                                           { return false }
func (b builtins) Secret(string) bool                                              { return false }

// authority lets the tenant "t1" run built-ins.
type authority struct{}

func (authority) MayRunBuiltin(_ context.Context, p tool.Principal, _ string) error {
	if p.Tenant == "t1" {
		return nil
	}
	return &tool.Error{Kind: tool.Conflict, Msg: "disabled"}
}

var noon = tool.ExecutorFunc(func(context.Context, *tool.Call) (*tool.Result, error) {
	return &tool.Result{Content: []tool.Content{tool.Text("noon")}}, nil
})

func TestEcho(t *testing.T) {
	t.Parallel()

	for args, want := range map[string]string{
		``:                   `{"success":true,"args":{}}`,
		`{}`:                 `{"success":true,"args":{}}`,
		`{"n": 1.10, "a":2}`: `{"success":true,"args":{"n": 1.10, "a":2}}`,
	} {
		res, err := internalcall.New(nil, nil).Execute(t.Context(), &tool.Call{Arguments: []byte(args)})
		require.NoError(t, err)
		require.Equal(t, want, string(res.Structured))
		require.False(t, res.IsError)
	}
	_, err := internalcall.New(nil, nil).Execute(t.Context(), &tool.Call{Arguments: []byte(`{"a"`)})
	require.Equal(t, tool.Invalid, tool.KindOf(err))
}

func TestBuiltinByKey(t *testing.T) {
	t.Parallel()

	e := internalcall.New(builtins{"clock": noon}, authority{})
	res, err := e.Execute(t.Context(), &tool.Call{Builtin: "clock"})
	require.NoError(t, err)
	require.Equal(t, "noon", res.Content[0].Text)

	_, err = e.Execute(t.Context(), &tool.Call{Builtin: "clock", Version: &tool.Version{}})
	require.NoError(t, err)
	_, err = e.Execute(t.Context(), &tool.Call{Builtin: "clock", Version: &tool.Version{Tenant: "t1"}})
	require.Equal(t, tool.Invalid, tool.KindOf(err), "a tenant's tool is no way around the platform's")

	// A key that nobody knows is never echoed.
	for _, e := range []*internalcall.Executor{e, internalcall.New(nil, nil)} {
		_, err = e.Execute(t.Context(), &tool.Call{Builtin: "absent"})
		require.Equal(t, tool.Invalid, tool.KindOf(err))
		require.ErrorContains(t, err, `no built-in "absent"`)
	}
}

// A tenant's own tool runs the built-in that its configuration names, if that
// takes a configuration and the platform's tool is for the tenant.
func TestBuiltinByConfiguration(t *testing.T) {
	t.Parallel()

	call := func(tenant tool.TenantID, config string) *tool.Call {
		return &tool.Call{
			CallIdentity: tool.CallIdentity{Principal: tool.Principal{Tenant: tenant}},
			Arguments:    []byte(`{}`),
			Version: &tool.Version{
				Tenant:   tenant,
				Snapshot: tool.Snapshot{Definition: tool.Definition{Config: []byte(config)}},
			},
		}
	}
	all := builtins{"clock": noon, "fixed": noon}
	e := internalcall.New(all, authority{})
	res, err := e.Execute(t.Context(), call("t1", `{"builtin": "clock"}`))
	require.NoError(t, err)
	require.Equal(t, "noon", res.Content[0].Text)

	_, err = e.Execute(t.Context(), call("t2", `{"builtin": "clock"}`))
	require.Equal(t, tool.Conflict, tool.KindOf(err), "what the operator decides of the platform's tool holds")
	for _, e := range []*internalcall.Executor{e, internalcall.New(all, nil), internalcall.New(nil, authority{})} {
		_, err = e.Execute(t.Context(), call("t1", `{"builtin": "fixed"}`))
		require.Equal(t, tool.Invalid, tool.KindOf(err))
	}
	_, err = internalcall.New(all, nil).Execute(t.Context(), call("t1", `{"builtin": "clock"}`))
	require.Equal(t, tool.Invalid, tool.KindOf(err), "without anybody to ask, none")

	res, err = e.Execute(t.Context(), call("t1", `{"other": 1}`))
	require.NoError(t, err)
	require.JSONEq(t, `{"success": true, "args": {}}`, string(res.Structured))
	g := call("", `{"builtin": "clock"}`)
	res, err = e.Execute(t.Context(), g)
	require.NoError(t, err)
	require.Contains(t, string(res.Structured), "success", "a global tool has its key beside its definition")
}

func TestConformance(t *testing.T) {
	t.Parallel()

	const reason = "an echo has nothing behind it"
	executortest.Run(t, executortest.Harness{
		New: func(*testing.T, executortest.Behaviour) executortest.Subject {
			return executortest.Subject{Executor: internalcall.New(nil, nil), Call: func(effectID string) *tool.Call {
				return &tool.Call{
					CallIdentity: tool.CallIdentity{EffectID: effectID},
					Egress:       tool.EgressNone,
					Version:      &tool.Version{},
					Arguments:    []byte(`{"a": 1}`),
				}
			}}
		},
		Lacks: map[executortest.Behaviour]string{
			executortest.SaysNo: reason, executortest.Refuses: reason, executortest.Saturated: reason,
			executortest.Fails:       reason,
			executortest.Unreachable: reason, executortest.BreaksOff: reason, executortest.Hangs: reason,
			executortest.Overflows:    reason,
			executortest.QuotesSecret: reason, executortest.NoSecret: reason, executortest.Panics: reason,
		},
	})
}
