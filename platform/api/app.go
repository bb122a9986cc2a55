package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/toolcrib/toolcrib/executors/mcpcall"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/appframe"
	"github.com/toolcrib/toolcrib/tool"
)

// Apps reads the pages that MCP servers have for the results of their tools. [worker.Plugin] has one. Its domains are
// those that the page may load from.
type Apps interface {
	ReadApp(
		ctx context.Context, tenant tool.TenantID, d *tool.Definition, rules tool.EgressRules,
	) (*mcpcall.App, error)
}

func (s *server) registerToolApps() {
	handle(s, route{
		id: "getToolApp", method: http.MethodGet, path: "/v1/tools/{tool}/app", tag: "tools", permission: ToolsRead,
		summary: "Get the app of a tool of an MCP server",
		detail: "The page that the server has for the results of the tool (MCP Apps), as it gives it now, at most 2 MiB of " +
			"`text/html;profile=mcp-app`. It is foreign code: show it in a sandboxed frame without an origin alone, under the " +
			"policy of `csp`. The tenant's switch for publishing has to be on, or it is denied. A tool without an app " +
			"has none to be found; one that is stopped, or whose server is disabled, is a conflict.",
	}, s.getToolApp)
}

func (s *server) getToolApp(ctx context.Context, p tool.Principal, in *toolFieldsInput) (*body[v1.ToolApp], error) {
	t, d, _, err := s.definitionAt(ctx, p, in.Tool, in.Version)
	if err != nil {
		return nil, err
	}
	declared := appOf(d)
	if s.cfg.Apps == nil || declared == nil || t.Global() {
		return nil, &tool.Error{
			Kind: tool.NotFound, Op: "api.getToolApp", Msg: fmt.Sprintf("tool %q has no app", t.Slug),
		}
	}
	on, err := s.cfg.Store.PublishingEnabled(ctx, p.Tenant)
	if err != nil {
		return nil, err
	}
	if !on {
		return nil, &tool.Error{
			Kind: tool.Denied, Op: "api.getToolApp",
			Msg: "the tenant does not show apps: its switch for publishing is off",
		}
	}
	if t.Quarantine != "" {
		return nil, &tool.Error{
			Kind: tool.Conflict, Op: "api.getToolApp", Msg: fmt.Sprintf("tool %q is quarantined: %s", t.Slug, t.Quarantine),
		}
	}
	app, err := s.cfg.Apps.ReadApp(ctx, p.Tenant, d, t.EgressRules)
	if err != nil {
		return nil, err
	}
	out := v1.ToolApp{
		Tool: t.Slug, Name: d.Name, RemoteName: declared.ToolName, InputSchema: d.InputSchema,
		ResourceURI: app.ResourceURI, HTML: app.HTML, PrefersBorder: app.PrefersBorder,
		ConnectDomains:  append([]string{}, app.ConnectDomains...),
		ResourceDomains: append([]string{}, app.ResourceDomains...),
	}
	out.CSP = appframe.Policy(app.ConnectDomains, app.ResourceDomains)
	out.Tools, err = s.appTools(ctx, p, declared)
	return answer(out), err
}

// appOf returns the configuration of a tool of an MCP server that has an app; nil for any other.
func appOf(d *tool.Definition) *mcpcall.Config {
	var c mcpcall.Config
	if d.ImplementationType() != tool.MCP || json.Unmarshal(d.Config, &c) != nil || c.UI == nil ||
		c.UI.ResourceURI == "" {
		return nil
	}
	return &c
}

// appTools returns the tools that an app may ask for: those of the same attached server that run, that the server
// offers to apps, and that the caller sees.
func (s *server) appTools(ctx context.Context, p tool.Principal, of *mcpcall.Config) ([]v1.AppTool, error) {
	out := []v1.AppTool{}
	if of.Attached == "" {
		return out, nil
	}
	all, err := s.cfg.Store.ListServerTools(ctx, p.Tenant, of.Attached)
	if err != nil {
		return nil, err
	}
	viewer := s.viewer(p)
	for i := range all {
		t := &all[i]
		if t.Status != tool.Published && t.Status != tool.Deprecated || t.Quarantine != "" {
			continue
		}
		var c mcpcall.Config
		if json.Unmarshal(t.Config, &c) != nil || c.Attached != of.Attached || !c.UI.Serves(mcpcall.ForApp) {
			continue
		}
		sees, err := viewer.sees(ctx, t)
		if err != nil {
			return nil, err
		}
		if sees {
			out = append(out, v1.AppTool{Name: c.ToolName, Tool: t.Slug})
		}
	}
	return out, nil
}
