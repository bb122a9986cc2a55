package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// batch makes the calls of a turn, as the machine of its run schedules them.
type batch struct {
	machine *loop.Run
	scope   scope
	flying  int
	ends    workflow.Channel
	// over is told how each call ended, if it is set.
	over func(call int, out wire.InvokeOutput, err error)
}

// run takes every call of the turn to its end. It returns only errors that end the
// run: a failed call is an answer to the model. Calls that a cancelled ctx keeps from
// starting are settled as cancelled.
func (b *batch) run(ctx workflow.Context) error {
	b.ends = workflow.NewChannel(ctx)
	for {
		if ctx.Err() != nil {
			b.machine.Stop(&tool.Error{Kind: tool.Cancelled, Op: "workflows.AgentRun", Msg: "the run was cancelled"})
		}
		step := b.machine.Next()
		for _, start := range step.Start {
			b.flying++
			workflow.Go(ctx, func(ctx workflow.Context) { b.ends.Send(ctx, b.call(ctx, start)) })
		}
		if len(step.Start) > 0 {
			continue
		}
		if b.flying == 0 {
			break
		}
		// A cancellation does not end this: the calls end by themselves, and are settled.
		var end callEnd
		b.ends.Receive(ctx, &end)
		b.flying--
		b.machine.Called(end.call, end.below, end.err)
	}
	if err := b.machine.Err(); unsettled(err) {
		return err
	}
	return nil
}

// callEnd is how a call ended.
type callEnd struct {
	call, below int // Below is the number of calls that its nested agent runs made.
	err         error
}

// call runs one call. Its outcome is in the transcript, for the model to act on, so
// only the error of a call that could not be settled is returned.
func (b *batch) call(ctx workflow.Context, start loop.Start) callEnd {
	in := *b.machine.Call(start.Call)
	var out wire.InvokeOutput
	var err error
	if start.Refuse != nil {
		out, err = settle(ctx, in, failure.Encode(start.Refuse))
	} else {
		out, err = invoke(ctx, in, b.scope)
	}
	if b.over != nil {
		b.over(start.Call, out, err)
	}
	end := callEnd{call: start.Call, below: out.Calls}
	if unsettled(err) {
		end.err = err
	}
	return end
}
