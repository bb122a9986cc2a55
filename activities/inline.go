package activities

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/toolcrib/toolcrib/agent"
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
	// workflow task. The task's timeout is 10 s.
	inlineFreeze = 8 * time.Second
)

// inline is what this process knows of runs that are advanced as part of their
// workflows' own tasks. It is safe for concurrent use.
type inline struct {
	limit    atomic.Int64
	running  atomic.Int64
	draining atomic.Int64 // Workers of this process that stop.
}

// LimitInline bounds how many runs this process advances as part of their workflows' own
// tasks at a time: at most as many as a worker runs activities. Others are advanced by
// regular activities, which queue.
func (a *Activities) LimitInline(runs int) {
	a.inline.limit.Store(int64(min(max(runs, 0), DefaultInlineRuns)))
}

// Drain has runs that are advanced as part of their workflows' own tasks handed over at
// their next step, until done is called: Temporal does not tell local activities that
// their worker stops.
func (a *Activities) Drain() (done func()) {
	a.inline.draining.Add(1)
	return func() { a.inline.draining.Add(-1) }
}

// take reports whether another run may be advanced so. Release it if it may.
func (i *inline) take() (release func(), ok bool) {
	if i.running.Add(1) > i.limit.Load() {
		i.running.Add(-1)
		return nil, false
	}
	return func() { i.running.Add(-1) }, true
}

// drains reports whether a local activity is to end, because a worker of this process stops.
func (a *Activities) drains(ctx context.Context) bool {
	return a.inline.draining.Load() > 0 && activity.GetInfo(ctx).IsLocalActivity
}

// errBegun is returned where a run that is advanced inline was begun by an attempt that
// died, or before its workflow was reset. A regular activity, whose attempts Temporal counts,
// continues it.
var errBegun = errors.New("the run was begun before")

// leaveInline is the output of an inline Advance that took no step.
func leaveInline() wire.AdvanceOutput { return wire.AdvanceOutput{Handover: wire.HandoverSlice} }

// answeredIn takes note of how long a model took to answer.
func (a *Activities) answeredIn(model string, took time.Duration) {
	if mean, ok := a.answerTimes.GetIfPresent(model); ok {
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
	mean, ok := a.answerTimes.GetIfPresent(definition.Model)
	return ok && mean > slowModel
}
