package workflows

import (
	"encoding/json"

	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// Node is one tool call of a host workflow.
type Node struct {
	// ID names the call within its workflow, such as "charge" or "item/3". It
	// is part of what makes the effect one: a second call with the same ID,
	// tool version and arguments in one workflow gets the first one's answer.
	ID string
	// Tool is the tool to call: a slug or id, optionally with @version. It is
	// resolved when the call begins; an exact version makes sure that a workflow
	// that is reset later asks for the same one.
	Tool string
	// Arguments is marshalled to the JSON object of the arguments. A
	// json.RawMessage is taken as it is. Nil stands for no arguments.
	Arguments any
	// Principal is the identity that the call is made for. Its tenant is
	// required.
	Principal tool.Principal
	// Mode is Production when empty.
	Mode tool.Mode
}

// Execute runs one tool call from a host workflow, and returns what the tool
// answered. A tool that says "no" answers too: see [tool.Result.IsError].
//
// A call that got no answer is an error that the workflow can return as it is:
// its Temporal type is "tool.<kind>", and [errors.As] finds the [*tool.Error]. A
// cancelled call is Temporal's cancellation, see temporal.IsCanceledError. Retries,
// approvals, ledger and audit are as for any other call. Execute may be called from
// several coroutines of a workflow at once. A workflow that makes several calls
// loads a [Plan] once and uses [Plan.Execute].
func Execute(ctx workflow.Context, n Node) (*tool.Result, error) {
	result, err := execute(ctx, n, caller{kind: agent.RunKindHost})
	return result, failure.EncodeForHost(err)
}

// Failure returns a [*tool.Error] of the workflow's own, such as that of
// [tool.Result.Decode], in the form in which [Execute] fails. Errors of that form,
// and nil, are returned as they are.
func Failure(err error) error { return failure.EncodeForHost(err) }

// caller is the workflow that makes a single call.
type caller struct {
	kind   agent.RunKind
	runID  string // Empty for a host's, which is recorded on first sight.
	inline bool   // See [scope].
	waits  *waits // See [scope].
	test   *wire.Test
	from   *wire.GraphFrom
}

func execute(ctx workflow.Context, n Node, by caller) (*tool.Result, error) {
	node, err := n.wire()
	if err != nil {
		return nil, err
	}
	node.Test, node.From = by.test, by.from
	info := workflow.GetInfo(ctx)
	var plan wire.LoadPlanOutput
	err = bookkeep(ctx, by.inline, wire.LoadPlanActivity, wire.LoadPlanInput{
		Principal: n.Principal, RunID: by.runID, FirstRunID: info.FirstRunID, Node: node, Kind: by.kind,
	}, &plan, admitOptions("plan "+n.Tool+" · "+n.ID))
	if err != nil {
		return nil, failure.Decode(err)
	}
	by.waits.saw(ctx, plan.Pause)
	in := wire.InvokeInput{
		PreparedCall: *plan.Call, Full: true, Test: by.test, From: by.from,
	}
	in.Principal, in.Mode, in.RunID = n.Principal, plan.Mode, plan.RunID
	if len(plan.Plan.Tools) > 0 { // None where the tool may not be used: the call is refused.
		in.Pin = plan.Plan.Tools[0]
		in.EffectID = ledger.Effect{
			Tenant: n.Principal.Tenant, WorkflowID: info.WorkflowExecution.ID, FirstRunID: info.FirstRunID,
			Step: "node/" + n.ID, VersionDigest: in.Pin.Content(), ArgumentsDigest: in.ArgumentsDigest,
		}.ID()
	}
	out, err := invokeHere(ctx, in, scope{inline: by.inline, waits: by.waits})
	if err != nil {
		return nil, failure.Decode(err)
	}
	return out.Result, nil
}

func (n Node) wire() (*wire.Node, error) {
	const op = "workflows.Execute"
	if n.ID == "" {
		return nil, &tool.Error{
			Kind: tool.Invalid,
			Op:   op,
			Msg:  "Node.ID is required: it names the call within its workflow",
		}
	}
	if n.Principal.Tenant == "" {
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: op, Msg: "Node.Principal.Tenant is required: every call is made for a tenant",
		}
	}
	mode, err := modeOf(op, "Node", n.Mode)
	if err != nil {
		return nil, err
	}
	ref, err := tool.ParseRef(n.Tool)
	if err != nil {
		return nil, err
	}
	out := &wire.Node{ID: n.ID, Tool: ref, Mode: mode}
	if n.Arguments != nil {
		// Marshal sorts the keys of maps; what the check objects to is its cache
		// of encoders, which does not show in what it returns.
		//workflowcheck:ignore
		out.Arguments, err = json.Marshal(n.Arguments)
		if err != nil {
			return nil, &tool.Error{Kind: tool.Invalid, Op: op, Msg: "Node.Arguments cannot be written as JSON", Err: err}
		}
	}
	return out, out.CheckArguments(op)
}
