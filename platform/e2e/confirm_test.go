package e2e_test

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
	"github.com/toolcrib/toolcrib/worker"
)

// reads is a model that calls read with the name, once, and is done.
func reads(name *atomic.Value) agent.Model {
	return agent.ModelFunc(func(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
		if req.Turn > 1 {
			return &agent.ModelResponse{Text: "done"}, nil
		}
		arguments, err := json.Marshal(map[string]any{"name": name.Load()})
		return &agent.ModelResponse{Calls: []agent.Call{{ID: "call_1", Name: "read", Arguments: arguments}}}, err
	})
}

// A condition decides by the arguments which calls wait, and a message says what is asked.
// What an approver writes instead is judged again.
func TestConfirmationDependsOnTheCall(t *testing.T) {
	t.Parallel()

	o := &office{site: newSite(t)}
	d := functionTool("read", tool.Execution{Pure: true})
	d.InputSchema = json.RawMessage(`{"type":"object"}`)
	d.Interaction.Confirmation = &tool.Confirmation{
		When: `input.name == "secret"`, Message: "Read {{ input.name }} for {{ principal.subject }}?", Approvals: 2,
	}
	o.publish("read", d, tool.Policy{})
	first, second := o.key("first", wait.DecidePermission), o.key("second", wait.DecidePermission)
	a := o.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "read")})
	var name atomic.Value
	o.start(worker.Config{Functions: readers(t), Models: map[string]agent.Model{"test": reads(&name)}})

	name.Store("public")
	run, w := o.run(a, "go")
	_, err := o.wait(w)
	require.NoError(t, err)
	require.Equal(t, tool.StatusCompleted, o.invocations(run.ID)[0].Status)
	require.Equal(t, tool.ApprovalNotRequired, o.invocations(run.ID)[0].ApprovalStatus)

	name.Store("secret")
	run, w = o.run(a, "go")
	asked := o.waiting(1)[0]
	require.Equal(t, "Read secret for test?", asked.Message)
	require.Equal(t, []string{"the tool asks for a confirmation of such a call"}, asked.Reasons)
	require.Equal(t, 2, asked.Needed)
	approved := o.decide(wait.Verdict{Principal: first, ID: asked.ID, Approve: true, Seen: asked.Binding})
	require.Equal(t, wait.Pending, approved.Status)
	approved = o.decide(wait.Verdict{Principal: second, ID: asked.ID, Approve: true, Seen: asked.Binding})
	require.Equal(t, wait.Approved, approved.Status)
	require.NoError(t, o.tell(approved))
	_, err = o.wait(w)
	require.NoError(t, err)
	done := o.invocations(run.ID)[0]
	require.Equal(t, tool.StatusCompleted, done.Status)
	require.Equal(t, tool.ApprovalApproved, done.ApprovalStatus)
}

// A standing grant approves the calls that its condition covers, as often as it may; other
// calls wait for a person.
func TestGrantApprovesWithinItsLimits(t *testing.T) {
	t.Parallel()

	o := &office{site: newSite(t)}
	d := functionTool("read", tool.Execution{Pure: true})
	d.InputSchema = json.RawMessage(`{"type":"object"}`)
	o.publish("read", d, tool.Policy{RequiresApproval: true})
	by := o.key("granter", wait.DecidePermission)
	g, err := o.Store.AddGrant(t.Context(), wait.Grant{
		Tenant: o.principal.Tenant, Tool: "read", Version: "^1", Condition: `input.name == "known"`, Uses: 1, CreatedBy: by.Subject,
	}, time.Hour)
	require.NoError(t, err)
	a := o.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "read")})
	var name atomic.Value
	o.start(worker.Config{Functions: readers(t), Models: map[string]agent.Model{"test": reads(&name)}})

	for i, argument := range []string{"unknown", "known", "known"} {
		name.Store(argument)
		run, w := o.run(a, "go")
		if i != 1 { // The condition does not hold; the grant is used up.
			asked := o.waiting(1)[0]
			rejected := o.decide(wait.Verdict{Principal: by, ID: asked.ID, Seen: asked.Binding})
			require.NoError(t, o.tell(rejected))
		}
		_, err := o.wait(w)
		require.NoError(t, err)
		done := o.invocations(run.ID)[0]
		if i != 1 {
			require.Equal(t, tool.StatusRejected, done.Status)
			continue
		}
		require.Equal(t, tool.StatusCompleted, done.Status)
		approval, err := o.Store.FindApproval(t.Context(), o.principal.Tenant, done.InvocationID)
		require.NoError(t, err)
		require.Equal(t, g.ID, approval.Decisions[0].GrantID)
		require.Equal(t, by.Subject, approval.Decisions[0].Subject)
	}
	used, err := o.Store.FindGrant(t.Context(), o.principal.Tenant, g.ID)
	require.NoError(t, err)
	require.Equal(t, wait.GrantUsedUp, used.Status())
}
