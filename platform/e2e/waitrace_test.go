package e2e_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
	"github.com/toolcrib/toolcrib/worker"
)

var waitActions = flag.Int("wait-actions", 300, "how many decisions, results and time-outs race in TestWaitsRace")

// racedCalls are the tools that each run of the race calls in its first turn.
var racedCalls = []string{"look", "look", "ask", "ask", "refund"}

// editedMark is what an approver adds to the argument of a call.
const editedMark = "-edited"

// race is an office where decisions, results, cancellations and the ends of waits race.
type race struct {
	*office
	runs     *runs.Service
	deciders []tool.Principal
	executor tool.Principal
	tried    atomic.Int64 // Decisions, results and cancellations.
	racers   sync.WaitGroup

	mu       sync.Mutex
	met      map[string]bool             // Waits that were raced for.
	accepted map[string][]wait.Approval  // Decisions, by call.
	kept     map[string][]runs.Submitted // Results, by call.
	requests map[string]int              // By the argument, which no two calls share.
}

func newRace(t *testing.T) *race {
	t.Helper()
	o := &office{site: newSite(t), upstream: newCanary(t)}
	r := &race{
		office: o, runs: o.service(o.temporal), executor: o.key("executor", wait.SubmitPermission),
		met: map[string]bool{}, accepted: map[string][]wait.Approval{}, kept: map[string][]runs.Submitted{},
		requests: map[string]int{},
	}
	for _, name := range []string{"first", "second", "third"} {
		r.deciders = append(r.deciders, o.key(name, wait.DecidePermission))
	}
	o.upstream.answer = func(_ int, w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		r.requests[req.URL.Query().Get("q")]++
		r.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"ok":true}`)
	}
	// The waits are shorter than a definition may say, so that many reach the end of their time.
	pure := tool.Execution{Pure: true, TimeoutSeconds: 30, MaxConcurrency: len(racedCalls)}
	look, refund := httpTool(o.upstream.URL, pure), httpTool(o.upstream.URL, tool.Execution{TimeoutSeconds: 30})
	look.Interaction.Confirmation = &tool.Confirmation{ExpiresSeconds: 2}
	refund.Interaction.Confirmation = &tool.Confirmation{ExpiresSeconds: 2}
	ask := outsideTool(2, tool.Interaction{})
	ask.Execution.Pure, ask.Execution.MaxConcurrency = true, len(racedCalls)
	o.publish("look", look, tool.Policy{EgressClass: tool.EgressReadOnly})
	o.publish("refund", refund, tool.Policy{EgressClass: tool.EgressWrite})
	o.publish("ask", ask, tool.Policy{})
	return r
}

// Generate makes the calls of a run, whose input is the name of their arguments.
func (r *race) Generate(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
	out := &agent.ModelResponse{Text: "done"}
	if req.Turn == 1 {
		for i, name := range racedCalls {
			out.Calls = append(out.Calls, agent.Call{
				ID: fmt.Sprintf("call_%d", i), Name: name,
				Arguments: json.RawMessage(fmt.Sprintf(`{"q":"%s.%d"}`, req.Messages[0].Content[0].Text, i)),
			})
		}
	}
	return out, nil
}

// meet lets everybody act on each wait of the tenant once, until ctx ends.
func (r *race) meet(ctx context.Context) {
	for ctx.Err() == nil {
		asked, err := r.ListApprovals(ctx, wait.Query{Tenant: r.principal.Tenant, Status: wait.Pending, Limit: 500})
		r.requireHeard(ctx, err)
		for _, a := range asked {
			if n, first := r.first(a.ID); first {
				r.decideOn(n, a) //nolint:contextcheck // Its context is that of the test.
			}
		}
		called, err := r.ListCalls(ctx, wait.CallQuery{Tenant: r.principal.Tenant, Status: wait.CallsOpen, Limit: 500})
		r.requireHeard(ctx, err)
		for _, c := range called {
			if n, first := r.first(c.ID); first && c.AnswerBy != nil {
				r.submitTo(n, c) //nolint:contextcheck // Its context is that of the test.
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// requireHeard checks that a listing failed for want of time, if at all: the next one will do.
func (r *race) requireHeard(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil && tool.KindOf(err) != tool.Unavailable {
		r.t.Errorf("listing what waits: %v", err)
	}
}

// insist acts until the answer is another than that the service is not available, as a client
// would. What it does may have been done by an attempt that was not answered.
func (r *race) insist(act func() error) error {
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		err := act()
		if err == nil || tool.KindOf(err) != tool.Unavailable || time.Now().After(end) {
			return err
		}
	}
}

// first counts a wait when it is met first.
func (r *race) first(id string) (n int, first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.met[id] {
		return 0, false
	}
	r.met[id] = true
	return len(r.met), true
}

// when says when the actor i acts on the wait n, which ends at a time; never for some. All act
// at once, or about the time when the wait ends.
func when(n, i int, end time.Time) (at time.Time, acts bool) {
	switch n % 4 {
	case 0, 1:
		return time.Now(), true
	case 2:
		return end.Add(time.Duration((n+i)%7-3) * 8 * time.Millisecond), true
	default:
		return time.Time{}, n%8 == 3 && i == 0 // Only one, or nobody.
	}
}

// decideOn lets three people decide on a request: approve it as it is, approve it with other
// arguments, and reject it.
func (r *race) decideOn(n int, a wait.Approval) {
	for i, by := range r.deciders {
		at, acts := when(n, i, a.ExpiresAt)
		if !acts {
			continue
		}
		r.racers.Go(func() {
			time.Sleep(time.Until(at))
			r.tried.Add(1)
			var done wait.Approval
			err := r.insist(func() (err error) {
				done, err = r.decideAs(by, n, i, a)
				return err
			})
			switch {
			case err == nil:
				r.mu.Lock()
				r.accepted[a.ID] = append(r.accepted[a.ID], done)
				r.mu.Unlock()
			case tool.KindOf(err) != tool.Conflict:
				r.t.Errorf("deciding on %s: %v", a.ID, err)
			}
		})
	}
}

// decideAs makes the decision of the i-th person on the request n.
func (r *race) decideAs(by tool.Principal, n, i int, a wait.Approval) (wait.Approval, error) {
	d := runs.Decision{Principal: by, ID: a.ID, Approve: (n+i)%3 > 0, Reason: "raced", Seen: a.Binding}
	switch {
	case (n+i)%3 == 1:
		d.Arguments = json.RawMessage(strings.Replace(string(a.Arguments), `"}`, editedMark+`"}`, 1))
	case n%5 == 0: // The message to the workflow is lost.
		return r.Decide(r.t.Context(), wait.Verdict{
			Principal: by, ID: a.ID, Approve: d.Approve, Reason: d.Reason, Seen: d.Seen,
		})
	}
	return r.runs.Decide(r.t.Context(), d)
}

// submitTo lets three executors answer a call.
func (r *race) submitTo(n int, c wait.Call) {
	for i := range 3 {
		if at, acts := when(n, i, *c.AnswerBy); acts {
			r.racers.Go(func() {
				time.Sleep(time.Until(at))
				r.submit(c.ID, n*3+i)
			})
		}
	}
}

func (r *race) submit(id string, result int) {
	r.tried.Add(1)
	var done runs.Submitted
	tries := 0
	err := r.insist(func() (err error) {
		tries++
		done, err = r.runs.SubmitResult(r.t.Context(), runs.Submission{
			Principal: r.executor, ID: id, Result: json.RawMessage(fmt.Sprintf(`{"n":%d}`, result)),
		})
		return err
	})
	own := err == nil && tries > 1 && // Kept, and not answered.
		string(done.Result.Structured) == fmt.Sprintf(`{"n":%d}`, result)
	switch {
	case err == nil && (!done.Repeated || own):
		r.mu.Lock()
		r.kept[id] = append(r.kept[id], done)
		r.mu.Unlock()
	case err != nil && tool.KindOf(err) != tool.Conflict:
		r.t.Errorf("submitting the result of %s: %v", id, err)
	}
}

// cancel asks a run to stop while its calls wait, and reports whether it was asked.
func (r *race) cancel(run agent.Run, after time.Duration) bool {
	time.Sleep(after)
	r.tried.Add(1)
	tries := 0
	err := r.insist(func() error {
		tries++
		_, err := r.runs.Cancel(r.t.Context(), run.Tenant, run.ID)
		return err
	})
	if err != nil && tool.KindOf(err) != tool.Conflict {
		r.t.Errorf("cancelling run %s: %v", run.ID, err)
	}
	return err == nil || tries > 1 // It was asked, or may have been.
}

// racedRun is a run of the race that has ended.
type racedRun struct {
	agent.Run
	cancelled bool // It was asked to stop.
}

// drive starts runs one after another until enough was tried, and returns those that ended.
func (r *race) drive(a agent.Agent) []racedRun {
	var ended []racedRun
	var mu sync.Mutex
	var next atomic.Int64
	var load sync.WaitGroup
	for range 20 {
		load.Go(func() {
			for r.tried.Load() < int64(*waitActions) {
				n := int(next.Add(1))
				run, w := r.run(a, fmt.Sprintf("r%d", n))
				out := racedRun{Run: run}
				if n%5 == 0 {
					out.cancelled = r.cancel(run, time.Duration(n%23)*100*time.Millisecond)
				}
				if _, err := r.wait(w); err != nil && !out.cancelled {
					r.t.Errorf("run %s: %v", run.ID, err)
				}
				mu.Lock()
				ended = append(ended, out)
				mu.Unlock()
			}
		})
	}
	load.Wait()
	return ended
}

// Decisions of several people, results of several executors, cancellations and the ends of
// time race for every call that waits. Each call ends once, as the first of them says:
// nothing is sent that was not approved, nothing is sent twice, and what was accepted counts.
func TestWaitsRace(t *testing.T) {
	t.Parallel()

	r := newRace(t)
	a := r.publishAgent(agent.Definition{
		Name: "Desk", Model: "test/x", Tools: refs(t, "look", "ask", "refund"), ToolMode: agent.ParallelSafe,
	})
	for range 2 {
		r.start(worker.Config{Allow: allow(r.upstream), Models: map[string]agent.Model{"test": r}})
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var service sync.WaitGroup
	service.Go(func() { r.runs.DispatchUntil(ctx) })
	service.Go(func() { r.meet(ctx) })
	began := time.Now()
	ended := r.drive(a)
	r.racers.Wait()
	ran := time.Since(began)
	r.sweep()
	stop()
	service.Wait()

	seen := map[string]int{}
	for _, run := range ended {
		r.check(run, seen)
	}
	r.requireNothingLeft(r.runs)
	t.Logf("%d actions raced for %d calls of %d runs in %s: %v", r.tried.Load(), len(r.met), len(ended), ran, seen)
}

// sweep submits late results to the calls that still take one: those that timed out.
func (r *race) sweep() {
	for {
		open, err := r.ListCalls(r.t.Context(), wait.CallQuery{
			Tenant: r.principal.Tenant, Status: wait.CallsOpen, Limit: 500,
		})
		require.NoError(r.t, err)
		if len(open) == 0 {
			return
		}
		for _, c := range open {
			require.Equal(r.t, wait.CallPending, c.Status, "every run has ended: nothing waits")
			r.submit(c.ID, 0)
			require.Len(r.t, r.kept[c.ID], 1)
			require.True(r.t, r.kept[c.ID][0].Late)
		}
	}
}

// check compares the record of a run with what was accepted and what was sent.
func (r *race) check(run racedRun, seen map[string]int) {
	r.t.Helper()
	found, err := r.FindRun(r.t.Context(), run.Tenant, run.ID)
	require.NoError(r.t, err)
	require.True(r.t, found.Status.Final(), found.Status)
	calls := r.invocations(run.ID)
	if !run.cancelled {
		require.Equal(r.t, agent.RunCompleted, found.Status)
		require.Len(r.t, calls, len(racedCalls))
	}
	messages, err := r.Transcript(r.t.Context(), run.Tenant, run.ID)
	require.NoError(r.t, err)
	answers := map[string][]string{}
	for _, m := range messages {
		if m.Role == agent.RoleTool {
			raw, err := json.Marshal(m.Content)
			require.NoError(r.t, err)
			answers[m.CallID] = append(answers[m.CallID], string(raw))
		}
	}
	require.Len(r.t, answers, len(calls))
	for _, call := range calls {
		require.True(r.t, call.Status.Final(), call.Status)
		require.Len(r.t, answers[call.CallID], 1, "one message for each call")
		if call.Slug == "ask" {
			r.checkAsked(run, call, answers[call.CallID][0])
		} else {
			r.checkApproved(run, call)
		}
		seen[call.Slug+" "+string(call.Status)]++
	}
}

// checkApproved checks a call that was to be approved.
func (r *race) checkApproved(run racedRun, call tool.Invocation) {
	r.t.Helper()
	plain := fmt.Sprintf("%s.%s", r.input(run), strings.TrimPrefix(call.CallID, "call_"))
	sent, sentEdited := r.requests[plain], r.requests[plain+editedMark]
	accepted := r.accepted[call.InvocationID]
	a, err := r.FindApproval(r.t.Context(), run.Tenant, call.InvocationID)
	if run.cancelled && tool.KindOf(err) == tool.NotFound { // It had not got that far.
		require.Equal(r.t, tool.StatusCancelled, call.Status)
		require.Zero(r.t, sent+sentEdited)
		return
	}
	require.NoError(r.t, err)
	require.True(r.t, a.Status.Final(), a.Status)
	if a.Status == wait.Approved || a.Status == wait.Rejected {
		require.Len(r.t, accepted, 1, "one decision was accepted")
		require.Len(r.t, a.Decisions, 1)
		require.Equal(r.t, accepted[0].Status, a.Status)
		require.Equal(r.t, accepted[0].Decisions[0].Subject, a.Decisions[0].Subject)
		require.Equal(r.t, accepted[0].Edited, a.Edited)
	} else {
		require.Empty(r.t, accepted, "a decision that was accepted is lost")
	}
	if a.Status != wait.Approved {
		require.Zero(r.t, sent+sentEdited, "a call that is %s was sent", a.Status)
		want := map[wait.Status]tool.InvocationStatus{
			wait.Rejected: tool.StatusRejected, wait.Expired: tool.StatusExpired, wait.Cancelled: tool.StatusCancelled,
		}[a.Status]
		if call.Status != want {
			require.True(r.t, run.cancelled && call.Status == tool.StatusCancelled, "%s is %s", a.Status, call.Status)
		}
		return
	}
	if len(a.Edited) > 0 {
		sent, sentEdited = sentEdited, sent
	}
	require.Zero(r.t, sentEdited, "other arguments than those that were approved were sent")
	if call.Status == tool.StatusCompleted {
		require.Equal(r.t, 1, sent)
		return
	}
	require.True(r.t, run.cancelled, "an approved call is %s: %s", call.Status, call.Error)
	require.LessOrEqual(r.t, sent, 1)
}

// checkAsked checks a call that was answered from outside.
func (r *race) checkAsked(run racedRun, call tool.Invocation, answer string) {
	r.t.Helper()
	kept := r.kept[call.InvocationID]
	c, err := r.FindCall(r.t.Context(), run.Tenant, call.InvocationID)
	if run.cancelled && tool.KindOf(err) == tool.NotFound {
		require.Equal(r.t, tool.StatusCancelled, call.Status)
		return
	}
	require.NoError(r.t, err)
	if len(kept) == 0 {
		require.True(r.t, run.cancelled, "a call of a run that went on takes a result, if a late one")
		require.Equal(r.t, tool.StatusCancelled, call.Status)
		require.Equal(r.t, wait.CallCancelled, c.Status)
		return
	}
	require.Len(r.t, kept, 1, "the first result counts")
	require.Equal(r.t, wait.CallResolved, c.Status)
	require.JSONEq(r.t, string(kept[0].Result.Structured), string(c.Result.Structured))
	require.Equal(r.t, kept[0].Late, c.Late)
	if c.Late {
		require.Equal(r.t, tool.StatusExpired, call.Status)
		return
	}
	require.Equal(r.t, tool.StatusCompleted, call.Status)
	require.Contains(r.t, answer, string(kept[0].Result.Structured))
}

// input is what a run was started with.
func (r *race) input(run racedRun) string {
	r.t.Helper()
	messages, err := r.Transcript(r.t.Context(), run.Tenant, run.ID)
	require.NoError(r.t, err)
	return messages[0].Content[0].Text
}
