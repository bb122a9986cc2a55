package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// Begin implements [loop.Journal]. It opens the turn of a run that is at its first message.
func (s *Store) Begin(ctx context.Context, run agent.Run, key string) (agent.Run, *agent.OpenTurn, error) {
	const op = "store.BeginRun"
	params, err := runParams(run)
	if err != nil {
		return agent.Run{}, nil, err
	}
	if err := checkIDs(op, params.ID, run.AgentID); err != nil {
		return agent.Run{}, nil, err
	}
	var begun []db.Run
	var rows turnRows
	err = s.read(ctx, op, run.Tenant, func(b *pgx.Batch) {
		begun, rows = nil, turnRows{} // Of an attempt before this one.
		queue(b, &begun, db.BeginRun, params.Plan, params.AgentVersion, params.FirstRunID, params.TenantID, params.ID)
		queue(b, &rows.policies, db.ListPinnedPolicies, params.TenantID, params.ID)
		queue(b, &rows.around, db.RunSurroundings, params.TenantID, params.ID)
		queue(b, &rows.messages, db.ListMessages, params.TenantID, params.ID)
	})
	if err != nil {
		return agent.Run{}, nil, err
	}
	if len(begun) == 0 || staleRun(begun[0], params) {
		run, err = s.BeginRun(ctx, run)
		return run, nil, err
	}
	s.wake(run.Tenant, run.ID)
	rows.run = begun[0]
	head := value(rows.run.HeadMessageID)
	if len(rows.messages) != 1 || rows.messages[0].ID != head || agent.RunStatus(rows.run.Status) != agent.RunRunning {
		run, err = runOf(rows.run)
		return run, nil, err
	}
	open, _, err := s.turnOpened(op, rows, head, key, nil)
	if err != nil || tool.ValidID(open.Run.ID) && open.Run.Plan == nil {
		return open.Run, nil, err
	}
	return open.Run, &open, nil
}
