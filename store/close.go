package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// RunClosure ends a run whose workflow is over and has not recorded its end.
type RunClosure struct {
	Tenant     tool.TenantID
	RunID      string
	StatusSeen agent.RunStatus // The run's status when its workflow was checked.
	SeqSeen    int64           // The number of the run's last event then.
	Status     agent.RunStatus // Final.
	Kind       tool.Kind       // Empty for a run that is completed.
	Msg        string
	Output     string // Of a run that is completed; empty keeps what is there.
	Reason     string // Why, in one word; it goes into the event.
}

// CloseRun ends a run, and reports whether it did: a run whose status or last event
// has changed since is not closed. An end that the workflow reports later replaces
// this one. It fails with tool.Invalid for a status that is not final.
func (s *Store) CloseRun(ctx context.Context, c RunClosure) (bool, error) {
	const op = "store.CloseRun"
	if !c.Status.Final() {
		return false, &tool.Error{Kind: tool.Invalid, Op: op, Msg: "a run cannot end as " + string(c.Status)}
	}
	if err := checkIDs(op, c.RunID); err != nil {
		return false, err
	}
	event, err := encode(agent.RunEnded{
		Status: c.Status, Kind: c.Kind, EndedBy: agent.EndedByReconciler, Reason: c.Reason, Message: text(c.Msg),
	})
	if err != nil {
		return false, err
	}
	params := db.CloseRunParams{
		TenantID: string(c.Tenant), ID: c.RunID, StatusSeen: string(c.StatusSeen), SeqSeen: c.SeqSeen,
		Status:    string(c.Status),
		ErrorKind: string(c.Kind), Error: text(c.Msg), Output: text(c.Output), EndedBy: agent.EndedByReconciler,
		EventType: string(runEndEvent(c.Status)), EventData: event,
	}
	closed, err := ask(ctx, s.do, op, c.Tenant, (*db.Queries).CloseRun, params)
	if closed {
		s.wakeEnd(c.Tenant, c.RunID)
	}
	return closed, err
}

// OpenCalls returns the calls of a run that have not ended, in order.
func (s *Store) OpenCalls(
	ctx context.Context, tenant tool.TenantID, runID string, limit int,
) ([]tool.Invocation, error) {
	const op = "store.OpenCalls"
	if !tool.ValidID(runID) {
		return nil, notFound(op, "run not found")
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListOpenCalls, db.ListOpenCallsParams{
		TenantID: string(tenant), RunID: &runID, Limit: pageSize(limit),
	})
	if err != nil {
		return nil, err
	}
	return collect(rows, invocationOf)
}

// KnownWorkflows returns those of the workflows that the tenant has runs of. Agent
// runs are found by their run ids, others by workflow id.
func (s *Store) KnownWorkflows(
	ctx context.Context, tenant tool.TenantID, runIDs, workflowIDs []string,
) (map[string]bool, error) {
	const op = "store.KnownWorkflows"
	if err := checkIDs(op, runIDs...); err != nil {
		return nil, err
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListKnownWorkflows, db.ListKnownWorkflowsParams{
		TenantID: string(tenant), Ids: list(runIDs), WorkflowIds: list(workflowIDs),
	})
	known := make(map[string]bool, len(rows))
	for _, id := range rows {
		known[id] = true
	}
	return known, err
}

// EffectState is the phase of an effect.
type EffectState struct {
	ID              string
	Phase           tool.Phase
	ArgumentsDigest string
	VersionDigest   string
	SentBefore      bool // An earlier attempt may have sent a request.
	Attempt         int
}

// FindEffect returns the phase of an effect. It fails with tool.NotFound.
func (s *Store) FindEffect(ctx context.Context, tenant tool.TenantID, effectID string) (EffectState, error) {
	const op = "store.FindEffect"
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).FindEffect, db.FindEffectParams{
		TenantID: string(tenant), EffectID: effectID,
	})
	if errors.Is(err, pgx.ErrNoRows) || tool.KindOf(err) == tool.NotFound {
		return EffectState{}, notFound(op, "effect not found")
	}
	return EffectState{
		ID: row.EffectID, Phase: tool.Phase(row.Phase), ArgumentsDigest: row.ArgumentsDigest,
		VersionDigest: row.VersionDigest,
		SentBefore:    row.SentBefore, Attempt: int(row.Attempt),
	}, err
}
