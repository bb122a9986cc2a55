package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/agent"
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
	waiting, giveUp := workflow.WithCancel(ctx)
	defer giveUp()
	for {
		if ctx.Err() == nil && b.machine.Err() == nil {
			_ = b.scope.waits.gate(ctx) // What ends meanwhile waits.
		}
		if ctx.Err() != nil {
			b.machine.Stop(&tool.Error{Kind: tool.Cancelled, Op: "workflows.AgentRun", Msg: "the run was cancelled"})
		}
		step := b.machine.Next()
		if b.machine.Err() != nil {
			giveUp()
		}
		for _, call := range step.Wait {
			b.flying++
			workflow.Go(waiting, func(ctx workflow.Context) { b.ends.Send(ctx, b.wait(ctx, call)) })
		}
		for _, start := range step.Start {
			b.flying++
			workflow.Go(ctx, func(ctx workflow.Context) { b.ends.Send(ctx, b.call(ctx, start)) })
		}
		if len(step.Start)+len(step.Wait) > 0 {
			continue
		}
		if b.flying == 0 {
			break
		}
		// A cancellation does not end this: the calls end by themselves, and are settled.
		var end callEnd
		b.ends.Receive(ctx, &end)
		b.flying--
		switch {
		case end.outside:
			b.flying++ // It is still in progress.
			b.machine.Waits(end.call)
		case end.decided:
			b.machine.Decided(end.call, end.refused)
		case end.asks != nil:
			b.machine.Asks(end.call, *end.asks)
		case end.abandoned: // The machine drops the call, because the run ends.
		default:
			b.machine.Called(end.call, end.below, end.err)
		}
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

	asks      *agent.Asking  // Set where the call is open, and needs an approval.
	decided   bool           // Whether the call's approval was decided; refused is nil if it has it.
	abandoned bool           // Whether the approval is not waited for any more.
	refused   *agent.Refusal // Why the call is not to run.
	outside   bool           // Whether the call goes on, and waits for its result from outside.
}

// wait waits for the approval of a call. In a host's workflow the call itself does.
func (b *batch) wait(ctx workflow.Context, call int) callEnd {
	if b.scope.waits == nil {
		return callEnd{call: call, decided: true}
	}
	no, err := b.scope.waits.decide(ctx, *b.machine.Call(call))
	switch {
	case err != nil && ctx.Err() != nil:
		return callEnd{call: call, abandoned: true}
	case err != nil:
		no = unrequested(err)
	}
	return callEnd{call: call, decided: true, refused: no}
}

// call runs one call. Its outcome is in the transcript, for the model to act on, so
// only the error of a call that could not be settled is returned.
func (b *batch) call(ctx workflow.Context, start loop.Start) callEnd {
	in := *b.machine.Call(start.Call)
	var out wire.InvokeOutput
	var err error
	switch {
	case start.Refuse != nil:
		out, err = settle(ctx, in, failure.Encode(start.Refuse))
	case b.scope.waits == nil:
		out, err = invokeHere(ctx, in, b.scope)
	default:
		s := b.scope
		s.outside = func() { b.ends.Send(ctx, callEnd{call: start.Call, outside: true}) }
		out, err = attempt(ctx, in, s)
	}
	if err == nil && out.Asks != nil {
		return callEnd{call: start.Call, asks: out.Asks}
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
