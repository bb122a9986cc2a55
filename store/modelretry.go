package store

import (
	"context"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// RecordModelRetry implements [agent.Runs].
func (s *Store) RecordModelRetry(
	ctx context.Context, tenant tool.TenantID, runID string, retry agent.ModelRetry,
) error {
	const op = "store.RecordModelRetry"
	if err := checkIDs(op, runID); err != nil {
		return err
	}
	retry.Cause = text(retry.Cause)
	data, err := encode(retry)
	if err != nil {
		return err
	}
	written, err := ask(ctx, s.do, op, tenant, (*db.Queries).RecordModelRetry, db.RecordModelRetryParams{
		TenantID: string(tenant), RunID: runID, TurnID: text(retry.TurnID), Attempt: number(retry.Attempt),
		NextModel: text(retry.NextModel), Data: data,
	})
	if err == nil && len(written) > 0 {
		s.wake(tenant, runID)
	}
	return err
}

// ModelRetries returns the last failed attempts of a run's models, the oldest
// first; none for a run that the tenant does not have.
func (s *Store) ModelRetries(
	ctx context.Context, tenant tool.TenantID, runID string, limit int,
) ([]agent.ModelRetry, error) {
	const op = "store.ModelRetries"
	if err := checkIDs(op, runID); err != nil {
		return nil, err
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListModelRetries, db.ListModelRetriesParams{
		TenantID: string(tenant), RunID: runID, Limit: pageSize(limit),
	})
	if err != nil {
		return nil, err
	}
	out := make([]agent.ModelRetry, len(rows))
	for i, row := range rows {
		if err := decode(row.Data, &out[len(rows)-1-i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}
