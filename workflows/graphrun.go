package workflows

import (
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// GraphRun is the run of a graph: the nodes of one call, which was opened before and is settled
// by the workflow that made it. What comes next is decided by a machine (package flow); the
// workflow makes calls, runs of agents and waits, and has activities evaluate and record the rest.
func GraphRun(ctx workflow.Context, in wire.GraphInput) (wire.GraphEnd, error) {
	waits, err := newWaits(ctx)
	if err != nil {
		return wire.GraphEnd{}, failure.Encode(err)
	}
	waits.pausable(ctx, in.Invoke.RunID, in.Pause)
	r := newGraphRun(ctx, in, waits)
	if err := r.run(ctx); err != nil {
		return r.end(), err
	}
	if ctx.Err() != nil {
		return r.end(), ctx.Err() //nolint:wrapcheck // Temporal's cancellation.
	}
	return r.end(), nil
}

// graphRun is one execution of the workflow.
type graphRun struct {
	in      wire.GraphInput
	call    wire.GraphCall
	machine *flow.Machine
	waits   *waits
	clock   *clock // Of its deadline; nil without one.
	ends    workflow.Channel
	cancels map[string]workflow.CancelFunc // Of steps in progress, by frame.
	made    int                            // Calls that were begun, for the order of their ids.
	// drainAt is the number of events from which on nothing is begun, until nothing is in
	// progress: then the run continues as new. Zero until Temporal suggests it.
	drainAt int
	held    map[string]wire.HeldNode // Calls that were begun in place, by frame.
	visible bool                     // Nothing is made in place any more.
	ended   *wire.GraphEnd           // How the run ended in place.
	scope   scope                    // Of its calls.
	// part says that the run has no workflow of its own. It ends early where a call asks, or has an
	// error that says that it is not settled.
	part   bool
	asks   *agent.Asking
	broken error
}

// nodeEnd is how a step of a node ended.
type nodeEnd struct {
	frame  string
	slept  bool
	called flow.Called
	below  int
	asks   *agent.Asking // The approval that its call needs, and that is not waited for here.
	err    error         // Ends the run.
}

func newGraphRun(ctx workflow.Context, in wire.GraphInput, waits *waits) *graphRun {
	waits.graph = true
	r := &graphRun{
		in: in, call: in.Invoke.GraphCall(), waits: waits, ends: workflow.NewChannel(ctx),
		cancels: map[string]workflow.CancelFunc{}, made: in.Begun,
		scope: scope{inline: true, deadline: in.Deadline, calls: in.MaxCalls, waits: waits},
	}
	var state flow.State
	if in.Resume != nil {
		state = *in.Resume
	}
	r.machine = flow.NewMachine(&in.Invoke.Pin.Graph.Shape, state)
	r.hold(in.Held)
	return r
}

func (r *graphRun) end() wire.GraphEnd {
	if r.ended != nil {
		return *r.ended
	}
	_, failed := r.machine.Over()
	state := r.machine.State()
	return wire.GraphEnd{Failure: failed, Calls: state.Calls, Steps: state.Steps}
}

// run takes the run to its end. Its error is that of continuing as new.
func (r *graphRun) run(ctx workflow.Context) error {
	limited, passed := ctx, func() bool { return false }
	if !r.in.Deadline.IsZero() {
		limited, r.clock = deadline(ctx, r.in.Deadline, "deadline of "+label(r.in.Invoke), r.waits)
		passed = r.clock.passed
		if !r.part {
			r.scope.clock = r.clock
		}
		defer r.clock.stop(r.waits)
	}
	for {
		// What was begun in place is begun here first, so that it ends.
		why := r.stopped(ctx, passed())
		if why == nil && r.waits.gate(limited) != nil {
			continue
		}
		if why != nil && len(r.held) == 0 {
			r.machine.Stop(*why)
		}
		if over, _ := r.machine.Over(); over || r.ended != nil || r.asks != nil || r.broken != nil {
			return r.broken
		}
		if why == nil && !r.part && r.draining(ctx) {
			if r.machine.Flying() == 0 {
				return r.continueAsNew(ctx)
			}
			if r.receive(limited, true) {
				continue
			}
			r.drainAt = workflow.GetInfo(ctx).GetCurrentHistoryLength() * 2 // Something waits long: later.
		}
		start, cancel := r.machine.Next()
		for _, frame := range cancel {
			r.cancels[frame]()
		}
		if len(cancel) == 0 && r.inPlace(start) {
			r.advance(ctx, passed)
			continue
		}
		due := r.start(limited, start)
		switch {
		case len(due) > 0:
			r.evaluate(ctx, due)
		case r.machine.Flying() > 0:
			r.receive(limited, false)
		case len(start)+len(cancel) == 0:
			over, _ := r.machine.Over()
			if !over {
				r.machine.Stop(flow.Failure{Kind: tool.InternalError, Msg: "the run of the graph has nothing to do"})
			}
		}
		if !r.part {
			workflow.SetCurrentDetails(ctx, r.details())
		}
	}
}

// stopped returns why the run is to end before its time, or nil.
func (r *graphRun) stopped(ctx workflow.Context, late bool) *flow.Failure {
	switch {
	case ctx.Err() != nil:
		return &flow.Failure{Kind: tool.Cancelled, Msg: wire.GraphCancelled(r.in.Invoke.Pin)}
	case late:
		return &flow.Failure{Kind: tool.Timeout, Msg: wire.GraphLate(r.in.Invoke.Pin)}
	}
	return nil
}

// start begins steps, and returns those that are evaluations.
func (r *graphRun) start(ctx workflow.Context, steps []flow.Step) (due []flow.Step) {
	for _, s := range steps {
		if s.Evaluates() {
			due = append(due, s)
			continue
		}
		held, place := r.place(s)
		own, cancel := workflow.WithCancel(ctx)
		r.cancels[s.Frame] = cancel
		workflow.GoNamed(own, s.Path(), func(ctx workflow.Context) { r.ends.Send(ctx, r.step(ctx, s, place, held)) })
	}
	return due
}

// step makes the call or run of a step, or waits.
func (r *graphRun) step(ctx workflow.Context, s flow.Step, place int, held wire.HeldNode) nodeEnd {
	end := nodeEnd{frame: s.Frame}
	switch s.Do { //nolint:exhaustive // The others are evaluations.
	case flow.PhaseSleep:
		r.sleep(ctx, s.Until.Sub(workflow.Now(ctx)), "wait "+s.Path())
		end.slept = true
		return end
	case flow.PhasePause:
		r.sleep(ctx, r.machine.Pause(s), fmt.Sprintf("before attempt %d of %s", s.Attempt+2, s.Path()))
		end.slept = true
		return end
	}
	if pin := r.in.Invoke.Pin.Graph.Agent(s.Node); pin != nil {
		end.called, end.below = nodeRun(ctx, r.call, s, *pin, r.scope)
		return end
	}
	pin := r.in.Invoke.Pin.Graph.Tool(s.Node)
	if pin == nil {
		end.called.Failure = &flow.Failure{Kind: tool.InternalError, Msg: "the plan pins no tool for the node"}
		return end
	}
	call := r.call.NodeCall(s, *pin, workflow.Now(ctx), place)
	call.Tried, call.RetryIn, call.Reached, call.Asks = held.Tried, held.RetryIn, held.Reached, held.Asks
	return r.invoke(ctx, s, call)
}

func (r *graphRun) sleep(ctx workflow.Context, d time.Duration, summary string) {
	if d > 0 { // A cancellation ends it, which the machine knows of.
		_ = workflow.NewTimerWithOptions(ctx, d, workflow.TimerOptions{Summary: summary}).Get(ctx, nil)
	}
}

// drainPatience is how long a run that is to continue as new waits for what is in progress.
const drainPatience = 20 * time.Second

// draining reports whether nothing is to be begun, because the run continues as new.
func (r *graphRun) draining(ctx workflow.Context) bool {
	if r.drainAt == 0 {
		return renewable(ctx)
	}
	return workflow.GetInfo(ctx).GetCurrentHistoryLength() >= r.drainAt
}

// receive takes up a step that ended, and all others that did. Impatient, it reports false where
// none does in time.
func (r *graphRun) receive(ctx workflow.Context, impatient bool) bool {
	detached, cancel := workflow.NewDisconnectedContext(ctx) // What is cancelled ends, too.
	defer cancel()
	var end nodeEnd
	got := false
	selector := workflow.NewSelector(detached)
	selector.AddReceive(r.ends, func(c workflow.ReceiveChannel, _ bool) {
		c.Receive(detached, &end)
		got = true
	})
	if impatient {
		selector.AddFuture(workflow.NewTimerWithOptions(detached, drainPatience,
			workflow.TimerOptions{Summary: "for what is in progress, to continue as new"}), func(workflow.Future) {})
	}
	selector.Select(detached)
	for got {
		r.take(end)
		end = nodeEnd{}
		if !r.ends.ReceiveAsync(&end) {
			return true
		}
	}
	return false
}

func (r *graphRun) take(end nodeEnd) {
	if cancel := r.cancels[end.frame]; cancel != nil {
		cancel()
		delete(r.cancels, end.frame)
	}
	if r.part && (end.err != nil || end.asks != nil) {
		r.broken, r.asks = end.err, end.asks
		return
	}
	if end.err != nil {
		e := tool.AsError(failure.Decode(end.err))
		r.machine.Stop(flow.Failure{Kind: e.Kind, Msg: e.Msg})
	}
	if end.slept {
		r.machine.Slept(end.frame)
		return
	}
	r.machine.Called(end.frame, end.called, end.below)
}

// maxEvaluated bounds the steps of one evaluation.
const maxEvaluated = 50

// evaluate has steps evaluated and recorded. It happens whatever becomes of ctx.
func (r *graphRun) evaluate(ctx workflow.Context, due []flow.Step) {
	for len(due) > 0 {
		part := due[:min(len(due), maxEvaluated)]
		due = due[len(part):]
		detached, cancel := workflow.NewDisconnectedContext(ctx)
		var out wire.EvaluateGraphOutput
		err := bookkeep(detached, true, wire.EvaluateGraphActivity, wire.EvaluateGraphInput{Graph: r.call, Steps: part}, &out,
			admitOptions("evaluate "+named(part)))
		cancel()
		for i, s := range part {
			switch {
			case err == nil && i < len(out.Evaluated):
				r.machine.Evaluated(s.Frame, out.Evaluated[i])
			default:
				e := tool.AsError(failure.Decode(err))
				r.machine.Evaluated(s.Frame, flow.Evaluated{Failure: &flow.Failure{Kind: e.Kind, Msg: e.Msg}})
			}
		}
	}
}

// named names steps in a summary.
func named(steps []flow.Step) string {
	name := steps[0].Path()
	if name == "" {
		name = "the output"
	}
	if len(steps) > 1 {
		name += fmt.Sprintf(" and %d more", len(steps)-1)
	}
	return name
}

// maxDetails bounds the nodes that the details name.
const maxDetails = 20

// details tells people who look at the workflow where the run is.
func (r *graphRun) details() string {
	state := r.machine.State()
	var lines []string
	for i := range state.Frames {
		f := &state.Frames[i]
		line := fmt.Sprintf("- `%s`: %s", flow.Join(f.Path, f.At), f.Phase)
		if f.Items != nil {
			line += fmt.Sprintf(", %d of %d ended, %d failed", f.Items.Ended, f.Items.Total, f.Items.Failed)
		}
		if lines = append(lines, line); len(lines) == maxDetails {
			break
		}
	}
	return fmt.Sprintf("%d steps, %d calls\n\n%s", state.Steps, state.Calls, strings.Join(lines, "\n"))
}

// continueAsNew continues in a new execution, on the worker version that is current then.
func (r *graphRun) continueAsNew(ctx workflow.Context) error {
	in := r.in
	in.Pause = r.waits.latest(ctx)
	state := r.machine.State()
	in.Resume, in.Begun, in.Held = &state, r.made, r.holding()
	if r.clock != nil {
		in.Deadline = r.clock.at
	}
	return continueAsNew(ctx, wire.GraphRunWorkflow, in)
}
