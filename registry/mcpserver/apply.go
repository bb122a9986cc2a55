package mcpserver

import (
	"cmp"
	"context"
	"fmt"
	"reflect"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// Apply creates or updates a server as its definition says, and refreshes it if
// it changed or its last refresh failed. A definition without a status leaves that
// as it is. Without write, nothing is stored and the server is not asked.
func (r *Registry) Apply(
	ctx context.Context, p tool.Principal, s definition.ServerSpec, write bool,
) (definition.Change, error) {
	if err := refusal.Unpermitted(p, refusal.ToolsWrite); err != nil {
		return definition.Change{}, err
	}
	before, err := r.store.FindServer(ctx, p.Tenant, s.Slug)
	create := tool.KindOf(err) == tool.NotFound
	if err != nil && !create {
		return definition.Change{}, fmt.Errorf("finding server %q: %w", s.Slug, err)
	}
	var after Server
	if create {
		after, err = r.create(p, s)
	} else {
		s.Status = cmp.Or(s.Status, before.Status) // Who disabled it did so for a reason that the definition does not know.
		after, err = r.edit(before, s)
	}
	if err != nil {
		return definition.Change{}, err
	}
	c := definition.Change{Kind: "mcp_server", Slug: after.Slug, ID: after.ID, Action: definition.Created}
	switch {
	case create:
	case reflect.DeepEqual(before, after):
		c.Action = definition.Unchanged
	default:
		c.Action = definition.Updated
	}
	if !write || c.Action == definition.Unchanged && after.DiscoveredAt != nil && after.DiscoveryError == "" {
		return c, nil
	}
	switch c.Action {
	case definition.Created:
		after, err = r.store.CreateServer(ctx, after)
	case definition.Updated:
		after, err = r.save(ctx, after)
	case definition.Unchanged:
	}
	if err != nil {
		return definition.Change{}, fmt.Errorf("attaching server %q: %w", s.Slug, err)
	}
	_, report, err := r.firstRefresh(ctx, p, after)
	if err != nil {
		return definition.Change{}, err
	}
	c.Warnings = refreshWarnings(&report)
	return c, nil
}

// refreshWarnings returns the warnings of a refresh: the tools that need
// attention.
func refreshWarnings(report *Report) []string {
	if report.Err != nil {
		return []string{"the server was not asked what it offers: " + report.Err.Msg}
	}
	var warnings []string
	for _, t := range report.Tools {
		switch t.Change {
		case ChangeNew, ChangeOffered, ChangeBack:
		case ChangeChanged, ChangeGone, ChangeRefused, ChangeMissing:
			warnings = append(warnings, fmt.Sprintf("tool %q: %s", t.Name, t.Reason))
		}
	}
	return warnings
}
