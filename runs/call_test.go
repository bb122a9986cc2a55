package runs_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

const requestID = "019a0000-0000-7000-8000-000000000001"

// call asks for a call of tool say, by an id if it is not empty.
func (b *bench) call(id string) runs.NewCall {
	return runs.NewCall{
		Principal: b.principal, Node: wire.Node{ID: id, Tool: tool.Ref{Slug: "say"}, Arguments: json.RawMessage(`{"a":1}`)},
	}
}

func TestCall(t *testing.T) {
	t.Parallel()
	b := setup(t)
	asked := b.call("")
	asked.Node.Test, asked.Node.Mode = &wire.Test{AllowWrites: true}, tool.Debug
	test, err := b.Call(t.Context(), asked)
	require.NoError(t, err)
	call, err := b.Call(t.Context(), b.call(""))
	require.NoError(t, err)
	require.Equal(t, "say", call.Tool)
	require.NotEqual(t, test.RunID, call.RunID)
	for id, kind := range map[string]agent.RunKind{call.RunID: agent.RunKindToolCall, test.RunID: agent.RunKindToolTest} {
		run, err := b.store.FindRun(t.Context(), b.principal.Tenant, id)
		require.NoError(t, err)
		require.Equal(t, kind, run.Kind)
		require.Equal(t, "say", run.Tool)
		require.Equal(t, "t/acme."+string(run.Tenant)+"/say/"+id, run.WorkflowID)
		started := b.temporal.workflows[run.WorkflowID]
		require.Equal(t, wire.ToolCallWorkflow, started.name)
		require.Equal(t, id, started.memo["toolcrib_run"])
	}
}

func TestCallRefusals(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.publish(t, "inner", func(head *tool.Tool) { head.Definition.Interaction.Visibility = tool.VisibilityInternal })
	for text, edit := range map[string]func(*runs.NewCall){
		"none":     func(n *runs.NewCall) { n.Node.Tool.Slug = "none" },
		"inner":    func(n *runs.NewCall) { n.Node.Tool.Slug = "inner" },
		"not JSON": func(n *runs.NewCall) { n.Node.Arguments = json.RawMessage(`{`) },
	} {
		asked := b.call("")
		edit(&asked)
		_, err := b.Call(t.Context(), asked)
		kind := tool.NotFound
		if text == "not JSON" {
			kind = tool.Invalid
		}
		requireKind(t, err, kind, text)
	}
	require.Empty(t, b.store.recorded())

	asked := b.call("")
	asked.Node.Tool.Slug, asked.Node.Test = "inner", &wire.Test{}
	_, err := b.Call(t.Context(), asked)
	require.NoError(t, err, "internal tools can be tested")
}

// Calls with the same id are one call; another call with the id is a conflict.
func TestCallRejoins(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*runs.NewCall){
		"by the caller's id": func(n *runs.NewCall) { n.Node.ID = "order-1" },
		"by the request":     func(n *runs.NewCall) { n.Request.ID = requestID },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			asked := b.call("")
			prepare(&asked)
			first, err := b.Call(t.Context(), asked)
			require.NoError(t, err)
			asked.Node.Arguments = json.RawMessage(`{ "a": 1 }`)
			second, err := b.Call(t.Context(), asked)
			require.NoError(t, err)
			require.Equal(t, first.RunID, second.RunID)
			asked.Node.Arguments = json.RawMessage(`{"a":2}`)
			_, err = b.Call(t.Context(), asked)
			requireKind(t, err, tool.Conflict, "another call")
			require.Len(t, b.temporal.workflows, 1)

			// Temporal has forgotten the workflow, and the run has not ended.
			run, err := b.store.FindRun(t.Context(), b.principal.Tenant, first.RunID)
			require.NoError(t, err)
			b.temporal.forget(run.WorkflowID)
			_, err = b.Call(t.Context(), asked)
			requireKind(t, err, tool.Unavailable, "does not know it yet")
			require.False(t, tool.AsError(err).Acted)

			// And it has: the record answers.
			asked.Node.Arguments = json.RawMessage(`{"a":1}`)
			b.store.change(run.ID, func(r *agent.Run) { r.Status = agent.RunCompleted })
			made := tool.Invocation{Input: json.RawMessage(`{"a": 1}`)}
			head, err := b.store.FindTool(t.Context(), b.principal.Tenant, tool.Ref{Slug: "say"})
			require.NoError(t, err)
			made.ToolID = head.ID
			b.store.made = map[string]tool.Invocation{"made": made}
			result := &tool.Result{Content: []tool.Content{tool.Text("done")}}
			b.store.ends[run.ID] = agent.CallEnd{InvocationID: "made", CallStatus: tool.StatusCompleted, Result: result}
			third, err := b.Call(t.Context(), asked)
			require.NoError(t, err)
			require.Equal(t, first.RunID, third.RunID)
			answer, ended, err := b.Wait(t.Context(), third, time.Minute, nil)
			require.NoError(t, err)
			require.True(t, ended)
			require.Equal(t, result, answer)
			if asked.Node.ID != "" {
				asked.Node.Arguments = json.RawMessage(`{"a":2}`)
				_, err = b.Call(t.Context(), asked)
				requireKind(t, err, tool.Conflict, "read run "+run.ID)
				asked.Node.Arguments = json.RawMessage(`{"a":1}`)
				made.ToolID = "another"
				b.store.made["made"] = made
				_, err = b.Call(t.Context(), asked)
				requireKind(t, err, tool.Conflict, "was used for a call that has ended")
			}
			require.Len(t, b.store.recorded(), 1)

			// It failed before its tool was reached: nothing was made, and it is made now.
			b.store.ends[run.ID] = agent.CallEnd{}
			b.store.change(run.ID, func(r *agent.Run) { r.Status = agent.RunFailed })
			fourth, err := b.Call(t.Context(), asked)
			require.NoError(t, err)
			require.NotEqual(t, first.RunID, fourth.RunID)
			require.Len(t, b.store.recorded(), 2)
		})
	}
}

// A call whose start is not confirmed is joined by its recorded start.
func TestCallRejoinsAnUnconfirmedStart(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.temporal.lost = serviceerror.NewUnavailable("the answer was lost")
	first, err := b.Call(t.Context(), b.call("order-1"))
	require.NoError(t, err)
	b.temporal.forget(wire.CallWorkflowID(b.principal.Tenant, "order-1"))
	second, err := b.Call(t.Context(), b.call("order-1"))
	require.NoError(t, err)
	require.Equal(t, first.RunID, second.RunID)
	require.Len(t, b.store.recorded(), 1)
	_, ended, err := b.Wait(t.Context(), second, time.Hour, nil)
	require.NoError(t, err)
	require.False(t, ended, "a start without confirmation is not waited for")
}

// Acted warns of a call that may be recorded, where a repeated request makes a
// second one.
func TestCallThatMayBeRecorded(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		edit   func(*runs.NewCall)
		reject tool.Kind
		acted  bool
	}{
		"plain":             {func(*runs.NewCall) {}, tool.Unavailable, true},
		"rate limited":      {func(*runs.NewCall) {}, tool.RateLimited, false},
		"conflict":          {func(*runs.NewCall) {}, tool.Conflict, false},
		"caller's id":       {func(n *runs.NewCall) { n.Node.ID = "order-1" }, tool.Unavailable, false},
		"request":           {func(n *runs.NewCall) { n.Request.ID = requestID }, tool.Unavailable, false},
		"tool without harm": {func(n *runs.NewCall) { n.Node.Tool.Slug = "read" }, tool.Unavailable, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.publish(t, "read", func(head *tool.Tool) { head.Definition.Execution.Pure = true })
			b.store.reject = &tool.Error{Kind: test.reject, Msg: "the database"}
			asked := b.call("")
			test.edit(&asked)
			_, err := b.Call(t.Context(), asked)
			requireKind(t, err, test.reject, "the database")
			require.Equal(t, test.acted, tool.AsError(err).Acted)
		})
	}
	b := setup(t)
	b.temporal.down = serviceerror.NewUnavailable("down")
	_, err := b.Call(t.Context(), b.call(""))
	requireKind(t, err, tool.Unavailable, "Temporal")
	require.False(t, tool.AsError(err).Acted, "nothing was recorded")
}
