package loop

import (
	"slices"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/wire"
)

// batch schedules the calls of a turn. In [agent.ParallelSafe] mode a maximal stretch
// of pure calls is a segment, in which each concurrency group stays within its limit;
// any other call runs alone. See [agent.Segments].
//
// The approvals that calls need are asked for at once. While one is waited for, or a result
// from outside, pure calls of later segments overtake the call; in [agent.Sequential] mode nothing does.
type batch struct {
	plan     *agent.Plan
	calls    []wire.InvokeInput
	progress []progress
	segments []agent.Segment
	limits   []map[string]agent.GroupLimit // By segment.
	running  int                           // Number of calls in progress.
	inGroup  map[string]int                // The same by concurrency group.
}

type progress int

const (
	waiting progress = iota
	asking           // Until a person approves it.
	running
	outside // As running, but nobody here does: it waits for its result.
	held    // As running, but left for another driver.
	ended
)

// newBatch returns the schedule of calls. Calls that were refused and recorded with
// the turn have ended. Plan is read for its mode and limits, not for its tools.
func newBatch(plan *agent.Plan, calls []wire.InvokeInput) *batch {
	b := &batch{plan: plan, calls: calls, progress: make([]progress, len(calls)), inGroup: make(map[string]int)}
	free := make([]bool, len(calls))
	for i := range calls {
		free[i] = b.free(i)
		if calls[i].Settled {
			b.progress[i] = ended
		}
	}
	b.segments = agent.Segments(plan.ToolMode, free)
	for _, part := range b.segments {
		var pins []*agent.Pin
		for i := part.From; i < part.To; i++ {
			if calls[i].Refused == nil {
				pins = append(pins, &calls[i].Pin)
			}
		}
		b.limits = append(b.limits, plan.LimitGroups(pins))
	}
	return b
}

// free reports whether a call may run beside others. A refused call runs nothing, so it
// is no barrier.
func (b *batch) free(i int) bool { return b.calls[i].Pin.Execution.Pure || b.calls[i].Refused != nil }

// asks returns the calls that an approval is to be asked for, in their order, and regards
// it as asked for.
func (b *batch) asks() []int {
	var out []int
	for i := range b.calls {
		if b.progress[i] == waiting && b.calls[i].Asks != nil {
			b.progress[i] = asking
			out = append(out, i)
		}
	}
	return out
}

// next returns the calls to start now, in their order, and regards them as running.
func (b *batch) next() []int {
	var out []int
	overtaking := false // A call before waits for an approval.
	for s, part := range b.segments {
		open, unattended := false, false
		for i := part.From; i < part.To; i++ {
			switch b.progress[i] {
			case ended:
				continue
			case asking, outside:
				unattended = true
				continue
			case waiting:
				if b.may(i, overtaking) && b.permit(i, s) {
					b.progress[i] = running
					b.running++
					out = append(out, i)
				}
			case running, held:
			}
			open = true
			if overtaking && !b.free(i) {
				return out
			}
		}
		overtaking = overtaking || unattended && b.plan.ToolMode == agent.ParallelSafe
		if (open || unattended) && !overtaking {
			return out
		}
	}
	return out
}

// may reports whether a call may start beside those that are in progress. One that must run
// alone does not wait for calls that overtook it and now wait for their results from outside.
func (b *batch) may(i int, overtaking bool) bool {
	return b.free(i) || !overtaking && !slices.ContainsFunc(b.progress, func(p progress) bool {
		return p == running || p == held
	})
}

// permit takes a permit of the call's concurrency group, if one is free. A refused
// call needs none. One that must run alone does so anyway: only a limit that somebody set
// keeps it from running beside calls that wait for results from outside.
func (b *batch) permit(i, segment int) bool {
	group := b.calls[i].Pin.Execution.Group()
	if b.calls[i].Refused != nil {
		return true
	}
	limit := b.limits[segment][group]
	if b.inGroup[group] >= limit.Limit && (b.free(i) || limit.Cause != agent.LimitUnset) {
		return false
	}
	b.inGroup[group]++
	return true
}

// unattended reports whether a call waits for an approval.
func (b *batch) unattended() bool {
	return slices.Contains(b.progress, asking)
}

// decided records that a call has its approval, or why it is not to run.
func (b *batch) decided(i int, refused *agent.Refusal) {
	if b.progress[i] == asking {
		b.progress[i], b.calls[i].Asks, b.calls[i].Refused = waiting, nil, refused
	}
}

// ask records that a call in progress needs an approval.
func (b *batch) ask(i int, why agent.Asking) {
	if b.progress[i] == running {
		b.stopped(i)
		b.progress[i], b.calls[i].Asks = waiting, &why
	}
}

// waits records that a call in progress waits for its result from outside.
func (b *batch) waits(i int) {
	if b.progress[i] == running {
		b.progress[i] = outside
	}
}

// end records that a call has ended.
func (b *batch) end(i int) {
	switch b.progress[i] {
	case running, held, outside:
		b.stopped(i)
		b.progress[i] = ended
	case waiting, asking, ended:
	}
}

// stopped returns the permit of a call that was in progress.
func (b *batch) stopped(i int) {
	b.running--
	if b.calls[i].Refused == nil {
		b.inGroup[b.calls[i].Pin.Execution.Group()]--
	}
}

// drop returns the calls that have not started, held ones included, and regards them as
// running.
func (b *batch) drop() []int {
	var out []int
	for i, p := range b.progress {
		switch p {
		case waiting, asking:
			b.running++
			if b.calls[i].Refused == nil {
				b.inGroup[b.calls[i].Pin.Execution.Group()]++
			}
			fallthrough
		case held:
			b.progress[i] = running
			out = append(out, i)
		case running, outside, ended:
		}
	}
	return out
}

// left returns the calls that have not ended, in their order.
func (b *batch) left() []wire.InvokeInput {
	var out []wire.InvokeInput
	for i, p := range b.progress {
		if p != ended {
			out = append(out, b.calls[i])
		}
	}
	return out
}
