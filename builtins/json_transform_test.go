package builtins_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/builtins"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/tool"
)

// box tells what it is asked to run.
type box func(j sandbox.Job) (*sandbox.Outcome, error)

func (b box) Run(_ context.Context, j sandbox.Job) (*sandbox.Outcome, error) { return b(j) }

// What json_transform asks of the sandbox, and what it makes of its answers.
// Package platform/sandbox tests what filters do there.
func TestJSONTransform(t *testing.T) {
	t.Parallel()

	var asked sandbox.Job
	var answer *sandbox.Outcome
	var fail error
	catalog := builtins.New(builtins.Config{Sandbox: box(func(j sandbox.Job) (*sandbox.Outcome, error) {
		asked = j
		j.Print("seen\n")
		return answer, fail
	})})
	run, ok := catalog.Lookup("json_transform")
	require.True(t, ok)
	said := ""
	ctx := tool.WithOutput(t.Context(), func(text string) { said += text })
	call := func(arguments, config string) (*tool.Result, error) {
		return run.Execute(ctx, &tool.Call{
			CallIdentity: tool.CallIdentity{Principal: tool.Principal{Tenant: "t1"}}, Arguments: json.RawMessage(arguments),
			Version: &tool.Version{Snapshot: tool.Snapshot{Definition: tool.Definition{Config: json.RawMessage(config)}}},
		})
	}

	answer = &sandbox.Outcome{Output: json.RawMessage(`[1,9007199254740993]`)}
	res, err := call(`{"filter": ".a[]", "input": {"a": [1, 9007199254740993]}}`, "")
	require.NoError(t, err)
	require.Contains(t, string(res.Structured), "9007199254740993", "digits are kept")
	require.Equal(t, "seen\n", said)
	require.Equal(t, tool.TenantID("t1"), asked.Tenant)
	require.Equal(t, sandbox.JQ, asked.Language)
	require.Contains(t, string(asked.Input), `{"a": [1, 9007199254740993]}`, "byte for byte")
	require.Positive(t, asked.Limits.Time)

	_, err = call(`{"filter": "."}`, "")
	require.NoError(t, err)
	require.Equal(t, "null", string(asked.Input))

	_, err = call(`{"n": 2}`, `{"builtin": "json_transform", "filter": ".n + 1"}`)
	require.NoError(t, err)
	require.Equal(t, ".n + 1", string(asked.Program), "a tool with a filter of its own applies it to its arguments")
	require.JSONEq(t, `{"n": 2}`, string(asked.Input))

	fail = &sandbox.ProgramError{Class: sandbox.Failed, Msg: "cannot iterate over: null"}
	res, err = call(`{"filter": ".[]"}`, "")
	require.NoError(t, err)
	require.True(t, res.IsError)
	require.Contains(t, res.Content[0].Text, "cannot iterate")

	fail = &tool.Error{Kind: tool.RateLimited}
	_, err = call(`{"filter": "."}`, "")
	require.Equal(t, tool.RateLimited, tool.KindOf(err), "a busy sandbox is no answer")
}

func TestJSONTransformConfiguration(t *testing.T) {
	t.Parallel()

	catalog := builtins.Described(nil)
	complete := func(config string) error {
		d, p := tool.Definition{Implementation: tool.Internal, Config: json.RawMessage(config)}, tool.Policy{}
		_, err := catalog.Complete(&d, &p)
		return err
	}
	require.NoError(t, complete(`{"builtin": "json_transform", "filter": ".n + 1"}`))
	for config, path := range map[string]string{
		`{"builtin": "json_transform"}`:                            "/implementation_config/filter",
		`{"builtin": "json_transform", "filter": 7}`:               "/implementation_config/filter",
		`{"builtin": "json_transform", "filter": ".", "extra": 1}`: "/implementation_config/extra",
	} {
		err := complete(config)
		require.Equal(t, tool.Invalid, tool.KindOf(err), config)
		require.Equal(t, path, tool.AsError(err).Path, config)
	}
}
