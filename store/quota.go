package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/toolcrib/toolcrib/quota"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// ListQuotas returns every quota of the tenant, as [quota.Quotas] says.
func (s *Store) ListQuotas(ctx context.Context, tenant tool.TenantID) ([]quota.Quota, error) {
	return s.listQuotas(ctx, tenant, tenant)
}

// Quotas returns the quotas of tenants, as the platform decides about them.
func (p *Platform) Quotas() quota.Quotas { return platformQuotas{p} }

// platformQuotas acts as the owner of the tables, outside any tenant.
type platformQuotas struct{ platform *Platform }

func (p platformQuotas) ListQuotas(ctx context.Context, tenant tool.TenantID) ([]quota.Quota, error) {
	return p.platform.store.listQuotas(ctx, "", tenant)
}

func (p platformQuotas) QuotaDefaults(ctx context.Context) ([]quota.Rule, error) {
	rows, err := ask(ctx, p.platform.store.do, "store.QuotaDefaults", "", (*db.Queries).ListQuotaRules, globalScope)
	return convert(rows, func(row db.Quota) quota.Rule {
		return quota.Rule{
			Name: quota.Name(row.Name), Limit: row.Most, ChangedBy: row.ChangedBy, ChangedAt: row.ChangedAt,
		}
	}), err
}

func (p platformQuotas) SetQuota(ctx context.Context, r quota.Rule) error {
	const op = "store.SetQuota"
	if err := r.Check(); err != nil {
		return err
	}
	if r.Tenant != "" {
		if err := checkIDs(op, string(r.Tenant)); err != nil {
			return err
		}
	}
	if r.Name == quota.Runs {
		_, err := p.platform.SetTenantMaxUnfinished(ctx, r.Tenant, int(*r.Limit))
		return err
	}
	err := p.platform.store.do(ctx, op, "", func(q *db.Queries) error {
		return q.SetQuota(ctx, db.SetQuotaParams{
			TenantID: optional(string(r.Tenant)), Name: string(r.Name), Most: r.Limit, ChangedBy: text(r.ChangedBy),
		})
	})
	return explain(err, tool.NotFound, "tenant not found")
}

func (p platformQuotas) UnsetQuota(ctx context.Context, tenant tool.TenantID, name quota.Name) error {
	const op = "store.UnsetQuota"
	if _, err := quota.Find(string(name)); err != nil {
		return err
	}
	if name == quota.Runs {
		_, err := p.platform.SetTenantMaxUnfinished(ctx, tenant, 0)
		return err
	}
	return p.platform.store.do(ctx, op, "", func(q *db.Queries) error {
		gone, err := q.UnsetQuota(ctx, db.UnsetQuotaParams{ScopeID: scopeID(tenant), Name: string(name)})
		if err == nil && gone == 0 {
			err = notFound(op, fmt.Sprintf("no quota %q is set here", name))
		}
		return err
	})
}

func (p platformQuotas) VerifyQuotas(
	ctx context.Context, tenant tool.TenantID, repair bool,
) (wrong []quota.Difference, err error) {
	const op = "store.VerifyQuotas"
	if err := checkIDs(op, string(tenant)); err != nil {
		return nil, err
	}
	raw, err := ask(ctx, p.platform.store.do, op, "", (*db.Queries).RecountQuotas, db.RecountQuotasParams{
		TenantID: string(tenant), Repair: repair,
	})
	if err != nil {
		return nil, err
	}
	return wrong, decode(raw, &wrong)
}

// listQuotas reads the quotas of a tenant in a transaction of the given tenant, or of none.
func (s *Store) listQuotas(ctx context.Context, as, tenant tool.TenantID) ([]quota.Quota, error) {
	const op = "store.ListQuotas"
	if err := checkIDs(op, string(tenant)); err != nil {
		return nil, err
	}
	names := make([]string, 0, len(quota.All()))
	for _, n := range quota.Names() {
		names = append(names, string(n))
	}
	var rows []db.ListQuotasRow
	var own db.Tenant
	var running db.CountUnfinishedRunsRow
	err := s.do(ctx, op, as, func(q *db.Queries) (err error) {
		if own, err = q.FindTenant(ctx, string(tenant)); err != nil {
			return err
		}
		if running, err = q.CountUnfinishedRuns(ctx, db.CountUnfinishedRunsParams{TenantID: string(tenant)}); err != nil {
			return err
		}
		rows, err = q.ListQuotas(ctx, db.ListQuotasParams{TenantID: string(tenant), Names: names})
		return err
	})
	if err != nil {
		return nil, explain(err, tool.NotFound, "tenant not found")
	}
	return convert(rows, func(row db.ListQuotasRow) quota.Quota {
		out := quota.Quota{
			Name: quota.Name(row.Name), Limit: row.Most, Origin: quota.Unlimited, Used: max(row.Used, 0),
			ChangedBy: row.ChangedBy,
		}
		switch {
		case out.Name == quota.Runs:
			out.Used = running.N
			if own.MaxUnfinishedRuns != nil {
				out.Limit, out.Origin = new(int64(*own.MaxUnfinishedRuns)), quota.OfTenant
			}
		case row.Own:
			out.Origin = quota.OfTenant
		case row.Ruled && row.Most != nil:
			out.Origin = quota.OfPlatform
		}
		if row.Ruled {
			out.ChangedAt = row.ChangedAt
		}
		return out
	}), nil
}

// overQuota returns the refusal of the database's triggers as an error; nil for another failure.
func overQuota(op string, err error) error {
	answer, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || answer.Code != codeQuota {
		return nil
	}
	var over quota.ExceededError
	if failed := json.Unmarshal([]byte(answer.Detail), &over); failed != nil {
		return fmt.Errorf("%s: reading the detail %q of a refusal: %w", op, answer.Detail, failed)
	}
	return over.Failure(op)
}
