package api

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// Search attributes of the workflows that the API starts.
var (
	tenantAttribute = temporal.NewSearchAttributeKeyKeyword(wire.TenantAttribute)
	agentAttribute  = temporal.NewSearchAttributeKeyKeyword(wire.AgentAttribute)
)

// memoTrace is where a workflow keeps the trace id of the request that started it.
const memoTrace = "toolcrib_trace"

// start describes a workflow to be started.
type start struct {
	id       string
	workflow string
	summary  string // What the Temporal UI shows beside its id.
	agent    string // Slug; empty for a call.
	memo     map[string]any
	input    any
}

// startWorkflow starts a workflow once: an id that was ever used is refused
// with [*serviceerror.WorkflowExecutionAlreadyStarted] as the cause.
func (s *server) startWorkflow(ctx context.Context, tenant tool.TenantID, w start) (client.WorkflowRun, error) {
	memo := map[string]any{memoTrace: traceID(ctx)}
	maps.Copy(memo, w.memo)
	opts := client.StartWorkflowOptions{
		ID: w.id, TaskQueue: s.cfg.TaskQueue, StaticSummary: w.summary, Memo: memo,
		WorkflowIDReusePolicy:                    enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
	}
	if s.cfg.SearchAttributes {
		updates := []temporal.SearchAttributeUpdate{tenantAttribute.ValueSet(string(tenant))}
		if w.agent != "" {
			updates = append(updates, agentAttribute.ValueSet(w.agent))
		}
		opts.TypedSearchAttributes = temporal.NewSearchAttributes(updates...)
	}
	run, err := s.cfg.Temporal.ExecuteWorkflow(ctx, opts, w.workflow, w.input)
	if err != nil {
		return nil, temporalError("starting "+w.workflow, err)
	}
	return run, nil
}

// temporalError classifies what a client of Temporal failed with.
func temporalError(doing string, err error) error {
	e := &tool.Error{Kind: tool.Unavailable, Op: "api", Msg: "Temporal is not answering", Err: fmt.Errorf("%s: %w", doing, err)}
	if _, ok := errors.AsType[*serviceerror.WorkflowExecutionAlreadyStarted](err); ok {
		e.Kind, e.Msg = tool.Conflict, "it was started already"
		return e
	}
	if _, ok := errors.AsType[*serviceerror.NamespaceNotFound](err); ok {
		e.Msg = "Temporal does not know the namespace"
		return e
	}
	if _, ok := errors.AsType[*serviceerror.PermissionDenied](err); ok {
		e.Msg = "Temporal refuses the server's credentials"
		return e
	}
	if errors.Is(err, context.Canceled) {
		e.Kind, e.Msg = tool.Cancelled, "cancelled"
	}
	return e
}

// gone reports whether a failure says that there is no such running workflow.
func gone(err error) bool {
	_, ok := errors.AsType[*serviceerror.NotFound](err)
	return ok
}

// outcome returns what a workflow of ours failed with, as the error that it
// encoded; any other failure concerns the waiting and not the workflow.
func outcome(err error) (ended bool, of error) {
	if _, ok := errors.AsType[*temporal.WorkflowExecutionError](err); ok {
		return true, failure.Decode(err)
	}
	return false, temporalError("waiting for the answer", err)
}
