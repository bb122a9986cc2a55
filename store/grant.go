package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/internal/standing"
	"github.com/toolcrib/toolcrib/internal/uuid7"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

const grantUnknown = "grant not found"

// AddGrant implements [wait.Grants].
func (s *Store) AddGrant(ctx context.Context, g wait.Grant, lasts time.Duration) (wait.Grant, error) {
	const op = "store.AddGrant"
	if err := standing.Check(&g, lasts); err != nil {
		return wait.Grant{}, err
	}
	if g.CreatedBy == "" {
		return wait.Grant{}, &tool.Error{Kind: tool.Denied, Op: op, Msg: "a grant needs the subject that creates it"}
	}
	id, err := uuid7.New()
	if err != nil {
		return wait.Grant{}, err
	}
	row, err := ask(ctx, s.do, op, g.Tenant, (*db.Queries).AddGrant, db.AddGrantParams{
		TenantID: string(g.Tenant), ID: id, Tool: text(g.Tool), Version: text(g.Version), Agent: text(g.Agent),
		Requester: text(g.Requester), Condition: text(g.Condition), Uses: number(g.Uses), Reason: text(g.Reason),
		CreatedBy: text(g.CreatedBy), ExpiresS: lasts.Seconds(),
	})
	return grantOf(row, false), err
}

// FindGrant implements [wait.Grants].
func (s *Store) FindGrant(ctx context.Context, tenant tool.TenantID, id string) (wait.Grant, error) {
	const op = "store.FindGrant"
	if !tool.ValidID(id) {
		return wait.Grant{}, notFound(op, grantUnknown)
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).FindGrant, db.FindGrantParams{TenantID: string(tenant), ID: id})
	if err != nil {
		return wait.Grant{}, explain(err, tool.NotFound, grantUnknown)
	}
	return foundGrant(row), nil
}

// ListGrants implements [wait.Grants].
func (s *Store) ListGrants(ctx context.Context, q wait.GrantQuery) ([]wait.Grant, error) {
	const op = "store.ListGrants"
	if err := checkIDs(op, q.Before); err != nil {
		return nil, err
	}
	rows, err := ask(ctx, s.doFiltered, op, q.Tenant, (*db.Queries).ListGrants, db.ListGrantsParams{
		TenantID: string(q.Tenant), Tool: text(q.Tool), Live: q.Active, Before: optional(q.Before),
		Limit: min(pageSize(q.Limit), maxApprovals),
	})
	if err != nil {
		return nil, err
	}
	return convert(rows, func(row db.ListGrantsRow) wait.Grant { return foundGrant(db.FindGrantRow(row)) }), nil
}

// RevokeGrant implements [wait.Grants].
func (s *Store) RevokeGrant(ctx context.Context, tenant tool.TenantID, id, by string) (wait.Grant, error) {
	const op = "store.RevokeGrant"
	if !tool.ValidID(id) {
		return wait.Grant{}, notFound(op, grantUnknown)
	}
	var found db.FindGrantRow
	err := s.inTx(ctx, op, tenant, func(q *db.Queries) (err error) {
		_, err = q.RevokeGrant(ctx, db.RevokeGrantParams{TenantID: string(tenant), ID: id, RevokedBy: text(by)})
		if err != nil {
			return err
		}
		found, err = q.FindGrant(ctx, db.FindGrantParams{TenantID: string(tenant), ID: id})
		return err
	})
	if err != nil {
		return wait.Grant{}, explain(err, tool.NotFound, grantUnknown)
	}
	return foundGrant(found), nil
}

// UseGrant implements [wait.Grants]. The use is taken last, so that calls which race for it do
// not hold the grant while they wait for other rows.
func (s *Store) UseGrant(
	ctx context.Context, tenant tool.TenantID, grant string, a wait.Approval,
) (wait.Approval, error) {
	const op = "store.UseGrant"
	if err := checkIDs(op, grant, a.ID); err != nil {
		return wait.Approval{}, err
	}
	var found wait.Approval
	err := s.inTx(ctx, op, tenant, func(q *db.Queries) error {
		d := &deciding{op: op, q: q, grant: grant, v: wait.Verdict{
			Principal: tool.Principal{Tenant: tenant}, ID: a.ID, Approve: true, Seen: a.Binding,
		}}
		err := d.byGrant(ctx)
		found = d.found.Approval
		return err
	})
	if errors.Is(err, errGrantGone) { // It was used up meanwhile: nothing is recorded.
		return s.FindApproval(ctx, tenant, a.ID)
	}
	if err != nil {
		return wait.Approval{}, err
	}
	s.wake(found.Tenant, found.RunID)
	return found, nil
}

// errGrantGone takes back an approval by a grant that has no use left.
var errGrantGone = errors.New("the grant has no use left")

// byGrant decides by a standing grant, where it counts.
func (d *deciding) byGrant(ctx context.Context) error {
	if err := d.lock(ctx); err != nil {
		return err
	}
	tenant := string(d.v.Principal.Tenant)
	row, err := d.q.FindGrant(ctx, db.FindGrantParams{TenantID: tenant, ID: d.grant})
	if errors.Is(err, pgx.ErrNoRows) {
		return notFound(d.op, grantUnknown)
	}
	if err != nil {
		return err
	}
	grant := foundGrant(row)
	if grant.Status() != wait.GrantActive || !standing.Names(&grant, &d.found.Approval) {
		return nil
	}
	maker, err := d.q.PermissionsOfKey(ctx, db.PermissionsOfKeyParams{TenantID: tenant, Subject: grant.CreatedBy})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil // The key of its creator is gone.
	}
	if err != nil {
		return err
	}
	d.v.Reason = grant.Reason
	d.v.Principal.Subject, d.v.Principal.Scopes = grant.CreatedBy, maker.Scopes
	d.v.Principal.Permissions = permitted(maker.Permissions, maker.Roles, maker.RolePermissions)
	d.v.Principal = d.v.Principal.Narrow()
	if err := d.authorize(ctx); err != nil {
		return ignore(err, tool.Denied)
	}
	if repeated, err := d.check(); err != nil || repeated {
		return ignore(err, tool.Conflict)
	}
	if err := d.settle(ctx); err != nil {
		return err
	}
	if err := d.undeliver(ctx); err != nil {
		return err
	}
	taken, err := d.q.TakeGrant(ctx, db.TakeGrantParams{TenantID: tenant, ID: d.grant})
	if err == nil && taken == 0 {
		err = errGrantGone
	}
	return err
}

// undeliver leaves a request that ended with the asking workflow, which reads how it stands.
func (d *deciding) undeliver(ctx context.Context) error {
	if !d.found.Status.Final() {
		return nil
	}
	return d.q.ApprovalDelivered(ctx, db.ApprovalDeliveredParams{
		TenantID: string(d.found.Tenant), ID: d.found.ID, Round: number(d.found.Round),
	})
}

// ignore returns nil for an error of the kind.
func ignore(err error, kind tool.Kind) error {
	if err == nil || tool.KindOf(err) == kind {
		return nil
	}
	return err
}

func foundGrant(row db.FindGrantRow) wait.Grant { return grantOf(row.ApprovalGrant, row.Overdue) }

func grantOf(r db.ApprovalGrant, overdue bool) wait.Grant {
	return wait.Grant{
		ID: r.ID, Tenant: tool.TenantID(r.TenantID), Tool: r.Tool, Version: r.Version, Agent: r.Agent, Requester: r.Requester,
		Condition: r.Condition, Uses: int(r.Uses), Used: int(r.Used), Reason: r.Reason, CreatedBy: r.CreatedBy,
		CreatedAt: r.CreatedAt, ExpiresAt: r.ExpiresAt, RevokedAt: r.RevokedAt, RevokedBy: r.RevokedBy, Overdue: overdue,
	}
}
