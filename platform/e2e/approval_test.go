package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/worker"
)

// office is a site where an upstream counts refunds, and somebody may approve them.
type office struct {
	*site
	upstream *canary
	approver tool.Principal
}

func newOffice(t *testing.T) *office {
	t.Helper()
	return newOfficeFor(t, onlyOnce)
}

// newOfficeFor is newOffice where refunds are executed so.
func newOfficeFor(t *testing.T, x tool.Execution) *office {
	t.Helper()
	o := &office{site: newSite(t), upstream: newCanary(t)}
	o.publish("refund", httpTool(o.upstream.URL, x), tool.Policy{EgressClass: tool.EgressWrite})
	o.approver = o.key("approver", wait.DecidePermission)
	return o
}

// key makes an API key of the tenant.
func (o *office) key(name string, permissions ...string) tool.Principal {
	o.t.Helper()
	k, _, err := o.CreateKey(o.t.Context(), store.Key{
		Tenant: o.principal.Tenant, Name: name, Permissions: permissions, CreatedBy: "operator",
	})
	require.NoError(o.t, err)
	return k.Principal()
}

// waiting waits until a number of requests are pending, and returns them.
func (o *office) waiting(n int) (found []wait.Approval) {
	o.t.Helper()
	require.Eventually(o.t, func() bool {
		var err error
		found, err = o.ListApprovals(o.t.Context(), wait.Query{
			Tenant: o.principal.Tenant, Status: wait.Pending, Limit: 100,
		})
		require.NoError(o.t, err)
		return len(found) == n
	}, 60*time.Second, 50*time.Millisecond)
	return found
}

// decide stores a decision.
func (o *office) decide(v wait.Verdict) wait.Approval {
	o.t.Helper()
	if v.Principal.Tenant == "" {
		v.Principal = o.approver
	}
	a, err := o.Decide(o.t.Context(), v)
	require.NoError(o.t, err)
	return a
}

// tell tells the workflow of a decision.
func (o *office) tell(a wait.Approval) error {
	o.t.Helper()
	r := wire.Resolution{ID: a.ID, Round: a.Round, Status: a.Status, Reason: a.Reason}
	handle, err := o.temporal.UpdateWorkflow(o.t.Context(), client.UpdateWorkflowOptions{
		WorkflowID: a.WorkflowID, UpdateID: r.UpdateID(), UpdateName: wire.ResolvePendingUpdate, Args: []any{r},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err != nil {
		return err
	}
	return handle.Get(o.t.Context(), nil)
}

func (o *office) refunds() int {
	n, _ := o.upstream.count()
	return n
}

func (s *site) kinds(runID string) (out []tool.EventType) {
	s.t.Helper()
	events, err := s.ListEvents(s.t.Context(), s.principal.Tenant, runID, 0, 500)
	require.NoError(s.t, err)
	for _, e := range events {
		out = append(out, e.Type)
	}
	return out
}

func TestApprovedRefundHappens(t *testing.T) {
	t.Parallel()

	o := newOffice(t)
	a := o.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "refund")})
	o.start(worker.Config{Allow: allow(o.upstream), Models: map[string]agent.Model{"test": callOnce("refund")}})
	run, w := o.run(a, "go")
	asked := o.waiting(1)[0]
	require.Equal(t, run.ID, asked.RunID)
	require.Equal(t, "refund", asked.Tool)
	require.Equal(t, "desk", asked.Agent)
	require.Equal(t, "test", asked.Requester)
	require.JSONEq(t, `{"q":"x"}`, string(asked.Arguments))
	require.NotEmpty(t, asked.Host)
	require.Equal(t, tool.StatusPending, o.invocations(run.ID)[0].Status)
	require.Zero(t, o.refunds(), "nothing is sent before the approval")

	_, err := o.Decide(t.Context(), wait.Verdict{Principal: o.principal, ID: asked.ID, Approve: true})
	require.Equal(t, tool.Denied, tool.KindOf(err), "never by who started the run")
	require.NoError(t, o.tell(o.decide(wait.Verdict{ID: asked.ID, Approve: true, Seen: asked.Binding})))
	out, err := o.wait(w)
	require.NoError(t, err)
	require.Equal(t, agent.RunCompleted, out.Status)
	require.Equal(t, 1, o.refunds())
	done := o.invocations(run.ID)[0]
	require.Equal(t, tool.StatusCompleted, done.Status)
	require.Equal(t, tool.ApprovalApproved, done.ApprovalStatus)
	require.Subset(t, o.kinds(run.ID), []tool.EventType{tool.EventNeedsApproval, tool.EventApproved, tool.EventCompleted})
	requireReplays(t, historyOf(t.Context(), t, o.temporal, w.GetID(), w.GetRunID()), "agentrun_inline_approval")
}

func TestRejectedRefundDoesNot(t *testing.T) {
	t.Parallel()

	o := newOffice(t)
	a := o.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "refund")})
	var told atomic.Value
	model := agent.ModelFunc(func(ctx context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
		if last := req.Messages[len(req.Messages)-1]; last.Role == agent.RoleTool {
			told.Store(last.Content[0].Text)
		}
		return callOnce("refund").Generate(ctx, req)
	})
	o.start(worker.Config{Allow: allow(o.upstream), Models: map[string]agent.Model{"test": model}})
	run, w := o.run(a, "go")
	require.NoError(t, o.tell(o.decide(wait.Verdict{ID: o.waiting(1)[0].ID, Reason: "too much"})))
	_, err := o.wait(w)
	require.NoError(t, err)
	require.Zero(t, o.refunds())
	done := o.invocations(run.ID)[0]
	require.Equal(t, tool.StatusRejected, done.Status)
	require.Equal(t, tool.ApprovalRejected, done.ApprovalStatus)
	require.Contains(t, told.Load(), "too much", "the model sees why")
}

// The approver changes the arguments: the tool gets those.
func TestEditedRefund(t *testing.T) {
	t.Parallel()

	o := newOffice(t)
	var query atomic.Value
	o.upstream.answer = func(_ int, w http.ResponseWriter, r *http.Request) {
		query.Store(r.URL.RawQuery)
		fmt.Fprint(w, `{"ok":true}`)
	}
	a := o.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "refund")})
	o.start(worker.Config{Allow: allow(o.upstream), Models: map[string]agent.Model{"test": callOnce("refund")}})
	run, w := o.run(a, "go")
	asked := o.waiting(1)[0]
	edited := json.RawMessage(`{"q":"less"}`)
	digest, err := tool.Digest(edited)
	require.NoError(t, err)
	require.NoError(t, o.tell(o.decide(wait.Verdict{
		ID: asked.ID, Approve: true, Edited: edited, EditedDigest: digest, Binding: asked.Target.Bind(digest),
	})))
	_, err = o.wait(w)
	require.NoError(t, err)
	require.Equal(t, 1, o.refunds())
	require.Equal(t, "q=less", query.Load())
	require.Equal(t, tool.StatusCompleted, o.invocations(run.ID)[0].Status)
}

// Where nobody may approve, the call ends at once.
func TestNobodyMayApprove(t *testing.T) {
	t.Parallel()

	o := newOffice(t)
	_, err := o.RevokeKey(t.Context(), o.principal.Tenant, strings.TrimPrefix(o.approver.Subject, "key:"))
	require.NoError(t, err)
	a := o.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "refund")})
	o.start(worker.Config{Allow: allow(o.upstream), Models: map[string]agent.Model{"test": callOnce("refund")}})
	run, w := o.run(a, "go")
	_, err = o.wait(w)
	require.NoError(t, err)
	require.Zero(t, o.refunds())
	done := o.invocations(run.ID)[0]
	require.Equal(t, tool.Denied, done.ErrorKind)
	require.Contains(t, done.Error, "nobody can give it")
}

func TestCancelledRunEndsItsRequests(t *testing.T) {
	t.Parallel()

	o := newOffice(t)
	a := o.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "refund")})
	o.start(worker.Config{Allow: allow(o.upstream), Models: map[string]agent.Model{"test": callOnce("refund")}})
	run, w := o.run(a, "go")
	asked := o.waiting(1)[0]
	require.NoError(t, o.temporal.CancelWorkflow(t.Context(), w.GetID(), ""))
	_, err := o.wait(w)
	require.Error(t, err)
	require.Zero(t, o.refunds())
	require.Equal(t, tool.StatusCancelled, o.invocations(run.ID)[0].Status)
	after, err := o.FindApproval(t.Context(), o.principal.Tenant, asked.ID)
	require.NoError(t, err)
	require.Equal(t, wait.Cancelled, after.Status)
}

// A workflow that is reset to before its wait finds the decision, and asks nobody again.
func TestResetFindsTheDecision(t *testing.T) {
	t.Parallel()

	o := newOffice(t)
	a := o.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "refund")})
	o.start(worker.Config{Allow: allow(o.upstream), Models: map[string]agent.Model{"test": callOnce("refund")}})
	run, w := o.run(a, "go")
	asked := o.waiting(1)[0]
	again := o.reset(w)
	require.Eventually(t, func() bool { // The new execution waits for the same request.
		return o.tellable(again, asked.ID)
	}, 30*time.Second, 100*time.Millisecond)
	require.Len(t, o.waiting(1), 1)
	require.NoError(t, o.tell(o.decide(wait.Verdict{ID: asked.ID, Approve: true})))
	_, err := o.wait(again)
	require.NoError(t, err)
	require.Equal(t, 1, o.refunds())
	require.Len(t, o.invocations(run.ID), 1)
}

// tellable reports whether an execution waits for a request.
func (o *office) tellable(w client.WorkflowRun, id string) bool {
	value, err := o.temporal.QueryWorkflow(o.t.Context(), w.GetID(), w.GetRunID(), wire.PendingQuery)
	var pending []wire.Pending
	return err == nil && value.Get(&pending) == nil && len(pending) == 1 && pending[0].ID == id
}

// A decision whose message was lost is found when the workflow asks how the request
// stands, at the latest when it expires.
func TestSingleCallAndStepWait(t *testing.T) {
	t.Parallel()

	o := newOffice(t)
	config, err := json.Marshal(map[string]any{"steps": []map[string]any{
		{"id": "first", "tool": "refund", "arguments": map[string]any{"q": "one"}},
		{"id": "second", "tool": "refund", "arguments": map[string]any{"q": "two"}},
	}})
	require.NoError(t, err)
	o.publish("both", tool.Definition{
		Name: "both", Description: "Two refunds.", Implementation: tool.Composition, Config: config,
	}, tool.Policy{})
	o.start(worker.Config{Allow: allow(o.upstream)})
	for i, name := range []string{"refund", "both"} {
		done := make(chan error, 1)
		go func() {
			_, _, _, err := o.toolCall(name, `{}`)
			done <- err
		}()
		for range i + 1 {
			require.NoError(t, o.tell(o.decide(wait.Verdict{ID: o.waiting(1)[0].ID, Approve: true})))
		}
		require.NoError(t, <-done)
	}
	require.Equal(t, 3, o.refunds())
}
