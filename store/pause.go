package store

import (
	"context"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// ChangePause pauses or resumes a run with the open runs below it, notifies
// [Store.ListenControl], and returns its new round; zero where nothing changed: the run is
// as it is to be, has ended, is a host's, or is below another one. It fails with
// tool.NotFound.
func (s *Store) ChangePause(ctx context.Context, c agent.PauseChange) (agent.PauseRound, error) {
	const op = "store.ChangePause"
	if !tool.ValidID(c.RunID) {
		return 0, notFound(op, "run not found")
	}
	if err := checkLease(op, c.Lease); err != nil {
		return 0, err
	}
	raw, err := ask(ctx, s.do, op, c.Tenant, (*db.Queries).PauseRun, db.PauseRunParams{
		TenantID: string(c.Tenant), ID: c.RunID, Pause: c.Pause, By: text(c.By), Reason: text(c.Reason),
		LeaseS: c.Lease.Seconds(),
	})
	if err != nil {
		return 0, err
	}
	var changed struct {
		Known bool             `json:"known"`
		Round agent.PauseRound `json:"round"`
	}
	switch err := decode(raw, &changed); {
	case err != nil:
		return 0, err
	case !changed.Known:
		return 0, notFound(op, "run not found")
	case changed.Round > 0:
		s.wake(c.Tenant, c.RunID)
	}
	return changed.Round, nil
}

// ClaimPauses claims at most limit open runs, of any tenant, whose workflows are to be given
// their rounds, for the length of the lease.
func (s *Store) ClaimPauses(ctx context.Context, limit int, lease time.Duration) ([]agent.UndeliveredPause, error) {
	const op = "store.ClaimPauses"
	if err := checkLease(op, lease); err != nil {
		return nil, err
	}
	var raw []byte
	err := s.doGlobal(ctx, op, func(q *db.Queries) (err error) {
		raw, err = q.ClaimPauses(ctx, db.ClaimPausesParams{Most: number(limit), LeaseS: lease.Seconds()})
		return err
	})
	if err != nil {
		return nil, err
	}
	var keys []struct {
		Tenant     string           `json:"t"`
		RunID      string           `json:"i"`
		WorkflowID string           `json:"w"`
		Round      agent.PauseRound `json:"r"`
	}
	err = decode(raw, &keys)
	due := make([]agent.UndeliveredPause, len(keys))
	for i, k := range keys {
		due[i] = agent.UndeliveredPause{
			Tenant: tool.TenantID(k.Tenant), RunID: k.RunID, WorkflowID: k.WorkflowID, Round: k.Round,
		}
	}
	return due, err
}

// PauseDelivered records that the workflow of a run has its round, unless there is a later
// one.
func (s *Store) PauseDelivered(ctx context.Context, u agent.UndeliveredPause) error {
	const op = "store.PauseDelivered"
	if err := checkIDs(op, u.RunID); err != nil {
		return err
	}
	return s.do(ctx, op, u.Tenant, func(q *db.Queries) error {
		return q.PauseDelivered(ctx, db.PauseDeliveredParams{
			TenantID: string(u.Tenant), ID: u.RunID, Round: number(int(u.Round)),
		})
	})
}
