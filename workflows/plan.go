package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// PlanRequest lists the tools that a workflow is going to call.
type PlanRequest struct {
	// Principal is the identity that the calls are made for. Its tenant is
	// required.
	Principal tool.Principal
	// Mode is Production when empty.
	Mode tool.Mode
	// Tools are the tools to pin: slugs or ids, each optionally with a version
	// or constraint. At least one.
	Tools []string
}

// Plan is the lockfile of a workflow: the exact versions of the tools it calls,
// resolved once. Content is pinned by it, authority is not: a tool that is
// disabled later is refused when it is called.
//
// A workflow that makes several calls makes one Plan and calls
// [Plan.Execute], which costs less than [Execute] does: nothing is resolved
// again, and a short pure call is a single marker in the history. Calls whose
// arguments are known together cost less again: see [Plan.Sequence] and [Plan.All].
// A call with an effect begins when the plan and the call are in the history, so that
// a worker that dies leaves the next one the same effect.
//
// A Plan belongs to the execution that loaded it. A workflow that is reset to
// before that resolves again; name exact versions where it must not.
type Plan struct {
	request PlanRequest
	runID   string
	pins    agent.Plan
}

// LoadPlan resolves the tools of a request and pins them. It fails, in the form of
// [Execute], with the failure of the first tool, in the order of the request, that
// may not be used.
func LoadPlan(ctx workflow.Context, r PlanRequest) (*Plan, error) {
	plan, err := loadPlan(ctx, r)
	return plan, failure.EncodeForHost(err)
}

func loadPlan(ctx workflow.Context, r PlanRequest) (*Plan, error) {
	const op = "workflows.LoadPlan"
	if r.Principal.Tenant == "" {
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: op, Msg: "PlanRequest.Principal.Tenant is required: every call is made for a tenant",
		}
	}
	if len(r.Tools) == 0 {
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: op, Msg: "PlanRequest.Tools is empty: name the tools that the workflow calls",
		}
	}
	var err error
	if r.Mode, err = modeOf(op, "PlanRequest", r.Mode); err != nil {
		return nil, err
	}
	in := wire.LoadPlanInput{
		Principal: r.Principal, FirstRunID: workflow.GetInfo(ctx).FirstRunID, Kind: agent.RunKindHost, Mode: r.Mode,
		Tools: make([]tool.Ref, len(r.Tools)),
	}
	for i, name := range r.Tools {
		if in.Tools[i], err = tool.ParseRef(name); err != nil {
			return nil, err
		}
	}
	var out wire.LoadPlanOutput
	if err := bookkeep(ctx, true, wire.LoadPlanActivity, in, &out,
		admitOptions(fmt.Sprintf("pin %d tools", len(in.Tools)))); err != nil {
		return nil, failure.Decode(err)
	}
	return &Plan{request: r, runID: out.RunID, pins: out.Plan}, nil
}

// Tools returns the pinned versions, as "slug@version", sorted.
func (p *Plan) Tools() []string {
	out := make([]string, len(p.pins.Tools))
	for i, pin := range p.pins.Tools {
		out[i] = pin.String()
	}
	return out
}

// Execute runs one call of a pinned tool, named by its slug, and otherwise
// behaves, and fails, as the function [Execute]. Leave Principal and Mode of the node
// empty: they are the plan's. Execute may be called from several coroutines at
// once.
func (p *Plan) Execute(ctx workflow.Context, n Node) (*tool.Result, error) {
	result, err := p.execute(ctx, n)
	return result, failure.EncodeForHost(err)
}

func (p *Plan) execute(ctx workflow.Context, n Node) (*tool.Result, error) {
	in, err := p.call(ctx, "workflows.Plan.Execute", n, 0)
	if err != nil {
		return nil, err
	}
	out, err := invokeHere(ctx, in, scope{})
	if err != nil {
		return nil, failure.Decode(err)
	}
	return out.Result, nil
}

// call returns the call of a node, which is at the given position among those asked for at
// once: they sort by it.
func (p *Plan) call(ctx workflow.Context, op string, n Node, position int) (wire.InvokeInput, error) {
	var none wire.InvokeInput
	if n.Principal.Tenant != "" || n.Mode != "" {
		return none, &tool.Error{
			Kind: tool.Invalid, Op: op, Msg: "Node.Principal and Node.Mode are the plan's: leave them empty",
		}
	}
	n.Principal, n.Mode = p.request.Principal, p.request.Mode
	node, err := n.wire()
	if err != nil {
		return none, err
	}
	pin, ok := p.pins.Find(n.Tool)
	if !ok {
		return none, &tool.Error{
			Kind: tool.NotFound, Op: op, Msg: fmt.Sprintf("the plan pins no tool %q; it pins %v", n.Tool, p.Tools()),
		}
	}
	// A digest is of its input alone; what the check objects to is the caches of
	// encoding/json, which do not show in it.
	//workflowcheck:ignore
	digest, err := tool.Digest(node.Arguments)
	if err != nil {
		return none, &tool.Error{Kind: tool.Invalid, Op: op, Msg: "Node.Arguments is not JSON", Err: err}
	}
	info := workflow.GetInfo(ctx)
	in := wire.InvokeInput{
		PreparedCall: agent.PreparedCall{Slug: pin.Slug, Arguments: node.Arguments, ArgumentsDigest: digest, Raw: true},
		Pin:          pin, Full: true,
	}
	in.CallIdentity = tool.CallIdentity{
		Principal: n.Principal, Mode: n.Mode, RunID: p.runID, CallID: n.ID,
		EffectID: ledger.Effect{
			Tenant: n.Principal.Tenant, WorkflowID: info.WorkflowExecution.ID, FirstRunID: info.FirstRunID,
			Step: "node/" + n.ID, VersionDigest: pin.Content(), ArgumentsDigest: digest,
		}.ID(),
	}
	at := workflow.Now(ctx).Add(time.Duration(position) * time.Millisecond)
	in.InvocationID = ledger.InvocationID(at, in.EffectID)
	return in, nil
}

// modeOf applies the default to a mode and checks it.
func modeOf(op, field string, m tool.Mode) (tool.Mode, error) {
	if m == "" {
		return tool.Production, nil
	}
	if !m.Valid() {
		return m, &tool.Error{
			Kind: tool.Invalid, Op: op, Msg: fmt.Sprintf("%s.Mode is %q: want production or debug", field, m),
		}
	}
	return m, nil
}
