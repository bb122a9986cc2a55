package activities

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// compose makes the steps of a composition in place, as the nodes of a graph, and settles it with
// their outcomes. Whole is its attempt, admitted as the invocation. The end of a step is recorded
// with the admission of the next, and that of the last one with the composition's own. Where a
// step needs another attempt, so does the composition: its settled steps are not made again.
func (a *Activities) compose(
	ctx context.Context, whole *attempt, invocation string, rest func(context.Context) wire.Handover,
) callEnd {
	in := *whole.in
	in.InvocationID = invocation
	in.Begin(time.Now())
	memory, err := a.newGraphMemory(ctx, in.GraphCall())
	if err != nil {
		return callEnd{err: failure.Encode(err)}
	}
	if memory.input = whole.arguments; len(memory.input) == 0 {
		memory.input = json.RawMessage(`{}`)
	}
	d := newGraphDriver(ctx, memory, wire.AdvanceGraphInput{
		GraphInput: wire.GraphInput{Invoke: in, Deadline: in.Deadline},
	})
	d.resting, d.alive = rest, whole.overtaken
	out, err := d.run(ctx)
	switch {
	case err != nil:
		return callEnd{err: err}
	case out.Ended != nil:
		return d.settleWhole(context.WithoutCancel(ctx), whole)
	case len(d.held) > 0:
		end := d.held[0].callEnd
		end.reached = d.held[0].place
		return end
	default:
		return callEnd{left: out.Handover}
	}
}

// settleWhole ends a composition whose steps are over.
func (d *graphDriver) settleWhole(ctx context.Context, whole *attempt) callEnd {
	in := wire.SettleInput{Invoke: d.in.Invoke, Status: tool.StatusCompleted, Graph: d.out.Ended}
	if d.why != nil {
		in.Status, in.Kind, in.Msg = tool.EndStatus(d.why.Kind), d.why.Kind, d.why.Msg
	}
	s := ledger.Settlement{Status: in.Status, Kind: in.Kind, Msg: in.Msg}
	if _, err := d.a.gather(ctx, &in, &s, d.memory); err != nil {
		return callEnd{err: d.abandon(ctx, err)}
	}
	s.Entry, s.Fence = in.Invoke.Entry(), whole.fence
	steps := len(d.closing)
	done, err := d.write(ctx, nil, s)
	if err != nil {
		return callEnd{err: err}
	}
	if done.Ended > steps {
		return endOf(ledger.Outcome{
			InvocationID: in.Invoke.InvocationID, Status: s.Status, Result: s.Result, Kind: s.Kind, Msg: s.Msg,
			Won: true, Sent: s.Acted,
		})
	}
	outcome, err := whole.write(ctx, s)
	if err != nil {
		return callEnd{err: err}
	}
	return endOf(outcome)
}
