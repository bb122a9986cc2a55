package api

import (
	"context"
	"fmt"
	"net/http"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

type listToolsInput struct {
	Status         string `query:"status"              enum:"draft,published,deprecated,disabled"`
	Implementation string `query:"implementation_type"`
	ToolType       string `query:"tool_type"           enum:"built_in,mcp,artifact,custom"`
	Category       string `query:"category" maxLength:"200"`
	Egress         string `query:"egress_class" enum:"none,read_only,write"`
	Risk           string `query:"risk" enum:"low,medium,high" doc:"As declared, but at least what the egress class implies"`
	Search         string `query:"search"                                                         maxLength:"200" doc:"In slug, name and description"`
	Callable       string `query:"callable"            enum:"production,debug"                                    doc:"Lists only tools that may be called in this mode, by the rules of a call: each at the version a call would get"`
	Archived       bool   `query:"archived" doc:"Lists the archived tools instead of the others"`
	SwitchedOff    bool   `query:"switched_off" doc:"Lists only tools that the tenant has switched off for itself"`
	Skip           int    `query:"skip"                                                                           doc:"How many tools to skip; cursor is faster"                                                                       minimum:"0" maximum:"10000"`
	Paging
}

// ToolPath names the tool of a path. It is exported as [Paging] is.
type ToolPath struct {
	Tool string `path:"tool" maxLength:"64" doc:"Slug or id" example:"searchOrders"`
}

type toolInput struct {
	ToolPath
	Reading
}

type toolOutput struct {
	Status int
	Etag   string `header:"Etag" doc:"Names this state of the tool, for If-Match and If-None-Match"`
	Body   v1.Tool
}

type toolVersionInput struct {
	ToolPath
	Version string `path:"version" maxLength:"100" doc:"Its exact number" example:"1.2.0"`
}

type explainInput struct {
	ToolPath
	Version string `query:"version" maxLength:"100" doc:"Version or constraint, such as ^1.2"`
	Mode    string `query:"mode"                                                              enum:"production,debug" default:"production"`
	Agent   string `query:"agent" maxLength:"64" doc:"Slug or id: with the profiles that apply to its calls. Absent for other callers"`
	Run     string `query:"run" maxLength:"64" doc:"Id of a run: with its taint, its budgets and, unless one is named, its agent"`
}

func (s *server) registerTools() {
	handle(s, route{
		id: "listTools", method: http.MethodGet, path: "/v1/tools", tag: "tools", permission: ToolsRead,
		summary: "List tools, the tenant's and the global ones, in the order of slugs",
		detail: "A page may hold fewer items than its limit: tools that the caller may not use are left out. `next` says " +
			"whether there are more.",
	}, s.listTools)
	handle(s, route{
		id: "getTool", method: http.MethodGet, path: "/v1/tools/{tool}", tag: "tools", permission: ToolsRead,
		summary: "Get a tool",
		detail:  "Its draft head, state and policy. Values of its configuration that look like secrets are redacted.",
	}, s.getTool)
	handle(s, route{
		id: "listToolVersions", method: http.MethodGet, path: "/v1/tools/{tool}/versions", tag: "tools",
		permission: ToolsRead,
		summary:    "List a tool's versions, newest first", detail: "Published or not, each with its content.",
	}, s.listToolVersions)
	handle(s, route{
		id: "getToolVersion", method: http.MethodGet, path: "/v1/tools/{tool}/versions/{version}", tag: "tools",
		permission: ToolsRead,
		summary:    "Get a version of a tool", detail: "An immutable snapshot, found by its exact number.",
	}, s.getToolVersion)
	handle(s, route{
		id:         "listBuiltins",
		method:     http.MethodGet,
		path:       "/v1/tools/builtins/templates",
		tag:        "tools",
		permission: ToolsRead,
		summary:    "List the platform's own tools, in the order of slugs",
		detail: "The global tools with a built-in key, and the system's. The path is kept for compatibility: " +
			"there are no templates and instances, and retrieval tools are created like any other.",
	}, s.listBuiltins)
	handle(s, route{
		id: "explainTool", method: http.MethodGet, path: "/v1/tools/{tool}/explain", tag: "tools", permission: ToolsRead,
		or:      []string{ToolsWrite},
		summary: "Explain how a tool resolves",
		detail: "Applies every rule of a call, and reports the input of each, with the budgets that it counts in. A " +
			"refusal is part of the response, not an error.",
	}, s.explainTool)
	s.registerToolFacets()
	s.registerForms()
	s.registerToolEdits()
	s.registerToolChanges()
	s.registerToolMoves()
	s.registerToolBulk()
	s.registerOverrides()
	s.registerToolUsers()
	s.registerCanaries()
	s.registerReplays()
	s.registerPublishGates()
}

func (s *server) listTools(ctx context.Context, p tool.Principal, in *listToolsInput) (*listed[v1.Tool], error) {
	if in.Callable != "" {
		return s.listCallable(ctx, p, in)
	}
	q := registry.ToolQuery{
		Status: tool.Status(in.Status), Implementation: tool.Implementation(in.Implementation),
		Bucket: tool.Bucket(in.ToolType), Category: in.Category, Egress: tool.Egress(in.Egress),
		Risk: tool.RiskLevel(in.Risk), Search: in.Search, Archived: in.Archived, SwitchedOff: in.SwitchedOff,
		Limit: in.fetch(),
	}
	if in.Cursor != "" {
		var err error
		if q.AfterSlug, q.AfterID, err = openToolCursor(in.Cursor); err != nil {
			return nil, err
		}
	}
	tools, err := s.skipTools(ctx, p, q, in.Skip)
	if err != nil {
		return nil, err
	}
	return s.showTools(ctx, p, in.Paging, tools, func(*tool.Tool) bool { return true })
}

// showTools makes a page of those tools that the principal may know of and that
// match the filters.
func (s *server) showTools(
	ctx context.Context, p tool.Principal, in Paging, tools []tool.Tool, wanted func(*tool.Tool) bool,
) (*listed[v1.Tool], error) {
	out := answer(page(in, tools, v1.FromTool, toolPlace))
	standings, err := s.cfg.Resolver.Standings(ctx, p.Tenant, tools[:len(out.Body.Items)])
	if err != nil {
		return nil, err
	}
	viewer, shown := s.viewer(p), out.Body.Items[:0]
	for i, item := range out.Body.Items {
		item.Effective = v1.FromStanding(standings[i])
		sees, err := viewer.sees(ctx, &tools[i])
		if err != nil {
			return nil, err
		}
		if sees && wanted(&tools[i]) {
			shown = append(shown, item)
		}
	}
	out.Body.Items = shown
	return out, nil
}

// listBuiltins lists global tools only: a tenant's tool with the slug of a
// built-in is not one.
func (s *server) listBuiltins(ctx context.Context, p tool.Principal, in *Paging) (*listed[v1.Tool], error) {
	q := registry.ToolQuery{Bucket: tool.BucketBuiltIn, Limit: in.fetch()}
	if in.Cursor != "" {
		var err error
		if q.AfterSlug, q.AfterID, err = openToolCursor(in.Cursor); err != nil {
			return nil, err
		}
	}
	tools, err := s.cfg.Registry.List(ctx, p, q)
	if err != nil {
		return nil, err
	}
	return s.showTools(ctx, p, *in, tools, (*tool.Tool).Global)
}

// listCallable lists the tools that the principal may call, with the function
// that decides on calls.
func (s *server) listCallable(ctx context.Context, p tool.Principal, in *listToolsInput) (*listed[v1.Tool], error) {
	if in.Status != "" || in.Skip != 0 || in.Archived {
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: "api.listTools", Path: "callable",
			Msg: "callable cannot be combined with status, skip or archived",
		}
	}
	items, next, err := s.cfg.Resolver.List(ctx, p, tool.Mode(in.Callable), resolver.Filter{
		Implementation: tool.Implementation(in.Implementation), Bucket: tool.Bucket(in.ToolType), Search: in.Search,
		Category: in.Category, Egress: tool.Egress(in.Egress), Risk: tool.RiskLevel(in.Risk), Outside: true,
	}, resolver.Page{After: in.Cursor, Limit: in.Limit})
	if err != nil {
		return nil, err
	}
	out := answer(v1.Page[v1.Tool]{Items: make([]v1.Tool, len(items)), Next: next})
	for i, item := range items {
		out.Body.Items[i] = v1.FromTool(item.Tool)
		out.Body.Items[i].Version = item.Version
		out.Body.Items[i].Effective = v1.FromStanding(resolver.StandingOf(&item.Tool, item.Overrides))
	}
	return out, nil
}

// skipTools returns the tools after the first skip ones.
func (s *server) skipTools(
	ctx context.Context,
	p tool.Principal,
	q registry.ToolQuery,
	skip int,
) ([]tool.Tool, error) {
	want := q.Limit
	for {
		q.Limit = min(skip+want, v1.MaxLimit+1)
		tools, err := s.cfg.Registry.List(ctx, p, q)
		if err != nil {
			return nil, err
		}
		if n := len(tools); skip > 0 && n == q.Limit && skip+want > n {
			past := min(skip, n)
			q.AfterSlug, q.AfterID = tools[past-1].Slug, tools[past-1].ID
			skip -= past
			continue
		}
		return tools[min(skip, len(tools)):], nil
	}
}

func (s *server) getTool(ctx context.Context, p tool.Principal, in *toolInput) (*toolOutput, error) {
	t, err := s.findTool(ctx, p, in.Tool)
	if err != nil {
		return nil, err
	}
	out := showTool(t)
	if in.unchanged(out.Etag) {
		out.Status = http.StatusNotModified
		return out, nil
	}
	standings, err := s.cfg.Resolver.Standings(ctx, p.Tenant, []tool.Tool{t})
	if err != nil {
		return nil, err
	}
	out.Body.Effective = v1.FromStanding(standings[0])
	return out, nil
}

func showTool(t tool.Tool) *toolOutput {
	return &toolOutput{Status: http.StatusOK, Etag: etag(t.ID, t.Revision), Body: v1.FromTool(t)}
}

func (s *server) getToolVersion(
	ctx context.Context, p tool.Principal, in *toolVersionInput,
) (*body[v1.ToolVersion], error) {
	t, err := s.findTool(ctx, p, in.Tool)
	if err != nil {
		return nil, err
	}
	versions, err := s.cfg.Registry.Versions(ctx, p, tool.Ref{ID: t.ID})
	if err != nil {
		return nil, err
	}
	for _, v := range versions {
		if v.Number == in.Version {
			return answer(v1.FromToolVersion(v)), nil
		}
	}
	return nil, &tool.Error{
		Kind: tool.NotFound, Op: "api.getToolVersion", Msg: fmt.Sprintf("tool %q has no version %q", t.Slug, in.Version),
	}
}

func (s *server) listToolVersions(
	ctx context.Context, p tool.Principal, in *ToolPath,
) (*listed[v1.ToolVersion], error) {
	t, err := s.findTool(ctx, p, in.Tool)
	if err != nil {
		return nil, err
	}
	versions, err := s.cfg.Registry.Versions(ctx, p, tool.Ref{ID: t.ID})
	if err != nil {
		return nil, err
	}
	out := answer(v1.Page[v1.ToolVersion]{Items: make([]v1.ToolVersion, len(versions))})
	for i, v := range versions {
		out.Body.Items[i] = v1.FromToolVersion(v)
	}
	return out, nil
}
