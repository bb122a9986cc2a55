package store

import (
	"context"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// ControlChannel is the NOTIFY channel for runs with requests to the worker that
// advances them. Its notifications are sent at once, and are rare.
const ControlChannel = "toolcrib_control"

// RequestCancel records that an execution of a run's workflow is to stop, notifies
// [Store.ListenControl], and reports whether it did: a run that has ended is unchanged.
func (s *Store) RequestCancel(ctx context.Context, tenant tool.TenantID, runID, execution string) (bool, error) {
	const op = "store.RequestCancel"
	if !tool.ValidID(runID) {
		return false, notFound(op, "run not found")
	}
	return ask(ctx, s.do, op, tenant, (*db.Queries).RequestCancel, db.RequestCancelParams{
		TenantID: string(tenant), ID: runID, Execution: text(execution),
	})
}

// Requests returns what was asked of those of the runs of which something was.
func (s *Store) Requests(
	ctx context.Context, tenant tool.TenantID, runIDs []string,
) (map[string]agent.Requests, error) {
	const op = "store.Requests"
	if err := checkIDs(op, runIDs...); err != nil {
		return nil, err
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListRequests, db.ListRequestsParams{
		TenantID: string(tenant), Ids: list(runIDs),
	})
	requests := make(map[string]agent.Requests, len(rows))
	for _, row := range rows {
		requests[row.ID] = agent.Requests{
			CancelExecution: row.CancelExecution, Pause: agent.PauseRound(row.PauseRound),
		}
	}
	return requests, err
}

// ListenControl calls woken with each run that has a request, until ctx ends or the
// connection fails, and first with an empty id: there may be requests from before. It is
// otherwise like [Store.Listen].
func (s *Store) ListenControl(ctx context.Context, woken func(tenant tool.TenantID, runID string)) error {
	return s.listenTo(ctx, "store.ListenControl", ControlChannel, func(w Wake) { woken(w.Tenant, w.RunID) })
}
