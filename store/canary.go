package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// StartCanary implements [registry.LifecycleStore].
func (s *Store) StartCanary(
	ctx context.Context, t tool.Tool, v tool.Version, c registry.Canary,
) (registry.Canary, error) {
	const op = "store.StartCanary"
	if t.Global() {
		return registry.Canary{}, &tool.Error{
			Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf("tool %q is global: canaries are of tenants' own tools", t.Slug),
		}
	}
	id, err := idOrNew(c.ID)
	if err != nil {
		return registry.Canary{}, err
	}
	var row db.ToolCanary
	err = s.inTx(ctx, op, t.Tenant, func(q *db.Queries) error {
		was, err := q.IsPublished(ctx, db.IsPublishedParams{
			Version: text(v.Number), ScopeID: scopeID(t.Tenant), ToolID: t.ID,
		})
		if err != nil {
			return err
		}
		if !was.Another {
			return &tool.Error{Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf(
				"tool %q has no other published version for the other runs: publish %s", t.Slug, v.Number)}
		}
		_, stored, err := addVersion(ctx, q, op, t, v)
		if err != nil {
			return err
		}
		row, err = q.StartCanary(ctx, db.StartCanaryParams{
			TenantID: string(t.Tenant), ID: id, ToolID: t.ID, VersionID: stored.ID, Version: stored.Number,
			Digest: stored.Digest, Share: int16(c.Plan.Share), UntilCalls: number(c.Plan.Until), //nolint:gosec // 1 to 99.
			MaxErrorPercent: int16(c.Plan.MaxErrorPercent), MinCalls: number(c.Plan.MinCalls), //nolint:gosec // 0 to 100.
			Promote: c.Plan.Promote, StartedBy: text(c.StartedBy),
		})
		switch {
		case codeOf(err) == codeUniqueViolation:
			return &tool.Error{Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf(
				"tool %q has a canary already: promote it or stop it first", t.Slug)}
		case errors.Is(err, pgx.ErrNoRows) && was.It || err == nil && was.It && row.ID == id:
			return &tool.Error{Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf(
				"version %s of tool %q is published already: a canary needs a version that is not", v.Number, t.Slug)}
		case errors.Is(err, pgx.ErrNoRows):
			return &tool.Error{Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf(
				"version %s of tool %q has been a canary, and was promoted", v.Number, t.Slug)}
		}
		return err
	})
	if err != nil {
		return registry.Canary{}, err
	}
	return canaryOf(row, t.Slug), nil
}

// EndCanary implements [registry.LifecycleStore].
func (s *Store) EndCanary(
	ctx context.Context, t tool.Tool, state registry.CanaryState, by, reason string,
) (registry.Canary, error) {
	const op = "store.EndCanary"
	rows, err := ask(ctx, s.do, op, t.Tenant, (*db.Queries).EndCanary, db.EndCanaryParams{
		TenantID: string(t.Tenant), ToolID: t.ID, State: string(state), EndedBy: text(by), Reason: text(reason),
	})
	if err != nil {
		return registry.Canary{}, err
	}
	if len(rows) == 0 {
		return registry.Canary{}, notFound(op, fmt.Sprintf("tool %q has no canary that runs", t.Slug))
	}
	return canaryOf(rows[0], t.Slug), nil
}

// ListCanaries returns the canaries of a tool, or of all tools of a tenant where toolID is empty, newest first.
func (s *Store) ListCanaries(
	ctx context.Context, tenant tool.TenantID, toolID, before string, limit int,
) ([]registry.Canary, error) {
	const op = "store.ListCanaries"
	if err := checkIDs(op, toolID, before); err != nil {
		return nil, err
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListCanaries, db.ListCanariesParams{
		TenantID: string(tenant), ToolID: optional(toolID), Before: optional(before), Limit: pageSize(limit),
	})
	return convert(rows, func(row db.ListCanariesRow) registry.Canary {
		slug := row.Slug
		return canaryOf(db.ToolCanary{
			TenantID: row.TenantID, ID: row.ID, ToolID: row.ToolID, VersionID: row.VersionID, Version: row.Version,
			Digest: row.Digest, Share: row.Share, UntilCalls: row.UntilCalls, MaxErrorPercent: row.MaxErrorPercent,
			MinCalls: row.MinCalls, Promote: row.Promote, State: row.State, Withheld: row.Withheld, Calls: row.Calls,
			Failures: row.Failures, StableCalls: row.StableCalls, StableFailures: row.StableFailures, Reason: row.Reason,
			StartedBy: row.StartedBy, StartedAt: row.StartedAt, EndedBy: row.EndedBy, EndedAt: row.EndedAt,
			JudgedAt: row.JudgedAt,
		}, slug)
	}), err
}

func canaryOf(row db.ToolCanary, slug string) registry.Canary {
	return registry.Canary{
		ID: row.ID, Tenant: tool.TenantID(row.TenantID), ToolID: row.ToolID, Slug: slug, Version: row.Version,
		Digest: row.Digest, State: registry.CanaryState(row.State), Reason: row.Reason, StartedBy: row.StartedBy,
		StartedAt: row.StartedAt, EndedBy: row.EndedBy, EndedAt: row.EndedAt, JudgedAt: row.JudgedAt,
		Plan: planOfCanary(row), Outcome: registry.CanaryOutcome{
			Calls: int(row.Calls), Failures: int(row.Failures), StableCalls: int(row.StableCalls),
			StableFailures: int(row.StableFailures),
		},
	}
}

func planOfCanary(row db.ToolCanary) registry.CanaryPlan {
	return registry.CanaryPlan{
		Share: int(row.Share), Until: int(row.UntilCalls), MaxErrorPercent: int(row.MaxErrorPercent),
		MinCalls: int(row.MinCalls), Promote: row.Promote,
	}
}

const (
	canaryTenantsPerSweep = 100
	canariesPerTenant     = 20
)

// JudgeCanaries counts the outcomes of canaries of every tenant that were not judged for idle, and promotes or takes
// back those that are through. It returns how many it judged; tenants whose canaries cannot be judged stop no others.
// Several processes may do so concurrently: each canary is judged by one.
func (s *Store) JudgeCanaries(ctx context.Context, idle time.Duration) (int, error) {
	const op = "store.JudgeCanaries"
	var raw []byte
	err := s.doGlobal(ctx, op, func(q *db.Queries) (err error) {
		raw, err = q.CanaryTenants(ctx, canaryTenantsPerSweep)
		return err
	})
	var tenants []tool.TenantID
	if err == nil {
		err = decode(raw, &tenants)
	}
	judged := 0
	for _, tenant := range tenants {
		n, failed := s.JudgeCanariesOf(ctx, tenant, idle)
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("judging the canaries of tenant %s: %w", tenant, failed))
		}
		judged += n
	}
	return judged, err
}

// JudgeCanariesOf is [Store.JudgeCanaries] for one tenant.
func (s *Store) JudgeCanariesOf(ctx context.Context, tenant tool.TenantID, idle time.Duration) (judged int, err error) {
	const op = "store.JudgeCanaries"
	err = s.inTx(ctx, op, tenant, func(q *db.Queries) error {
		due, err := q.ClaimCanaries(ctx, db.ClaimCanariesParams{
			TenantID: string(tenant), IdleS: idle.Seconds(), Limit: canariesPerTenant,
		})
		if err != nil {
			return err
		}
		for _, row := range due {
			counted, err := q.CountOutcomes(ctx, db.CountOutcomesParams{
				TenantID: string(tenant), ToolID: &row.ToolID, Version: row.Version, Since: row.StartedAt,
				UntilCalls: row.UntilCalls,
			})
			if err != nil {
				return err
			}
			state, reason := planOfCanary(row).Judge(registry.CanaryOutcome{
				Calls: int(counted.Calls), Failures: int(counted.Failures), StableCalls: int(counted.StableCalls),
				StableFailures: int(counted.StableFailures),
			})
			if err := q.JudgeCanary(ctx, db.JudgeCanaryParams{
				TenantID: string(tenant), ID: row.ID, State: string(state), Reason: reason, Calls: counted.Calls,
				Failures: counted.Failures, StableCalls: counted.StableCalls, StableFailures: counted.StableFailures,
			}); err != nil {
				return err
			}
		}
		judged = len(due)
		return nil
	})
	return judged, err
}
