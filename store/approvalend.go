package store

import (
	"context"
	"time"

	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// endApproval ends a pending request whose invocation and run are locked.
func endApproval(
	ctx context.Context, q *db.Queries, a wait.Approval, as wait.Status, by *string, reason string,
) error {
	err := q.EndInvocationApproval(ctx, db.EndInvocationApprovalParams{
		TenantID: string(a.Tenant), ID: a.ID, ApprovalStatus: string(invocationStatus(as)), DecidedBy: by,
		Reason: optional(reason),
	})
	if err != nil {
		return err
	}
	return q.EndApproval(ctx, db.EndApprovalParams{
		TenantID: string(a.Tenant), ID: a.ID, Status: string(as), Reason: reason,
	})
}

// invocationStatus is what an invocation records of its request. One that is cancelled has
// lapsed, like one that expired.
func invocationStatus(s wait.Status) tool.ApprovalStatus {
	switch s {
	case wait.Approved:
		return tool.ApprovalApproved
	case wait.Rejected:
		return tool.ApprovalRejected
	case wait.Expired, wait.Cancelled:
		return tool.ApprovalExpired
	case wait.Pending:
		return tool.ApprovalPending
	default:
		return tool.ApprovalPending
	}
}

// End implements [wait.Approvals]. A request that is to expire and has time left is
// returned as it is.
func (s *Store) End(ctx context.Context, tenant tool.TenantID, id string, as wait.Status) (wait.Approval, error) {
	ended, _, err := s.endApproval(ctx, tenant, id, as)
	return ended, err
}

func (s *Store) endApproval(
	ctx context.Context, tenant tool.TenantID, id string, as wait.Status,
) (ended wait.Approval, won bool, err error) {
	const op = "store.End"
	if as != wait.Expired && as != wait.Cancelled {
		return ended, false, &tool.Error{Kind: tool.Invalid, Op: op, Msg: "a request does not end by itself as " + string(as)}
	}
	if !tool.ValidID(id) {
		return ended, false, approvalNotFound(op)
	}
	err = s.inTx(ctx, op, tenant, func(q *db.Queries) error {
		won = false
		d := &deciding{op: op, v: wait.Verdict{Principal: tool.Principal{Tenant: tenant}, ID: id}, q: q}
		if err := d.lock(ctx); err != nil {
			return err
		}
		won = !d.found.Status.Final() && (as != wait.Expired || d.found.overdue)
		if won {
			if err := endApproval(ctx, q, d.found.Approval, as, nil, ""); err != nil {
				return err
			}
			if err := d.reload(ctx); err != nil {
				return err
			}
		}
		ended = d.found.Approval
		return nil
	})
	if err != nil {
		return wait.Approval{}, false, err
	}
	if won {
		s.wake(tenant, ended.RunID)
	}
	return ended, won, nil
}

// ExpireOverdue implements [wait.Approvals]. Each request is ended in a transaction of its
// own, as its tenant.
func (s *Store) ExpireOverdue(ctx context.Context, limit int, over time.Duration) (int, error) {
	const op = "store.ExpireOverdue"
	var raw []byte
	err := s.doGlobal(ctx, op, func(q *db.Queries) (err error) {
		raw, err = q.OverdueApprovals(ctx, db.OverdueApprovalsParams{Most: number(limit), OverS: over.Seconds()})
		return err
	})
	if err != nil {
		return 0, err
	}
	var keys []approvalKey
	if err := decode(raw, &keys); err != nil {
		return 0, err
	}
	expired := 0
	for _, k := range keys {
		_, won, err := s.endApproval(ctx, k.Tenant, k.ID, wait.Expired)
		switch {
		case err != nil && tool.KindOf(err) != tool.NotFound: // It was purged meanwhile.
			return expired, err
		case won:
			expired++
		}
	}
	return expired, nil
}

// approvalKey is a request of any tenant, as the database's functions return it.
type approvalKey struct {
	Tenant     tool.TenantID `json:"t"`
	ID         string        `json:"i"`
	WorkflowID string        `json:"w"`
	Round      int           `json:"r"`
}

// ClaimUndelivered implements [wait.Approvals].
func (s *Store) ClaimUndelivered(
	ctx context.Context, limit int, lease time.Duration,
) ([]wait.Undelivered, error) {
	const op = "store.ClaimUndelivered"
	if err := checkLease(op, lease); err != nil {
		return nil, err
	}
	var raw []byte
	err := s.doGlobal(ctx, op, func(q *db.Queries) (err error) {
		raw, err = q.ClaimEndedApprovals(ctx, db.ClaimEndedApprovalsParams{Most: number(limit), LeaseS: lease.Seconds()})
		return err
	})
	if err != nil {
		return nil, err
	}
	var keys []approvalKey
	err = decode(raw, &keys)
	return convert(keys, func(k approvalKey) wait.Undelivered { return wait.Undelivered(k) }), err
}

// Delivered implements [wait.Approvals]. It does nothing for a request that is not
// undelivered.
func (s *Store) Delivered(ctx context.Context, u wait.Undelivered) error {
	const op = "store.Delivered"
	if err := checkIDs(op, u.ID); err != nil {
		return err
	}
	return s.do(ctx, op, u.Tenant, func(q *db.Queries) error {
		return q.ApprovalDelivered(ctx, db.ApprovalDeliveredParams{
			TenantID: string(u.Tenant), ID: u.ID, Round: number(u.Round),
		})
	})
}
