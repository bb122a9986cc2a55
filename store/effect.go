package store

import (
	"context"

	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// Records implements [ledger.Ledger].
func (s *Store) Records(
	ctx context.Context, tenant tool.TenantID, effectIDs []string,
) (map[string]ledger.Record, error) {
	const op = "store.Records"
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListEffects, db.ListEffectsParams{
		TenantID: string(tenant), EffectIds: effectIDs,
	})
	if err != nil {
		return nil, err
	}
	records := make(map[string]ledger.Record, len(rows))
	for _, row := range rows {
		record := ledger.Record{InvocationID: row.InvocationID, Arguments: row.Input}
		if tool.Phase(row.Phase) == tool.PhaseDone {
			outcome, err := outcomeOf(row.InvocationID, row.Status, row.Result, row.ErrorKind, row.Error)
			if err != nil {
				return nil, err
			}
			record.Outcome = &outcome
		}
		records[row.EffectID] = record
	}
	return records, nil
}
