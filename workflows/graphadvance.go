package workflows

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// inPlace reports whether an activity takes the run on from the steps that the machine has just
// given, and nothing else is in progress. It does where all of them are its to take, and one is a call: an
// evaluation alone is part of the workflow's task.
func (r *graphRun) inPlace(start []flow.Step) bool {
	pinned := r.in.Invoke.Pin.Graph
	if !pinned.InPlace || r.visible || r.machine.Flying() > len(start) {
		return false
	}
	calls := 0
	for _, s := range start {
		_, held := r.held[s.Frame]
		switch {
		case pinned.Makes(s) && !held:
			calls++
		case !s.Evaluates():
			return false
		}
	}
	return calls > 0
}

// advance has an activity take the run on, as far as it can. Where it fails, the workflow takes the
// steps itself, and those that were taken are found.
//
// The activity knows the graph's time, and ends with it: the workflow's own timer does not cancel it.
func (r *graphRun) advance(ctx workflow.Context, passed func() bool) {
	workflow.SetCurrentDetails(ctx, r.details())
	before := r.machine.State()
	out, err := r.advanced(ctx, before, nil)
	if err != nil {
		r.visible = true
		if why := r.stopped(ctx, passed()); why != nil { // The attempt that made its calls is lost: they are settled.
			detached, cancel := workflow.NewDisconnectedContext(ctx)
			out, err = r.advanced(detached, before, why)
			cancel()
		}
	}
	shape := &r.in.Invoke.Pin.Graph.Shape
	switch {
	case err != nil:
		r.machine = flow.NewMachine(shape, before)
	case out.Ended != nil:
		r.ended = out.Ended
	default:
		r.machine, r.made = flow.NewMachine(shape, *out.State), out.Begun
		r.hold(out.Held)
	}
}

// advanced takes the run on from a state, or ends it there.
func (r *graphRun) advanced(
	ctx workflow.Context, from flow.State, stop *flow.Failure,
) (out wire.AdvanceGraphOutput, err error) {
	in := wire.AdvanceGraphInput{GraphInput: r.in, Stop: stop}
	in.Resume, in.Begun, in.Held = &from, r.made, nil
	if r.clock != nil {
		in.Deadline = r.clock.at
	}
	o := advanceOptions(fmt.Sprintf("graph %s, from step %d", r.in.Invoke.Pin.String(), from.Steps))
	o.StartToCloseTimeout = wire.GraphSlice + tool.MaxInPlaceTimeout + grace
	regular := workflow.WithActivityOptions(ctx, o)
	err = workflow.ExecuteActivity(regular, wire.AdvanceGraphActivity, in).Get(regular, &out)
	r.waits.saw(ctx, out.Pause)
	return out, err
}

// hold takes over calls that were begun in place, and are still open.
func (r *graphRun) hold(nodes []wire.HeldNode) {
	r.held = make(map[string]wire.HeldNode, len(nodes))
	for _, h := range nodes {
		r.held[h.Frame] = h
	}
}

// place returns the place of the call of a step, and what it is to continue, if it was begun in place.
func (r *graphRun) place(s flow.Step) (held wire.HeldNode, place int) {
	if h, ok := r.held[s.Frame]; ok {
		delete(r.held, s.Frame)
		return h, h.Place
	}
	r.made++
	return wire.HeldNode{}, r.made
}

// holding returns the calls that were begun in place, and are still open.
func (r *graphRun) holding() (nodes []wire.HeldNode) {
	state := r.machine.State()
	for i := range state.Frames {
		if h, ok := r.held[state.Frames[i].Path]; ok {
			nodes = append(nodes, h)
		}
	}
	return nodes
}
