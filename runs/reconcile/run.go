package reconcile

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// callGrace is how long after its workflow's end a call may still be running, for requests of a single run:
// longer than a worker takes to notice.
const callGrace = 5 * time.Second

// Run checks one run, and closes it if its workflow has ended without recording it. It returns the run's
// current state; one whose workflow is open, or about to start, is unchanged. It fails with tool.NotFound for
// a run that the tenant does not have, and with tool.Unavailable if Temporal does not answer.
func (r *Reconciler) Run(ctx context.Context, tenant tool.TenantID, runID string) (agent.Run, error) {
	run, err := r.cfg.Store.FindRun(ctx, tenant, runID)
	if err != nil || run.Status.Final() {
		return run, err
	}
	calls, err := r.cfg.Store.OpenCalls(ctx, tenant, runID, 1)
	if err != nil {
		return run, fmt.Errorf("listing the open calls of run %s: %w", runID, err)
	}
	var patience time.Duration
	if len(calls) > 0 {
		patience = callGrace
	}
	findings, err := r.closeRun(ctx, run, look{grace: patience})
	if err != nil || len(findings) == 0 {
		return run, err
	}
	r.record(ctx, findings)
	return r.cfg.Store.FindRun(ctx, tenant, runID)
}

// look configures the check of a run.
type look struct {
	grace time.Duration // For executions that have just ended.
	dry   bool
}

// closeRun closes a run whose workflow has ended, and its calls. The calls are first, so that the run's end is
// its last event.
func (r *Reconciler) closeRun(ctx context.Context, run agent.Run, l look) ([]Finding, error) {
	x, err := r.describe(ctx, run.WorkflowID, run.FirstRunID)
	if err != nil || !x.over(l.grace) {
		return nil, err
	}
	if x.missing {
		if elsewhere, err := r.elsewhere(ctx, run); err != nil || elsewhere {
			return nil, err
		}
	}
	e, err := r.endOf(ctx, run.WorkflowID, run.Kind, run.StartedAt != nil, x)
	if err != nil {
		return nil, err
	}
	findings, settled, err := r.settleCalls(ctx, run, e, l.dry)
	if err != nil || run.Status.Final() {
		return findings, err
	}
	f := Finding{
		Subject: RunSubject, Tenant: run.Tenant, ID: run.ID, WorkflowID: run.WorkflowID, Reason: e.reason,
		Was:    string(run.Status),
		Status: string(e.status), Message: e.msg,
	}
	if !l.dry {
		closure := store.RunClosure{
			Tenant: run.Tenant, RunID: run.ID, StatusSeen: run.Status, SeqSeen: run.LastSeq + settled,
			Status: e.status, Kind: e.kind, Output: e.output, Reason: string(e.reason),
		}
		if e.status != agent.RunCompleted {
			closure.Msg = e.msg
		}
		if f.Closed, err = r.cfg.Store.CloseRun(ctx, closure); err != nil {
			return findings, fmt.Errorf("closing run %s: %w", run.ID, err)
		}
	}
	return append(findings, f), nil
}

// elsewhere reports whether a run that is unknown in this namespace may have its workflow in another, or may be
// about to start: the workflow of a host is in the host's namespace, like those of its agents, and a nested
// agent run is started by its parent.
func (r *Reconciler) elsewhere(ctx context.Context, run agent.Run) (bool, error) {
	if run.Kind == agent.RunKindHost {
		return true, nil
	}
	if run.Status == agent.RunPending {
		_, err := r.cfg.Store.FindStart(ctx, agent.StartKey{Tenant: run.Tenant, WorkflowID: run.WorkflowID})
		if tool.KindOf(err) != tool.NotFound { // Its start is pending.
			return err == nil, err
		}
	}
	if run.Parent == nil {
		age := time.Since(run.CreatedAt)
		young := age < r.cfg.Grace && age > -store.MaxLease // Later: written while the clock was ahead.
		return run.Status == agent.RunPending && young, nil
	}
	line, err := r.cfg.Store.Ancestors(ctx, run.Tenant, run.ID)
	if err != nil {
		return false, fmt.Errorf("reading the runs above %s: %w", run.ID, err)
	}
	for _, above := range line[1:] {
		found, err := r.cfg.Store.FindRun(ctx, run.Tenant, above.RunID)
		if err != nil {
			return false, fmt.Errorf("reading the run above %s: %w", run.ID, err)
		}
		if found.Kind == agent.RunKindHost ||
			run.Status == agent.RunPending && found.ID == run.Parent.RunID && !found.Status.Final() {
			return true, nil
		}
	}
	return false, nil
}

// record counts and logs findings.
func (r *Reconciler) record(ctx context.Context, findings []Finding) {
	for _, f := range findings {
		r.metrics.count(ctx, f)
		if f.Closed {
			r.log.WarnContext(ctx, "closed a record whose workflow has ended", slog.String("subject", string(f.Subject)),
				slog.String("tenant_id", string(f.Tenant)), slog.String("id", f.ID), slog.String("workflow_id", f.WorkflowID),
				slog.String("reason", string(f.Reason)), slog.String("status", f.Status))
		}
	}
}
