package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/internal/nested/compose"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// composer makes the steps of a composition in place. The end of a step is recorded with
// the admission of the next, and that of the last one with the composition's own.
type composer struct {
	a       *Activities
	whole   *attempt // The composition, admitted.
	in      wire.InvokeInput
	rest    func(context.Context) wire.Handover
	config  *compose.Config
	state   compose.State // What later steps are bound to.
	records map[string]ledger.Record
	closing *attempt // The step that is over, and whose end is to be written.
	doubt   int      // How many admissions of the next step may have been written.
}

// newComposer returns the composer of a composition that was admitted as the invocation.
func newComposer(whole *attempt, invocation string, rest func(context.Context) wire.Handover) *composer {
	c := &composer{
		a: whole.a, whole: whole, in: *whole.in, rest: rest, records: map[string]ledger.Record{},
		state: compose.State{Input: whole.arguments, Steps: map[string]compose.StepResult{}},
	}
	c.in.InvocationID = invocation
	c.in.Begin(time.Now())
	if len(c.state.Input) == 0 {
		c.state.Input = json.RawMessage(`{}`)
	}
	return c
}

// run makes the steps, and settles the composition with their outcomes. Where a step
// needs another attempt, so does the composition: its settled steps are not made again.
func (c *composer) run(ctx context.Context) callEnd {
	end := c.steps(ctx)
	if _, err := c.write(ctx, nil); err != nil { // Of a composition that is left.
		return callEnd{err: err}
	}
	return end
}

func (c *composer) steps(ctx context.Context) callEnd {
	var err error
	if c.config, err = c.a.composition(ctx, c.in.Principal.Tenant, c.in.Pin.ToolID, c.in.Pin.Digest); err != nil {
		return callEnd{err: failure.Encode(err)}
	}
	limited := ctx
	if !c.in.Deadline.IsZero() {
		var cancel context.CancelFunc
		limited, cancel = withDeadline(ctx, time.Until(c.in.Deadline))
		defer cancel()
	}
	steps := loop.NewSteps(c.in)
	for limited.Err() == nil {
		if why := c.rest(ctx); why != "" {
			return callEnd{left: why}
		}
		if err := c.whole.overtaken(); err != nil {
			return callEnd{err: interruption(err)}
		}
		step, ok := steps.Next(time.Now())
		if !ok {
			break
		}
		end := c.step(limited, step)
		end.reached = steps.State().Begun
		if !end.over() {
			return end
		}
		steps.Ended(end.made.IsError)
	}
	if limited.Err() != nil {
		steps.Stop()
	}
	return c.settle(ctx, limited, steps.State())
}

// step makes one step.
func (c *composer) step(ctx context.Context, in wire.InvokeInput) callEnd {
	effectID, at := in.EffectID, time.Now()
	ticket, err := c.admit(ctx, &in)
	if err != nil {
		return callEnd{err: err}
	}
	t := c.a.inPlace(&in, ticket, at)
	t.alive, t.doubt, c.doubt = c.whole.alive, c.doubt, 0
	end := c.a.call(ctx, t, c.rest)
	if !end.over() {
		return end
	}
	c.closing = end.closing
	outcome := end.outcome
	c.records[effectID] = ledger.Record{InvocationID: outcome.InvocationID, Arguments: in.Arguments, Outcome: &outcome}
	c.state.Steps[c.config.Steps[in.Step.Index].ID] = compose.StepResult{
		Result: outcome.Result, Kind: outcome.Kind, Msg: outcome.Msg,
	}
	return end
}

// admit binds a step to the outcomes before it, and admits it with the end of the step
// before. A step that is not admitted here is by its attempt, which also ends one whose
// arguments cannot be bound.
func (c *composer) admit(ctx context.Context, in *wire.InvokeInput) (*ledger.Ticket, error) {
	bound := *in
	var err error
	if bound.Arguments, err = c.config.Arguments(in.Step.Index, c.state); err == nil {
		err = c.a.prepareRaw(ctx, &bound)
	}
	if err != nil {
		_, err := c.write(ctx, nil)
		return nil, err
	}
	*in = bound
	done, err := c.write(ctx, nil, request(in))
	if err != nil || len(done.Tickets) == 0 {
		return nil, err
	}
	return done.Tickets[0], nil
}

// write writes the end of the step before, and with it that of the composition, or the
// admission of a step.
func (c *composer) write(
	ctx context.Context, whole *ledger.Settlement, begin ...ledger.AdmitRequest,
) (loop.Recorded, error) {
	r := loop.Record{Tenant: c.in.Principal.Tenant, RunID: c.in.RunID, Begin: begin}
	closing := c.closing
	c.closing = nil
	if closing != nil {
		r.Ended = append(r.Ended, *closing.closing)
	}
	if whole != nil {
		r.Ended = append(r.Ended, *whole)
	}
	if len(r.Ended)+len(r.Begin) == 0 {
		return loop.Recorded{}, nil
	}
	done, sure := c.a.record(ctx, r)
	if !sure && len(begin) > 0 {
		c.doubt++
	}
	if closing != nil && done.Ended == 0 {
		outcome, err := closing.write(ctx, *closing.closing)
		if err != nil {
			return done, fmt.Errorf("settling a step: %w", err)
		}
		if !outcome.Won { // Another attempt ended the step: later steps are bound to its answer.
			return done, interruption(errSuperseded)
		}
	}
	return done, nil
}

// settle ends the composition.
func (c *composer) settle(ctx, limited context.Context, state wire.Steps) callEnd {
	in := wire.SettleInput{Invoke: c.in, Status: tool.StatusCompleted, Steps: &state}
	switch {
	case cancelled(ctx):
		in.Status, in.Kind, in.Msg = tool.StatusCancelled, tool.Cancelled, "the call was cancelled"
	case ctx.Err() != nil:
		return callEnd{err: interruption(context.Cause(ctx))}
	case limited.Err() != nil:
		in.Status, in.Kind = tool.StatusFailed, tool.Timeout
		in.Msg = "the composition did not end in its time of " + c.in.Pin.Execution.Timeout().String()
	}
	ctx = context.WithoutCancel(ctx)
	s := ledger.Settlement{Status: in.Status, Kind: in.Kind, Msg: in.Msg}
	_, err := c.a.gather(ctx, &in, &s, func(context.Context, *wire.SettleInput) (*tool.Result, error) {
		return composedResult(c.config, &in, c.state, c.records), nil
	})
	if err != nil {
		return callEnd{err: failure.Encode(err)}
	}
	s.Entry, s.Fence = c.in.Entry(), c.whole.fence
	steps := 0
	if c.closing != nil {
		steps = 1
	}
	done, err := c.write(ctx, &s)
	if err != nil {
		return callEnd{err: err}
	}
	if done.Ended > steps {
		return endOf(ledger.Outcome{
			InvocationID: c.in.InvocationID, Status: s.Status, Result: s.Result, Kind: s.Kind, Msg: s.Msg,
			Won: true, Sent: s.Acted,
		})
	}
	outcome, err := c.whole.write(ctx, s)
	if err != nil {
		return callEnd{err: err}
	}
	return endOf(outcome)
}
