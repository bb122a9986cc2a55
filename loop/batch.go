package loop

import (
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/wire"
)

// batch schedules the calls of a turn. In [agent.ParallelSafe] mode a maximal stretch
// of pure calls is a segment, in which each concurrency group stays within its limit;
// any other call runs alone. See [agent.Segments].
type batch struct {
	plan     *agent.Plan
	calls    []wire.InvokeInput
	progress []progress
	segments []agent.Segment
	current  int            // The segment in progress.
	running  int            // Number of calls in progress.
	inGroup  map[string]int // The same by concurrency group.
	limits   map[string]agent.GroupLimit
}

type progress int

const (
	waiting progress = iota
	running
	held // As running, but left for another driver.
	ended
)

// newBatch returns the schedule of calls. Calls that were refused and recorded with
// the turn have ended. Plan is read for its mode and limits, not for its tools.
func newBatch(plan *agent.Plan, calls []wire.InvokeInput) *batch {
	b := &batch{plan: plan, calls: calls, progress: make([]progress, len(calls))}
	free := make([]bool, len(calls))
	for i := range calls {
		// A refused call runs nothing, so it is no barrier.
		free[i] = calls[i].Pin.Execution.Pure || calls[i].Refused != nil
		if calls[i].Settled {
			b.progress[i] = ended
		}
	}
	b.segments = agent.Segments(plan.ToolMode, free)
	b.enter(0)
	return b
}

// enter begins a segment.
func (b *batch) enter(segment int) {
	b.current, b.inGroup = segment, make(map[string]int)
	if segment >= len(b.segments) {
		return
	}
	var pins []*agent.Pin
	for i := b.segments[segment].From; i < b.segments[segment].To; i++ {
		if b.calls[i].Refused == nil {
			pins = append(pins, &b.calls[i].Pin)
		}
	}
	b.limits = b.plan.LimitGroups(pins)
}

// next returns the calls to start now, in their order, and regards them as running.
func (b *batch) next() []int {
	var out []int
	for b.current < len(b.segments) {
		part := b.segments[b.current]
		left := false
		for i := part.From; i < part.To; i++ {
			left = left || b.progress[i] != ended
			if b.progress[i] == waiting && b.permit(i) {
				b.progress[i] = running
				b.running++
				out = append(out, i)
			}
		}
		if left {
			break
		}
		b.enter(b.current + 1)
	}
	return out
}

// permit takes a permit of the call's concurrency group, if one is free. A refused
// call needs none.
func (b *batch) permit(i int) bool {
	group := b.calls[i].Pin.Execution.Group()
	if b.calls[i].Refused != nil {
		return true
	}
	if b.inGroup[group] >= b.limits[group].Limit {
		return false
	}
	b.inGroup[group]++
	return true
}

// end records that a running call has ended.
func (b *batch) end(i int) {
	if b.progress[i] != running && b.progress[i] != held {
		return
	}
	b.progress[i] = ended
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
		case waiting:
			b.running++
			b.inGroup[b.calls[i].Pin.Execution.Group()]++
			fallthrough
		case held:
			b.progress[i] = running
			out = append(out, i)
		case running, ended:
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
