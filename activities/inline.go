package activities

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

const (
	// inlineSlice is how long a run is advanced as part of its workflow's own task. It is
	// shorter than the time after which the task has to be renewed, at the server's cost.
	inlineSlice = 5 * time.Second
	// DefaultInlineRuns is how many runs one process advances so at a time, unless
	// [Activities.LimitInline] says less.
	DefaultInlineRuns = 64
	// slowModel is the mean time of a model's answers from which on it is asked by a regular
	// activity.
	slowModel = 3 * time.Second
	// inlineFreeze is how long a process may sleep before another one may have its
	// workflow task, which the SDK renews two seconds before its timeout.
	inlineFreeze = 2 * time.Second
)

// inline is what this process knows of runs that are advanced as part of their
// workflows' own tasks. It is safe for concurrent use.
type inline struct {
	mu      sync.Mutex
	limit   int
	running map[*watched]struct{}
}

// watched is a run that is advanced inline.
type watched struct{ interrupt context.CancelCauseFunc }

// LimitInline lowers how many runs this process advances as part of their workflows' own
// tasks at a time. Others are advanced by regular activities, which queue.
func (a *Activities) LimitInline(runs int) {
	a.inline.mu.Lock()
	defer a.inline.mu.Unlock()
	a.inline.limit = max(min(runs, a.inline.limit), 0)
}

// errStopped is why a run is interrupted whose worker stops.
var errStopped = errors.New("the worker stops")

// InterruptInline interrupts runs that are advanced as part of their workflows' own tasks,
// because the worker that stops waits no longer: regular activities continue them.
func (a *Activities) InterruptInline() {
	a.inline.mu.Lock()
	defer a.inline.mu.Unlock()
	for w := range a.inline.running {
		w.interrupt(errStopped)
	}
}

// take returns the context of another run that is advanced so, if it may be. Release it.
func (i *inline) take(ctx context.Context) (_ context.Context, release func(), ok bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.running) >= i.limit {
		return ctx, nil, false
	}
	ctx, interrupt := context.WithCancelCause(ctx)
	w := &watched{interrupt}
	if i.running == nil {
		i.running = map[*watched]struct{}{}
	}
	i.running[w] = struct{}{}
	return ctx, func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		delete(i.running, w)
		interrupt(nil)
	}, true
}

// CancelInline cancels a run that is advanced as part of its workflow's own task, in this
// process, as [Control] does. Temporal would end the local activity's context, and not wait for it.
func (a *Activities) CancelInline(ctx context.Context, in wire.AgentRunInput) error {
	if err := checkTenant(ctx, in.Principal.Tenant); err != nil {
		return failure.Encode(err)
	}
	if a.Control != nil {
		key := runKey{in.Principal.Tenant, in.RunID}
		a.Control.cancel(key, activity.GetInfo(ctx).WorkflowExecution.RunID)
	}
	return nil
}

// errBegun is returned where a run that is advanced inline was begun by an attempt that
// died, or before its workflow was reset. A regular activity, whose attempts Temporal counts,
// continues it.
var errBegun = errors.New("the run was begun before")

// leaveInline is the output of an inline Advance that took no step.
func leaveInline() wire.AdvanceOutput { return wire.AdvanceOutput{Handover: wire.HandoverSlice} }

// answeredIn takes note of how long a model took to answer.
func (a *Activities) answeredIn(model string, took time.Duration) {
	if mean, ok := a.answerTimes.Get(model); ok {
		took = (3*mean + took) / 4
	}
	a.answerTimes.Set(model, took)
}

// slow reports whether the model of a pinned agent is known to take its time.
func (a *Activities) slow(ctx context.Context, tenant tool.TenantID, plan *agent.Plan) bool {
	definition, err := a.pinnedAgent(ctx, tenant, plan)
	if err != nil {
		return false // Asking it fails too, and says why.
	}
	mean, ok := a.answerTimes.Get(definition.Model)
	return ok && mean > slowModel
}

// endedError says that this execution of a workflow recorded the end of its run before, and
// its task was lost.
type endedError struct{ run agent.Run }

func (*endedError) Error() string { return "the run's end was recorded" }

// ended fails with an [endedError] where the execution of the activity has ended the run.
func ended(ctx context.Context, run *agent.Run) error {
	if run.Status.Final() && run.EndedBy == activity.GetInfo(ctx).WorkflowExecution.RunID {
		return &endedError{*run}
	}
	return nil
}

// output returns the recorded end as the activity that recorded it did.
func (e *endedError) output() wire.AdvanceOutput {
	out := wire.AdvanceOutput{Execution: e.run.EndedBy, Ended: &wire.AgentRunOutput{
		RunID: e.run.ID, Status: e.run.Status, Head: e.run.HeadMessageID, Turns: e.run.Turns, Calls: e.run.Calls,
	}}
	if e.run.Status == agent.RunCompleted {
		out.Ended.Answer = preview([]tool.Content{tool.Text(e.run.Output)})
	} else {
		out.Failure = &wire.Failure{Kind: e.run.ErrorKind, Msg: e.run.Error}
	}
	return out
}

// scheduledAt is when an activity that advances a run was scheduled, on Temporal's clock: a local
// activity has its worker's.
func scheduledAt(info activity.Info, in *wire.AdvanceInput) time.Time {
	if !in.At.IsZero() {
		return in.At
	}
	return info.ScheduledTime
}
