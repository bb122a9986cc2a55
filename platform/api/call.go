package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/resolver"
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
		detail: "Runs the call durably and waits for its answer. 200 carries the answer, 202 says that it is still running: " +
			"look at the run. A call without an answer is a problem whose `instance` is the run. With an `id` the call is made " +
			"once, however often it is asked for and for as long as Temporal keeps it; the same id with another call is a conflict.",
	}, s.callTool)
}

func (s *server) callTool(ctx context.Context, p tool.Principal, in *callInput) (*callOutput, error) {
	call, err := s.newCall(ctx, p, in)
	if err != nil {
		return nil, err
	}
	workflow, err := s.startWorkflow(ctx, p.Tenant, call.start())
	if isStarted(err) && (in.Body.ID != "" || requestID(ctx) != "") {
		workflow, err = s.rejoin(ctx, &call)
	}
	if err != nil {
		return nil, call.perhapsBegun(ctx, err)
	}
	wait := defaultWait
	if in.Body.WaitS != nil {
		wait = time.Duration(*in.Body.WaitS * float64(time.Second))
	}
	out, err := s.awaitCall(ctx, call, workflow, wait)
	if err == nil && out.Status == http.StatusAccepted {
		s.recordCall(ctx, call, workflow.GetRunID())
	}
	return out, err
}

// recordCall makes sure that a call which is still running is found as a run,
// even if no worker has taken it up.
func (s *server) recordCall(ctx context.Context, c directCall, firstRunID string) {
	p := c.input.Principal
	_, err := s.cfg.Store.BeginRun(ctx, agent.Run{
		ID: c.input.RunID, Tenant: p.Tenant, Kind: c.kind(), Mode: c.input.Node.Mode, Principal: p,
		Status: agent.RunRunning, WorkflowID: c.workflowID, FirstRunID: firstRunID,
	})
	if err != nil { // Its workflow records it too.
		s.log.WarnContext(ctx, "a call was started and not recorded", slog.String("tenant_id", string(p.Tenant)),
			slog.String("run_id", c.input.RunID), slog.Any("error", err))
	}
}

// directCall is a call as the API makes it.
type directCall struct {
	slug       string
	warnings   []string
	workflowID string
	repeatable bool   // The tool is pure or idempotent.
	named      bool   // The caller gave the call an id: it is this call for as long as Temporal keeps it.
	digest     string // Of what is asked for: equal digests, equal calls.
	input      wire.ToolCallInput
}

// kind is what the call is recorded as.
func (c directCall) kind() agent.RunKind {
	if c.input.Node.Test != nil {
		return agent.ToolTestRun
	}
	return agent.ToolCallRun
}

// newCall checks what is asked for. What could only be refused is refused here
// instead of being started.
func (s *server) newCall(ctx context.Context, p tool.Principal, in *callInput) (directCall, error) {
	ref := tool.Ref{Slug: in.Tool, Constraint: in.Body.Version}
	if tool.ValidID(in.Tool) {
		ref.Slug, ref.ID = "", in.Tool
	}
	resolved, err := s.cfg.Resolver.Resolve(ctx, resolver.Request{Principal: p, Ref: ref, Mode: in.Body.Mode})
	if err != nil {
		return directCall{}, err
	}
	arguments, err := tool.Digest(in.Body.Arguments)
	if err != nil {
		return directCall{}, &tool.Error{Kind: tool.Invalid, Op: "api.callTool", Path: "/arguments", Msg: "the arguments are not JSON", Err: err}
	}
	runID, err := newRunID(ctx)
	if err != nil {
		return directCall{}, err
	}
	c := directCall{
		slug: resolved.Tool.Slug, warnings: resolved.Warnings, workflowID: wire.RunWorkflowID(p.Tenant, runID),
		digest: fmt.Sprintf("%s@%s %s %s", resolved.Tool.ID, ref.Constraint, in.Body.Mode, arguments),
		input:  wire.NewToolCall(p, runID, wire.Node{ID: "call", Tool: ref, Arguments: in.Body.Arguments, Mode: in.Body.Mode}),
	}
	c.repeatable, c.named = resolved.Version.Snapshot.Execution.Repeatable(), in.Body.ID != ""
	if c.named {
		c.workflowID, c.input.Node.ID = "t/"+string(p.Tenant)+"/call/"+in.Body.ID, in.Body.ID
	}
	return c, nil
}

// newRunID returns the id of a run that is to be begun. A request with an
// idempotency key begins one run, however often it is served.
func newRunID(ctx context.Context) (string, error) {
	if id := requestID(ctx); id != "" {
		return id, nil
	}
	id, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("making a run id: %w", err)
	}
	return id.String(), nil
}

// What a call's workflow remembers for a caller that asks again.
const (
	memoRun    = "toolcrib_run"
	memoDigest = "toolcrib_call"
)

func (c directCall) start() start {
	return start{
		id: c.workflowID, workflow: wire.ToolCallWorkflow, summary: "call " + c.slug,
		memo:  map[string]any{memoRun: c.input.RunID, memoDigest: c.digest},
		input: c.input,
	}
}

// rejoin finds the workflow of a call that was asked for before, and makes c
// that call. It fails with tool.Conflict when that was another call.
func (s *server) rejoin(ctx context.Context, c *directCall) (client.WorkflowRun, error) {
	found, err := s.cfg.Temporal.DescribeWorkflowExecution(ctx, c.workflowID, "")
	if err != nil {
		return nil, temporalError("looking for the call", err)
	}
	memo := found.GetWorkflowExecutionInfo().GetMemo().GetFields()
	var digest, runID string
	err = errors.Join(
		converter.GetDefaultDataConverter().FromPayload(memo[memoDigest], &digest),
		converter.GetDefaultDataConverter().FromPayload(memo[memoRun], &runID))
	if err != nil {
		return nil, fmt.Errorf("reading the call's memo: %w", err)
	}
	if digest != c.digest {
		return nil, &tool.Error{
			Kind: tool.Conflict, Op: "api.callTool", Path: "/id",
			Msg: fmt.Sprintf("the id %q was used for another call", c.input.Node.ID),
		}
	}
	c.input.RunID = runID
	return s.cfg.Temporal.GetWorkflow(ctx, c.workflowID, ""), nil
}

// awaitCall answers with the call's answer, or that it is still running.
func (s *server) awaitCall(ctx context.Context, c directCall, w client.WorkflowRun, wait time.Duration) (*callOutput, error) {
	out := &callOutput{Status: http.StatusAccepted, Body: v1.Call{
		RunID: c.input.RunID, Tool: c.slug, Status: agent.RunRunning, Warnings: c.warnings,
	}}
	if wait <= 0 {
		return out, nil
	}
	waitCtx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	var result *tool.Result
	err := w.Get(waitCtx, &result)
	switch {
	case err == nil:
		out.Status, out.Body.Status, out.Body.Result = http.StatusOK, agent.RunCompleted, result
		return out, nil
	case ctx.Err() == nil && outOfTime(waitCtx, err):
		return out, nil
	}
	ended, failed := outcome(err)
	if !ended {
		return nil, c.perhapsBegun(ctx, failed)
	}
	p := problemOf(failed)
	p.Instance = "/v1/runs/" + c.input.RunID
	if c.named { // Whoever asks again is answered the same.
		final(p)
	}
	if at := servingOf(ctx); at != nil {
		at.final, at.over = !p.Retryable, true
	}
	return nil, p
}

// perhapsBegun returns the failure to start a call, or to wait for it: it may
// have been begun. Who asks again finds it by its id or by the request's
// idempotency key, and without either makes another call.
func (c *directCall) perhapsBegun(ctx context.Context, err error) error {
	e := *tool.AsError(err)
	e.Acted = e.Kind.Retryable() && !c.repeatable && !c.named && requestID(ctx) == ""
	return &e
}

// outOfTime reports whether waiting ended because its time was over, which the
// client of Temporal may notice before the context itself does.
func outOfTime(ctx context.Context, err error) bool {
	_, late := errors.AsType[*serviceerror.DeadlineExceeded](err)
	return late || ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded)
}

func isStarted(err error) bool {
	_, ok := errors.AsType[*serviceerror.WorkflowExecutionAlreadyStarted](err)
	return ok
}
