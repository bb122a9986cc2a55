package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
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
	g, err := a.graphOf(ctx, in.Graph)
	if err != nil {
		return out, err
	}
	data, calls, err := a.graphData(ctx, g, in.Graph, in.Steps)
	if err != nil {
		return out, err
	}
	var records []graph.Record
	for i, s := range in.Steps {
		e, written, err := g.Evaluate(ctx, s, data, calls[i], time.Now())
		if err != nil {
			return out, err
		}
		if ctx.Err() != nil { // The failure may be that of a condition that was interrupted.
			return out, ctx.Err()
		}
		out.Evaluated, records = append(out.Evaluated, e), append(records, written...)
	}
	if err := a.Graphs.WriteNodes(ctx, runOf(in.Graph), records); err != nil {
		return out, fmt.Errorf("recording nodes: %w", err)
	}
	return out, nil
}

func runOf(c wire.GraphCall) graph.Run {
	return graph.Run{Tenant: c.Principal.Tenant, RunID: c.RunID, CallID: c.CallID, EffectID: c.EffectID}
}

// graphOf returns the pinned version of a graph, compiled.
func (a *Activities) graphOf(ctx context.Context, c wire.GraphCall) (*graph.Graph, error) {
	if a.Graphs == nil {
		return nil, &tool.Error{Kind: tool.Unavailable, Op: "activities.EvaluateGraph", Msg: "these workers run no graphs"}
	}
	key := definitionKey{c.Principal.Tenant, c.Version.ToolID, c.Version.Digest}
	if g, ok := a.graphs.GetIfPresent(key); ok {
		return g, nil
	}
	version, err := a.Resolver.Version(ctx, c.Principal.Tenant, c.Version.ToolID, c.Version.Digest)
	if err != nil {
		return nil, fmt.Errorf("loading the graph: %w", err)
	}
	g, err := graph.Parse(version.Snapshot.Config, version.Snapshot.InputSchema)
	if err == nil {
		a.graphs.Set(key, g)
	}
	return g, err
}

// graphData reads what steps are evaluated on, and how the calls that they close have ended.
func (a *Activities) graphData(
	ctx context.Context, g *graph.Graph, c wire.GraphCall, steps []flow.Step,
) (*graph.Data, []*graph.Call, error) {
	data := &graph.Data{Records: map[string]*graph.Record{}, Context: graph.Context{
		RunID: c.RunID, CallID: c.CallID, Graph: c.Version.Slug + "@" + c.Version.Version, Subject: c.Principal.Subject,
		Mode: string(c.Mode),
	}}
	var all graph.Needs
	effects := []string{c.EffectID}
	for _, s := range steps {
		needs := g.Needs(s)
		if needs.Below != "" && all.Below != "" {
			if err := a.readNodes(ctx, c, graph.Needs{Below: needs.Below}, data); err != nil {
				return nil, nil, err
			}
		} else if needs.Below != "" {
			all.Below = needs.Below
		}
		all.Paths = append(all.Paths, needs.Paths...)
		if s.Do == flow.PhaseClose && s.Called != nil {
			effects = append(effects, c.NodeEffect(s))
		}
	}
	slices.Sort(all.Paths)
	all.Paths = slices.Compact(all.Paths)
	if err := a.readNodes(ctx, c, all, data); err != nil {
		return nil, nil, err
	}
	records, err := a.Ledger.Records(ctx, c.Principal.Tenant, effects)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the calls of nodes: %w", err)
	}
	data.Input = records[c.EffectID].Arguments
	calls := make([]*graph.Call, len(steps))
	for i, s := range steps {
		if s.Do != flow.PhaseClose || s.Called == nil {
			continue
		}
		if calls[i], err = a.nodeCall(ctx, c, s, records); err != nil {
			return nil, nil, err
		}
	}
	return data, calls, nil
}

func (a *Activities) readNodes(ctx context.Context, c wire.GraphCall, needs graph.Needs, into *graph.Data) error {
	found, err := a.Graphs.ReadNodes(ctx, runOf(c), needs)
	if err != nil {
		return fmt.Errorf("reading nodes: %w", err)
	}
	maps.Copy(into.Records, found)
	return nil
}

// nodeCall returns how the call or run of a node has ended, as it is recorded; nil where it is
// not, and the step says why.
func (a *Activities) nodeCall(
	ctx context.Context, c wire.GraphCall, s flow.Step, records map[string]ledger.Record,
) (*graph.Call, error) {
	if s.Called.RunID != "" {
		return a.nodeRun(ctx, c.Principal.Tenant, s)
	}
	effect := c.NodeEffect(s)
	record, known := records[effect]
	if !known || record.Outcome == nil {
		return nil, nil //nolint:nilnil // It was never made.
	}
	o := record.Outcome
	return &graph.Call{Result: o.Result, Kind: o.Kind, Msg: o.Msg, EffectID: effect}, nil
}

// nodeRun returns how the run of an agent has ended that a node ran.
func (a *Activities) nodeRun(ctx context.Context, tenant tool.TenantID, s flow.Step) (*graph.Call, error) {
	run, err := a.Runs.FindRun(ctx, tenant, s.Called.RunID)
	if err != nil {
		return nil, fmt.Errorf("finding run %s: %w", s.Called.RunID, err)
	}
	out := &graph.Call{RunID: run.ID}
	switch {
	case run.Status == agent.RunCompleted:
		out.Result = &tool.Result{Content: []tool.Content{tool.Text(run.Output)}}
		if json.Valid([]byte(run.Output)) {
			out.Result.Structured = json.RawMessage(run.Output)
		}
	case run.Status.Final():
		out.Kind, out.Msg = run.ErrorKind, run.Error
	case s.Called.Failure != nil:
		out.Kind, out.Msg = s.Called.Failure.Kind, s.Called.Failure.Msg
		end := agent.RunEnd{Tenant: tenant, RunID: run.ID, Status: agent.EndStatus(out.Kind), Kind: out.Kind, Msg: out.Msg}
		if err := a.Runs.FinishRun(ctx, end); err != nil {
			return nil, fmt.Errorf("finishing run %s: %w", run.ID, err)
		}
	default: // Another execution of the workflow started it.
		return nil, &tool.Error{
			Kind: tool.Unavailable, Op: "activities.EvaluateGraph", Msg: "the run of the agent is still running",
			RetryAfter: 2 * time.Second,
		}
	}
	if out.Result == nil && out.Kind == "" {
		out.Kind = tool.Cancelled
	}
	return out, nil
}

// bindNode computes the arguments of the call of a graph's node. What it is bound to is
// immutable, so every attempt computes the same.
func (a *Activities) bindNode(ctx context.Context, in *wire.InvokeInput) error {
	c := in.Node.Call(in)
	g, err := a.graphOf(ctx, c)
	if err != nil {
		return err
	}
	data, _, err := a.graphData(ctx, g, c, []flow.Step{in.Node.Step})
	if err != nil {
		return err
	}
	in.Arguments, err = g.Arguments(in.Node.Step, data)
	return err
}

// OpenNode records the run of an agent that a node of a graph runs. It is idempotent.
func (a *Activities) OpenNode(ctx context.Context, in wire.OpenNodeInput) (wire.OpenNodeOutput, error) {
	if err := checkTenant(ctx, in.Graph.Principal.Tenant); err != nil {
		return wire.OpenNodeOutput{}, failure.Encode(err)
	}
	id, err := a.openNode(ctx, in)
	if err == nil {
		return wire.OpenNodeOutput{RunID: id}, nil
	}
	e := tool.AsError(err)
	if e.Kind.Retryable() || ctx.Err() != nil {
		logFailure(ctx, "opening the run of a node failed", err, "tenant_id", in.Graph.Principal.Tenant)
		return wire.OpenNodeOutput{}, encode(ctx, err)
	}
	return wire.OpenNodeOutput{Failure: &flow.Failure{Kind: e.Kind, Msg: e.Msg}}, nil
}

func (a *Activities) openNode(ctx context.Context, in wire.OpenNodeInput) (string, error) {
	c, pin := in.Graph, in.Agent.PinnedAgent
	tenant := c.Principal.Tenant
	g, err := a.graphOf(ctx, c)
	if err != nil {
		return "", err
	}
	if _, err := a.targetDefinition(ctx, tenant, &pin); err != nil {
		return "", err
	}
	line, err := a.Runs.Ancestors(ctx, tenant, c.RunID)
	if err != nil {
		return "", fmt.Errorf("reading the runs above: %w", err)
	}
	if err := checkLine(&pin, line); err != nil {
		return "", err
	}
	data, _, err := a.graphData(ctx, g, c, []flow.Step{in.Step})
	if err != nil {
		return "", err
	}
	message, err := g.Arguments(in.Step, data)
	if err != nil {
		return "", err
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
		WorkflowID: wire.RunWorkflowID(tenant, id), Depth: len(line),
		Parent: &agent.Parent{RunID: c.RunID, InvocationID: c.InvocationID},
	}
	first := agent.Message{Role: agent.RoleUser, Content: []tool.Content{tool.Text(content)}}
	_, err = a.Runs.CreateRun(ctx, run, first)
	if tool.KindOf(err) == tool.Conflict { // A previous attempt recorded it.
		_, err = a.Runs.FindRun(ctx, tenant, id)
	}
	if err != nil {
		return "", fmt.Errorf("recording the run of agent %s: %w", pin, err)
	}
	return id, nil
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
