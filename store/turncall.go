package store

import (
	"context"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// TurnCalls returns the calls of a run's turns in order, with the times of request and
// start; none for a run that the tenant does not have.
func (s *Store) TurnCalls(ctx context.Context, tenant tool.TenantID, runID string) ([]agent.TurnCall, error) {
	const op = "store.TurnCalls"
	if err := checkIDs(op, runID); err != nil {
		return nil, err
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListTurnCalls, db.ListTurnCallsParams{
		TenantID: string(tenant), RunID: runID,
	})
	if err != nil {
		return nil, err
	}
	return convert(rows, func(row db.ListTurnCallsRow) agent.TurnCall {
		return agent.TurnCall{
			Turn: int(row.Turn), Slug: row.Slug, Refused: row.Refused, AskedAt: row.AskedAt, StartedAt: row.StartedAt,
		}
	}), nil
}
