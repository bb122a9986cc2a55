package store

import (
	"context"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// RecordWarning implements [agent.Runs].
func (s *Store) RecordWarning(ctx context.Context, tenant tool.TenantID, runID string, warning agent.Warning) error {
	const op = "store.RecordWarning"
	if err := checkIDs(op, runID); err != nil {
		return err
	}
	warning.Tool, warning.Message = text(warning.Tool), text(warning.Message)
	data, err := encode(warning)
	if err != nil {
		return err
	}
	written, err := ask(ctx, s.do, op, tenant, (*db.Queries).RecordWarning, db.RecordWarningParams{
		TenantID: string(tenant), RunID: runID, Tool: warning.Tool, Reason: warning.Reason, Data: data,
	})
	if err == nil && len(written) > 0 {
		s.wake(tenant, runID)
	}
	return err
}
