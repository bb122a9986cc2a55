package registry

import (
	"context"
	"fmt"
	"reflect"

	"github.com/toolcrib/toolcrib/tool"
)

// applyServer brings a server to s, and asks it what it offers where that may
// have changed.
func (r *Registry) applyServer(ctx context.Context, p tool.Principal, s MCPServerSpec, write bool) (Change, error) {
	if err := mayWrite(p, ToolsWrite); err != nil {
		return Change{}, err
	}
	before, err := r.store.FindServer(ctx, p.Tenant, s.Slug)
	create := tool.KindOf(err) == tool.NotFound
	if err != nil && !create {
		return Change{}, fmt.Errorf("finding server %q: %w", s.Slug, err)
	}
	var after MCPServer
	if create {
		after, err = r.newServer(p, s)
	} else {
		after, err = r.editedServer(before, s)
	}
	if err != nil {
		return Change{}, err
	}
	c := Change{Kind: "mcp_server", Slug: after.Slug, ID: after.ID, Action: Created}
	switch {
	case create:
	case reflect.DeepEqual(before, after):
		c.Action = Unchanged
	default:
		c.Action = Updated
	}
	if !write || c.Action == Unchanged && after.DiscoveredAt != nil && after.DiscoveryError == "" {
		return c, nil
	}
	switch c.Action {
	case Created:
		after, err = r.store.CreateServer(ctx, after)
	case Updated:
		after, err = r.saveServer(ctx, after)
	case Unchanged:
	}
	if err != nil {
		return Change{}, fmt.Errorf("attaching server %q: %w", s.Slug, err)
	}
	_, report, err := r.firstRefresh(ctx, p, after)
	if err != nil {
		return Change{}, err
	}
	c.Warnings = refreshWarnings(&report)
	return c, nil
}

// refreshWarnings returns the warnings of a refresh: the tools that need
// attention.
func refreshWarnings(report *Refresh) []string {
	if report.Err != nil {
		return []string{"the server was not asked what it offers: " + report.Err.Msg}
	}
	var warnings []string
	for _, t := range report.Tools {
		switch t.Change {
		case RemoteNew, RemoteOffered, RemoteBack:
		case RemoteChanged, RemoteGone, RemoteRefused, RemoteMissing:
			warnings = append(warnings, fmt.Sprintf("tool %q: %s", t.Name, t.Reason))
		}
	}
	return warnings
}
