package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/wire"
)

// unwound ends a run before its time. What is in flight has ended as cancelled; so do calls that are
// open, of an attempt that died: they are found by taking the steps again, up to what was never begun.
func (d *graphDriver) unwound(ctx context.Context, why flow.Failure) (wire.AdvanceGraphOutput, error) {
	d.ending, d.left = true, true
	err := d.settleOpen(ctx)
	if err == nil && len(d.due) > 0 {
		err = d.evaluate(ctx, d.due)
	}
	for idle := 0; err == nil; {
		var evaluate []flow.Step
		if evaluate, err = d.next(ctx); err != nil {
			break
		}
		if over, _ := d.machine.Over(); over { // It was not stopped in time.
			return d.end(ctx)
		}
		switch {
		case len(evaluate) > 0:
			err = d.evaluate(ctx, evaluate)
		case len(d.ready) > 0:
			err = d.settleReady(ctx)
		case idle > maxIdle:
			err = errors.New("the run of the graph does not end")
		default: // Nothing is left to find.
			idle++
			d.machine.Stop(why)
		}
	}
	return d.out, d.abandon(ctx, err)
}

// maxIdle is how often a machine that was stopped may give no step, before it gives its last.
const maxIdle = 5

// settleOpen waits for what is in flight, and settles what was left to the workflow.
func (d *graphDriver) settleOpen(ctx context.Context) error {
	for d.flying > 0 {
		if err := d.take(ctx, <-d.ends); err != nil {
			return err
		}
	}
	held := d.held
	d.held = nil
	for _, end := range held {
		if err := d.settle(ctx, end); err != nil {
			return err
		}
	}
	return nil
}

// settleReady ends the calls that are due, if they were begun.
func (d *graphDriver) settleReady(ctx context.Context) error {
	if err := d.flush(ctx); err != nil {
		return err
	}
	due := d.ready
	d.ready = nil
	effects := make([]string, len(due))
	for i, s := range due {
		effects[i] = d.memory.call.NodeEffect(s)
	}
	known, err := patiently(ctx, admitPatience, func() (map[string]ledger.Record, error) {
		return d.a.Ledger.Records(ctx, d.in.Invoke.Principal.Tenant, effects)
	})
	if err != nil {
		return fmt.Errorf("reading the calls of nodes: %w", err)
	}
	for i, s := range due {
		record, ok := known[effects[i]]
		switch {
		case !ok: // It was never begun.
		case record.Outcome != nil:
			d.called(s.Frame, *record.Outcome)
		default:
			in := d.memory.call.NodeCall(s, *d.pinned.Tool(s.Node), time.Now(), d.out.Begun)
			if err := d.settle(ctx, graphEnd{step: s, in: &in}); err != nil {
				return err
			}
		}
	}
	return nil
}
