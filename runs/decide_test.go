package runs_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/temporal"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
	"github.com/toolcrib/toolcrib/wire"
)

// asked is a bench with a request r1 for a call of a tool that takes a number.
func asked(t *testing.T) (*bench, wait.Approval) {
	t.Helper()
	b := setup(t)
	b.publish(t, "refund", func(head *tool.Tool) {
		head.InputSchema = json.RawMessage(
			`{"type":"object","properties":{"amount":{"type":"integer","maximum":100}},"required":["amount"]}`)
	})
	head, err := b.store.FindTool(t.Context(), b.principal.Tenant, tool.Ref{Slug: "refund"})
	require.NoError(t, err)
	versions, err := b.store.ListVersions(t.Context(), b.principal.Tenant, head.ID)
	require.NoError(t, err)
	a := wait.Approval{
		ID: "r1", Tenant: b.principal.Tenant, RunID: "run", Tool: head.ID, Requester: "user:bob", Round: 1,
		Target: wait.Target{Content: versions[0].Digest}, Permission: wait.DecidePermission, Status: wait.Pending,
		WorkflowID: "w1",
	}
	b.store.approvals = map[string]wait.Approval{"r1": a}
	b.principal.Permissions = []string{wait.DecidePermission}
	return b, a
}

func TestDecideTellsTheWorkflow(t *testing.T) {
	t.Parallel()

	b, _ := asked(t)
	decided, err := b.Decide(t.Context(), runs.Decision{Principal: b.principal, ID: "r1", Reason: "too much", Seen: "s"})
	require.NoError(t, err)
	require.Equal(t, wait.Rejected, decided.Status)
	require.Equal(t, "s", b.store.verdicts[0].Seen)
	require.Len(t, b.temporal.updated, 1)
	sent := b.temporal.updated[0]
	require.Equal(t, "w1", sent.WorkflowID)
	require.Equal(t, "resolve/r1/1/rejected", sent.UpdateID)
	require.Equal(t, wire.Resolution{ID: "r1", Round: 1, Status: wait.Rejected, Reason: "too much"}, sent.Args[0])
	require.Equal(t, []string{"r1/1"}, b.store.delivered)
}

func TestEditedArgumentsAreChecked(t *testing.T) {
	t.Parallel()

	b, a := asked(t)
	_, err := b.Decide(t.Context(), runs.Decision{
		Principal: b.principal, ID: "r1", Approve: true, Arguments: json.RawMessage(`{"amount":"7"}`),
	})
	require.NoError(t, err)
	verdict := b.store.verdicts[0]
	require.JSONEq(t, `{"amount":7}`, string(verdict.Edited), "they are coerced like those of any call")
	require.Equal(t, a.Bind(verdict.EditedDigest), verdict.Binding)

	b, _ = asked(t)
	_, err = b.Decide(t.Context(), runs.Decision{
		Principal: b.principal, ID: "r1", Approve: true, Arguments: json.RawMessage(`{"amount":1000}`),
	})
	require.Equal(t, tool.Invalid, tool.KindOf(err))
	require.Equal(t, "/arguments/amount", tool.AsError(err).Path)
	require.Empty(t, b.store.verdicts)
}

// Arguments that are left out get the defaults of the override that the run pinned, as those of the call did.
func TestEditedArgumentsGetTheDefaults(t *testing.T) {
	t.Parallel()

	b, a := asked(t)
	set, err := b.store.SetOverride(t.Context(), tool.Override{
		Tenant: b.principal.Tenant, ToolID: a.Tool, ChangedBy: "user:ada",
		Adaptation: tool.Adaptation{Defaults: map[string]json.RawMessage{"amount": json.RawMessage(`5`)}},
	})
	require.NoError(t, err)
	version := tool.VersionIdentity{ToolID: a.Tool, Digest: a.Content}
	step := agent.Pin{VersionIdentity: version, Overrides: tool.OverrideRevisions{Tenant: set.Revision}}
	b.store.runs = append(b.store.runs, agent.Run{
		ID: "run", Tenant: b.principal.Tenant,
		Plan: &agent.Plan{Tools: []agent.Pin{{Graph: &agent.PinnedGraph{Tools: []agent.StepPin{{ID: "s", Pin: step}}}}}},
	})
	b.store.made = map[string]tool.Invocation{
		"r1": {CallIdentity: tool.CallIdentity{RunID: "run"}, VersionIdentity: version},
	}
	_, err = b.Decide(t.Context(), runs.Decision{
		Principal: b.principal, ID: "r1", Approve: true, Arguments: json.RawMessage(`{}`),
	})
	require.NoError(t, err)
	require.JSONEq(t, `{"amount":5}`, string(b.store.verdicts[0].Edited))
}

func TestDecideRefusals(t *testing.T) {
	t.Parallel()

	b, _ := asked(t)
	for name, d := range map[string]runs.Decision{
		"no such request":        {ID: "r2", Approve: true, Arguments: json.RawMessage(`{}`)},
		"a long reason":          {ID: "r1", Reason: strings.Repeat("x", 2001)},
		"a rejection that edits": {ID: "r1", Arguments: json.RawMessage(`{"amount":1}`)},
	} {
		d.Principal = b.principal
		_, err := b.Decide(t.Context(), d)
		require.Error(t, err, name)
	}
	require.Empty(t, b.store.verdicts)
	require.Empty(t, b.temporal.updated)
}

// Who may not decide does not learn what the tool takes.
func TestStrangersLearnNothing(t *testing.T) {
	t.Parallel()

	b, _ := asked(t)
	requester := b.principal
	requester.Subject = "user:bob"
	for text, p := range map[string]tool.Principal{
		"permission":      {Tenant: b.principal.Tenant, Subject: "user:eve"},
		"who started the": requester,
	} {
		_, err := b.Decide(t.Context(), runs.Decision{
			Principal: p, ID: "r1", Approve: true, Arguments: json.RawMessage(`{"amount":1000}`),
		})
		requireKind(t, err, tool.Denied, text)
	}
	require.Empty(t, b.store.verdicts)
}

// The record of a request that is over compares the arguments of a repeated decision, so it
// gets them too.
func TestEditsOfEndedRequestsAreKept(t *testing.T) {
	t.Parallel()

	b, a := asked(t)
	a.Status = wait.Approved
	b.store.approvals["r1"] = a
	_, err := b.Decide(t.Context(), runs.Decision{
		Principal: b.principal, ID: "r1", Approve: true, Arguments: json.RawMessage(`{"amount":8}`),
	})
	require.NoError(t, err)
	require.JSONEq(t, `{"amount":8}`, string(b.store.verdicts[0].Edited))
}

// A workflow that cannot be told is told later; one that is over, or knows, is not.
func TestDecisionsAreDelivered(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		down, refused error
		delivered     bool
	}{
		"taken":    {delivered: true},
		"over":     {down: serviceerror.NewNotFound("no such workflow"), delivered: true},
		"knows":    {refused: temporal.NewApplicationError("no", wire.NotWaiting), delivered: true},
		"away":     {down: serviceerror.NewUnavailable("away")},
		"a defect": {refused: errors.New("lost")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b, a := asked(t)
			b.temporal.down, b.temporal.refused = test.down, test.refused
			a.Status = wait.Approved
			b.store.approvals["r1"] = a
			b.store.undelivered = []wait.Undelivered{{Tenant: a.Tenant, ID: "r1", WorkflowID: "w1"}}
			told, err := b.Deliver(t.Context(), 10)
			require.NoError(t, err)
			if !test.delivered {
				require.Zero(t, told)
				require.Empty(t, b.store.delivered)
				return
			}
			require.Equal(t, 1, told)
			require.Equal(t, []string{"r1/1"}, b.store.delivered, "a later round is not marked")
		})
	}
}
