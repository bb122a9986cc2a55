package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// Advance takes an agent run as far as this process can: it pins the plan, asks the
// model, makes the calls and records the end. It returns early, with the state to
// continue from, where a step is the workflow's to take, its slice is used up, or the
// worker stops.
//
// An attempt that dies is repeated: stored turns and settled calls are found, not made
// again. An error is returned for Temporal to retry; a failure of the run is a result.
func (a *Activities) Advance(ctx context.Context, in wire.AdvanceInput) (wire.AdvanceOutput, error) {
	if err := checkTenant(ctx, in.Principal.Tenant); err != nil {
		return wire.AdvanceOutput{}, failure.Encode(err)
	}
	if activity.GetInfo(ctx).IsLocalActivity {
		inline, release, ok := a.inline.take(ctx)
		if !ok {
			return leaveInline(), nil
		}
		defer release()
		ctx = inline
	}
	d := a.newDriver(ctx, in)
	stop := heartbeat(ctx, d.report.get)
	defer stop()
	running, release := d.controlled(ctx)
	defer release()
	out, err := d.run(running)
	if err != nil {
		d.log(ctx, "advancing the run failed", err)
		return wire.AdvanceOutput{}, encode(ctx, err)
	}
	out.Pause = d.watch.pause()
	return out, nil
}

func (a *Activities) newDriver(ctx context.Context, in wire.AdvanceInput) *driver {
	d := &driver{
		a: a, in: in, began: time.Now(), slice: wire.AdvanceSlice, ends: make(chan callEnd, maxFlying),
		tickets: map[string]admission{}, doubt: map[string]int{},
	}
	if d.inline = activity.GetInfo(ctx).IsLocalActivity; d.inline {
		d.slice = inlineSlice
	}
	d.report.start(ctx)
	return d
}

// maxFlying is more calls than a turn may make.
const maxFlying = 256

// driver is the in-place driver of a run: it takes the steps of the run's machine in
// this process. The machine is touched by run alone.
type driver struct {
	a       *Activities
	in      wire.AdvanceInput
	began   time.Time
	slice   time.Duration // How long steps are begun.
	spent   bool          // No step is begun any more, whatever the time.
	inline  bool          // As part of the workflow's own task.
	watch   *watch        // Knows whether the run is paused; nil where that does not matter.
	machine *loop.Run
	report  advanceReport
	lost    wire.AdvanceProgress // Of the attempt before this one.
	out     wire.AdvanceOutput

	open    *agent.OpenTurn      // The next question's, if it was read with what came before.
	tickets map[string]admission // Of calls that were admitted with what came before, by effect id.
	doubt   map[string]int       // How many admissions of a call may have been written, by effect id.
	closing []callEnd            // Calls that are over, and whose ends are to be written.

	ends    chan callEnd // Of calls in flight.
	flying  int
	asked   int  // Questions, whether the model was called or the answer was stored.
	stopped bool // The machine was stopped.
	// recorded says that the end of the run was recorded with its last turn.
	recorded bool
	held     wire.Handover // Why calls are left for another driver.
	// over is told how each call ended, if it is set. What a call begins after depends on it.
	over func(call int, outcome ledger.Outcome)
}

func (d *driver) log(ctx context.Context, msg string, err error) {
	logFailure(ctx, msg, err, "tenant_id", d.in.Principal.Tenant, "run_id", d.in.RunID)
}

func (d *driver) run(ctx context.Context) (wire.AdvanceOutput, error) {
	// A run that is cancelled is loaded too: what it did is part of its end.
	state, err := d.load(context.WithoutCancel(ctx), d.in.Stop != nil || cancelled(ctx))
	if errors.Is(err, errBegun) {
		return leaveInline(), nil
	} else if e, ok := errors.AsType[*endedError](err); ok {
		return e.output(), nil
	}
	if err != nil {
		if tool.KindOf(err).Retryable() {
			return d.out, err
		}
		d.log(ctx, "loading the run failed", err)
		return d.finish(ctx, err)
	}
	d.restore(&state)
	for _, in := range state.Batch {
		if in.Principal.Tenant != d.in.Principal.Tenant || in.RunID != d.in.RunID {
			return d.out, &tool.Error{Kind: tool.Denied, Op: "activities.Advance", Msg: "a call belongs to another run"}
		}
	}
	d.machine = loop.NewRun(loop.Identity{
		Principal: d.in.Principal, RunID: d.in.RunID, FirstRunID: d.in.FirstRunID,
		WorkflowID: activity.GetInfo(ctx).WorkflowExecution.ID,
	}, state)
	// At the deadline, calls in flight are cancelled as they are with the run.
	limited, cancel := withDeadline(ctx, time.Until(state.Deadline))
	defer cancel()
	return d.steps(ctx, limited)
}

// errCancelled is why a cancelled run ends.
var errCancelled = &tool.Error{Kind: tool.Cancelled, Op: "activities.Advance", Msg: "the run was cancelled"}

// given returns the failure that ends the run, where the input says so.
func (d *driver) given() error {
	if d.in.Stop == nil {
		return errCancelled
	}
	return &tool.Error{Kind: d.in.Stop.Kind, Op: "activities.Advance", Msg: d.in.Stop.Msg}
}

// cause returns why the run is to end before its time, or nil.
func (d *driver) cause(ctx, limited context.Context) error {
	switch {
	case d.in.Stop != nil || cancelled(ctx):
		return d.given()
	case ctx.Err() == nil && limited.Err() != nil:
		return d.machine.Late(d.in.Deadline)
	default:
		return nil
	}
}

// steps takes one step after another. The context limited ends with the run's
// deadline.
func (d *driver) steps(ctx, limited context.Context) (wire.AdvanceOutput, error) {
	for {
		if cause := d.cause(ctx, limited); cause != nil && !d.stopped {
			d.stopped = true
			if err := d.catchUp(context.WithoutCancel(ctx)); err != nil {
				return d.out, d.abandon(ctx, err)
			}
			d.machine.Stop(cause)
		}
		if ctx.Err() != nil && !cancelled(ctx) {
			return d.out, d.abandon(ctx, errors.New("the attempt was interrupted"))
		}
		if err := d.report.alive(); err != nil {
			return d.out, d.abandon(ctx, err)
		}
		step := d.machine.Next()
		if len(step.Wait) > 0 { // The workflow asks, and waits.
			d.held = wire.HandoverCalls
		}
		switch {
		case step.End:
			if err := d.flush(ctx); err != nil {
				return d.out, d.abandon(ctx, err)
			}
			out, err := d.finish(ctx, d.machine.Err())
			if errors.Is(err, agent.ErrInbox) && d.machine.More() {
				d.out.Ended, d.out.Execution = nil, ""
				continue
			}
			return out, err
		case step.Ask:
			if why := d.pause(ctx); why != "" {
				if err := d.flush(ctx); err != nil {
					return d.out, d.abandon(ctx, err)
				}
				return d.handOver(why), nil
			}
			if err := d.prepare(ctx); err != nil {
				return d.out, d.abandon(ctx, err)
			}
			if out, err := d.ask(limited); out != nil || err != nil {
				return *out, err
			}
		case len(step.Start) > 0:
			if err := d.start(ctx, limited, step.Start); err != nil {
				return d.out, d.abandon(ctx, err)
			}
		case len(step.Wait) > 0:
		case d.flying == 0 && len(d.closing) == 0: // What is left is another driver's.
			return d.leave(), nil
		default:
			if err := d.wait(ctx); err != nil {
				d.log(ctx, "a call in place did not come to its end", err)
				return d.out, d.abandon(ctx, err)
			}
		}
	}
}

// catchUp takes over the turns that an attempt before this one stored, so that the end
// of the run is recorded behind them.
func (d *driver) catchUp(ctx context.Context) error {
	info := activity.GetInfo(ctx)
	for d.asked == 0 && d.flying == 0 {
		turn := d.machine.Turns() + 1
		open, err := patiently(ctx, admitPatience, func() (agent.OpenTurn, error) {
			return d.a.Runs.OpenTurn(ctx, d.in.Principal.Tenant, d.in.RunID, d.machine.Head(), turnKey(info, turn))
		})
		if err != nil {
			return fmt.Errorf("opening turn %d: %w", turn, err)
		}
		if open.Stored == nil || open.Run.Plan == nil {
			break
		}
		d.machine.CatchUp()
		d.machine.Answered(open.Run.Plan, answered(open.Stored))
	}
	return nil
}

// load returns the state to continue from: the one given, that of the attempt before
// this one, or a new one under the run's plan. A run that ends needs no new plan.
func (d *driver) load(ctx context.Context, ends bool) (wire.RunState, error) {
	info := activity.GetInfo(ctx)
	if d.in.Resume != nil {
		return d.resumed(ctx, *d.in.Resume), nil
	}
	if ends {
		run, err := d.a.Runs.FindRun(ctx, d.in.Principal.Tenant, d.in.RunID)
		if err != nil {
			return wire.RunState{}, fmt.Errorf("finding run %s: %w", d.in.RunID, err)
		}
		if err := ended(ctx, &run); err != nil {
			return wire.RunState{}, err
		}
		if run.Plan == nil {
			return wire.RunState{}, d.given()
		}
	}
	run, head, open, err := d.a.beginAgentRun(ctx, d.in)
	if err != nil {
		return wire.RunState{}, err
	}
	timeout := time.Duration(run.Plan.Limits.WithDefaults().TimeoutSeconds) * time.Second
	state := wire.RunState{
		Plan: *run.Plan, Mode: run.Mode, Head: head, Deadline: scheduledAt(info, &d.in).Add(timeout), MaxCalls: d.in.MaxCalls,
	}
	if asked := d.in.Deadline; !asked.IsZero() && asked.Before(state.Deadline) {
		state.Deadline = asked
	}
	state = d.resumed(ctx, state)
	if state.Turns == 0 {
		d.open = open
	}
	return state, nil
}

// resumed returns the state that the attempt before this one reported, if it came
// further than state.
func (d *driver) resumed(ctx context.Context, state wire.RunState) wire.RunState {
	if !activity.HasHeartbeatDetails(ctx) || activity.GetHeartbeatDetails(ctx, &d.lost) != nil {
		return state
	}
	if before := d.lost; before.Turns > state.Turns {
		state.Turns, state.Calls, state.Head, state.Batch = before.Turns, before.Calls, before.Head, nil
	}
	return state
}

// pause returns why no further turn is begun here, or nothing.
func (d *driver) pause(ctx context.Context) wire.Handover {
	if d.out.Turns >= wire.AdvanceTurns || d.inline && d.a.slow(ctx, d.in.Principal.Tenant, d.machine.Plan()) {
		return wire.HandoverSlice
	}
	return d.rest(ctx)
}

// used reports whether the activity's time for new steps is over.
func (d *driver) used() bool { return d.spent || time.Since(d.began) > d.slice }

// ask puts the next question to the model. It returns what Advance returns, where that
// is not the next step.
func (d *driver) ask(ctx context.Context) (*wire.AdvanceOutput, error) {
	q := question{
		principal: d.in.Principal, runID: d.in.RunID, head: d.machine.Head(), turn: d.machine.Turns() + 1,
		at: scheduledAt(activity.GetInfo(ctx), &d.in), stop: d.report.alive, open: d.open, save: d.save,
		paused: func() bool { return d.watch.pause().Paused() },
	}
	d.open = nil
	if d.asked == 0 {
		q.tried, q.own = d.in.Tried, d.in.Tried > 0
		if !q.own && d.lost.Turns == d.machine.Turns() {
			q.tried = d.lost.Model
		}
	}
	d.asked++
	d.report.set(wire.AdvanceProgress{
		Turns: d.machine.Turns(), Calls: d.machine.Calls(), Head: q.head, Step: fmt.Sprintf("turn %d: model", q.turn),
		Model: q.tried + 1,
	})
	turn, plan, asked, err := d.a.turn(ctx, q)
	if errors.Is(err, errPaused) {
		out := d.handOver(wire.HandoverPause)
		return &out, nil
	}
	if err != nil && ctx.Err() == nil {
		d.log(ctx, fmt.Sprintf("turn %d failed", q.turn), err)
	}
	switch {
	case err == nil:
		d.out.Turns++
		d.report.step(fmt.Sprintf("turn %d: calls", q.turn))
		d.machine.Answered(plan, answered(&turn))
		return nil, nil //nolint:nilnil // The next step is the machine's to say.
	case errors.Is(err, errSuperseded):
		return &d.out, err
	case ctx.Err() != nil:
		return nil, nil //nolint:nilnil,nilerr // The next step is to see why.
	case !asked:
		return d.unasked(err)
	}
	e := tool.AsError(failure.Decode(err))
	attempt := newModelTurn(ctx, q, "")
	switch {
	case !attempt.again(e):
		d.machine.Stop(e)
		return nil, nil //nolint:nilnil // The next step is the end.
	case q.own: // Temporal retries it.
		return &d.out, err
	default:
		d.out.RetryIn, d.out.Cause = attempt.delay(e), e.Msg
		out := d.handOver(wire.HandoverQuestion)
		out.Tried = attempt.attempt
		return &out, nil
	}
}

// unasked is the outcome of a question that did not reach the model. Where the attempt
// took turns, they are kept, and retries are counted anew.
func (d *driver) unasked(err error) (*wire.AdvanceOutput, error) {
	if !tool.KindOf(err).Retryable() {
		d.machine.Stop(err)
		return nil, nil //nolint:nilnil // The next step is the end.
	}
	if d.out.Turns > 0 {
		out := d.handOver(wire.HandoverSlice)
		return &out, nil
	}
	return &d.out, err
}

// leave hands over the calls that are not made here.
func (d *driver) leave() wire.AdvanceOutput {
	out := d.handOver(d.held)
	if batch := out.State.Batch; d.held == wire.HandoverCalls && len(batch) == 1 && batch[0].Pin.Stepwise &&
		batch[0].Tried == 0 && batch[0].Asks == nil && batch[0].Reached == 0 {
		out.Handover = wire.HandoverStep
		d.trim(out.State)
	}
	return out
}

// handOver returns the state for another driver, or another activity, to continue from.
func (d *driver) handOver(why wire.Handover) wire.AdvanceOutput {
	state := d.machine.State()
	for i := range state.Batch {
		call := &state.Batch[i]
		call.PreparedCall = describe(call.PreparedCall, inlineLimit(call.Pin.Execution))
	}
	d.out.Handover, d.out.State = why, &state
	return d.out
}

// abandon waits for the calls in flight, writes how they ended, and returns the error of
// an attempt that does not come to an end.
func (d *driver) abandon(ctx context.Context, cause error) error {
	for d.flying > 0 {
		d.flying--
		if end := <-d.ends; end.closing != nil {
			d.closing = append(d.closing, end)
		}
	}
	if err := d.flush(ctx); err != nil {
		d.log(ctx, "a call in place did not come to its end", err)
	}
	return interruption(cause)
}

// end returns the end of a run that completed with the given message.
func (d *driver) end(ctx context.Context, head string, turns int) agent.RunEnd {
	end := agent.RunEnd{
		Tenant: d.in.Principal.Tenant, RunID: d.in.RunID, Status: agent.RunCompleted,
		Execution: activity.GetInfo(ctx).WorkflowExecution.RunID, HeadMessageID: head, Turns: turns,
	}
	if d.machine != nil {
		end.Calls = d.machine.Calls()
	}
	return end
}

// finish records the end of the run, and returns it.
func (d *driver) finish(ctx context.Context, err error) (wire.AdvanceOutput, error) {
	end := d.end(ctx, d.in.Head, 0)
	d.out.Ended, d.out.Execution = &wire.AgentRunOutput{RunID: d.in.RunID}, end.Execution
	if d.machine != nil {
		end.HeadMessageID, end.Turns = d.machine.Head(), d.machine.Turns()
		end.UnlessInbox = err == nil && d.machine.MayTurn()
		d.out.Ended.Answer = d.machine.Answer()
	}
	if err != nil {
		e := tool.AsError(failure.Decode(err))
		end.Kind, end.Msg, end.Status = e.Kind, e.Msg, agent.EndStatus(e.Kind)
		d.out.Failure = &wire.Failure{Kind: e.Kind, Msg: e.Msg}
	}
	d.out.Ended.Status, d.out.Ended.Head = end.Status, end.HeadMessageID
	d.out.Ended.Turns, d.out.Ended.Calls = end.Turns, end.Calls
	if d.recorded {
		return d.out, nil
	}
	detached := context.WithoutCancel(ctx)
	_, finishErr := patiently(detached, admitPatience, func() (struct{}, error) {
		return struct{}{}, d.a.Runs.FinishRun(detached, end)
	})
	if finishErr != nil {
		return d.out, fmt.Errorf("finishing run %s: %w", d.in.RunID, finishErr)
	}
	return d.out, nil
}
