package store

import (
	"cmp"
	"context"
	"math"

	"github.com/toolcrib/toolcrib/audit"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// auditSealBatch is the number of rows chained in one transaction.
const auditSealBatch = 1000

// ListAudit implements [audit.Log].
func (s *Store) ListAudit(ctx context.Context, tenant tool.TenantID, q audit.Query) ([]audit.Entry, error) {
	const op = "store.ListAudit"
	if err := checkIDs(op, given(q.Before)...); err != nil {
		return nil, err
	}
	rows, err := ask(ctx, s.doFiltered, op, tenant, (*db.Queries).ListAudit, db.ListAuditParams{
		ScopeID: scopeID(tenant), Before: optional(q.Before), Actor: text(q.Actor), Action: text(q.Action),
		Object: text(q.Object), Outcome: text(string(q.Outcome)), Since: q.Since, Until: q.Until, Limit: pageSize(q.Limit),
		Bytes: cmp.Or(q.Bytes, math.MaxInt64),
	})
	return convert(rows, entryOf), err
}

func given(id string) []string {
	if id == "" {
		return nil
	}
	return []string{id}
}

// FindAudit implements [audit.Log].
func (s *Store) FindAudit(ctx context.Context, tenant tool.TenantID, id string) (audit.Entry, error) {
	const op, missing = "store.FindAudit", "audit row not found"
	if !tool.ValidID(id) {
		return audit.Entry{}, notFound(op, missing)
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).FindAudit, db.FindAuditParams{ScopeID: scopeID(tenant), ID: id})
	if err != nil {
		return audit.Entry{}, explain(err, tool.NotFound, missing)
	}
	return entryOf(row), nil
}

// AuditChain implements [audit.Log].
func (s *Store) AuditChain(
	ctx context.Context, tenant tool.TenantID, after int64, limit int,
) ([]audit.Entry, error) {
	rows, err := ask(ctx, s.doPlanned, "store.AuditChain", tenant, (*db.Queries).ListAuditChain, db.ListAuditChainParams{
		ScopeID: scopeID(tenant), After: after, Limit: number(limit),
	})
	return convert(rows, entryOf), err
}

// AuditState implements [audit.Log].
func (s *Store) AuditState(ctx context.Context, tenant tool.TenantID) (audit.State, error) {
	row, err := ask(ctx, s.do, "store.AuditState", tenant, (*db.Queries).AuditState, scopeID(tenant))
	if err != nil {
		return audit.State{}, err
	}
	out := audit.State{
		Head: audit.Head{Seq: row.Seq, Hash: row.Hash}, LastSeq: row.LastSeq, Unsealed: int(row.Unsealed),
	}
	if out.Unsealed > 0 {
		out.Oldest = &row.Oldest
	}
	return out, nil
}

// RefuseAudit records that a change was refused, by the actor of ctx. The same refusal of
// the same actor for the same reason is one row a minute. It fails where the row could
// not be written.
func (s *Store) RefuseAudit(
	ctx context.Context, tenant tool.TenantID, action audit.Action, of audit.Object, reason string,
) error {
	return s.do(ctx, "store.RefuseAudit", tenant, func(q *db.Queries) error {
		return q.RefuseAudit(ctx, db.RefuseAuditParams{
			TenantID: string(tenant), Action: string(action), ObjectKind: action.Kind(), ObjectID: text(of.ID),
			ObjectName: text(of.Name), Reason: text(reason),
		})
	})
}

// SealAudit numbers and chains every committed row of the audit log, of all tenants. A
// store does this in the background each second; see [Options.SealInterval]. Concurrent
// calls from any process are safe.
func (s *Store) SealAudit(ctx context.Context) error {
	return s.doGlobal(ctx, "store.SealAudit", func(q *db.Queries) error {
		for {
			sealed, err := q.SealAudit(ctx, auditSealBatch)
			if err != nil || sealed < auditSealBatch {
				return err
			}
		}
	})
}

// AuditUnsealedAge returns the age in seconds of the oldest row that is not chained yet,
// of all tenants; zero for none.
func (s *Store) AuditUnsealedAge(ctx context.Context) (seconds float64, err error) {
	err = s.doGlobal(ctx, "store.AuditUnsealedAge", func(q *db.Queries) error {
		seconds, err = q.AuditUnsealedAge(ctx)
		return err
	})
	return seconds, err
}

func entryOf(row db.AuditLog) audit.Entry {
	e := audit.Entry{
		Tenant: tool.TenantID(value(row.TenantID)), ID: row.ID, At: row.At,
		Actor: audit.Actor{
			Kind: audit.Kind(row.ActorKind), Subject: row.Actor, KeyID: value(row.KeyID), RequestID: row.RequestID,
		},
		Action: audit.Action(row.Action), Object: audit.Object{Kind: row.ObjectKind, ID: row.ObjectID, Name: row.ObjectName},
		Outcome: audit.Outcome(row.Outcome), Reason: row.Reason,
		Before: row.Before, After: row.After,
		Hash: value(row.Hash),
	}
	if row.Seq != nil && row.SealedAt != nil {
		e.Seq, e.SealedAt = *row.Seq, *row.SealedAt
	}
	return e
}
