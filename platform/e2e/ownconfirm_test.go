package e2e_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/worker"
)

// asksAlways is the policy of a tool that reads, and asks for a confirmation of every call.
var asksAlways = tool.Policy{EgressClass: tool.EgressReadOnly, PermissionPolicy: tool.PermissionAlwaysAsk}

// confirmOffice is an office with a clerk who may confirm their own calls.
func confirmOffice(t *testing.T) (*office, tool.Principal) {
	t.Helper()
	o := newOffice(t)
	return o, o.key("clerk", wait.ConfirmPermission)
}

// callBy calls a tool directly.
func (o *office) callBy(p tool.Principal, slug string) runs.Call {
	o.t.Helper()
	call, err := o.service(o.temporal).Call(o.t.Context(), runs.NewCall{
		Principal: p, Node: wire.Node{Tool: tool.Ref{Slug: slug}, Arguments: json.RawMessage(`{"q":"x"}`)},
	})
	require.NoError(o.t, err)
	return call
}

func (o *office) requireEnds(runID string, status tool.InvocationStatus) {
	o.t.Helper()
	var calls []tool.Invocation
	require.Eventually(o.t, func() bool {
		calls = o.invocations(runID)
		return len(calls) == 1 && calls[0].Status.Final()
	}, 60*time.Second, 50*time.Millisecond)
	require.Equal(o.t, status, calls[0].Status, calls[0].Error)
}

// Who calls a tool directly confirms the call where only the tool asks; never a write, a call
// that needs an approval, or one of a run (checklist Z16).
func TestOwnConfirmation(t *testing.T) {
	t.Parallel()

	o, clerk := confirmOffice(t)
	look := httpTool(o.upstream.URL, tool.Execution{Pure: true})
	o.publish("look", look, asksAlways)
	guarded := asksAlways
	guarded.RequiresApproval = true
	o.publish("guarded", look, guarded)
	confirmed := look
	confirmed.Interaction.Confirmation = &tool.Confirmation{When: `input.q == "x"`}
	o.publish("asks", confirmed, tool.Policy{EgressClass: tool.EgressReadOnly})
	others := look
	others.Interaction.Confirmation = &tool.Confirmation{Permission: "looks.approve"}
	o.publish("others", others, tool.Policy{EgressClass: tool.EgressReadOnly})
	o.key("boss", "looks.approve")
	a := o.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "look")})
	o.start(worker.Config{Allow: allow(o.upstream), Models: map[string]agent.Model{"test": callOnce("look")}})

	for _, slug := range []string{"look", "asks"} {
		call := o.callBy(clerk, slug)
		asked := o.waiting(1)[0]
		require.True(t, asked.Own, slug)
		require.NoError(t, o.tell(o.decide(wait.Verdict{Principal: clerk, ID: asked.ID, Approve: true, Seen: asked.Binding})))
		o.requireEnds(call.RunID, tool.StatusCompleted)
	}
	require.Equal(t, 2, o.refunds())

	for _, slug := range []string{"refund", "guarded", "others"} {
		o.callBy(clerk, slug)
	}
	_, _ = o.run(a, "go")
	for _, asked := range o.waiting(4) {
		require.False(t, asked.Own, asked.Tool)
		by := clerk
		by.Subject, by.Permissions = asked.Requester, []string{"*"}
		_, err := o.Decide(t.Context(), wait.Verdict{Principal: by, ID: asked.ID, Approve: true})
		require.Equal(t, tool.Denied, tool.KindOf(err), asked.Tool)
	}
	require.Equal(t, 2, o.refunds())
}

// Where nobody else may approve, a call that its caller may confirm is asked for all the same.
func TestOwnConfirmationNeedsNobodyElse(t *testing.T) {
	t.Parallel()

	o := &office{site: newSite(t), upstream: newCanary(t)}
	clerk, program := o.key("clerk", wait.ConfirmPermission), o.key("program", "runs.write")
	o.publish("look", httpTool(o.upstream.URL, tool.Execution{Pure: true}), asksAlways)
	o.start(worker.Config{Allow: allow(o.upstream)})
	refused := o.callBy(program, "look")
	o.requireEnds(refused.RunID, tool.StatusFailed)
	require.Contains(t, o.invocations(refused.RunID)[0].Error, "nobody can give it")
	call := o.callBy(clerk, "look")
	asked := o.waiting(1)[0]
	require.NoError(t, o.tell(o.decide(wait.Verdict{Principal: clerk, ID: asked.ID, Approve: true})))
	o.requireEnds(call.RunID, tool.StatusCompleted)
}

// A rule that comes between confirmation and call asks for more than a confirmation: the call
// is asked for anew, and its caller may not decide.
func TestOwnConfirmationCountsForNoMore(t *testing.T) {
	t.Parallel()

	o, clerk := confirmOffice(t)
	look := o.publish("look", httpTool(o.upstream.URL, tool.Execution{Pure: true}),
		asksAlways)
	o.start(worker.Config{Allow: allow(o.upstream)})
	call := o.callBy(clerk, "look")
	asked := o.waiting(1)[0]
	look.RequiresApproval = true
	_, err := o.UpdateTool(t.Context(), look)
	require.NoError(t, err)
	require.NoError(t, o.tell(o.decide(wait.Verdict{Principal: clerk, ID: asked.ID, Approve: true, Seen: asked.Binding})))
	var again wait.Approval
	require.Eventually(t, func() bool {
		var err error
		again, err = o.FindApproval(t.Context(), o.principal.Tenant, asked.ID)
		require.NoError(t, err)
		return again.Round == 2
	}, 60*time.Second, 50*time.Millisecond)
	require.False(t, again.Own)
	require.Zero(t, o.refunds())
	_, err = o.Decide(t.Context(), wait.Verdict{Principal: clerk, ID: asked.ID, Approve: true})
	require.Equal(t, tool.Denied, tool.KindOf(err))
	require.NoError(t, o.tell(o.decide(wait.Verdict{ID: asked.ID, Approve: true})))
	o.requireEnds(call.RunID, tool.StatusCompleted)
	require.Equal(t, 1, o.refunds())
}
