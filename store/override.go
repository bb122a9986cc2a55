package store

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// SetOverride implements [registry.Store].
func (s *Store) SetOverride(ctx context.Context, o tool.Override) (tool.Override, error) {
	const op = "store.SetOverride"
	if err := checkIDs(op, o.ToolID); err != nil {
		return tool.Override{}, err
	}
	row, err := ask(ctx, s.do, op, o.Tenant, (*db.Queries).SetOverride, db.SetOverrideParams{
		ScopeID: scopeID(o.Tenant), TenantID: optional(string(o.Tenant)), ToolID: o.ToolID, Enabled: o.Enabled,
		RequiresApproval: o.RequiresApproval, Reason: text(o.Reason), ChangedBy: text(o.ChangedBy),
	})
	if err != nil {
		return tool.Override{}, explain(err, tool.NotFound, fmt.Sprintf("tool %q not found", o.ToolID))
	}
	stored := overrideOf(row)
	stored.Slug = o.Slug
	return stored, nil
}

// DeleteOverride implements [registry.Store].
func (s *Store) DeleteOverride(ctx context.Context, tenant tool.TenantID, toolID string) error {
	const op = "store.DeleteOverride"
	if err := checkIDs(op, toolID); err != nil {
		return err
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).DeleteOverride, db.DeleteOverrideParams{
		ScopeID: scopeID(tenant), ToolID: toolID,
	})
	if err == nil && rows == 0 {
		err = notFound(op, "the tool has no override here")
	}
	return err
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
	return convert(rows, func(row db.ListOverridesRow) tool.Override {
		o := overrideOf(row.ToolOverride)
		o.Slug = row.Slug
		return o
	}), err
}

func overrideOf(row db.ToolOverride) tool.Override {
	return tool.Override{
		Tenant: tool.TenantID(value(row.TenantID)), ToolID: row.ToolID, Enabled: row.Enabled,
		RequiresApproval: row.RequiresApproval, Reason: row.Reason, ChangedBy: row.ChangedBy, ChangedAt: row.ChangedAt,
	}
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
