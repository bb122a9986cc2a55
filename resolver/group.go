package resolver

import (
	"context"
	"slices"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// Group resolves the tools of an agent's groups for a run that is about to begin, in the order of their slugs:
// the tenant's own ones, and global ones whose category is a group, each only if the principal may use it. Tools
// for people, those of model providers, deprecated ones and those that are switched off are left out. It stops
// after [agent.MaxGrouped], and reports whether there are more.
func (r *Resolver) Group(
	ctx context.Context, p tool.Principal, groups []string, mode tool.Mode,
) (tools []*Resolved, more bool, err error) {
	if len(groups) == 0 {
		return nil, false, nil
	}
	var found []Item
	page := Page{Limit: maxPage}
	for {
		items, next, err := r.List(ctx, p, mode, Filter{}, page)
		if err != nil {
			return nil, false, err
		}
		for i := range items {
			t := &items[i].Tool
			if t.Global() && !slices.Contains(groups, t.Category) || t.Category == agent.UserFacing && t.Global() ||
				!t.Interaction.ForModels() || t.ImplementationType() == tool.Provider || t.Status == tool.Deprecated {
				continue
			}
			if more = len(found) == agent.MaxGrouped; more {
				break
			}
			found = append(found, items[i])
		}
		if next == "" || more {
			break
		}
		page.After = next
	}
	versions, err := r.Versions(ctx, p.Tenant, found)
	if err != nil {
		return nil, false, err
	}
	for i, v := range versions {
		item := &found[i]
		tools = append(tools, &Resolved{
			Tool: item.Tool, Version: v, Draft: item.Draft, Shadows: item.Shadows, Overrides: item.Overrides.Revisions(),
		})
	}
	return tools, more, nil
}
