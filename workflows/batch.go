package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/wire"
)

// segment is a stretch of a turn's calls, [from, to), that are scheduled
// together.
type segment struct{ from, to int }

// segments cuts the calls of a turn, in the order the model made them. In
// parallel_safe mode a maximal stretch of pure calls is one segment; a call
// that is not pure is a barrier, alone in its segment. In sequential mode
// every call is.
//
// A refused call runs nothing, so it is nobody's barrier.
func segments(mode agent.ToolMode, calls []wire.InvokeInput) []segment {
	var out []segment
	for i := 0; i < len(calls); {
		j := i + 1
		if mode == agent.ParallelSafe && free(calls[i]) {
			for j < len(calls) && free(calls[j]) {
				j++
			}
		}
		out = append(out, segment{i, j})
		i = j
	}
	return out
}

func free(in wire.InvokeInput) bool { return in.Pin.Execution.Pure || in.Call.Refused != nil }

// limits returns the most calls that may be in flight at once in each
// concurrency group. Tools of a group that disagree get the least of them.
// It looks at the calls made, not at the tools there are.
func limits(calls []wire.InvokeInput) map[string]int {
	out := make(map[string]int)
	for _, in := range calls {
		if in.Call.Refused != nil {
			continue
		}
		group, limit := in.Pin.Execution.Group(), in.Pin.Execution.Limit()
		if known, ok := out[group]; !ok || limit < known {
			out[group] = limit
		}
	}
	return out
}

// ended is how a call of a turn ended for its run.
type ended struct {
	below int // Calls that agents made for it.
	err   error
}

// runBatch takes every call of a turn to its end, and returns how many calls
// agents made for them. An error is one that ends the run: a failed call is an
// answer to the model.
func runBatch(ctx workflow.Context, mode agent.ToolMode, calls []wire.InvokeInput, s scope) (below int, err error) {
	ends := make([]ended, len(calls))
	for _, part := range segments(mode, calls) {
		if part.to-part.from == 1 {
			ends[part.from].below, ends[part.from].err = runCall(ctx, calls[part.from], s)
		} else {
			runSegment(ctx, calls[part.from:part.to], ends[part.from:part.to], s)
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

// runSegment runs calls at once, at most the limit of each group in flight.
func runSegment(ctx workflow.Context, calls []wire.InvokeInput, ends []ended, s scope) {
	most := limits(calls)
	permits := make(map[string]workflow.Semaphore, len(most))
	for _, group := range workflow.DeterministicKeys(most) {
		permits[group] = workflow.NewSemaphore(ctx, int64(most[group]))
	}
	wg := workflow.NewWaitGroup(ctx)
	for i, in := range calls {
		if in.Call.Refused != nil {
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
	// The calls end by themselves when ctx is cancelled: each settles itself.
	wg.Wait(ctx)
}
