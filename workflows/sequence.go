package workflows

import (
	"fmt"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// Answer is how one of several calls ended.
type Answer struct {
	Result *tool.Result // What the tool answered; nil where there is an Err.
	Err    error        // Why it did not answer, as [Plan.Execute] fails.
}

// Sequence runs calls one after the other, and returns what their tools answered, in order.
// A tool that says "no" answers too, and the next call is made: see [tool.Result.IsError].
// At the first call that gets no answer Sequence stops, and returns the answers before it
// with the error of [Plan.Execute].
//
// Each call is as one of [Plan.Execute]: it has the same effect, retries and record. It
// costs less, because one activity makes all of them, or, if they are short and pure, a
// part of the workflow's own task. What another attempt, a run of an agent or an activity
// of its own is needed for is a step of the workflow. Nothing is begun if one of the nodes
// is invalid, or two have the same ID.
//
// The arguments of all nodes are given at once. Where one depends on what another
// answered, call [Plan.Execute] between, or publish the calls as a composition.
func (p *Plan) Sequence(ctx workflow.Context, nodes ...Node) ([]*tool.Result, error) {
	g, err := p.group(ctx, "workflows.Plan.Sequence", nodes)
	if err != nil {
		return nil, failure.EncodeForHost(err)
	}
	err = g.sequence(ctx)
	var results []*tool.Result
	for i := range g.calls {
		if !g.ended[i] || g.answers[i].Err != nil {
			break
		}
		results = append(results, g.answers[i].Result)
	}
	return results, failure.EncodeForHost(err)
}

// All runs calls and returns how each of them ended, in their order. Pure calls are made
// side by side, as many as the max_concurrency of their tools allows; any other call
// begins when those before it have ended, and those after it wait for it. A call that gets no
// answer stops no other. The error is that of the first call that got none, or
// Temporal's cancellation: then calls that were not begun are recorded as cancelled.
//
// Otherwise it is as [Plan.Sequence].
func (p *Plan) All(ctx workflow.Context, nodes ...Node) ([]Answer, error) {
	g, err := p.group(ctx, "workflows.Plan.All", nodes)
	if err != nil {
		return nil, failure.EncodeForHost(err)
	}
	g.all = true
	if err = g.together(ctx); err != nil {
		return g.answers, failure.EncodeForHost(err)
	}
	for i := range g.answers {
		if err == nil || temporal.IsCanceledError(g.answers[i].Err) {
			err = g.answers[i].Err
		}
	}
	return g.answers, err
}

// group is several calls of a plan.
type group struct {
	plan    *Plan
	calls   []wire.InvokeInput
	answers []Answer
	ended   []bool
	all     bool // Whether every call is made.
	regular bool // The next activity is no part of the workflow's task.
}

// group checks all nodes before a call begins.
func (p *Plan) group(ctx workflow.Context, op string, nodes []Node) (*group, error) {
	g := &group{
		plan: p, calls: make([]wire.InvokeInput, len(nodes)), answers: make([]Answer, len(nodes)),
		ended: make([]bool, len(nodes)),
	}
	ids := make(map[string]bool, len(nodes))
	for i, n := range nodes {
		in, err := p.call(ctx, op, n, i)
		if err == nil && ids[n.ID] {
			err = &tool.Error{Kind: tool.Invalid, Op: op, Msg: "another node has the same ID"}
		}
		if err != nil {
			e := *tool.AsError(err)
			e.Msg = fmt.Sprintf("node %d, %q: %s", i, tool.Clip(n.ID, 64), e.Msg)
			return nil, &e
		}
		ids[n.ID], g.calls[i] = true, in
	}
	return g, nil
}

// left returns the calls that have not ended.
func (g *group) left() []int {
	var left []int
	for i, ended := range g.ended {
		if !ended {
			left = append(left, i)
		}
	}
	return left
}

// inPlace reports whether an activity makes a call with others.
func (g *group) inPlace(call int) bool {
	in := &g.calls[call]
	return in.Pin.InPlace && in.Tried == 0 && in.Reached == 0 && in.Asks == nil
}

// take records how a call ended.
func (g *group) take(call int, out wire.InvokeOutput, err error) {
	g.ended[call] = true
	if err != nil {
		g.answers[call].Err = failure.EncodeForHost(err)
	} else {
		g.answers[call].Result = out.Result
	}
}

// sequence makes one call after the other, until one gets no answer.
func (g *group) sequence(ctx workflow.Context) error {
	for {
		for i := range g.answers {
			if err := g.answers[i].Err; err != nil {
				return err
			}
		}
		left := g.left()
		if len(left) == 0 {
			return nil
		}
		if g.inPlace(left[0]) {
			if err := g.run(ctx, g.part(left)); err != nil {
				return err
			}
			continue
		}
		out, err := invokeHere(ctx, g.calls[left[0]], scope{})
		g.take(left[0], out, err)
	}
}

// together makes every call. The calls of a segment that are not made in place come after
// those that are, because they may share a limit.
func (g *group) together(ctx workflow.Context) error {
	for {
		left := g.left()
		if len(left) == 0 {
			return nil
		}
		free := make([]bool, len(left))
		for i, call := range left {
			free[i] = g.calls[call].Pin.Execution.Pure
		}
		segment := left[:agent.Segments(agent.ParallelSafe, free)[0].To]
		var here, apart []int
		for _, call := range segment {
			if g.inPlace(call) {
				here = append(here, call)
			} else {
				apart = append(apart, call)
			}
		}
		var err error
		switch {
		case len(apart) == 0:
			err = g.run(ctx, g.part(left))
		case len(here) > 0:
			err = g.run(ctx, g.part(here))
		default:
			err = g.apart(ctx, apart)
		}
		if err != nil {
			return err
		}
	}
}

// apart makes calls as steps of the workflow, side by side.
func (g *group) apart(ctx workflow.Context, calls []int) error {
	b := &batch{
		machine: loop.NewRun(loop.Identity{}, wire.RunState{
			Plan: agent.Plan{ToolMode: agent.ParallelSafe}, Batch: g.inputs(calls),
		}),
		over: func(call int, out wire.InvokeOutput, err error) { g.take(calls[call], out, err) },
	}
	return b.run(ctx)
}

func (g *group) inputs(calls []int) []wire.InvokeInput {
	out := make([]wire.InvokeInput, len(calls))
	for i, call := range calls {
		out[i] = g.calls[call]
	}
	return out
}

// maxNodesInput bounds the input of one activity, in bytes, and pinBytes is what a pin is
// taken for. Temporal refuses 2 MB.
const (
	maxNodesInput = 512 << 10
	pinBytes      = 1 << 10
)

// part returns the calls from the first on that one activity makes.
func (g *group) part(calls []int) []int {
	size := 0
	for i, call := range calls {
		pins, _ := g.calls[call].Pin.Count()
		size += len(g.calls[call].Arguments) + pins*pinBytes
		if !g.inPlace(call) || i > 0 && size > maxNodesInput {
			return calls[:i]
		}
	}
	return calls
}

// run makes calls in one activity, as far as it comes. What it leaves is still open.
func (g *group) run(ctx workflow.Context, calls []int) error {
	in := wire.NodesInput{
		Principal: g.plan.request.Principal, RunID: g.plan.runID, Calls: g.inputs(calls), All: g.all,
	}
	fast := !g.regular
	for i := range in.Calls {
		fast = fast && in.Calls[i].Pin.Fast && in.Calls[i].Pin.Execution.Pure
	}
	summary := summarize(in.Calls)
	var out wire.NodesOutput
	var err error
	if fast {
		local := workflow.WithLocalActivityOptions(ctx, fastNodesOptions(summary))
		err = workflow.ExecuteLocalActivity(local, wire.NodesActivity, in).Get(local, &out)
		if err != nil && ctx.Err() == nil && passing(err) {
			g.regular = true
			return nil
		}
	} else {
		options := advanceOptions(summary)
		options.Priority = fair(ctx, in.Principal.Tenant)
		regular := workflow.WithActivityOptions(ctx, options)
		err = workflow.ExecuteActivity(regular, wire.NodesActivity, in).Get(regular, &out)
	}
	if err != nil {
		return g.stop(ctx, calls, in, err)
	}
	g.taken(calls, out)
	return nil
}

// taken takes up how far an activity came.
func (g *group) taken(calls []int, out wire.NodesOutput) {
	for i := range out.Ended {
		end := &out.Ended[i]
		g.take(calls[end.Call], end.InvokeOutput, outputError(end.InvokeOutput))
	}
	for _, retry := range out.Retry {
		in := &g.calls[calls[retry.Call]]
		in.Tried, in.RetryIn, in.Reached = retry.Tried, retry.In, retry.Reached
	}
	for i := range out.Asks {
		g.calls[calls[out.Asks[i].Call]].Asks = &out.Asks[i].Asking
	}
	g.regular = g.regular || out.Handover != "" && out.Handover != wire.HandoverCalls
}

// stop settles the calls of an activity that failed, as [settle] does. That must happen,
// even if ctx is cancelled.
func (g *group) stop(ctx workflow.Context, calls []int, in wire.NodesInput, err error) error {
	e := tool.AsError(failure.Decode(err))
	in.Stop = &wire.Failure{Kind: e.Kind, Msg: e.Msg}
	detached, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	options := advanceOptions("settle " + summarize(in.Calls))
	options.RetryPolicy.MaximumAttempts, options.Priority = 0, fair(ctx, in.Principal.Tenant)
	var out wire.NodesOutput
	regular := workflow.WithActivityOptions(detached, options)
	if stopErr := workflow.ExecuteActivity(regular, wire.NodesActivity, in).Get(regular, &out); stopErr != nil {
		e := *tool.AsError(failure.Decode(stopErr))
		e.Acted = true // How far the calls came is in the ledger, which cannot be reached.
		return &e
	}
	g.taken(calls, out)
	if !g.all && ctx.Err() != nil && temporal.IsCanceledError(err) {
		return err
	}
	return nil
}

// summarize names the calls of an activity: "3 calls: search@1.2.0 · a …".
func summarize(calls []wire.InvokeInput) string {
	if len(calls) == 1 {
		return label(calls[0])
	}
	return fmt.Sprintf("%d calls: %s …", len(calls), label(calls[0]))
}
