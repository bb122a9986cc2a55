package store

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// SetOverride implements [registry.Store].
func (s *Store) SetOverride(ctx context.Context, o tool.Override) (tool.Override, error) {
	const op = "store.SetOverride"
	expected := expectedOverride(o.Revision)
	if err := checkIDs(op, o.ToolID); err != nil {
		return tool.Override{}, err
	}
	params := db.SetOverrideParams{
		ScopeID: scopeID(o.Tenant), TenantID: optional(string(o.Tenant)), ToolID: o.ToolID, Enabled: o.Enabled,
		RequiresApproval: o.RequiresApproval, Description: text(o.Description), Reason: text(o.Reason),
		ChangedBy: text(o.ChangedBy), Expected: expected,
	}
	var err error
	if len(o.Defaults) > 0 {
		if params.Defaults, err = encode(o.Defaults); err != nil {
			return tool.Override{}, err
		}
	}
	if o.Limits != nil && *o.Limits != (tool.CallLimits{}) {
		if params.Limits, err = encode(o.Limits); err != nil {
			return tool.Override{}, err
		}
	}
	row, err := ask(ctx, s.do, op, o.Tenant, (*db.Queries).SetOverride, params)
	if tool.KindOf(err) == tool.NotFound && expected != nil {
		return tool.Override{}, overrideChanged(op)
	}
	if err != nil {
		return tool.Override{}, explain(err, tool.NotFound, fmt.Sprintf("tool %q not found", o.ToolID))
	}
	stored, err := overrideOf(row)
	stored.Slug = o.Slug
	return stored, err
}

// expectedOverride returns the revision that a change expects; nil for any.
func expectedOverride(revision int64) *int64 {
	switch revision {
	case 0:
		return nil
	case registry.NoOverride:
		return new(int64)
	default:
		return &revision
	}
}

func overrideChanged(op string) error {
	return &tool.Error{
		Kind: tool.Conflict, Op: op, Err: definition.ErrChanged,
		Msg: "the override was changed meanwhile: read it again, then decide",
	}
}

// DeleteOverride implements [registry.Store].
func (s *Store) DeleteOverride(ctx context.Context, tenant tool.TenantID, toolID string, revision int64) error {
	const op = "store.DeleteOverride"
	expected := expectedOverride(revision)
	if err := checkIDs(op, toolID); err != nil {
		return err
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).DeleteOverride, db.DeleteOverrideParams{
		ScopeID: scopeID(tenant), ToolID: toolID, Expected: expected,
	})
	switch {
	case err != nil || rows > 0:
		return err
	case expected != nil && *expected > 0:
		return overrideChanged(op)
	default:
		return notFound(op, "the tool has no override here")
	}
}

// ListOverrideVersions implements [registry.Store].
func (s *Store) ListOverrideVersions(
	ctx context.Context, tenant tool.TenantID, toolID string, platform bool, before int64, limit int,
) ([]tool.OverrideVersion, error) {
	const op = "store.ListOverrideVersions"
	if err := checkIDs(op, toolID); err != nil {
		return nil, err
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListOverrideVersions, db.ListOverrideVersionsParams{
		ScopeID: scopeID(tenant), Own: !platform, ToolID: toolID, Before: before, Limit: pageSize(limit),
	})
	if err != nil {
		return nil, err
	}
	return collect(rows, overrideVersionOf)
}

// OverridesAt implements [resolver.Source].
func (s *Store) OverridesAt(
	ctx context.Context, tenant tool.TenantID, toolID string, at tool.OverrideRevisions,
) (tool.Overrides, error) {
	const op = "store.OverridesAt"
	if err := checkIDs(op, toolID); err != nil {
		return tool.Overrides{}, err
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).FindOverrideVersions, db.FindOverrideVersionsParams{
		ScopeID: scopeID(tenant), ToolID: toolID, TenantRevision: at.Tenant, PlatformRevision: at.Platform,
	})
	if err != nil {
		return tool.Overrides{}, err
	}
	found, err := collect(rows, func(row db.ToolOverrideVersion) (tool.Override, error) {
		v, err := overrideVersionOf(row)
		return v.Override, err
	})
	if err != nil {
		return tool.Overrides{}, err
	}
	out := overridesOf(toolID, found)
	if (at.Tenant != 0) != (out.Tenant != nil) || (at.Platform != 0) != (out.Platform != nil) {
		return tool.Overrides{}, notFound(op, "the tool has no override of this revision")
	}
	return out, nil
}

// OverridesOf implements [resolver.Source].
func (s *Store) OverridesOf(
	ctx context.Context, tenant tool.TenantID, toolIDs []string,
) (map[string]tool.Overrides, error) {
	const op = "store.OverridesOf"
	if err := checkIDs(op, toolIDs...); err != nil {
		return nil, err
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListOverridesOf, db.ListOverridesOfParams{
		ScopeID: scopeID(tenant), ToolIds: toolIDs,
	})
	if err != nil {
		return nil, err
	}
	all, err := collect(rows, overrideOf)
	if err != nil {
		return nil, err
	}
	out := make(map[string]tool.Overrides, len(toolIDs))
	for i := range all {
		of := out[all[i].ToolID]
		if all[i].Tenant == "" {
			of.Platform = &all[i]
		} else {
			of.Tenant = &all[i]
		}
		out[all[i].ToolID] = of
	}
	return out, nil
}

// ListOverrides implements [registry.Store].
func (s *Store) ListOverrides(
	ctx context.Context, tenant tool.TenantID, after registry.OverridePlace, limit int,
) ([]tool.Override, error) {
	const op = "store.ListOverrides"
	if after.ToolID == "" {
		after.ToolID = globalScope // Before every id.
	}
	if err := checkIDs(op, after.ToolID); err != nil {
		return nil, err
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListOverrides, db.ListOverridesParams{
		ScopeID: scopeID(tenant), AfterSlug: text(after.Slug), AfterID: after.ToolID, AfterPlatform: after.Platform,
		Limit: pageSize(limit),
	})
	if err != nil {
		return nil, err
	}
	return collect(rows, func(row db.ListOverridesRow) (tool.Override, error) {
		o, err := overrideOf(row.ToolOverride)
		o.Slug = row.Slug
		return o, err
	})
}

func overrideOf(row db.ToolOverride) (tool.Override, error) {
	o := tool.Override{
		Tenant: tool.TenantID(value(row.TenantID)), ToolID: row.ToolID, Enabled: row.Enabled,
		RequiresApproval: row.RequiresApproval, Reason: row.Reason, ChangedBy: row.ChangedBy, ChangedAt: row.ChangedAt,
		Revision: row.Revision,
	}
	var err error
	o.Adaptation, err = adaptationOf(row.Description, row.Defaults, row.Limits)
	return o, err
}

func overrideVersionOf(row db.ToolOverrideVersion) (tool.OverrideVersion, error) {
	v := tool.OverrideVersion{Removed: row.Removed, Override: tool.Override{
		Tenant: tool.TenantID(value(row.TenantID)), ToolID: row.ToolID, Enabled: row.Enabled,
		RequiresApproval: row.RequiresApproval, Reason: row.Reason, ChangedBy: row.ChangedBy, ChangedAt: row.ChangedAt,
		Revision: row.Revision,
	}}
	var err error
	v.Adaptation, err = adaptationOf(row.Description, row.Defaults, row.Limits)
	return v, err
}

func adaptationOf(description string, defaults, limits []byte) (tool.Adaptation, error) {
	a := tool.Adaptation{Description: description}
	if defaults != nil {
		if err := decode(defaults, &a.Defaults); err != nil {
			return a, err
		}
	}
	if limits != nil {
		a.Limits = new(tool.CallLimits)
		return a, decode(limits, a.Limits)
	}
	return a, nil
}

// overridesOf returns those of all that are about a tool.
func overridesOf(toolID string, all []tool.Override) tool.Overrides {
	var out tool.Overrides
	for i := range all {
		switch {
		case all[i].ToolID != toolID:
		case all[i].Tenant == "":
			out.Platform = &all[i]
		default:
			out.Tenant = &all[i]
		}
	}
	return out
}
