package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/profile"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

const profileUnknown = "profile not found"

var _ profile.Profiles = (*Store)(nil)

// CreateProfile implements [profile.Profiles]. An empty id is generated.
func (s *Store) CreateProfile(ctx context.Context, p profile.Profile) (profile.Profile, error) {
	const op = "store.CreateProfile"
	if err := p.Check(); err != nil {
		return profile.Profile{}, err
	}
	id, err := idOrNew(p.ID)
	if err != nil {
		return profile.Profile{}, err
	}
	if err := checkIDs(op, id, string(p.Tenant)); err != nil {
		return profile.Profile{}, err
	}
	set := limitsOf(&p)
	row, err := ask(ctx, s.do, op, p.Tenant, (*db.Queries).CreateProfile, db.CreateProfileParams{
		TenantID: string(p.Tenant), ID: id, Name: p.Name, Description: text(p.Description), Denied: p.Denied,
		RequiresApproval: p.RequiresApproval, PermissionPolicy: string(p.PermissionPolicy),
		EgressClass: string(p.EgressClass), RequiredPermission: text(p.RequiredPermission), RateCalls: set.RateCalls,
		RatePer: set.RatePer, RateBurst: set.RateBurst, MaxConcurrency: set.MaxConcurrency, ChangedBy: text(p.ChangedBy),
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return profile.Profile{}, &tool.Error{
			Kind: tool.Conflict, Op: op, Path: "/name", Msg: fmt.Sprintf("there is a profile %q already", p.Name),
		}
	}
	if err != nil {
		return profile.Profile{}, explain(err, tool.NotFound, "tenant not found")
	}
	return profileOf(row, 0), nil
}

// ChangeProfile implements [profile.Profiles].
func (s *Store) ChangeProfile(ctx context.Context, p profile.Profile) (profile.Profile, error) {
	const op = "store.ChangeProfile"
	if err := p.Check(); err != nil {
		return profile.Profile{}, err
	}
	set := limitsOf(&p)
	_, err := ask(ctx, s.do, op, p.Tenant, (*db.Queries).ReplaceProfile, db.ReplaceProfileParams{
		TenantID: string(p.Tenant), Name: p.Name, Revision: p.Revision, Description: text(p.Description), Denied: p.Denied,
		RequiresApproval: p.RequiresApproval, PermissionPolicy: string(p.PermissionPolicy),
		EgressClass: string(p.EgressClass), RequiredPermission: text(p.RequiredPermission), RateCalls: set.RateCalls,
		RatePer: set.RatePer, RateBurst: set.RateBurst, MaxConcurrency: set.MaxConcurrency, ChangedBy: text(p.ChangedBy),
	})
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return profile.Profile{}, err
	}
	found, missing := s.FindProfile(ctx, p.Tenant, p.Name)
	if missing == nil && err != nil {
		missing = profile.Changed()
	}
	return found, missing
}

// limitsOf returns the limits of a profile as they are stored.
func limitsOf(p *profile.Profile) (row db.Profile) {
	if p.Rate != nil {
		row.RateCalls, row.RatePer = new(number(p.Rate.Calls)), new(string(p.Rate.Per))
		row.RateBurst = new(number(p.Rate.Burst))
	}
	if p.MaxConcurrency > 0 {
		row.MaxConcurrency = new(number(p.MaxConcurrency))
	}
	return row
}

// FindProfile implements [profile.Profiles].
func (s *Store) FindProfile(ctx context.Context, tenant tool.TenantID, name string) (profile.Profile, error) {
	row, err := ask(ctx, s.do, "store.FindProfile", tenant, (*db.Queries).FindProfile, db.FindProfileParams{
		TenantID: string(tenant), Name: text(name),
	})
	if err != nil {
		return profile.Profile{}, explain(err, tool.NotFound, profileUnknown)
	}
	return profileOf(row.Profile, row.Assignments), nil
}

// ListProfiles implements [profile.Profiles].
func (s *Store) ListProfiles(
	ctx context.Context, tenant tool.TenantID, agentID, after string, limit int,
) ([]profile.Profile, error) {
	const op = "store.ListProfiles"
	if err := checkIDs(op, agentID); err != nil {
		return nil, err
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListProfiles, db.ListProfilesParams{
		TenantID: string(tenant), AgentID: optional(agentID), After: text(after), Limit: pageSize(limit),
	})
	return convert(rows, func(r db.ListProfilesRow) profile.Profile { return profileOf(r.Profile, r.Assignments) }), err
}

// DeleteProfile implements [profile.Profiles].
func (s *Store) DeleteProfile(
	ctx context.Context, tenant tool.TenantID, name string, revision int64,
) (profile.Profile, error) {
	const op = "store.DeleteProfile"
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).DeleteProfile, db.DeleteProfileParams{
		TenantID: string(tenant), Name: text(name), Revision: revision,
	})
	if err == nil {
		return profileOf(row, 0), nil
	}
	used := codeOf(err) == codeForeignKeyViolation // An assignment was made meanwhile.
	if !used && !errors.Is(err, pgx.ErrNoRows) {
		return profile.Profile{}, err
	}
	found, err := s.FindProfile(ctx, tenant, name)
	switch {
	case err != nil:
		return profile.Profile{}, err
	case used || found.Assignments > 0:
		return profile.Profile{}, &tool.Error{
			Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf(
				"profile %q is in use (assignments: %d): revoke them, or assign another profile, first", found.Name,
				max(found.Assignments, 1)),
		}
	default:
		return profile.Profile{}, profile.Changed()
	}
}

// ProfileUses implements [profile.Profiles].
func (s *Store) ProfileUses(
	ctx context.Context, tenant tool.TenantID, toolID, agentID string,
) ([]tool.ProfileUse, error) {
	const op = "store.ProfileUses"
	if err := checkIDs(op, toolID, agentID); err != nil {
		return nil, err
	}
	raw, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListProfileUses, db.ListProfileUsesParams{
		TenantID: string(tenant), ToolID: toolID, AgentID: optional(agentID),
	})
	if err != nil {
		return nil, err
	}
	return usesOf(raw)
}

// useRow is a profile that applies to a call, as statements return it.
type useRow struct {
	AgentID            *string `json:"agent_id"`
	ID                 string  `json:"id"`
	Name               string  `json:"name"`
	Denied             bool    `json:"denied"`
	RequiresApproval   bool    `json:"requires_approval"`
	PermissionPolicy   string  `json:"permission_policy"`
	EgressClass        string  `json:"egress_class"`
	RequiredPermission string  `json:"required_permission"`
	RateCalls          *int32  `json:"rate_calls"`
	RatePer            *string `json:"rate_per"`
	RateBurst          *int32  `json:"rate_burst"`
	MaxConcurrency     *int32  `json:"max_concurrency"`
}

// usesOf converts the profiles that apply to a call; nil for none.
func usesOf(raw []byte) ([]tool.ProfileUse, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var rows []useRow
	if err := decode(raw, &rows); err != nil || len(rows) == 0 {
		return nil, err
	}
	return convert(rows, func(r useRow) tool.ProfileUse {
		return tool.ProfileUse{AgentID: value(r.AgentID), Profile: profileOf(db.Profile{
			ID: r.ID, Name: r.Name, Denied: r.Denied, RequiresApproval: r.RequiresApproval,
			PermissionPolicy: r.PermissionPolicy, EgressClass: r.EgressClass, RequiredPermission: r.RequiredPermission,
			RateCalls: r.RateCalls, RatePer: r.RatePer, RateBurst: r.RateBurst, MaxConcurrency: r.MaxConcurrency,
		}, 0).Profile}
	}), nil
}

func profileOf(row db.Profile, assignments int32) profile.Profile {
	p := profile.Profile{
		Profile: tool.Profile{
			ID: row.ID, Name: row.Name, Denied: row.Denied, RequiresApproval: row.RequiresApproval,
			PermissionPolicy: tool.PermissionPolicy(row.PermissionPolicy), EgressClass: tool.Egress(row.EgressClass),
			RequiredPermission: row.RequiredPermission,
		},
		Tenant: tool.TenantID(row.TenantID), Description: row.Description, Assignments: int(assignments),
		Revision: row.Revision, ChangedBy: row.ChangedBy, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt,
	}
	if row.MaxConcurrency != nil {
		p.MaxConcurrency = int(*row.MaxConcurrency)
	}
	if row.RateCalls != nil && row.RateBurst != nil {
		p.Rate = &tool.Rate{
			Calls: int(*row.RateCalls), Per: tool.RatePeriod(value(row.RatePer)), Burst: int(*row.RateBurst),
		}
	}
	return p
}
