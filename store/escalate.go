package store

import (
	"context"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// EscalateDue implements [wait.Approvals]. Each event is written in a transaction of its own, as
// the tenant of its request.
func (s *Store) EscalateDue(ctx context.Context, limit int) (int, error) {
	const op = "store.EscalateDue"
	var raw []byte
	err := s.doGlobal(ctx, op, func(q *db.Queries) (err error) {
		raw, err = q.EscalatingApprovals(ctx, number(limit))
		return err
	})
	if err != nil {
		return 0, err
	}
	var keys []approvalKey
	if err := decode(raw, &keys); err != nil {
		return 0, err
	}
	escalated := 0
	for _, k := range keys {
		won, err := s.escalate(ctx, op, k)
		switch {
		case err != nil && tool.KindOf(err) != tool.NotFound: // It was purged meanwhile.
			return escalated, err
		case won:
			escalated++
		}
	}
	return escalated, nil
}

// escalate writes the event of one request, unless that was done or the request is over.
func (s *Store) escalate(ctx context.Context, op string, k approvalKey) (won bool, err error) {
	var found storedApproval
	err = s.inTx(ctx, op, k.Tenant, func(q *db.Queries) error {
		d := &deciding{op: op, v: wait.Verdict{Principal: tool.Principal{Tenant: k.Tenant}, ID: k.ID}, q: q}
		if err := d.lock(ctx); err != nil {
			return err
		}
		found = d.found
		won = found.Status == wait.Pending && found.Escalated && !found.announced && !found.overdue
		if !won {
			return nil
		}
		err := q.EscalateApproval(ctx, db.EscalateApprovalParams{TenantID: string(k.Tenant), ID: k.ID})
		if err != nil {
			return err
		}
		return addCallEvent(ctx, q, found.Approval, tool.EventEscalated, agent.ApprovalEscalated{
			Tool: found.Tool, Version: found.Version, CallID: found.CallID, ApprovalID: found.ID, Round: found.Round,
			To: found.EscalateTo, ExpiresAt: found.ExpiresAt,
		})
	})
	if err != nil {
		return false, err
	}
	if won {
		s.wake(found.Tenant, found.RunID)
	}
	return won, nil
}
