package cli_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// asks records a request for the approval of a call.
func (s *shell) asks(t *testing.T) string {
	t.Helper()
	principal := tool.Principal{Tenant: s.tenant, Subject: "user:ada"}
	run, err := s.Store.CreateRun(t.Context(), agent.Run{
		Tenant: s.tenant, Kind: agent.RunKindAgent, Mode: tool.Production, WorkflowID: "w-" + uuid.NewString(),
		Principal: principal,
	}, agent.Message{Content: []tool.Content{tool.Text("hello")}})
	require.NoError(t, err)
	arguments := json.RawMessage(`{"order":"a-17"}`)
	digest, err := tool.Digest(arguments)
	require.NoError(t, err)
	target := wait.Target{Content: "content", Host: "api.example.com"}
	id := uuid.Must(uuid.NewV7()).String()
	_, err = s.Store.Ask(t.Context(), wait.Request{
		Entry: ledger.Entry{
			CallIdentity: tool.CallIdentity{
				Principal: principal, Mode: tool.Production, RunID: run.ID, CallID: "call_1", InvocationID: id, EffectID: "e-" + id,
			},
			VersionIdentity: tool.VersionIdentity{Slug: "refund", Version: "1.0.0", Digest: "content"}, Arguments: arguments,
		},
		Agent: "desk", WorkflowID: run.WorkflowID, Target: target, Binding: target.Bind(digest),
		Message: "Approve a call of refund@1.0.0 by agent desk?", Reasons: []string{"it writes"},
		Needed: 1, Permission: wait.DecidePermission, Expires: time.Hour,
	})
	require.NoError(t, err)
	return id
}

func TestApprovals(t *testing.T) {
	t.Parallel()

	s := setup(t)
	one, two, three := s.asks(t), s.asks(t), s.asks(t)
	list := s.ok(t, "approvals", "list", "--status", "pending")
	for _, id := range []string{one, two, three} {
		require.Contains(t, list, id)
	}
	shown := s.ok(t, "approvals", "show", one)
	for _, text := range []string{"api.example.com", "a-17", "user:ada", "it writes", "Approve a call of refund@1.0.0"} {
		require.Contains(t, shown, text)
	}
	require.Equal(t, "approved refund@1.0.0\n", s.ok(t, "approvals", "approve", one, "--reason", "fine"))
	require.Contains(t, s.ok(t, "approvals", "show", one), "fine")

	// Each is decided on its own: the first cannot be rejected any more.
	several := s.run(t, "tool", "reject", one, two, "--reason", "no")
	require.Equal(t, cli.ExitFailure, several.code)
	require.Contains(t, several.out, "rejected refund@1.0.0")

	var decided v1.Approval
	require.NoError(t, json.Unmarshal([]byte(s.ok(t, "tool", "approve", three, "--json")), &decided))
	require.Equal(t, wait.Approved, decided.Status)
	require.NotContains(t, s.ok(t, "approvals", "list", "--status", "pending"), one)

	for _, wrong := range [][]string{
		{"approvals", "approve"},
		{"approvals", "approve", one, two, "--args", "{}"},
		{"approvals", "approve", one, "--args", "{"},
	} {
		require.NotEqual(t, cli.ExitOK, s.run(t, wrong...).code, wrong)
	}
	require.Equal(t, cli.ExitNotFound, s.run(t, "approvals", "show", uuid.NewString()).code)
}
