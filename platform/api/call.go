package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/uuid7"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// defaultWait is how long a call's answer is waited for unless the caller says.
const defaultWait = 30 * time.Second

type callInput struct {
	Tool string `path:"tool" maxLength:"64" doc:"Slug, alias or id" example:"searchOrders"`
	Body v1.NewCall
}

type callOutput struct {
	Status int
	Body   v1.Call
}

func (s *server) registerCalls() {
	handle(s, route{
		id: "callTool", method: http.MethodPost, path: "/v1/tools/{tool}/call", tag: "tools", permission: RunsWrite,
		summary: "Call a tool once", accepted: "The call is still running",
		detail: "Runs the call durably and waits for its answer. 200 carries the answer, 202 says that it is still " +
			"running: look at the run. A call without an answer is a problem whose `instance` is the run. With an `id` the " +
			"call is made once, however often it is asked for and for as long as Temporal keeps it; the same id with another " +
			"call is a conflict.",
	}, s.callTool)
}

func (s *server) callTool(ctx context.Context, p tool.Principal, in *callInput) (*callOutput, error) {
	call, err := s.newCall(ctx, p, in, true)
	if err != nil {
		return nil, err
	}
	confirmed, err := s.acceptCall(ctx, &call)
	if err != nil {
		return nil, call.perhapsBegun(ctx, err)
	}
	wait := defaultWait
	if in.Body.WaitS != nil {
		wait = time.Duration(*in.Body.WaitS * float64(time.Second))
	}
	if !confirmed {
		wait = 0
	}
	return s.awaitCall(ctx, call, wait)
}

// acceptCall records a call as a run and starts its workflow, or makes c the
// call that an earlier request of the same name began. It reports whether
// Temporal has the workflow.
func (s *server) acceptCall(ctx context.Context, c *directCall) (confirmed bool, err error) {
	named := c.named || requestID(ctx) != ""
	if named {
		if joined, confirmed, err := s.rejoin(ctx, c); joined || err != nil {
			return confirmed, err
		}
	}
	start, err := c.start(ctx)
	if err != nil {
		return false, err
	}
	accepted, err := s.runs.Accept(ctx, c.run(), nil, start)
	if named && tool.KindOf(err) == tool.Conflict { // Another request of the name came first.
		if joined, confirmed, err := s.rejoin(ctx, c); joined || err != nil {
			return confirmed, err
		}
	}
	return accepted.Confirmed, err
}

// directCall is a call as the API makes it.
type directCall struct {
	slug       string
	warnings   []string
	workflowID string
	repeatable bool   // The tool is pure or idempotent.
	named      bool   // The caller gave the call an id: it is this call for as long as Temporal keeps it.
	digest     string // Of the requested call: equal digests, equal calls.
	input      wire.ToolCallInput
	followFor  time.Duration // For how long its output is expected to be followed.
}

// kind is what the call is recorded as.
func (c directCall) kind() agent.RunKind {
	if c.input.Node.Test != nil {
		return agent.ToolTestRun
	}
	return agent.ToolCallRun
}

// newCall validates a requested call. A call that would be refused is refused
// here instead of being started. For a call from outside, internal tools are
// absent.
func (s *server) newCall(ctx context.Context, p tool.Principal, in *callInput, outside bool) (directCall, error) {
	ref := tool.Ref{Slug: in.Tool, Constraint: in.Body.Version}
	if tool.ValidID(in.Tool) {
		ref.Slug, ref.ID = "", in.Tool
	}
	resolved, err := s.cfg.Resolver.Resolve(ctx, resolver.Request{
		Principal: p, Ref: ref, Mode: in.Body.Mode, Outside: outside,
	})
	if err != nil {
		return directCall{}, err
	}
	arguments, err := tool.Digest(in.Body.Arguments)
	if err != nil {
		return directCall{}, &tool.Error{
			Kind: tool.Invalid, Op: "api.callTool", Path: "/arguments", Msg: "the arguments are not JSON", Err: err,
		}
	}
	runID, err := newRunID(ctx)
	if err != nil {
		return directCall{}, err
	}
	c := directCall{
		slug: resolved.Tool.Slug, warnings: resolved.Warnings, workflowID: wire.RunWorkflowID(p.Tenant, runID),
		digest: fmt.Sprintf("%s@%s %s %s", resolved.Tool.ID, ref.Constraint, in.Body.Mode, arguments),
		input: wire.NewToolCall(p, runID, wire.Node{
			ID: "call", Tool: ref, Arguments: in.Body.Arguments, Mode: in.Body.Mode,
		}),
	}
	c.repeatable, c.named = resolved.Version.Snapshot.Execution.Repeatable(), in.Body.ID != ""
	if c.named {
		c.workflowID, c.input.Node.ID = "t/"+string(p.Tenant)+"/call/"+in.Body.ID, in.Body.ID
	}
	return c, s.runs.Available(ctx)
}

// memoDigest is the memo field in which a call's workflow keeps the digest of
// the requested call.
const memoDigest = "toolcrib_call"

// run describes the call as it is recorded.
func (c directCall) run() agent.Run {
	p := c.input.Principal
	return agent.Run{
		ID: c.input.RunID, Tenant: p.Tenant, Kind: c.kind(), Mode: c.input.Node.Mode, Principal: p,
		Status: agent.RunPending, WorkflowID: c.workflowID, FollowFor: c.followFor,
	}
}

func (c directCall) start(ctx context.Context) (agent.Start, error) {
	input, err := json.Marshal(c.input)
	if err != nil {
		return agent.Start{}, fmt.Errorf("encoding the workflow's input: %w", err)
	}
	kept := memo(ctx)
	kept[runs.MemoRun], kept[memoDigest] = c.input.RunID, c.digest
	return agent.Start{Workflow: wire.ToolCallWorkflow, Summary: "call " + c.slug, Memo: kept, Input: input}, nil
}

// rejoin makes c the call that was asked for before under its name, and reports
// whether there is one, and whether Temporal has its workflow. It fails with
// tool.Conflict when that was another call. A call that Temporal has forgotten
// is made anew, under another run id.
func (s *server) rejoin(ctx context.Context, c *directCall) (joined, confirmed bool, err error) {
	tenant := c.input.Principal.Tenant
	before, err := s.runBefore(ctx, c)
	if err != nil || before == nil {
		return false, false, err
	}
	memo, err := s.runs.Memo(ctx, c.workflowID)
	confirmed = err == nil
	if tool.KindOf(err) == tool.NotFound {
		var start agent.Start
		start, err = s.cfg.Store.FindStart(ctx, agent.StartKey{Tenant: tenant, WorkflowID: c.workflowID})
		memo = start.Memo
	}
	switch {
	case err == nil && memo[memoDigest] == c.digest:
		c.input.RunID = memo[runs.MemoRun]
		return true, confirmed, nil
	case err == nil:
		return true, confirmed, &tool.Error{
			Kind: tool.Conflict, Op: "api.callTool", Path: "/id",
			Msg: fmt.Sprintf("the id %q was used for another call", c.input.Node.ID),
		}
	case tool.KindOf(err) != tool.NotFound:
		return false, false, err
	case !before.Status.Final():
		return false, false, &tool.Error{
			Kind: tool.Unavailable, Op: "api.callTool", RetryAfter: time.Second,
			Msg: "the call is recorded, and Temporal does not know it yet",
		}
	}
	if c.input.RunID, err = uuid7.New(); err != nil {
		return false, false, err
	}
	if !c.named {
		c.workflowID = wire.RunWorkflowID(tenant, c.input.RunID)
	}
	return false, false, nil
}

// runBefore returns the run of the call that was asked for before under the name
// of c, and nil where there is none.
func (s *server) runBefore(ctx context.Context, c *directCall) (*agent.Run, error) {
	if !c.named {
		return s.runOfRequest(ctx, c.input.Principal.Tenant)
	}
	run, err := s.cfg.Store.FindRunOfWorkflow(ctx, c.input.Principal.Tenant, c.workflowID)
	if tool.KindOf(err) == tool.NotFound {
		return nil, nil
	}
	return &run, err
}

// awaitCall answers with the call's answer, or that it is still running.
func (s *server) awaitCall(ctx context.Context, c directCall, wait time.Duration) (*callOutput, error) {
	out := &callOutput{Status: http.StatusAccepted, Body: v1.Call{
		RunID: c.input.RunID, Tool: c.slug, Status: agent.RunRunning, Warnings: c.warnings,
	}}
	if wait <= 0 {
		return out, nil
	}
	waitCtx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	var result *tool.Result
	err := s.cfg.Temporal.GetWorkflow(waitCtx, c.workflowID, "").Get(waitCtx, &result)
	if err == nil {
		out.Status, out.Body.Status, out.Body.Result = http.StatusOK, agent.RunCompleted, result
		return out, nil
	}
	ended, failed := outcome(err)
	if !ended { // The wait is over, or Temporal is unavailable: the call continues.
		return out, nil
	}
	p := problemOf(failed)
	p.Instance = "/v1/runs/" + c.input.RunID
	if c.named { // A repeated request gets the same answer.
		final(p)
	}
	if at := servingOf(ctx); at != nil {
		at.final, at.over = !p.Retryable, true
	}
	return nil, p
}

// perhapsBegun returns the failure to record a call: the database may have taken
// it, and then it is started. A request that is made again finds it by its id or
// by its idempotency key, and without either makes another call.
func (c *directCall) perhapsBegun(ctx context.Context, err error) error {
	e := *tool.AsError(err)
	e.Acted = e.Kind.Retryable() && e.Kind != tool.RateLimited && !c.repeatable && !c.named && requestID(ctx) == ""
	return &e
}
