package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// EvaluateGraph evaluates conditions and bindings of a graph, and records its nodes. It is
// idempotent: what it reads is immutable, and the first record of a node stays.
func (a *Activities) EvaluateGraph(
	ctx context.Context, in wire.EvaluateGraphInput,
) (wire.EvaluateGraphOutput, error) {
	if err := checkTenant(ctx, in.Graph.Principal.Tenant); err != nil {
		return wire.EvaluateGraphOutput{}, failure.Encode(err)
	}
	out, err := a.evaluateGraph(ctx, in)
	if err != nil {
		logFailure(ctx, "evaluating the graph failed", err, "tenant_id", in.Graph.Principal.Tenant, "run_id", in.Graph.RunID)
		return wire.EvaluateGraphOutput{}, encode(ctx, err)
	}
	return out, nil
}

func (a *Activities) evaluateGraph(
	ctx context.Context, in wire.EvaluateGraphInput,
) (out wire.EvaluateGraphOutput, err error) {
	m, err := a.newGraphMemory(ctx, in.Graph)
	if err != nil {
		return out, err
	}
	if out.Evaluated, err = m.evaluate(ctx, in.Steps); err != nil {
		return out, err
	}
	return out, m.flush(ctx)
}

func runOf(c wire.GraphCall) graph.Run {
	return graph.Run{Tenant: c.Principal.Tenant, RunID: c.RunID, CallID: c.CallID, EffectID: c.EffectID}
}

// graphOf returns the pinned version of a graph or composition, compiled.
func (a *Activities) graphOf(ctx context.Context, c wire.GraphCall) (*graph.Graph, error) {
	key := definitionKey{c.Principal.Tenant, c.Version.ToolID, c.Version.Digest}
	if g, ok := a.graphs.Get(key); ok {
		return g, nil
	}
	version, err := a.Resolver.Version(ctx, c.Principal.Tenant, c.Version.ToolID, c.Version.Digest)
	if err != nil {
		return nil, fmt.Errorf("loading the graph: %w", err)
	}
	impl := version.Snapshot.ImplementationType()
	if impl == tool.Graph && a.Graphs == nil {
		return nil, &tool.Error{Kind: tool.Unavailable, Op: "activities.EvaluateGraph", Msg: "these workers run no graphs"}
	}
	g, err := graph.Of(impl, version.Snapshot.Config, version.Snapshot.InputSchema)
	if err == nil {
		a.graphs.Set(key, g)
	}
	return g, err
}

// bindNode computes the arguments of the call of a graph's node. What it is bound to is
// immutable, so every attempt computes the same.
func (a *Activities) bindNode(ctx context.Context, in *wire.InvokeInput) error {
	m, err := a.newGraphMemory(ctx, in.Node.Call(in))
	if err == nil {
		in.Arguments, err = m.arguments(ctx, in.Node.Step)
	}
	return err
}

// OpenNode records the run of an agent that a node of a graph runs. It is idempotent.
func (a *Activities) OpenNode(ctx context.Context, in wire.OpenNodeInput) (wire.OpenNodeOutput, error) {
	if err := checkTenant(ctx, in.Graph.Principal.Tenant); err != nil {
		return wire.OpenNodeOutput{}, failure.Encode(err)
	}
	run, err := a.openNode(ctx, in)
	if err == nil {
		return wire.OpenNodeOutput{RunID: run.ID, WorkflowID: run.WorkflowID}, nil
	}
	e := tool.AsError(err)
	if e.Kind.Retryable() || ctx.Err() != nil {
		logFailure(ctx, "opening the run of a node failed", err, "tenant_id", in.Graph.Principal.Tenant)
		return wire.OpenNodeOutput{}, encode(ctx, err)
	}
	return wire.OpenNodeOutput{Failure: &flow.Failure{Kind: e.Kind, Msg: e.Msg}}, nil
}

func (a *Activities) openNode(ctx context.Context, in wire.OpenNodeInput) (agent.Run, error) {
	c, pin := in.Graph, in.Agent.PinnedAgent
	tenant := c.Principal.Tenant
	m, err := a.newGraphMemory(ctx, c)
	if err != nil {
		return agent.Run{}, err
	}
	if _, err := a.targetDefinition(ctx, tenant, &pin); err != nil {
		return agent.Run{}, err
	}
	line, err := a.Runs.Ancestors(ctx, tenant, c.RunID)
	if err != nil {
		return agent.Run{}, fmt.Errorf("reading the runs above: %w", err)
	}
	if err := checkLine(&pin, line); err != nil {
		return agent.Run{}, err
	}
	message, err := m.arguments(ctx, in.Step)
	if err != nil {
		return agent.Run{}, err
	}
	content := string(message)
	var words string
	if json.Unmarshal(message, &words) == nil {
		content = words
	}
	id := ledger.RunID(ledger.StepInvocationID(c.InvocationID, 0, c.NodeEffect(in.Step), time.Time{}))
	run := agent.Run{
		ID: id, Tenant: tenant, Kind: agent.RunKindAgent, AgentID: pin.AgentID, Agent: pin.Slug, AgentVersion: pin.Version,
		Mode: c.Mode, Principal: c.Principal, Status: agent.RunPending, Input: message,
		WorkflowID: childID(ctx, tenant, pin.Slug, id), Depth: len(line),
		Parent: &agent.Parent{RunID: c.RunID, InvocationID: c.InvocationID},
	}
	first := agent.Message{Role: agent.RoleUser, Content: []tool.Content{tool.Text(content)}}
	recorded, err := a.Runs.CreateRun(ctx, run, first)
	if tool.KindOf(err) == tool.Conflict { // A previous attempt recorded it.
		recorded, err = a.Runs.FindRun(ctx, tenant, id)
	}
	if err != nil {
		return agent.Run{}, fmt.Errorf("recording the run of agent %s: %w", pin, err)
	}
	return recorded, nil
}

// graphResult returns the result of a call that was a run of a graph.
func (a *Activities) graphResult(ctx context.Context, in *wire.SettleInput) (*tool.Result, error) {
	records, err := a.Graphs.ReadNodes(ctx, runOf(in.Invoke.GraphCall()), graph.Needs{Paths: []string{""}})
	if err != nil {
		return nil, fmt.Errorf("reading the output of the graph: %w", err)
	}
	r := records[""]
	if r == nil {
		return nil, &tool.Error{Kind: tool.InternalError, Op: "activities.Settle", Msg: "the graph has no output"}
	}
	output := r.Result
	if len(output) == 0 {
		output = json.RawMessage("null")
	}
	var words string
	if json.Unmarshal(output, &words) == nil {
		return &tool.Result{Content: []tool.Content{tool.Text(words)}, Structured: output}, nil
	}
	return &tool.Result{Content: []tool.Content{tool.JSON(output)}, Structured: output}, nil
}

// failedAt says where a graph failed, and why.
func failedAt(f *flow.Failure) string {
	if f.Node == "" {
		return f.Msg
	}
	return fmt.Sprintf("node %s: %s", f.Node, f.Msg)
}

// resumeGraph gives the run of a graph the records of another one, up to the node to begin with. It is
// idempotent.
func (a *Activities) resumeGraph(ctx context.Context, in *wire.InvokeInput) (*wire.Opened, error) {
	c := in.GraphCall()
	g, err := a.graphOf(ctx, c)
	if err != nil {
		return nil, err
	}
	from := graph.Run{Tenant: c.Principal.Tenant, RunID: in.From.RunID, EffectID: in.From.EffectID}
	passed, err := a.Graphs.ListPath(ctx, from)
	if err != nil {
		return nil, fmt.Errorf("reading the nodes of run %s: %w", from.RunID, err)
	}
	state, node, err := g.Resume(passed, in.From.Node)
	if err != nil {
		return nil, err
	}
	if err := a.Graphs.CopyNodes(ctx, from, runOf(c), node); err != nil {
		return nil, fmt.Errorf("copying the nodes of run %s: %w", from.RunID, err)
	}
	return &wire.Opened{State: &state}, nil
}
