package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
	"github.com/toolcrib/toolcrib/worker"
)

// The type says whether results taint, and the definition before it; a configuration, which a
// server may have written in part, never does.
func TestWhichTypesTaint(t *testing.T) {
	t.Parallel()

	types := worker.Types(worker.Known{})
	config := json.RawMessage(`{"trust":"trusted","url":"https://example.com","annotations":{"readOnlyHint":true,"trusted":true}}`)
	taints := map[tool.Implementation]bool{tool.MCP: true, tool.Provider: true}
	for _, name := range types.Names() {
		aim := wait.Aim{Tenant: "t1", Implementation: name, Config: config}
		require.Equal(t, taints[name], types.Taints(t.Context(), aim, ""), name)
		require.True(t, types.Taints(t.Context(), aim, tool.Untrusted), name)
		require.False(t, types.Taints(t.Context(), aim, tool.Trusted), name)
	}
	unknown := wait.Aim{Tenant: "t1", Implementation: "of_tomorrow", Config: config}
	require.True(t, types.Taints(t.Context(), unknown, ""), "what is not known is not trusted")
	require.True(t, types.Taints(t.Context(), wait.Aim{Implementation: tool.HTTP, Config: config}, "perhaps"))
}

// What cannot be found out counts as using a credential.
func TestWhichCallsUseACredential(t *testing.T) {
	t.Parallel()

	types := worker.Types(worker.Known{}).With(executors.Type{
		Traits: tool.Traits{Implementation: "remote"},
		Secret: func(_ context.Context, aim wait.Aim) (bool, error) {
			if aim.Builtin == "gone" {
				return false, errors.New("not found")
			}
			return false, nil
		},
	})
	for name, tt := range map[string]struct {
		aim  wait.Aim
		want bool
	}{
		"none":   {wait.Aim{Implementation: tool.HTTP, Config: json.RawMessage(`{"url":"https://example.com"}`)}, false},
		"auth":   {wait.Aim{Implementation: tool.HTTP, Config: json.RawMessage(`{"auth":{"credentials_ref":"key"}}`)}, true},
		"header": {wait.Aim{Implementation: tool.MCP, Config: json.RawMessage(`{"headers":{"X":{"credentials_ref":"key"}}}`)}, true},
		"remote": {wait.Aim{Implementation: "remote"}, false},
		"gone":   {wait.Aim{Implementation: "remote", Builtin: "gone"}, true},
	} {
		require.Equal(t, tt.want, types.Secret(t.Context(), tt.aim), name)
	}
}
