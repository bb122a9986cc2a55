package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/tool"
)

type setOverrideInput struct {
	ToolPath
	Changing
	Body v1.NewOverride
}

type deleteOverrideInput struct {
	ToolPath
	Changing
}

type overrideInput struct {
	ToolPath
	Reading
}

type overridesOutput struct {
	Status int
	Etag   string `header:"Etag" doc:"Names this state of the tenant's override, or that there is none, for If-Match and If-None-Match"`
	Body   v1.ToolOverrides
}

type listOverrideVersionsInput struct {
	ToolPath
	By string `query:"by" enum:"tenant,platform" default:"tenant" doc:"Whose decisions"`
	Paging
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
		permission: ToolsWrite, summary: "Decide about a tool: its switch, approval, description, defaults, limits",
		detail: "Of the tenant's own tools and global ones. It replaces the tenant's earlier decision. Switch and approval " +
			"take effect at the next call, also of runs that are under way and of pinned versions; description, defaults and " +
			"limits in runs and single calls that begin from then on. Limits only narrow.",
	}, s.setToolOverride)
	handle(s, route{
		id: "deleteToolOverride", method: http.MethodDelete, path: "/v1/tools/{tool}/override", tag: "tools",
		permission: ToolsWrite, summary: "Take back what the tenant decided about a tool",
		detail: "The platform's decision applies then, if there is one.",
	}, s.deleteToolOverride)
	handle(s, route{
		id: "listToolOverrideVersions", method: http.MethodGet, path: "/v1/tools/{tool}/override/versions", tag: "tools",
		permission: ToolsRead, summary: "List what was decided about a tool, newest first",
		detail: "Each change is kept, with its revision, its author and its reason. Runs go on with the description, the " +
			"defaults and the limits of the revisions that they began with.",
	}, s.listOverrideVersions)
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

func (s *server) getToolOverride(ctx context.Context, p tool.Principal, in *overrideInput) (*overridesOutput, error) {
	t, err := s.findTool(ctx, p, in.Tool)
	if err != nil {
		return nil, err
	}
	out, err := s.showOverrides(ctx, p, t.ID)
	if err == nil && in.unchanged(out.Etag) {
		out.Status = http.StatusNotModified
	}
	return out, err
}

func (s *server) setToolOverride(
	ctx context.Context, p tool.Principal, in *setOverrideInput,
) (*overridesOutput, error) {
	t, err := s.findTool(ctx, p, in.Tool)
	if err != nil {
		return nil, err
	}
	changing, err := s.overriding(ctx, p, t.ID, in.Changing)
	if err != nil {
		return nil, err
	}
	if in.Body.Revision != 0 {
		changing = changing.At(in.Body.Revision)
	}
	if _, err := changing.Override(ctx, p, tool.Ref{ID: t.ID}, in.Body.Decision()); err != nil {
		return nil, in.failed(err)
	}
	return s.showOverrides(ctx, p, t.ID)
}

func (s *server) deleteToolOverride(
	ctx context.Context, p tool.Principal, in *deleteOverrideInput,
) (*overridesOutput, error) {
	t, err := s.findTool(ctx, p, in.Tool)
	if err != nil {
		return nil, err
	}
	changing, err := s.overriding(ctx, p, t.ID, in.Changing)
	if err != nil {
		return nil, err
	}
	if err := changing.RemoveOverride(ctx, p, tool.Ref{ID: t.ID}); err != nil {
		return nil, in.failed(err)
	}
	return s.showOverrides(ctx, p, t.ID)
}

// overriding returns the registry that changes the tenant's override of a tool under a condition.
func (s *server) overriding(
	ctx context.Context, p tool.Principal, toolID string, c Changing,
) (*registry.Registry, error) {
	if c.IfMatch == "" {
		return s.cfg.Registry, nil
	}
	_, overrides, err := s.cfg.Registry.OverridesOf(ctx, p, tool.Ref{ID: toolID})
	if err != nil {
		return nil, err
	}
	if !names(c.IfMatch, overrideTag(toolID, overrides), false) {
		return nil, preconditionFailed()
	}
	if overrides.Tenant == nil {
		return s.cfg.Registry.At(registry.NoOverride), nil
	}
	return s.cfg.Registry.At(overrides.Tenant.Revision), nil
}

// overrideTag identifies the state of what a tenant decided about a tool.
func overrideTag(toolID string, o tool.Overrides) string {
	if o.Tenant == nil {
		return etag(toolID+".override", 0)
	}
	return etag(toolID+".override", o.Tenant.Revision)
}

func (s *server) showOverrides(ctx context.Context, p tool.Principal, toolID string) (*overridesOutput, error) {
	t, overrides, err := s.cfg.Registry.OverridesOf(ctx, p, tool.Ref{ID: toolID})
	if err != nil {
		return nil, err
	}
	return &overridesOutput{
		Status: http.StatusOK, Etag: overrideTag(t.ID, overrides), Body: v1.FromOverrides(t, overrides),
	}, nil
}

func (s *server) listOverrideVersions(
	ctx context.Context, p tool.Principal, in *listOverrideVersionsInput,
) (*listed[v1.OverrideVersion], error) {
	t, err := s.findTool(ctx, p, in.Tool)
	if err != nil {
		return nil, err
	}
	before, err := openRevisionCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	found, err := s.cfg.Registry.OverrideVersions(ctx, p, tool.Ref{ID: t.ID}, in.By == "platform", before, in.fetch())
	if err != nil {
		return nil, err
	}
	for i := range found {
		found[i].Slug = t.Slug
	}
	return answer(page(in.Paging, found, v1.FromOverrideVersion, func(v tool.OverrideVersion) string {
		return strconv.FormatInt(v.Revision, 10)
	})), nil
}

// openRevisionCursor returns the revision that a page ends before; zero for the first page.
func openRevisionCursor(cursor string) (int64, error) {
	place, err := openCursor(cursor)
	if err != nil || place == "" {
		return 0, err
	}
	before, err := strconv.ParseInt(place, 10, 64)
	if err != nil || before <= 0 {
		return 0, badCursor()
	}
	return before, nil
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
