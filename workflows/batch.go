package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/wire"
)

// segments cuts the calls of a turn by [agent.Segments]. A refused call runs
// nothing, so it is no barrier.
func segments(mode agent.ToolMode, calls []wire.InvokeInput) []agent.Segment {
	free := make([]bool, len(calls))
	for i, in := range calls {
		free[i] = in.Pin.Execution.Pure || in.Refused != nil
	}
	return agent.Segments(mode, free)
}

// limits returns the most calls that may be in flight at once in each
// concurrency group, by [agent.Plan.LimitGroups]. It looks at the calls made,
// not at the tools there are.
func limits(plan *agent.Plan, calls []wire.InvokeInput) map[string]agent.GroupLimit {
	var pins []*agent.Pin
	for i := range calls {
		if calls[i].Refused == nil {
			pins = append(pins, &calls[i].Pin)
		}
	}
	return plan.LimitGroups(pins)
}

// ended is the outcome of a call of a turn, as far as its run needs it.
type ended struct {
	below int // Calls made by its nested agent runs.
	err   error
}

// runBatch takes every call of a turn to its end, and returns the number of
// calls made by their nested agent runs. It returns only errors that end the
// run: a failed call is an answer to the model.
func runBatch(ctx workflow.Context, plan *agent.Plan, calls []wire.InvokeInput, s scope) (below int, err error) {
	ends := make([]ended, len(calls))
	for _, part := range segments(plan.ToolMode, calls) {
		if part.To-part.From == 1 {
			ends[part.From].below, ends[part.From].err = runCall(ctx, calls[part.From], s)
		} else {
			runSegment(ctx, plan, calls[part.From:part.To], ends[part.From:part.To], s)
		}
	}
	for _, end := range ends {
		below += end.below
		if err == nil {
			err = end.err
		}
	}
	return below, err
}

// runSegment runs calls in parallel, each group within its limit.
func runSegment(ctx workflow.Context, plan *agent.Plan, calls []wire.InvokeInput, ends []ended, s scope) {
	most := limits(plan, calls)
	permits := make(map[string]workflow.Semaphore, len(most))
	for _, group := range workflow.DeterministicKeys(most) {
		permits[group] = workflow.NewSemaphore(ctx, int64(most[group].Limit))
	}
	wg := workflow.NewWaitGroup(ctx)
	for i, in := range calls {
		if in.Refused != nil {
			ends[i].below, ends[i].err = runCall(ctx, in, s)
			continue
		}
		wg.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer wg.Done()
			permit := permits[in.Pin.Execution.Group()]
			// A cancelled context fails Acquire; the call is settled all the same.
			if permit.Acquire(ctx, 1) == nil {
				defer permit.Release(1)
			}
			ends[i].below, ends[i].err = runCall(ctx, in, s)
		})
	}
	// Not cancelled with ctx: the calls end by themselves then, and each
	// settles itself.
	wg.Wait(ctx)
}
