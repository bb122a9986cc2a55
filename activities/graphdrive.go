package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// AdvanceGraph takes the run of a graph as far as this process can: it evaluates conditions,
// makes the calls of tools that may run in place, and records the nodes. It returns early, with
// the state to continue from, where a step is the workflow's to take, its slice is used up, the
// run is cancelled or late, or the worker stops. The workflow ends a run before its time.
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
	out, err := d.run(ctx)
	if err != nil {
		d.log(ctx, "advancing the graph failed", failure.Decode(err))
		return wire.AdvanceGraphOutput{}, encode(ctx, err)
	}
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
	out     wire.AdvanceGraphOutput
	began   time.Time
	flushed time.Time // When records were written last.

	ready   []flow.Step                   // Calls that are due.
	doubt   map[string]int                // As that of a driver, by effect id.
	cancels map[string]context.CancelFunc // Of what is in flight, by frame.
	ends    chan graphEnd
	flying  int
	closing []graphEnd // Calls that are over, and whose ends are to be written.
	held    []graphEnd // Calls that are left to the workflow, still open.
	left    bool       // A step is the workflow's: nothing more is begun.
}

// graphEnd is how a step in flight ended.
type graphEnd struct {
	callEnd

	step  flow.Step
	in    *wire.InvokeInput // Nil where the step only waited.
	place int
}

func newGraphDriver(ctx context.Context, memory *graphMemory, in wire.AdvanceGraphInput) *graphDriver {
	d := &graphDriver{
		a: memory.a, in: in, pinned: in.Invoke.Pin.Graph, memory: memory, began: time.Now(), flushed: time.Now(),
		doubt: map[string]int{}, cancels: map[string]context.CancelFunc{}, ends: make(chan graphEnd, maxNodesFlying),
	}
	var state flow.State
	if in.Resume != nil {
		state = *in.Resume
	}
	memory.whole = begins(&state)
	d.machine = flow.NewMachine(&d.pinned.Shape, state)
	d.out.Begun = in.Begun
	d.report.start(ctx)
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

// run takes one step after another. The context limited ends with the graph's time.
func (d *graphDriver) run(ctx context.Context) (wire.AdvanceGraphOutput, error) {
	limited := ctx
	if !d.in.Deadline.IsZero() {
		var cancel context.CancelFunc
		limited, cancel = withDeadline(ctx, time.Until(d.in.Deadline))
		defer cancel()
	}
	for limited.Err() == nil && !d.in.Stopped {
		if err := d.report.alive(); err != nil {
			return d.out, d.abandon(ctx, err)
		}
		evaluate, err := d.next(limited)
		if err != nil {
			return d.out, d.abandon(ctx, err)
		}
		if len(evaluate) > 0 {
			if err := d.evaluate(limited, evaluate); err != nil && limited.Err() == nil {
				return d.out, d.abandon(ctx, err)
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
	if limited.Err() != nil || d.in.Stopped {
		d.out.Late = limited.Err() != nil && ctx.Err() == nil
		if err := d.unwind(context.WithoutCancel(ctx)); err != nil {
			return d.out, d.abandon(ctx, err)
		}
	}
	return d.leave(ctx)
}

// unwind begins nothing more: what is in flight ends as cancelled, and so do calls that are open, of an
// attempt that died. The workflow stops the run then.
func (d *graphDriver) unwind(ctx context.Context) error {
	for d.flying > 0 {
		if err := d.take(ctx, <-d.ends); err != nil {
			return err
		}
	}
	for _, end := range d.held {
		if err := d.settle(ctx, end); err != nil {
			return err
		}
	}
	d.held, d.left = nil, true
	for {
		evaluate, err := d.next(ctx)
		if err != nil {
			return err
		}
		if over, _ := d.machine.Over(); over {
			return nil
		}
		switch {
		case len(evaluate) > 0:
			err = d.evaluate(ctx, evaluate)
		case len(d.ready) > 0:
			err = d.close(ctx)
		default:
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// close ends the calls that are due, if they were begun.
func (d *graphDriver) close(ctx context.Context) error {
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
			d.machine.Called(s.Frame, called(*record.Outcome), 1)
		default:
			in := d.memory.call.NodeCall(s, *d.pinned.Tool(s.Node), time.Now(), d.out.Begun)
			if err := d.settle(ctx, graphEnd{step: s, in: &in}); err != nil {
				return err
			}
		}
	}
	return nil
}

// called tells the machine how a call ended.
func called(o ledger.Outcome) flow.Called {
	if o.Kind == "" {
		return flow.Called{}
	}
	return flow.Called{Failure: &flow.Failure{Kind: o.Kind, Msg: o.Msg}}
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
		d.ends <- graphEnd{step: s}
	}()
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

// settle ends a call as cancelled, which is still open.
func (d *graphDriver) settle(ctx context.Context, end graphEnd) error {
	d.machine.Called(end.step.Frame, flow.Called{Failure: &flow.Failure{
		Kind: tool.Cancelled, Msg: "the call was cancelled",
	}}, 1)
	detached := context.WithoutCancel(ctx)
	_, err := patiently(detached, settlePatience, func() (wire.InvokeOutput, error) {
		return d.a.settleCall(detached, wire.SettleInput{
			Invoke: *end.in, Status: tool.StatusCancelled, Kind: tool.Cancelled, Msg: "the call was cancelled",
		})
	})
	return err
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

// end returns the end of the run.
func (d *graphDriver) end(ctx context.Context) (wire.AdvanceGraphOutput, error) {
	if err := d.flush(ctx); err != nil {
		return d.out, d.abandon(ctx, err)
	}
	_, failed := d.machine.Over()
	state := d.machine.State()
	d.out.Ended = &wire.GraphEnd{Failure: failed, Calls: state.Calls, Steps: state.Steps}
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
		d.out.Handover = d.rest(ctx)
	}
	return d.out, nil
}

func (d *graphDriver) rest(ctx context.Context) wire.Handover {
	return resting(ctx, time.Since(d.began) > wire.GraphSlice)
}

// abandon waits for what is in flight, writes how it ended, and returns the error of an attempt
// that does not come to an end.
func (d *graphDriver) abandon(ctx context.Context, cause error) error {
	for _, cancel := range d.cancels {
		defer cancel()
	}
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

// take takes up a step in flight that ended.
func (d *graphDriver) take(ctx context.Context, end graphEnd) error {
	d.flying--
	frame := end.step.Frame
	d.cancels[frame]()
	delete(d.cancels, frame)
	switch {
	case end.in == nil:
		d.machine.Slept(frame)
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
	d.memory.calls[end.in.EffectID] = &graph.Call{Result: o.Result, Kind: o.Kind, Msg: o.Msg, EffectID: end.in.EffectID}
	d.machine.Called(frame, called(o), 1)
	return nil
}

// hold leaves a call to the workflow that is still open; one that is not to go on is settled.
func (d *graphDriver) hold(ctx context.Context, end graphEnd) error {
	d.left, d.out.Handover = true, wire.HandoverCalls
	if end.retry != nil {
		end.made.Retry = causeOf(end.retry)
		d.list(end)
	}
	if d.machine.Dropped(end.step.Frame) {
		return d.settle(ctx, end)
	}
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
