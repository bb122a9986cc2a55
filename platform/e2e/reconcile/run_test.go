package reconcile_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/runs/reconcile"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// A run that was recorded and never started is closed, and one whose workflow
// begins after all is taken up again.
func TestNeverStarted(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	made := s.recorded()
	require.Empty(t, s.passWith(func(c *reconcile.Config) { c.Grace = time.Hour }), "it may be on its way")

	found := s.pass(dry)
	require.Len(t, found, 1)
	require.False(t, found[0].Closed)
	require.Equal(t, agent.RunPending, s.find(made.ID).Status, "a dry run changes nothing")

	found = s.pass()
	require.Len(t, found, 1)
	require.True(t, found[0].Closed)
	require.Equal(t, reconcile.NeverStarted, found[0].Reason)
	run := s.find(made.ID)
	require.Equal(t, agent.RunFailed, run.Status)
	require.Equal(t, tool.Unavailable, run.ErrorKind)
	data, ends := s.ending(made.ID, agent.EventRunFailed)
	require.Equal(t, 1, ends)
	require.Equal(t, "reconciler", data["ended_by"])
	require.Equal(t, "never_started", data["reason"])
	require.Empty(t, s.pass(), "once")

	made.Plan = &agent.Plan{AgentID: s.Agent.ID}
	begun, err := s.Store.BeginRun(t.Context(), made)
	require.NoError(t, err)
	require.Equal(t, agent.RunRunning, begun.Status, "its workflow has begun after all")
	require.Empty(t, begun.Error)
	require.Nil(t, begun.CompletedAt)
}

func (s *site) passWith(change ...func(*reconcile.Config)) []reconcile.Finding {
	s.t.Helper()
	return s.passes(s.reconciler(change...), reconcile.PassOptions{}).Findings
}

// How a workflow was closed says how its run ends.
func TestClosedWorkflows(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	s.worker(wire.AgentRunWorkflow, func(ctx workflow.Context, in map[string]string) (wire.AgentRunOutput, error) {
		var how string
		workflow.GetSignalChannel(ctx, "end").Receive(ctx, &how)
		switch how {
		case "fail":
			return wire.AgentRunOutput{}, failure.EncodeFinal(&tool.Error{Kind: tool.Unavailable, Msg: "the disk is full"})
		case "cancel":
			return wire.AgentRunOutput{}, temporal.NewCanceledError()
		default:
			return wire.AgentRunOutput{Answer: "It is on its way."}, nil
		}
	})
	for name, c := range map[string]struct {
		how    string
		status agent.RunStatus
		kind   tool.Kind
		reason reconcile.Reason
		msg    string
	}{
		"terminated": {"terminate", agent.RunCancelled, tool.Cancelled, reconcile.WorkflowTerminated, "terminated: by hand"},
		"timed out":  {"time out", agent.RunFailed, tool.Timeout, reconcile.WorkflowTimedOut, "time limit"},
		"failed":     {"fail", agent.RunFailed, tool.Unavailable, reconcile.WorkflowFailed, "failed: the disk is full"},
		"cancelled":  {"cancel", agent.RunCancelled, tool.Cancelled, reconcile.WorkflowCancelled, "cancelled"},
		"completed":  {"complete", agent.RunCompleted, "", reconcile.WorkflowCompleted, ""},
	} {
		run, w := s.started(func(o *client.StartWorkflowOptions) {
			if c.how == "time out" {
				o.WorkflowExecutionTimeout = time.Second
			}
		})
		switch c.how {
		case "terminate":
			s.terminate(run.WorkflowID, "by hand")
		case "time out":
		default:
			require.NoError(t, s.temporal.SignalWorkflow(t.Context(), run.WorkflowID, "", "end", c.how))
		}
		_ = w.Get(t.Context(), nil) // It has ended then, however.
		require.Equal(t, agent.RunRunning, s.find(run.ID).Status, name)

		found := s.found(1)
		require.Equal(t, c.reason, found[0].Reason, name)
		closed := s.find(run.ID)
		require.Equal(t, c.status, closed.Status, name)
		require.Equal(t, c.kind, closed.ErrorKind, name)
		require.Contains(t, closed.Error, c.msg, name)
		require.NotNil(t, closed.CompletedAt, name)
		if c.how == "complete" {
			require.Equal(t, "It is on its way.", closed.Output)
			require.Empty(t, closed.Error)
		}
		data, ends := s.ending(run.ID, map[agent.RunStatus]tool.EventType{
			agent.RunCancelled: agent.EventRunCancelled, agent.RunFailed: agent.EventRunFailed,
			agent.RunCompleted: agent.EventRunCompleted,
		}[c.status])
		require.Equal(t, 1, ends, name)
		require.Equal(t, string(c.reason), data["reason"], name)
		require.Empty(t, s.pass(), name)
	}
}

// Calls that a workflow left open end with its run: what was sent and may not be
// repeated is unknown, and an attempt that wakes up later neither sends nor
// settles.
func TestOpenCallsOfClosedWorkflows(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	run, _ := s.started()
	sent, sentEffect, sentFence := s.call(run, true)
	unsent, unsentEffect, unsentFence := s.call(run, false)
	require.Empty(t, s.pass(), "it is alive")
	s.terminate(run.WorkflowID, "by hand")

	found := s.found(3, dry)
	require.Equal(t, []string{
		"unknown", "cancelled", "cancelled",
	}, []string{found[0].Status, found[1].Status, found[2].Status})
	require.Equal(t, tool.StatusRunning, s.invocation(sent).Status)

	s.found(3)
	require.Equal(t, tool.StatusUnknown, s.invocation(sent).Status)
	require.Equal(t, tool.StatusCancelled, s.invocation(unsent).Status)
	s.ending(run.ID, agent.EventRunCancelled) // Behind those of the calls.

	storetest.RequireKind(t, tool.Conflict, s.Store.MarkSent(t.Context(), s.Tenant, unsentEffect, unsentFence))
	late := s.Lone(t)
	late.RunID, late.EffectID, late.InvocationID = run.ID, sentEffect, sent
	outcome, err := s.Store.Settle(t.Context(), storetest.Completed(late, sentFence))
	require.NoError(t, err)
	require.False(t, outcome.Won)
	require.Equal(t, tool.StatusUnknown, s.invocation(sent).Status)

	report := s.passes(s.reconciler(), reconcile.PassOptions{UnknownSince: time.Now().Add(-time.Hour)})
	require.Len(t, report.Unknown, 1)
	u := report.Unknown[0]
	require.Equal(t, sent, u.InvocationID)
	require.Equal(t, "searchOrders@1.0.0", u.Tool)
	require.Equal(t, "api.example.com", u.Host)
	require.Equal(t, sentEffect, u.IdempotencyKey)
	require.Len(t, u.ArgumentsDigest, 64)
	require.False(t, u.SentAfter.IsZero())
	require.False(t, u.SentBefore.Before(u.SentAfter))
	require.Equal(t, run.ID, u.RunID)
	require.Contains(t, u.Advice, "api.example.com")
}

// An attempt that admits a call after its run has ended, and dies, leaves no
// open call behind.
func TestStrandedCalls(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	run, _ := s.started()
	s.terminate(run.WorkflowID, "by hand")
	s.found(1)
	r := s.reconciler()
	late, _, _ := s.call(run, true)
	report := s.passes(r, reconcile.PassOptions{})
	require.Len(t, report.Findings, 1)
	require.Equal(t, reconcile.CallSubject, report.Findings[0].Subject)
	require.Equal(t, tool.StatusUnknown, s.invocation(late).Status)
	require.Equal(t, agent.RunCancelled, s.find(run.ID).Status)
}

// The end that a workflow records wins over the reconciler's: a reset runs the
// workflow again.
func TestARealEndWins(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	run, w := s.started()
	s.terminate(run.WorkflowID, "by hand")
	s.found(1)
	require.NoError(t, s.Store.FinishRun(t.Context(), agent.RunEnd{
		Tenant: s.Tenant, RunID: run.ID, Status: agent.RunCompleted, Execution: w.GetRunID(), Output: "Done.",
	}))
	require.Equal(t, agent.RunCompleted, s.find(run.ID).Status)
	require.Empty(t, s.find(run.ID).Error)
}

// A run whose workflow Temporal does not know is closed, but not where its
// workflow is a host's, or belongs to one, which may be elsewhere.
func TestMissingWorkflows(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	gone := s.recorded()
	gone.Plan = &agent.Plan{AgentID: s.Agent.ID}
	gone, err := s.Store.BeginRun(t.Context(), gone)
	require.NoError(t, err)
	host, err := s.Store.BeginRun(t.Context(), agent.Run{
		Tenant:     s.Tenant,
		Kind:       agent.RunKindHost,
		WorkflowID: "billing",
		FirstRunID: storetest.NewID(t),
		Mode:       tool.Production,
		Principal:  s.Principal,
	})
	require.NoError(t, err)
	below := s.below(host)

	found := s.pass()
	require.Len(t, found, 1)
	require.Equal(t, gone.ID, found[0].ID)
	require.Equal(t, reconcile.WorkflowMissing, found[0].Reason)
	require.Equal(t, tool.Unknown, s.find(gone.ID).ErrorKind)
	require.Equal(t, agent.RunHosted, s.find(host.ID).Status)
	require.Equal(t, agent.RunPending, s.find(below.ID).Status)
}

// below records a run that a call of another asks for.
func (s *site) below(parent agent.Run) agent.Run {
	s.t.Helper()
	invocation, _, _ := s.call(parent, false)
	id := storetest.NewID(s.t)
	made, err := s.Store.CreateRun(s.t.Context(), agent.Run{
		ID: id, Tenant: s.Tenant, Kind: agent.RunKindAgent, AgentID: s.Agent.ID, Agent: s.Agent.Slug, Mode: tool.Production,
		Principal:  s.Principal,
		WorkflowID: wire.RunWorkflowID(s.Tenant, id), Parent: &agent.Parent{RunID: parent.ID, InvocationID: invocation},
		Depth: 1,
	}, agent.Message{Content: []tool.Content{tool.Text("?")}})
	require.NoError(s.t, err)
	return made
}

// A run that another asks for waits for that one to start it, and ends with it.
func TestRunsBelow(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	above, _ := s.started()
	below := s.below(above)
	require.Empty(t, s.pass(), "the workflow above will start it")
	s.terminate(above.WorkflowID, "by hand")
	require.Eventually(t, func() bool {
		s.pass()
		return s.find(below.ID).Status.Final()
	}, time.Minute, 20*time.Millisecond)
	require.Equal(t, agent.RunCancelled, s.find(above.ID).Status)
	require.Equal(t, agent.RunFailed, s.find(below.ID).Status)
}

// The run of a host's workflow in this namespace ends as the workflow does, and
// not with a later workflow of the same id.
func TestHostRuns(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	id := "billing-" + storetest.NewID(t)
	hosted := func() agent.Run {
		w := s.start(id, "host.Billing", func(o *client.StartWorkflowOptions) {
			o.WorkflowIDReusePolicy = enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE
		})
		run, err := s.Store.BeginRun(t.Context(), agent.Run{
			Tenant: s.Tenant, Kind: agent.RunKindHost, WorkflowID: id, FirstRunID: w.GetRunID(), Mode: tool.Production,
			Principal: s.Principal,
		})
		require.NoError(t, err)
		return run
	}
	first := hosted()
	require.Empty(t, s.pass())
	s.terminate(id, "by hand")
	second := hosted()
	s.found(1)
	require.Equal(t, agent.RunCancelled, s.find(first.ID).Status)
	require.Equal(t, agent.RunHosted, s.find(second.ID).Status)
}

// A caller that asks for one run gets the truth at once.
func TestOneRun(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	run, _ := s.started()
	r := s.reconciler(func(c *reconcile.Config) { c.Maintenance, c.Grace = nil, time.Hour })
	alive, err := r.Run(t.Context(), s.Tenant, run.ID)
	require.NoError(t, err)
	require.Equal(t, agent.RunRunning, alive.Status)
	s.terminate(run.WorkflowID, "by hand")
	closed, err := r.Run(t.Context(), s.Tenant, run.ID)
	require.NoError(t, err)
	require.Equal(t, agent.RunCancelled, closed.Status)

	young, err := r.Run(t.Context(), s.Tenant, s.recorded().ID)
	require.NoError(t, err)
	require.Equal(t, agent.RunPending, young.Status, "it may be on its way")

	other := s.Database.Tenant(t)
	_, err = r.Run(t.Context(), other, run.ID)
	storetest.RequireKind(t, tool.NotFound, err)
	_, err = r.Pass(t.Context(), reconcile.PassOptions{})
	storetest.RequireKind(t, tool.Invalid, err)
}
