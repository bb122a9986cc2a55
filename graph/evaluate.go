package graph

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/internal/binding"
	"github.com/toolcrib/toolcrib/tool"
)

// Arguments returns the arguments of the call of a step's node; of an agent the message. It
// fails with [tool.Invalid] where something that it is bound to is not there.
func (g *Graph) Arguments(s flow.Step, d *Data) (json.RawMessage, error) {
	n := g.nodes[s.Node]
	switch {
	case n == nil:
		return nil, unknownNode(s.Node)
	case n.Signal != "":
		return json.Marshal(map[string]string{"signal": n.Signal})
	case n.arguments == nil:
		return json.RawMessage("{}"), nil
	}
	return g.bind(n.arguments, g.scope(n, s, d))
}

func unknownNode(id string) error {
	return &tool.Error{Kind: tool.InternalError, Op: "graph.Evaluate", Msg: fmt.Sprintf("the graph has no node %q", id)}
}

func (g *Graph) scope(n *node, s flow.Step, d *Data) *scope {
	return &scope{g: g, data: d, body: n.body, step: s, frame: s.Frame}
}

func (g *Graph) bind(b *bound, s *scope) (json.RawMessage, error) {
	return b.Bind(s, b.whose, b.base)
}

// Call is how the call or the run of a node ended, as the ledger has it.
type Call struct {
	Result   *tool.Result // Nil for a failure.
	Kind     tool.Kind
	Msg      string
	EffectID string
	RunID    string // Of an agent.
}

// evaluation is that of one step.
type evaluation struct {
	*scope

	n       *node
	now     time.Time
	out     flow.Evaluated
	records []Record
}

// Evaluate evaluates a step that is an evaluation, on the records that [Graph.Needs] names. It
// returns what was found and the records to write. Call is how the node's call ended, for a step
// that closes one; now is the time that waits begin at.
func (g *Graph) Evaluate(
	ctx context.Context, s flow.Step, d *Data, call *Call, now time.Time,
) (flow.Evaluated, []Record, error) {
	n := g.nodes[s.Node]
	if n == nil {
		return flow.Evaluated{}, nil, unknownNode(s.Node)
	}
	e := &evaluation{scope: g.scope(n, s, d), n: n, now: now}
	switch s.Do {
	case flow.PhaseBegin:
		e.begin(ctx)
	case flow.PhaseClose:
		e.close(ctx, call)
	case flow.PhaseOutput:
		e.outputOf(s.Failure, s.Last)
	case flow.PhaseCall, flow.PhaseSleep, flow.PhasePause, flow.PhaseBodies:
		return flow.Evaluated{}, nil, fmt.Errorf("graph: %s is no evaluation", s.Do)
	}
	return e.out, e.records, nil
}

func (e *evaluation) new() Record {
	return Record{Path: flow.Join(e.step.Frame, e.n.ID), Node: e.n.ID, Kind: e.n.Kind, Status: Completed, EndedAt: e.now}
}

func failureOf(err error) *flow.Failure {
	f := tool.AsError(err)
	return &flow.Failure{Kind: f.Kind, Msg: f.Msg}
}

// failed records that the node failed.
func (e *evaluation) failed(r Record, f *flow.Failure) {
	f.Node = r.Path
	r.fail(f)
	e.out.Failure = f
	e.records = append(e.records, r)
}

func (e *evaluation) begin(ctx context.Context) {
	n, r := e.n, e.new()
	if n.when != nil && e.step.Iteration == 0 {
		holds, err := e.test(ctx, n.when)
		switch {
		case err != nil:
			e.failed(r, failureOf(err))
			return
		case !holds:
			r.Status, e.out.Skipped = Skipped, true
			e.records = append(e.records, r)
			e.ends(e.step.Last)
			return
		}
	}
	switch n.Kind { //nolint:exhaustive // The others have their call or bodies next.
	case flow.Start:
		e.finish(ctx, r)
	case flow.End:
		e.endNode(r)
	case flow.Branch:
		e.branch(ctx, r)
	case flow.Map:
		e.items(r)
	case flow.Loop:
		e.while = flow.Join(e.step.Frame, n.ID)
		more, err := e.test(ctx, n.while)
		if err != nil {
			e.failed(r, failureOf(err))
			return
		}
		e.out.More = more
	case flow.Wait:
		if n.Signal == "" {
			e.wait(r)
		}
	}
}

func (e *evaluation) test(ctx context.Context, c *condition) (bool, error) {
	values, err := e.values(c.refs)
	if err != nil {
		return false, err
	}
	return c.holds(ctx, values)
}

func (e *evaluation) branch(ctx context.Context, r Record) {
	to := e.n.byDefault
	for _, c := range e.n.cases {
		holds, err := e.test(ctx, c.when)
		if err != nil {
			e.failed(r, failureOf(err))
			return
		}
		if holds {
			to = c.next
			break
		}
	}
	r.Case = e.n.id(to)
	e.out.Case = r.Case
	e.records = append(e.records, r)
}

// items splits the array of a map into the records of its items.
func (e *evaluation) items(r Record) {
	raw, err := e.g.bind(e.n.over, e.scope)
	if err != nil {
		e.failed(r, failureOf(err))
		return
	}
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		e.failed(r, &flow.Failure{Kind: tool.Invalid, Msg: "over is not an array: " + tool.Clip(string(raw), 100)})
		return
	}
	if len(items) > MaxItems {
		msg := fmt.Sprintf("%d items: a map takes %d at most", len(items), MaxItems)
		e.failed(r, &flow.Failure{Kind: tool.Invalid, Msg: msg})
		return
	}
	e.out.Count = len(items)
	for i, item := range items {
		e.records = append(e.records, Record{
			Path: flow.Join(r.Path, strconv.Itoa(i)), Node: e.n.ID, Status: Pending, Item: item,
		})
	}
}

// maxWait bounds a wait.
const maxWait = 366 * 24 * time.Hour

func (e *evaluation) wait(r Record) {
	raw, err := e.g.bind(e.n.wait, e.scope)
	if err != nil {
		e.failed(r, failureOf(err))
		return
	}
	var seconds float64
	var at time.Time
	switch {
	case given(e.n.Seconds) && json.Unmarshal(raw, &seconds) == nil && seconds >= 0 && seconds < maxWait.Seconds():
		at = e.now.Add(time.Duration(seconds * float64(time.Second)))
	case given(e.n.Until) && json.Unmarshal(raw, &at) == nil && at.Sub(e.now) <= maxWait:
	default:
		e.failed(r, &flow.Failure{Kind: tool.Invalid, Msg: tool.Clip(string(raw), 100) + " is no time to wait: want " +
			"seconds of 0 or more, or a time such as 2026-01-31T12:00:00Z, within a year"})
		return
	}
	e.out.Until = at.UTC()
}

// close records how a node ended.
func (e *evaluation) close(ctx context.Context, call *Call) {
	r := e.new()
	r.Attempts = e.step.Attempt + 1
	failure := e.step.Failure
	switch e.n.Kind { //nolint:exhaustive // The others have a call, or nothing.
	case flow.Map:
		r.Result, r.Text = e.gather()
	case flow.Parallel:
		r.Result = e.branches()
	case flow.Loop:
		r.Result = e.record(flow.Join(r.Path, strconv.Itoa(e.step.Iteration-1))).value()
	case flow.Start, flow.End, flow.Branch:
	default:
		if call != nil {
			failure = e.called(&r, call)
		} else if e.step.Called != nil {
			failure = e.step.Called.Failure
		}
	}
	if failure == nil && e.n.schema != nil {
		if err := e.n.schema.Validate(ctx, r.value()); err != nil {
			failure = failureOf(err)
			failure.Msg = "the result does not match the node's output_schema: " + failure.Msg
		}
	}
	if failure != nil {
		own := *failure
		if own.Node == "" {
			own.Node = r.Path
		}
		r.fail(&own)
		e.out.Failure = &own
		if !e.step.Tries || e.n.Retry == nil || !e.n.Retry.Allows(own.Kind) {
			e.records = append(e.records, r)
		}
		return
	}
	e.finish(ctx, r)
}

// called takes up how the node's call ended, and returns why it failed.
func (e *evaluation) called(r *Record, call *Call) *flow.Failure {
	r.EffectID, r.RunID = call.EffectID, call.RunID
	if call.Result == nil {
		return &flow.Failure{Kind: call.Kind, Msg: call.Msg}
	}
	r.Result, r.Text = call.Result.Structured, textOf(call.Result)
	if call.Result.IsError {
		return &flow.Failure{Kind: tool.Conflict, Msg: "the tool answered: " + tool.Clip(r.Text, 1000)}
	}
	return nil
}

func textOf(r *tool.Result) string {
	var texts []string
	for _, c := range r.Content {
		switch {
		case c.Text != "":
			texts = append(texts, c.Text)
		case c.Type == tool.ContentJSON:
			texts = append(texts, string(c.JSON))
		}
	}
	return strings.Join(texts, "\n")
}

// finish records a node that succeeded, with the state that it sets.
func (e *evaluation) finish(ctx context.Context, r Record) {
	e.data.Records[r.Path] = &r
	state, changed, err := e.newState(&r)
	if err == nil && changed && e.g.schema != nil {
		if err = e.g.schema.Validate(ctx, state); err != nil {
			err = &tool.Error{Kind: tool.Invalid, Msg: "the state does not match the state_schema: " + tool.AsError(err).Msg}
		}
	}
	if err != nil {
		delete(e.data.Records, r.Path)
		r.Result, r.Text = nil, ""
		e.failed(r, failureOf(err))
		return
	}
	if changed {
		r.State, e.out.Set, e.state = state, true, state
	}
	e.records = append(e.records, r)
	last := e.step.Last
	if n := e.n.Kind; n != flow.Start && n != flow.End && n != flow.Branch {
		last = e.n.ID
	}
	e.ends(last)
}

// newState returns the state after the node, and whether it set any of it. A node that runs an
// agent sets last_agent_output.
func (e *evaluation) newState(r *Record) (json.RawMessage, bool, error) {
	agent := e.n.Kind == flow.Agent || e.n.Kind == flow.CallAgent
	if len(e.n.set) == 0 && !agent {
		return nil, false, nil
	}
	before := map[string]json.RawMessage{}
	if err := json.Unmarshal(e.currentState(), &before); err != nil {
		return nil, false, fmt.Errorf("reading the state: %w", err)
	}
	if agent {
		before[lastAgentOutput] = r.value()
	}
	for _, s := range e.n.set {
		value, err := e.g.bind(s.value, e.scope)
		if err != nil {
			return nil, false, err
		}
		before[s.name] = value
	}
	after, err := binding.Marshal(before)
	if err == nil && len(after) > MaxState {
		msg := fmt.Sprintf("the state would have %d bytes: at most %d", len(after), MaxState)
		err = &tool.Error{Kind: tool.Invalid, Msg: msg}
	}
	return after, true, err
}

// ends records the end of the body with that of its last node.
func (e *evaluation) ends(last string) {
	if !e.step.Ends {
		return
	}
	before := len(e.records)
	e.outputOf(nil, last)
	if e.out.Failure != nil { // The body's end is a step of its own, which fails.
		e.out.Failure, e.records = nil, e.records[:before]
		return
	}
	e.out.Ended = true
}

// endNode records an end node, and with it the end of the body.
func (e *evaluation) endNode(r Record) {
	if e.n.output != nil {
		result, err := e.g.bind(e.n.output, e.scope)
		if err != nil {
			e.failed(r, failureOf(err))
			return
		}
		r.Result = result
	}
	e.records = append(e.records, r)
	if e.n.output == nil {
		e.ends(e.step.Last)
		return
	}
	e.records = append(e.records, e.bodyRecord(r.Result, nil))
	e.out.Ended = true
}

// outputOf records the end of the step's body.
func (e *evaluation) outputOf(failure *flow.Failure, last string) {
	if failure != nil {
		e.records = append(e.records, e.bodyRecord(nil, failure))
		return
	}
	result, err := e.g.output(e.body, e.scope, last)
	if err != nil {
		e.out.Failure = failureOf(err)
		e.records = append(e.records, e.bodyRecord(nil, e.out.Failure))
		return
	}
	e.records = append(e.records, e.bodyRecord(result, nil))
}

func (e *evaluation) bodyRecord(result json.RawMessage, failure *flow.Failure) Record {
	r := Record{Path: e.step.Frame, Status: Completed, Result: result, EndedAt: e.now}
	if e.body.owner != nil {
		r.Node = e.body.owner.ID
	}
	if failure != nil {
		r.fail(failure)
	}
	return r
}
