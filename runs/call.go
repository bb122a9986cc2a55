package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// NewCall asks for a single call of a tool, or for a test of a tool.
type NewCall struct {
	Request   Request
	Principal tool.Principal // Its Tenant is the tenant of the call. Required.
	// Node is the call. Its ID is the caller's id of the call, empty for none, and
	// for a test: calls with the same id are one call, for as long as its run is
	// there. Its Mode is production when empty. Its Test is set for a
	// test.
	Node wire.Node
	// Resume continues a graph from a node. The arguments of the node, and the constraint of its
	// tool, are those of the other call when they are empty.
	Resume *Resume
	// ByLink says that the call has what a visitor of a link wrote: runs of agents below it are tainted.
	ByLink bool
	// FollowFor is how long the call's output is expected to be followed from its
	// start on. Zero if it is not.
	FollowFor time.Duration

	taint *tool.Taint // Of the run of the call that it continues; nil for none.
}

// Call is a single call, or a test, that was accepted.
type Call struct {
	RunID      string
	Tool       string   // Slug.
	Warnings   []string // Of the resolver, such as that the tool is deprecated.
	WorkflowID string   // Of the call's workflow in Temporal.

	tenant tool.TenantID
	// confirmed says that Temporal has the workflow. Else the start is retried.
	confirmed bool
	// open is the run id of the execution that was open when the call was rejoined.
	open string
}

// Call records a single call as a run and starts its workflow. A call with the
// id of an earlier call, or of a request that is served again, is that earlier
// call for as long as its run is there, unless it failed before its tool was reached.
//
// It fails as the resolver does for a tool that may not be called, with
// tool.Invalid for arguments that are not JSON, and with tool.Conflict when the
// id was used for another call. It fails with tool.Unavailable while Temporal is
// away, and with tool.RateLimited when the tenant has too many unfinished runs.
// It fails with Temporal's reason when Temporal refuses the workflow for good;
// then the run is recorded as failed. [tool.Error.Acted] says that the call may
// have been recorded, and that a repeated request may make a second one.
func (s *Service) Call(ctx context.Context, n NewCall) (Call, error) {
	c, err := s.newCall(ctx, n)
	if err != nil {
		return Call{}, err
	}
	if err := s.Available(ctx); err != nil {
		return Call{}, err
	}
	if err := s.acceptCall(ctx, c); err != nil {
		return Call{}, c.acceptError(err)
	}
	return c.Call, nil
}

// callStart is a call on its way to a run.
type callStart struct {
	Call
	asked      NewCall // Node.ID is set.
	named      bool    // The caller gave the call an id.
	repeatable bool    // The tool is pure or idempotent.
	digest     string  // Of the call as it was requested.
	toolID     string
	arguments  string // Their digest, as they were requested.
}

// newCall validates a requested call, so that a call that would be refused is
// refused at once.
func (s *Service) newCall(ctx context.Context, n NewCall) (*callStart, error) {
	n.Node.Mode = cmp.Or(n.Node.Mode, tool.Production)
	before, err := s.resumed(ctx, &n)
	if err != nil {
		return nil, err
	}
	node, tenant := n.Node, n.Principal.Tenant
	resolved, err := s.cfg.Resolver.Resolve(ctx, resolver.Request{
		Principal: n.Principal, Ref: node.Tool, Mode: node.Mode,
		Outside: node.Test == nil, // Only tests, agents and workflows reach internal tools.
	})
	if err != nil {
		return nil, err
	}
	if err := s.resumes(ctx, tenant, n.Resume, before, resolved); err != nil {
		return nil, err
	}
	if err := node.CheckArguments("runs.Call"); err != nil {
		return nil, err
	}
	arguments, err := tool.Digest(node.Arguments)
	if err != nil {
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: "runs.Call", Path: "/arguments", Msg: "the arguments are not JSON", Err: err,
		}
	}
	runID, err := n.Request.newRunID()
	if err != nil {
		return nil, err
	}
	c := &callStart{
		Call: Call{
			RunID: runID, Tool: resolved.Tool.Slug, Warnings: resolved.Warnings,
			tenant: tenant,
		},
		asked: n, named: node.ID != "", repeatable: resolved.Version.Snapshot.Execution.Repeatable(),
		toolID: resolved.Tool.ID, arguments: arguments,
		digest: fmt.Sprintf("%s@%s %s %s", resolved.Tool.ID, node.Tool.Constraint, node.Mode, arguments),
	}
	if node.From != nil {
		c.digest += " from " + node.From.EffectID + " " + node.From.Node
	}
	if c.named {
		c.WorkflowID = wire.CallWorkflowID(tenant, node.ID)
		return c, nil
	}
	c.asked.Node.ID = "call"
	c.WorkflowID, err = s.workflowID(ctx, tenant, c.Tool, runID)
	return c, err
}

// acceptCall records a call and starts its workflow, or joins c to the call that
// an earlier request made.
func (s *Service) acceptCall(ctx context.Context, c *callStart) error {
	rejoinable := c.named || c.asked.Request.ID != ""
	if rejoinable {
		if joined, err := s.rejoin(ctx, c); joined || err != nil {
			return err
		}
	}
	start, err := c.start()
	if err != nil {
		return err
	}
	_, c.confirmed, err = s.accept(ctx, c.run(), nil, takenOver{}, start)
	if rejoinable && tool.KindOf(err) == tool.Conflict { // Another request with the id came first.
		if joined, err := s.rejoin(ctx, c); joined || err != nil {
			return err
		}
	}
	return err
}

// run returns the record of the call.
func (c *callStart) run() agent.Run {
	p, node := c.asked.Principal, c.asked.Node
	run := agent.Run{
		ID: c.RunID, Tenant: p.Tenant, Kind: agent.RunKindToolCall, Tool: c.Tool, Mode: node.Mode, Principal: p,
		Status: agent.RunPending, WorkflowID: c.WorkflowID, FollowFor: c.asked.FollowFor, ByLink: c.asked.ByLink,
		Taint: c.asked.taint,
	}
	if node.Test != nil {
		run.Kind = agent.RunKindToolTest
	}
	return run
}

// start returns the start of the call's workflow.
func (c *callStart) start() (agent.Start, error) {
	input, err := json.Marshal(wire.NewToolCall(c.asked.Principal, c.RunID, c.asked.Node))
	if err != nil {
		return agent.Start{}, fmt.Errorf("encoding the workflow's input: %w", err)
	}
	memo := c.asked.Request.memo()
	memo[memoRun], memo[memoDigest] = c.RunID, c.digest
	return agent.Start{Workflow: wire.ToolCallWorkflow, Summary: "call " + c.Tool, Memo: memo, Input: input}, nil
}

// acceptError returns the error of a call that was not accepted. The database
// may have recorded the call, which is then started. A repeated request finds
// that call by its id or by the request's; without either it makes a second
// call, and Acted warns of it unless the tool may be repeated.
func (c *callStart) acceptError(err error) error {
	e := *tool.AsError(err)
	e.Acted = e.Kind.Retryable() && e.Kind != tool.RateLimited &&
		!c.repeatable && !c.named && c.asked.Request.ID == ""
	return &e
}
