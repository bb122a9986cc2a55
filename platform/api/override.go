package api

import (
	"context"
	"net/http"
	"strings"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/tool"
)

type setOverrideInput struct {
	ToolPath
	Body v1.NewOverride
}

func (s *server) registerOverrides() {
	handle(s, route{
		id: "listOverrides", method: http.MethodGet, path: "/v1/overrides", tag: "tools", permission: ToolsRead,
		summary: "List what the tenant and the platform decided about tools, in the order of slugs",
		detail:  "A tenant's decision comes before the platform's about the same tool.",
	}, s.listOverrides)
	handle(s, route{
		id: "getToolOverride", method: http.MethodGet, path: "/v1/tools/{tool}/override", tag: "tools",
		permission: ToolsRead, summary: "Get whether a tool is switched on for the tenant, and by whom",
		detail: "Without a decision, a tenant's own tool is on and a global one is off. What comes with the platform is " +
			"switched on for every tenant, until the platform or a tenant decides otherwise.",
	}, s.getToolOverride)
	handle(s, route{
		id: "setToolOverride", method: http.MethodPut, path: "/v1/tools/{tool}/override", tag: "tools",
		permission: ToolsWrite, summary: "Switch a tool on or off for the tenant, or require an approval for its calls",
		detail: "Of the tenant's own tools and global ones. It takes effect at the next call, also of runs that are under " +
			"way and of pinned versions, and replaces the tenant's earlier decision.",
	}, s.setToolOverride)
	handle(s, route{
		id: "deleteToolOverride", method: http.MethodDelete, path: "/v1/tools/{tool}/override", tag: "tools",
		permission: ToolsWrite, summary: "Take back what the tenant decided about a tool",
		detail: "The platform's decision applies then, if there is one.",
	}, s.deleteToolOverride)
}

func (s *server) listOverrides(ctx context.Context, p tool.Principal, in *Paging) (*listed[v1.Override], error) {
	after, err := openOverrideCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	found, err := s.cfg.Registry.Overrides(ctx, p, after, in.fetch())
	if err != nil {
		return nil, err
	}
	out := answer(page(*in, found, v1.FromOverride, overridePlace))
	viewer, shown := s.viewer(p), out.Body.Items[:0]
	for _, item := range out.Body.Items {
		t, err := s.cfg.Registry.Get(ctx, p, tool.Ref{ID: item.ToolID})
		if tool.KindOf(err) == tool.NotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		if sees, err := viewer.sees(ctx, &t); err != nil {
			return nil, err
		} else if sees {
			shown = append(shown, item)
		}
	}
	out.Body.Items = shown
	return out, nil
}

func (s *server) getToolOverride(ctx context.Context, p tool.Principal, in *ToolPath) (*body[v1.ToolOverrides], error) {
	t, err := s.findTool(ctx, p, in.Tool)
	if err != nil {
		return nil, err
	}
	return s.showOverrides(ctx, p, t.ID)
}

func (s *server) setToolOverride(
	ctx context.Context, p tool.Principal, in *setOverrideInput,
) (*body[v1.ToolOverrides], error) {
	t, err := s.findTool(ctx, p, in.Tool)
	if err != nil {
		return nil, err
	}
	if _, err := s.cfg.Registry.Override(ctx, p, tool.Ref{ID: t.ID}, tool.Override{
		Enabled: in.Body.Enabled, RequiresApproval: in.Body.RequiresApproval, Reason: in.Body.Reason,
	}); err != nil {
		return nil, err
	}
	return s.showOverrides(ctx, p, t.ID)
}

func (s *server) deleteToolOverride(
	ctx context.Context, p tool.Principal, in *ToolPath,
) (*body[v1.ToolOverrides], error) {
	t, err := s.findTool(ctx, p, in.Tool)
	if err != nil {
		return nil, err
	}
	if err := s.cfg.Registry.RemoveOverride(ctx, p, tool.Ref{ID: t.ID}); err != nil {
		return nil, err
	}
	return s.showOverrides(ctx, p, t.ID)
}

func (s *server) showOverrides(ctx context.Context, p tool.Principal, toolID string) (*body[v1.ToolOverrides], error) {
	t, overrides, err := s.cfg.Registry.OverridesOf(ctx, p, tool.Ref{ID: toolID})
	if err != nil {
		return nil, err
	}
	return answer(v1.FromOverrides(t, overrides)), nil
}

func overridePlace(o tool.Override) string {
	level := "tenant"
	if o.Tenant == "" {
		level = "platform"
	}
	return strings.Join([]string{o.Slug, o.ToolID, level}, "\n")
}

func openOverrideCursor(cursor string) (registry.OverridePlace, error) {
	place, err := openCursor(cursor)
	if err != nil || place == "" {
		return registry.OverridePlace{}, err
	}
	parts := strings.Split(place, "\n")
	if len(parts) != 3 || !tool.ValidID(parts[1]) {
		return registry.OverridePlace{}, badCursor()
	}
	return registry.OverridePlace{Slug: parts[0], ToolID: parts[1], Platform: parts[2] == "platform"}, nil
}
