package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
	"github.com/toolcrib/toolcrib/wire"
)

// whileWaiting is when nothing of the call is in flight: the worker is killed from outside.
const whileWaiting point = "while waiting"

// waitCrash is a death of a worker at a phase of a wait.
type waitCrash struct {
	*site
	service *runs.Service
	canary  *canary
	tool    string // The tool that the call is of.
	at      point
	single  bool // The call is a workflow of its own, rather than one of an agent's run.
	// lost is whether the wait is ended in the database before the second worker starts, by a
	// process that then sends nothing to the workflow.
	lost bool
}

// early reports whether the worker dies before the wait.
func (c *waitCrash) early() bool {
	return slices.Contains([]point{beforeAsk, afterAsk, beforeOffer, afterOffer}, c.at)
}

// play starts the call with a worker that is killed at its point, goes on with a second one, and
// returns the run once it has ended. End ends the wait with the API's use case, and record in
// the database alone; waits returns once the call waits.
func (c *waitCrash) play(waits, end, record func()) agent.Run {
	c.t.Helper()
	first := c.child(c.canary, c.at, syscall.SIGKILL)
	first.Tool, first.AtOnce = c.tool, true
	killed := startChild(c.t, first)
	run := c.begin()
	switch {
	case c.early():
		requireKilled(c.t, killed)
	case c.at == whileWaiting:
		waits()
		c.requireTellable(run)
		kill(c.t, killed)
	default:
		waits()
		end()
		requireKilled(c.t, killed)
	}
	if c.lost {
		waits()
		record()
	}
	next := first
	next.Point = ""
	startChild(c.t, next)
	if (c.early() || c.at == whileWaiting) && !c.lost {
		waits()
		c.requireTellable(run)
		end()
	}
	deliver := !c.lost || c.at == whileWaiting // Otherwise the worker finds how the wait ended.
	if deliver && c.lost {
		c.requireTellable(run)
	}
	require.Eventually(c.t, func() bool {
		if deliver { // As any process of the platform does, all the time.
			_, err := c.service.Deliver(c.t.Context(), runs.DeliverLimit)
			require.NoError(c.t, err)
		}
		found, err := c.FindRun(c.t.Context(), c.principal.Tenant, run.ID)
		require.NoError(c.t, err)
		run = found
		return run.Status.Final()
	}, 2*time.Minute, 100*time.Millisecond, "the run does not end")
	return run
}

// begin starts the run, or the single call.
func (c *waitCrash) begin() agent.Run {
	c.t.Helper()
	if !c.single {
		a := c.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(c.t, c.tool)})
		run, _ := c.run(a, "go")
		return run
	}
	call, err := c.service.Call(c.t.Context(), runs.NewCall{
		Principal: c.principal,
		Node:      wire.Node{Tool: tool.Ref{Slug: c.tool}, Arguments: json.RawMessage(`{"q":"x"}`)},
	})
	require.NoError(c.t, err)
	run, err := c.FindRun(c.t.Context(), c.principal.Tenant, call.RunID)
	require.NoError(c.t, err)
	return run
}

// requireTellable waits until the workflow of the run waits for somebody.
func (c *waitCrash) requireTellable(run agent.Run) {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		value, err := c.temporal.QueryWorkflow(c.t.Context(), run.WorkflowID, "", wire.PendingQuery)
		var pending []wire.Pending
		return err == nil && value.Get(&pending) == nil && len(pending) == 1
	}, time.Minute, 50*time.Millisecond)
}

// check checks that the call of a run that ended is recorded once, everywhere alike, and that
// nothing is left.
func (c *waitCrash) check(run agent.Run, status tool.InvocationStatus) tool.Invocation {
	c.t.Helper()
	calls := c.invocations(run.ID)
	require.Len(c.t, calls, 1)
	require.Equal(c.t, status, calls[0].Status, calls[0].Error)
	if !c.single {
		require.Equal(c.t, agent.RunCompleted, run.Status)
		requireAnswered(c.t, c.site, run.ID)
	}
	var effects, done int
	require.NoError(c.t, c.db.Conn(c.t).QueryRow(c.t.Context(), `select count(*), count(*) filter (
		where phase = 'done' and status = $1 and invocation_id = $2) from effects`,
		string(status), calls[0].InvocationID).Scan(&effects, &done))
	require.Equal(c.t, 1, effects, "the call has one effect")
	require.Equal(c.t, 1, done, "the ledger says otherwise than the invocation")
	var ends []tool.EventType
	for _, kind := range (&office{site: c.site}).kinds(run.ID) {
		if slices.ContainsFunc(tool.InvocationStatuses(), func(s tool.InvocationStatus) bool {
			return s.Final() && kind == tool.EndEvent(s)
		}) {
			ends = append(ends, kind)
		}
	}
	require.Equal(c.t, []tool.EventType{tool.EndEvent(status)}, ends)
	c.requireNothingLeft(c.service)
	return calls[0]
}

// kill kills a process.
func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	require.NoError(t, cmd.Process.Kill())
	requireKilled(t, cmd)
}

// A worker is killed at each phase of a call that is to be approved. The request is made once
// and the decision counts, whoever delivers it; the call is sent once if it was approved, and
// never otherwise.
func TestKilledWorkerAtApproval(t *testing.T) {
	t.Parallel()

	approved, edited, rejected := func(*runs.Decision) {}, func(d *runs.Decision) {
		d.Arguments = json.RawMessage(`{"q":"less"}`)
	}, func(d *runs.Decision) { d.Approve = false }
	for _, tt := range []struct {
		name     string
		at       point
		x        tool.Execution
		decision func(*runs.Decision)
		lost     bool
		single   bool
		status   tool.InvocationStatus
		requests int
	}{
		{"BeforeAsk", beforeAsk, onlyOnce, approved, false, false, tool.StatusCompleted, 1},
		{"AfterAsk", afterAsk, onlyOnce, approved, false, false, tool.StatusCompleted, 1},
		{"AfterAskDecidedMeanwhile", afterAsk, onlyOnce, approved, true, false, tool.StatusCompleted, 1},
		{"AfterAskRejectedMeanwhile", afterAsk, onlyOnce, rejected, true, false, tool.StatusRejected, 0},
		{"WhileWaiting", whileWaiting, onlyOnce, approved, false, false, tool.StatusCompleted, 1},
		{"DecisionNotDelivered", whileWaiting, onlyOnce, approved, true, false, tool.StatusCompleted, 1},
		{"RejectionNotDelivered", whileWaiting, onlyOnce, rejected, true, false, tool.StatusRejected, 0},
		{"DeliveredBeforeAdmit", beforeAdmit, onlyOnce, edited, false, false, tool.StatusCompleted, 1},
		{"AfterAdmit", afterAdmit, onlyOnce, edited, false, false, tool.StatusCompleted, 1},
		{"AfterSent", afterSent, onlyOnce, approved, false, false, tool.StatusUnknown, 0},
		{"IdempotentAfterSent", afterSent, inPlaceIdempotent, edited, false, false, tool.StatusCompleted, 1},
		{"AfterAnswer", afterAnswer, onlyOnce, approved, false, false, tool.StatusUnknown, 1},
		{"AfterSettle", afterSettle, onlyOnce, approved, false, false, tool.StatusCompleted, 1},
		{"RejectedBeforeSettle", afterAnswer, onlyOnce, rejected, false, false, tool.StatusRejected, 0},
		{"SingleDecisionNotDelivered", whileWaiting, onlyOnce, approved, true, true, tool.StatusCompleted, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			o := newOfficeFor(t, tt.x)
			sent := o.queries()
			c := &waitCrash{
				site: o.site, service: o.service(o.temporal), canary: o.upstream, tool: "refund", at: tt.at,
				single: tt.single, lost: tt.lost,
			}
			var asked wait.Approval
			decision := runs.Decision{Principal: o.approver, Approve: true, Reason: "seen"}
			tt.decision(&decision)
			waits := func() {
				asked = o.waiting(1)[0]
				require.Empty(t, sent(), "nothing is sent before the approval")
			}
			run := c.play(waits, func() {
				decision.ID, decision.Seen = asked.ID, asked.Binding
				_, err := c.service.Decide(t.Context(), decision)
				require.NoError(t, err)
			}, func() {
				o.decide(wait.Verdict{ID: asked.ID, Approve: decision.Approve, Seen: asked.Binding})
			})
			call := c.check(run, tt.status)

			all, err := o.ListApprovals(t.Context(), wait.Query{Tenant: o.principal.Tenant, Limit: 10})
			require.NoError(t, err)
			require.Len(t, all, 1, "it is asked once")
			require.Equal(t, asked.ID, all[0].ID)
			require.Equal(t, call.InvocationID, all[0].ID)
			require.Len(t, all[0].Decisions, 1)
			argument := "q=x"
			if len(decision.Arguments) > 0 {
				argument = "q=less"
				require.JSONEq(t, string(decision.Arguments), string(all[0].Edited))
			}
			if decision.Approve {
				require.Equal(t, wait.Approved, all[0].Status)
				require.Equal(t, tool.ApprovalApproved, call.ApprovalStatus)
			} else {
				require.Equal(t, wait.Rejected, all[0].Status)
				require.Equal(t, tool.ApprovalRejected, call.ApprovalStatus)
			}
			require.Len(t, sent(), tt.requests)
			for _, query := range sent() {
				require.Equal(t, argument, query, "what was approved is what is sent")
			}
		})
	}
}

// queries lets the upstream keep the arguments of the requests that reach it.
func (o *office) queries() (sent func() []string) {
	var mu sync.Mutex
	var all []string
	o.upstream.answer = func(_ int, w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, r.URL.RawQuery)
		fmt.Fprint(w, `{"ok":true}`)
	}
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), all...)
	}
}

// A worker is killed at each phase of a call that is answered from outside. The call is offered
// once, and its first result is its answer, whoever delivers it.
func TestKilledWorkerAtOutsideCall(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		name   string
		at     point
		lost   bool
		single bool
		wait   float64 // Seconds that the caller waits.
		silent bool    // No result comes before the worker is killed.
		status tool.InvocationStatus
	}{
		{"BeforeOffer", beforeOffer, false, false, 120, false, tool.StatusCompleted},
		{"AfterOffer", afterOffer, false, false, 120, false, tool.StatusCompleted},
		{"AfterOfferAnsweredMeanwhile", afterOffer, true, false, 120, false, tool.StatusCompleted},
		{"WhileWaiting", whileWaiting, false, false, 120, false, tool.StatusCompleted},
		{"ResultNotDelivered", whileWaiting, true, false, 120, false, tool.StatusCompleted},
		{"DeliveredBeforeSettle", afterAnswer, false, false, 120, false, tool.StatusCompleted},
		{"AfterSettle", afterSettle, false, false, 120, false, tool.StatusCompleted},
		{"TimeOverBeforeSettle", afterAnswer, false, false, 3, true, tool.StatusExpired},
		{"TimeOverAnsweredBeforeSettle", afterAnswer, true, false, 3, true, tool.StatusCompleted},
		{"SingleResultNotDelivered", whileWaiting, true, true, 120, false, tool.StatusCompleted},
		{"SingleDeliveredBeforeSettle", afterAnswer, false, true, 120, false, tool.StatusCompleted},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			o := newCounter(t)
			o.publish("ask", outsideTool(tt.wait, tool.Interaction{}), tool.Policy{})
			c := &waitCrash{
				site: o.site, service: o.runs, canary: newCanary(t), tool: "ask", at: tt.at, single: tt.single, lost: tt.lost,
			}
			var called wait.Call
			run := c.play(func() { called = o.waiting(1)[0] }, func() {
				if !tt.silent {
					done, err := o.submit(called.ID, `{"n":1}`)
					require.NoError(t, err)
					require.False(t, done.Late || done.Repeated)
				}
			}, func() {
				_, first, err := o.SubmitResult(t.Context(), wait.Submission{
					Tenant: o.principal.Tenant, ID: called.ID, Subject: o.answer.Subject,
					Result: tool.JSONResult(json.RawMessage(`{"n":1}`)),
				})
				require.NoError(t, err)
				require.True(t, first)
			})
			if tt.status == tool.StatusExpired {
				late, err := o.submit(called.ID, `{"n":2}`)
				require.NoError(t, err)
				require.True(t, late.Late)
			}
			call := c.check(run, tt.status)

			all, err := o.ListCalls(t.Context(), wait.CallQuery{Tenant: o.principal.Tenant, Limit: 10})
			require.NoError(t, err)
			require.Len(t, all, 1, "it is offered once")
			require.Equal(t, call.InvocationID, all[0].ID)
			require.Equal(t, wait.CallResolved, all[0].Status)
			require.Equal(t, tt.status == tool.StatusExpired, all[0].Late)
			if tt.status == tool.StatusCompleted {
				require.JSONEq(t, `{"n":1}`, string(all[0].Result.Structured))
				require.JSONEq(t, `{"n":1}`, string(call.Output.Structured))
			}
			if tt.status == tool.StatusCompleted && !tt.single {
				require.Equal(t, []string{`[{"type":"json","json":{"n":1}}]`}, o.answers(run.ID))
			}
		})
	}
}
