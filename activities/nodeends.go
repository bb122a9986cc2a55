package activities

import (
	"context"
	"slices"

	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// take takes up a step in flight that ended.
func (d *graphDriver) take(ctx context.Context, end graphEnd) error {
	d.flying--
	frame := end.step.Frame
	d.cancels[frame]()
	delete(d.cancels, frame)
	switch {
	case end.in == nil:
		if end.slept || d.machine.Dropped(frame) {
			d.machine.Slept(frame)
		}
		return nil
	case end.err != nil:
		return end.err
	case !end.over():
		return d.hold(ctx, end)
	}
	if end.closing != nil {
		d.closing = append(d.closing, end)
	} else {
		d.list(end)
	}
	o := end.outcome
	if d.pinned.Shape.Sequence {
		d.memory.stepEnded(end.step.Node, ledger.Record{
			InvocationID: o.InvocationID, Arguments: end.in.Arguments, Outcome: &o,
		})
	} else {
		d.memory.calls[end.in.EffectID] = &graph.Call{
			Result: o.Result, Kind: o.Kind, Msg: o.Msg, EffectID: end.in.EffectID,
		}
	}
	d.called(frame, o)
	return nil
}

// hold leaves a call to the workflow that is still open; one that is not to go on is settled.
func (d *graphDriver) hold(ctx context.Context, end graphEnd) error {
	if end.retry != nil {
		end.made.Retry = causeOf(end.retry)
		d.list(end)
	}
	if d.machine.Dropped(end.step.Frame) {
		return d.settle(ctx, end)
	}
	d.left, d.out.Handover = true, wire.HandoverCalls
	d.held = append(d.held, end)
	return nil
}

// open returns the call for the workflow, which continues it.
func (end *graphEnd) open() wire.HeldNode {
	h := wire.HeldNode{Frame: end.step.Frame, Place: end.place, Reached: end.reached, Asks: end.asks}
	if end.reached > 0 { // A step of the call asks.
		h.Asks = nil
	}
	if end.retry != nil {
		h.Tried, h.RetryIn = end.tried, retryIn(end.retry)
	}
	return h
}

// list adds a call to those that the history lists.
func (d *graphDriver) list(end graphEnd) {
	if len(d.out.Made) < wire.MaxCallsMade {
		d.out.Made = append(d.out.Made, end.made)
	}
	if end.made.Retry == "" {
		d.out.Calls++
	}
	d.report.set(wire.AdvanceProgress{Calls: d.out.Calls, Step: end.step.Path()})
}

// called tells the machine how a call ended. One that was cancelled because the run ends is no
// failure of its node: that the run is stopped is what the machine learns.
func (d *graphDriver) called(frame string, o ledger.Outcome) {
	end, below := flow.Called{}, 1
	if d.pinned.Shape.Sequence { // Its calls count already.
		below = 0
		if o.IsError() {
			end.Failure = &flow.Failure{Kind: tool.Conflict, Msg: "the tool returned an error"}
		}
	}
	switch {
	case o.Kind == tool.Cancelled && (d.ending || d.limited.Err() != nil) && !d.machine.Dropped(frame):
		d.cut++
		return
	case o.Kind != "":
		end.Failure = &flow.Failure{Kind: o.Kind, Msg: o.Msg}
	}
	d.machine.Called(frame, end, below)
}

// drop ends what a frame does that is not to go on.
func (d *graphDriver) drop(ctx context.Context, frame string) error {
	if cancel := d.cancels[frame]; cancel != nil {
		cancel()
		return nil
	}
	d.ready = slices.DeleteFunc(d.ready, func(s flow.Step) bool { return s.Frame == frame })
	if i := slices.IndexFunc(d.held, func(end graphEnd) bool { return end.step.Frame == frame }); i >= 0 {
		end := d.held[i]
		d.held = slices.Delete(d.held, i, i+1)
		return d.settle(ctx, end)
	}
	d.machine.Called(frame, flow.Called{}, 0) // It was not begun.
	return nil
}

// settle ends a call as cancelled, which is still open, and whose frame is not to go on.
func (d *graphDriver) settle(ctx context.Context, end graphEnd) error {
	if d.machine.Dropped(end.step.Frame) {
		d.machine.Called(end.step.Frame, flow.Called{}, 1)
	} else {
		d.cut++
	}
	detached := context.WithoutCancel(ctx)
	_, err := patiently(detached, settlePatience, func() (wire.InvokeOutput, error) {
		return d.a.settleCall(detached, wire.SettleInput{
			Invoke: *end.in, Status: tool.StatusCancelled, Kind: tool.Cancelled, Msg: "the call was cancelled",
		})
	})
	return err
}
