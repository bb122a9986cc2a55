package reconcile

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// workflowRef is one of our workflows that is open in Temporal.
type workflowRef struct {
	id       string
	runID    string // Of Temporal.
	workflow string // Type.
	tenant   tool.TenantID
	run      string // The id of its run, if the workflow's id has it.
	start    time.Time
}

var openQuery = fmt.Sprintf("ExecutionStatus = 'Running' AND WorkflowType IN ('%s')", strings.Join([]string{
	wire.AgentRunWorkflow, wire.ToolCallWorkflow, wire.IngestWorkflow, wire.ReembedWorkflow,
}, "', '"))

// openWorkflows lists our workflows that Temporal lists as open, by id. The list may be stale: decisions need
// another request.
func (r *Reconciler) openWorkflows(ctx context.Context) (map[string]workflowRef, error) {
	out := make(map[string]workflowRef)
	var token []byte
	for {
		page, err := r.listWorkflows(ctx, token)
		if err != nil {
			return nil, unavailable("listing open workflows", err)
		}
		for _, info := range page.GetExecutions() {
			w := workflowRef{
				id: info.GetExecution().GetWorkflowId(), runID: info.GetExecution().GetRunId(), workflow: info.GetType().GetName(),
				start: info.GetStartTime().AsTime(),
			}
			if w.name() {
				out[w.id] = w
			}
		}
		if token = page.GetNextPageToken(); len(token) == 0 {
			return out, nil
		}
	}
}

func (r *Reconciler) listWorkflows(
	ctx context.Context, token []byte,
) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return r.cfg.Temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: r.cfg.Namespace, PageSize: pageRows, Query: openQuery, NextPageToken: token,
	})
}

// name parses the workflow's id, and reports whether it is one of ours.
func (w *workflowRef) name() bool {
	id, ours := wire.ParseWorkflowID(w.id)
	w.tenant, w.run = id.Tenant, id.Run()
	return ours
}

// orphans terminates workflows whose runs are not in the database, which was restored to an earlier state.
// Nothing that they do could be recorded. Workflows of tenants that are not in the database either are left
// alone: another installation may share the namespace.
func (r *Reconciler) orphans(ctx context.Context, open map[string]workflowRef, dry bool, found *findings) error {
	byTenant := make(map[tool.TenantID][]workflowRef)
	for _, w := range open {
		runs := w.workflow == wire.AgentRunWorkflow && w.run != "" || w.workflow == wire.ToolCallWorkflow
		if runs && time.Since(w.start) >= r.cfg.Grace {
			byTenant[w.tenant] = append(byTenant[w.tenant], w)
		}
	}
	var errs []error
	for tenant, all := range byTenant {
		missing, err := r.missing(ctx, tenant, all)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		errs = append(errs, r.each(ctx, len(missing), func(ctx context.Context, i int) error {
			return r.terminate(ctx, missing[i], dry, found)
		}))
	}
	return errors.Join(errs...)
}

// missing returns the workflows of a tenant whose runs are not in the database.
func (r *Reconciler) missing(ctx context.Context, tenant tool.TenantID, all []workflowRef) ([]workflowRef, error) {
	var runs, ids []string
	for _, w := range all {
		ids = append(ids, w.id)
		if w.run != "" {
			runs = append(runs, w.run)
		}
	}
	known, err := r.cfg.Store.KnownWorkflows(ctx, tenant, runs, ids)
	if err != nil {
		return nil, fmt.Errorf("looking up the runs of tenant %s: %w", tenant, err)
	}
	var out []workflowRef
	for _, w := range all {
		if !known[w.id] {
			out = append(out, w)
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	if _, err := r.cfg.Store.FindTenant(ctx, tenant); tool.KindOf(err) == tool.NotFound {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("looking up tenant %s: %w", tenant, err)
	}
	return out, nil
}

// terminate terminates a workflow whose run is missing. A single call is recorded by its workflow's first step,
// so one that has not taken that step is waiting for a worker.
func (r *Reconciler) terminate(ctx context.Context, w workflowRef, dry bool, found *findings) error {
	x, err := r.describe(ctx, w.id, "")
	if err != nil || !x.open {
		return err
	}
	if w.workflow == wire.ToolCallWorkflow {
		if begun, err := r.begun(ctx, w.id, x.runID); err != nil || !begun {
			return err
		}
	}
	f := Finding{
		Subject: WorkflowSubject, Tenant: w.tenant, ID: w.id, RunID: w.run, WorkflowID: w.id, Reason: RunMissing,
		Was: "running", Status: "terminated",
		Message: "its run is not in the database",
	}
	if !dry {
		ctx, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()
		err := r.cfg.Temporal.TerminateWorkflow(ctx, w.id, x.runID,
			"toolcrib: the run is not in the database, which was restored to an earlier state")
		if _, ended := errors.AsType[*serviceerror.NotFound](err); ended {
			return nil
		}
		if err != nil {
			return unavailable("terminating workflow "+w.id, err)
		}
		f.Closed = true
	}
	found.add(f)
	return nil
}

// begun reports whether a workflow has completed a step: a local or regular activity has ended.
func (r *Reconciler) begun(ctx context.Context, workflowID, runID string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	events := r.cfg.Temporal.GetWorkflowHistory(ctx, workflowID, runID, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			return false, unavailable("reading the history of workflow "+workflowID, err)
		}
		switch event.GetEventType() { //nolint:exhaustive // Others do not matter.
		case enums.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
			return true, nil
		case enums.EVENT_TYPE_MARKER_RECORDED:
			if event.GetMarkerRecordedEventAttributes().GetFailure() == nil {
				return true, nil
			}
		}
	}
	return false, nil
}
