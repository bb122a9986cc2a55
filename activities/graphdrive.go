package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// AdvanceGraph takes the run of a graph as far as this process can: it evaluates conditions,
// makes the calls of tools that may run in place, and records the nodes. It returns early, with
// the state to continue from, where a step is the workflow's to take, its slice is used up, or the
// worker stops. A run that is cancelled or late it ends.
//
// An attempt that dies is repeated: settled calls and recorded nodes are found, not made again.
func (a *Activities) AdvanceGraph(
	ctx context.Context, in wire.AdvanceGraphInput,
) (wire.AdvanceGraphOutput, error) {
	if err := checkTenant(ctx, in.Invoke.Principal.Tenant); err != nil {
		return wire.AdvanceGraphOutput{}, failure.Encode(err)
	}
	memory, err := a.newGraphMemory(ctx, in.Invoke.GraphCall())
	if err != nil {
		return wire.AdvanceGraphOutput{}, encode(ctx, err)
	}
	d := newGraphDriver(ctx, memory, in)
	stop := heartbeat(ctx, d.report.get)
	defer stop()
	if in.Stop == nil {
		var release func()
		ctx, d.watch, release = a.controlled(ctx, in.Invoke.Principal.Tenant, in.Invoke.RunID)
		defer release()
	}
	out, err := d.run(ctx)
	if err != nil {
		d.log(ctx, "advancing the graph failed", failure.Decode(err))
		return wire.AdvanceGraphOutput{}, encode(ctx, err)
	}
	out.Pause = d.watch.pause()
	return out, nil
}

const (
	// maxNodesFlying bounds the calls of one graph that a process makes at a time.
	maxNodesFlying = 64
	// maxNap is how long a wait or the pause before another attempt may be that is no timer.
	maxNap = 5 * time.Second
	// nodesDelay is how long records of nodes wait for others, unless nothing else is to do.
	nodesDelay = 50 * time.Millisecond
)

// graphDriver is the in-place driver of the run of a graph. The machine is touched by run alone.
type graphDriver struct {
	a       *Activities
	in      wire.AdvanceGraphInput
	pinned  *agent.PinnedGraph
	machine *flow.Machine
	memory  *graphMemory
	report  advanceReport
	alive   func() error                        // Fails where another attempt may have taken over.
	resting func(context.Context) wire.Handover // Why no further call is begun, or nothing.
	watch   *watch                              // Knows whether the run is paused; nil where that does not matter.
	out     wire.AdvanceGraphOutput
	began   time.Time
	flushed time.Time // When records were written last.

	ready   []flow.Step                   // Calls that are due.
	doubt   map[string]int                // As that of a driver, by effect id.
	cancels map[string]context.CancelFunc // Of what is in flight, by frame.
	ends    chan graphEnd
	flying  int
	closing []graphEnd      // Calls that are over, and whose ends are to be written.
	held    []graphEnd      // Calls that are left to the workflow, still open.
	left    bool            // A step is the workflow's: nothing more is begun.
	ending  bool            // The run ends before its time.
	due     []flow.Step     // Evaluations that were cut off.
	limited context.Context //nolint:containedctx // Ends with the run's time, and with the activity.
	cut     int             // Calls that ended because the run does.
	broken  error           // Why nothing more may be written.
	why     *flow.Failure   // Why the run was stopped, if it was.
}

// graphEnd is how a step in flight ended.
type graphEnd struct {
	callEnd

	step  flow.Step
	in    *wire.InvokeInput // Nil where the step only waited.
	slept bool              // It waited to the end.
	place int
}

func newGraphDriver(ctx context.Context, memory *graphMemory, in wire.AdvanceGraphInput) *graphDriver {
	d := &graphDriver{
		a: memory.a, in: in, pinned: in.Invoke.Pin.Graph, memory: memory, began: time.Now(), flushed: time.Now(),
		doubt: map[string]int{}, cancels: map[string]context.CancelFunc{}, ends: make(chan graphEnd, 1),
	}
	var state flow.State
	if in.Resume != nil {
		state = *in.Resume
	}
	memory.whole = begins(&state)
	memory.first = func(ctx context.Context) error {
		_, err := d.write(context.WithoutCancel(ctx), nil)
		return err
	}
	d.machine = flow.NewMachine(&d.pinned.Shape, state)
	d.out.Begun = in.Begun
	d.report.start(ctx)
	d.alive = d.report.alive
	d.resting = func(ctx context.Context) wire.Handover {
		return resting(ctx, time.Since(d.began) > wire.GraphSlice, d.watch)
	}
	return d
}

// begins reports whether a run has recorded nothing yet.
func begins(s *flow.State) bool {
	return s.Steps <= 1 && len(s.Frames) <= 1 && (s.Steps == 0 || s.Frames[0].Phase == flow.PhaseCall ||
		s.Frames[0].Phase == flow.PhaseBegin && s.Frames[0].Items == nil)
}

func (d *graphDriver) log(ctx context.Context, msg string, err error) {
	logFailure(ctx, msg, err, "tenant_id", d.in.Invoke.Principal.Tenant, "run_id", d.in.Invoke.RunID)
}

// run takes one step after another.
func (d *graphDriver) run(ctx context.Context) (wire.AdvanceGraphOutput, error) {
	limited := ctx
	if !d.in.Deadline.IsZero() {
		var cancel context.CancelFunc
		limited, cancel = withDeadline(ctx, time.Until(d.in.Deadline))
		defer cancel()
	}
	d.limited = limited
	for limited.Err() == nil && d.in.Stop == nil {
		if err := d.alive(); err != nil {
			return d.out, d.abandon(ctx, err)
		}
		evaluate, err := d.next(limited)
		if err != nil {
			return d.out, d.abandon(ctx, err)
		}
		if len(evaluate) > 0 {
			if err := d.evaluate(limited, evaluate); err != nil {
				if limited.Err() == nil {
					return d.out, d.abandon(ctx, err)
				}
				d.due = evaluate
			}
			continue
		}
		if over, _ := d.machine.Over(); over {
			return d.end(ctx)
		}
		if err := d.begin(limited); err != nil {
			return d.out, d.abandon(ctx, err)
		}
		if d.flying == 0 {
			break // What is left is the workflow's.
		}
		if err := d.wait(ctx); err != nil {
			return d.out, d.abandon(ctx, err)
		}
	}
	if ctx.Err() != nil && !cancelled(ctx) {
		return d.out, d.abandon(ctx, errors.New("the attempt was interrupted"))
	}
	if err := d.alive(); err != nil {
		return d.out, d.abandon(ctx, err)
	}
	if d.why = d.stop(ctx, limited); d.why != nil {
		return d.unwound(context.WithoutCancel(ctx), *d.why)
	}
	return d.leave(ctx)
}

// stop returns why the run is to end before its time, or nil.
func (d *graphDriver) stop(ctx, limited context.Context) *flow.Failure {
	switch {
	case d.in.Stop != nil:
		return d.in.Stop
	case cancelled(ctx):
		return &flow.Failure{Kind: tool.Cancelled, Msg: wire.GraphCancelled(d.in.Invoke.Pin)}
	case limited.Err() != nil:
		return &flow.Failure{Kind: tool.Timeout, Msg: wire.GraphLate(d.in.Invoke.Pin)}
	}
	return nil
}

// next asks the machine for steps, and returns those that are evaluations. Others are due, or
// the workflow's.
func (d *graphDriver) next(ctx context.Context) (evaluate []flow.Step, err error) {
	start, drop := d.machine.Next()
	for _, frame := range drop {
		if err := d.drop(ctx, frame); err != nil {
			return nil, err
		}
	}
	for _, s := range start {
		switch {
		case s.Evaluates():
			evaluate = append(evaluate, s)
		case d.pinned.Makes(s):
			d.ready = append(d.ready, s)
		case d.nap(s) <= maxNap && !d.left && (s.Do == flow.PhaseSleep || s.Do == flow.PhasePause):
			d.sleep(ctx, s)
		default:
			d.left, d.out.Handover = true, wire.HandoverCalls
		}
	}
	return evaluate, nil
}

// nap returns how long a step waits, if it does.
func (d *graphDriver) nap(s flow.Step) time.Duration {
	if s.Do == flow.PhasePause {
		return d.machine.Pause(s)
	}
	return time.Until(s.Until)
}

func (d *graphDriver) sleep(ctx context.Context, s flow.Step) {
	own, cancel := context.WithTimeout(ctx, max(d.nap(s), time.Millisecond))
	d.cancels[s.Frame] = cancel
	d.flying++
	go func() {
		<-own.Done()
		d.ends <- graphEnd{step: s, slept: errors.Is(own.Err(), context.DeadlineExceeded)}
	}()
}

// evaluate evaluates steps, in one go.
func (d *graphDriver) evaluate(ctx context.Context, steps []flow.Step) error {
	found, err := patiently(ctx, admitPatience, func() ([]flow.Evaluated, error) { return d.memory.evaluate(ctx, steps) })
	if err != nil {
		return fmt.Errorf("evaluating %s: %w", steps[0].Path(), err)
	}
	for i, s := range steps {
		d.machine.Evaluated(s.Frame, found[i])
	}
	return nil
}

// end returns the end of the run. That of a composition is written with its last call's.
func (d *graphDriver) end(ctx context.Context) (wire.AdvanceGraphOutput, error) {
	if !d.pinned.Shape.Sequence {
		if err := d.flush(ctx); err != nil {
			return d.out, d.abandon(ctx, err)
		}
	}
	_, failed := d.machine.Over()
	state := d.machine.State()
	d.out.Ended = &wire.GraphEnd{Failure: failed, Calls: state.Calls + d.cut, Steps: state.Steps}
	return d.out, nil
}

// leave returns where the workflow continues.
func (d *graphDriver) leave(ctx context.Context) (wire.AdvanceGraphOutput, error) {
	if over, _ := d.machine.Over(); over {
		return d.end(ctx)
	}
	if err := d.flush(ctx); err != nil {
		return d.out, d.abandon(ctx, err)
	}
	state := d.machine.State()
	d.out.State = &state
	for i := range d.held {
		d.out.Held = append(d.out.Held, d.held[i].open())
	}
	if d.out.Handover == "" {
		d.out.Handover = cmp.Or(d.resting(ctx), wire.HandoverSlice) // A run may have been resumed meanwhile.
	}
	return d.out, nil
}

// abandon waits for what is in flight, writes how it ended, and returns the error of an attempt
// that does not come to an end.
func (d *graphDriver) abandon(ctx context.Context, cause error) error {
	for _, cancel := range d.cancels {
		defer cancel()
	}
	d.broken = nil
	for d.flying > 0 {
		d.flying--
		if end := <-d.ends; end.closing != nil {
			d.closing = append(d.closing, end)
		}
	}
	if _, err := d.write(context.WithoutCancel(ctx), nil); err != nil {
		d.log(ctx, "a call in place did not come to its end", failure.Decode(err))
	}
	return interruption(cause)
}

// wait waits for the end of a step, and takes up all that have ended. Records are written while
// there is nothing else to do.
func (d *graphDriver) wait(ctx context.Context) error {
	if len(d.closing)+len(d.memory.unwritten) > 0 && len(d.ends) == 0 {
		idle := time.NewTimer(together)
		defer idle.Stop()
		select {
		case end := <-d.ends:
			if err := d.take(ctx, end); err != nil {
				return err
			}
		case <-idle.C:
			return d.flush(ctx)
		}
	} else if err := d.take(ctx, <-d.ends); err != nil {
		return err
	}
	for {
		select {
		case end := <-d.ends:
			if err := d.take(ctx, end); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}
