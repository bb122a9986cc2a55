package loop

import (
	"fmt"
	"strconv"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// Identity is what the calls of a run take over from the workflow that makes them. It
// does not depend on the driver, so effect ids do not either.
type Identity struct {
	Principal  tool.Principal
	RunID      string
	WorkflowID string
	FirstRunID string // Temporal's, of the workflow's chain.
}

// Run is an agent run: ask the model, run the calls it made, ask again, until it makes
// none. Alternate [Run.Next] and one of Answered, Called and Stop.
type Run struct {
	id     Identity
	state  wire.RunState
	limits agent.Limits
	batch  *batch
	stop   error // Why no more steps are started.
	over   bool
	quits  bool // The run ends with the calls of the turn in progress.
	answer string
}

// Turn is the model's answer to a question. One without calls is the last.
type Turn struct {
	Head   string // The assistant message.
	Calls  []agent.PreparedCall
	Answer string // The beginning of the text, when there are no calls.
}

// Step is what a run does next. The zero Step waits for a call in progress, or for an
// approval.
type Step struct {
	Ask   bool    // Ask the model for the turn after [wire.RunState.Turns]. Nothing is in progress.
	Wait  []int   // Calls to ask approvals for, beside those in progress: their index in the turn.
	Start []Start // Calls to start, beside those in progress.
	End   bool    // The run is over, for the reason that [Run.Err] returns.
}

// Start is a call to start.
type Start struct {
	Call int // Its index in the turn, for [Run.Call].
	// Refuse is set for a call that must not run: it is settled with this error.
	Refuse *tool.Error
}

// NewRun continues a run from a state, which holds the calls of the turn in progress
// that have not ended. A new run has a Plan, a Mode, a Head and a Deadline only.
func NewRun(id Identity, state wire.RunState) *Run {
	r := &Run{id: id, state: state, limits: state.Plan.Limits.WithDefaults()}
	if state.MaxCalls > 0 {
		r.limits.MaxCalls = min(r.limits.MaxCalls, state.MaxCalls)
	}
	r.begin(state.Batch)
	r.quits = state.Over
	if state.Stop != nil {
		r.stop = &tool.Error{Kind: state.Stop.Kind, Op: "loop.Run", Msg: state.Stop.Msg}
	}
	r.state.Batch, r.state.Stop, r.state.Over = nil, nil, false
	return r
}

// CatchUp drops the calls of the turn in progress, because the answer to the next turn
// is stored: each of them has ended.
func (r *Run) CatchUp() { r.batch = newBatch(&r.state.Plan, nil) }

// State returns where another driver continues: the calls that have not ended, and no
// pins but theirs.
func (r *Run) State() wire.RunState {
	state := r.state
	state.Batch, state.Plan.Tools, state.Plan.Omitted, state.Over = r.batch.left(), nil, nil, r.quits
	if r.stop != nil {
		e := tool.AsError(r.stop)
		state.Stop = &wire.Failure{Kind: e.Kind, Msg: e.Msg}
	}
	return state
}

// Plan returns the plan that the run continues under. It must not be changed.
func (r *Run) Plan() *agent.Plan { return &r.state.Plan }

// Turns returns how many turns the model has answered.
func (r *Run) Turns() int { return r.state.Turns }

// Calls returns how many calls were made, those of nested agent runs included.
func (r *Run) Calls() int { return r.state.Calls }

// Head returns the message that the next turn answers, or the last message of a run
// that is over.
func (r *Run) Head() string { return r.state.Head }

// Answer returns the beginning of the last message of a run that is over.
func (r *Run) Answer() string { return r.answer }

// Err returns why a run that is over did not complete, or nil.
func (r *Run) Err() error { return r.stop }

// Call returns a call of the turn in progress. Drivers may change it, such as to count
// an attempt.
func (r *Run) Call(i int) *wire.InvokeInput { return &r.batch.calls[i] }

// Next returns the next step.
func (r *Run) Next() Step {
	if r.stop != nil {
		if dropped := r.batch.drop(); len(dropped) > 0 {
			return Step{Start: refuse(dropped, r.refusal())}
		}
	} else if wait, start := r.batch.asks(), r.batch.next(); len(wait)+len(start) > 0 {
		return Step{Wait: wait, Start: refuse(start, nil)}
	}
	switch {
	case r.batch.running > 0 || r.batch.unattended():
		return Step{}
	case r.over || r.quits || r.stop != nil:
		return Step{End: true}
	case r.state.Turns >= r.limits.MaxTurns:
		r.Stop(Limit("%d turns", r.limits.MaxTurns))
		return Step{End: true}
	default:
		return Step{Ask: true}
	}
}

// refusal returns what the calls are settled with that a stopped run does not start.
func (r *Run) refusal() *tool.Error {
	e := tool.AsError(r.stop)
	if e.Kind == tool.Denied { // A limit: of calls, since of turns there are none.
		return e
	}
	return &tool.Error{Kind: tool.Cancelled, Op: "loop.Run", Msg: "the call was cancelled"}
}

func refuse(calls []int, err *tool.Error) []Start {
	out := make([]Start, len(calls))
	for i, call := range calls {
		out[i] = Start{call, err}
	}
	return out
}

// Answered records the model's answer to the next turn: its message, and the calls it
// made, whose pins are in plan. An answer without calls is the run's last, unless there is more
// ([Run.More]).
func (r *Run) Answered(plan *agent.Plan, turn Turn) {
	r.state.Turns++
	r.state.Head, r.answer = turn.Head, turn.Answer
	if len(turn.Calls) == 0 {
		r.over = true
		return
	}
	calls := r.complete(plan, turn.Calls)
	for i := range calls {
		made, _ := calls[i].Pin.Count()
		r.state.Calls += made
	}
	r.begin(calls)
	r.quits = skips(calls)
}

// skips reports whether an answer says that there is nothing to do: its only calls are ones of the
// built-in for that.
func skips(calls []wire.InvokeInput) bool {
	for i := range calls {
		if calls[i].Refused != nil || calls[i].Pin.Builtin != agent.SkipTool {
			return false
		}
	}
	return true
}

// More takes back that the run is over, because there is something new for the model. It
// reports whether the run may take another turn.
func (r *Run) More() bool {
	if r.stop != nil || !r.over && !r.quits || !r.MayTurn() {
		return false
	}
	r.over, r.quits = false, false
	return true
}

// MayTurn reports whether the limits of the run allow another turn.
func (r *Run) MayTurn() bool { return r.state.Turns < r.limits.MaxTurns }

// Beginning returns the calls that would start at once if the model answered the next
// turn so.
func (r *Run) Beginning(plan *agent.Plan, turn Turn) []wire.InvokeInput {
	after := *r
	after.Answered(plan, turn)
	var calls []wire.InvokeInput
	for _, start := range after.Next().Start {
		if start.Refuse == nil {
			calls = append(calls, after.batch.calls[start.Call])
		}
	}
	return calls
}

// begin takes up the calls of a turn, which count as made. A run whose calls are more
// than it may make ends, and makes none of them.
func (r *Run) begin(calls []wire.InvokeInput) {
	r.batch = newBatch(&r.state.Plan, calls)
	if len(calls) > 0 && r.state.Calls > r.limits.MaxCalls {
		r.Stop(Limit("%d tool calls", r.limits.MaxCalls))
	}
}

// complete gives the calls of a turn the data of the run.
func (r *Run) complete(plan *agent.Plan, calls []agent.PreparedCall) []wire.InvokeInput {
	out := make([]wire.InvokeInput, len(calls))
	for i, call := range calls {
		out[i].PreparedCall = call
		out[i].CallIdentity = tool.CallIdentity{
			Principal: r.id.Principal, Mode: r.state.Mode, RunID: r.id.RunID, AgentID: r.state.Plan.AgentID,
			MessageID: r.state.Head, Turn: r.state.Turns, Position: i, CallID: call.CallID,
			InvocationID: call.InvocationID,
		}
		if call.Refused != nil {
			continue
		}
		out[i].Pin, _ = plan.Find(call.Slug)
		out[i].EffectID = ledger.Effect{
			Tenant: r.id.Principal.Tenant, WorkflowID: r.id.WorkflowID, FirstRunID: r.id.FirstRunID,
			Step: "turn/" + strconv.Itoa(r.state.Turns), Position: i,
			VersionDigest: out[i].Pin.Content(), ArgumentsDigest: call.ArgumentsDigest,
		}.ID()
		out[i].ArgumentsDigest, out[i].Slug = "", "" // The effect and the pin contain it: histories stay small.
	}
	return out
}

// Called records that a call has ended, and how many calls its nested agent runs made.
// An error is one that ends the run: how a call ends is otherwise for the model to act
// on.
func (r *Run) Called(i, below int, err error) {
	r.batch.end(i)
	r.state.Calls += below
	if err != nil {
		r.Stop(err)
	}
}

// Decided records that a call has the approval that it waited for, so that it starts when
// it is its turn; or why it is not to run, so that it starts as refused.
func (r *Run) Decided(i int, refused *agent.Refusal) { r.batch.decided(i, refused) }

// Asks records that a call in progress came to nothing, because it needs an approval.
func (r *Run) Asks(i int, why agent.Asking) { r.batch.ask(i, why) }

// Waits records that a call in progress waits for its result from outside. It ends as any
// other does.
func (r *Run) Waits(i int) { r.batch.waits(i) }

// Hold leaves a call that was to start for another driver: it is part of [Run.State],
// and neither a call that must come after it nor the next turn is begun.
func (r *Run) Hold(i int) { r.batch.progress[i] = held }

// Stop ends the run with err when the calls in progress have ended. The first reason
// stands.
func (r *Run) Stop(err error) {
	if r.stop == nil && !r.over {
		r.stop = err
	}
}

// Share returns how many calls each agent that the turn in progress runs may make: an
// equal part of those that are left. It is negative for none.
func (r *Run) Share() int {
	agents := 0
	for i := range r.batch.calls {
		_, a := r.batch.calls[i].Pin.Count()
		agents += a
	}
	if agents == 0 {
		return 0
	}
	if share := (r.limits.MaxCalls - r.state.Calls) / agents; share > 0 {
		return share
	}
	return -1
}

// Limit returns the error of a run that reached one of its limits.
func Limit(format string, args ...any) *tool.Error {
	return &tool.Error{
		Kind: tool.Denied, Op: "loop.Run", Msg: "the run reached its limit of " + fmt.Sprintf(format, args...),
	}
}

// Late returns the error of a run that did not end by its deadline: its own, or the
// one that its caller gave it.
func (r *Run) Late(asked time.Time) *tool.Error {
	e := Limit("its time of %s", time.Duration(r.limits.TimeoutSeconds)*time.Second)
	if !asked.IsZero() && r.state.Deadline.Equal(asked) {
		e.Msg = "the run did not end in the time that its caller gives it"
	}
	e.Kind = tool.Timeout
	return e
}
