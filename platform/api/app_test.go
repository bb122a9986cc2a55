package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// offerApp puts a tool into the server's offer that has a page at ui://files/NAME, for those who may call it.
func (s remoteServer) offerApp(name string, visibility ...string) {
	s.offerWith(name, map[string]any{"resourceUri": "ui://files/" + name, "visibility": visibility})
}

func (s remoteServer) offerWith(name string, ui map[string]any) {
	s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(pathSchema), Meta: mcp.Meta{"ui": ui}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{}, nil
		})
}

// page puts a page into the server's offer.
func (s remoteServer) page(name, media, html string, csp map[string]any) {
	s.AddResource(&mcp.Resource{URI: "ui://files/" + name, Name: name},
		func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{
				URI: r.Params.URI, MIMEType: media, Text: html, Meta: mcp.Meta{"ui": map[string]any{"csp": csp}},
			}}}, nil
		})
}

// showing lets a server under test ask MCP servers of the test, for tools and for apps.
func showing(t *testing.T, hosts ...string) func(*api.Config) {
	t.Helper()
	return func(c *api.Config) {
		plugin, err := worker.New(t.Context(), worker.Config{
			Store: c.Store, Allow: map[tool.TenantID]worker.Allowance{"": {Hosts: hosts}},
		})
		require.NoError(t, err)
		t.Cleanup(func() { _ = plugin.Close() })
		c.Registry = registry.New(c.Store, registry.Options{Resolver: c.Resolver, Discoverer: plugin.Discoverer()})
		c.Apps = plugin.Apps()
	}
}

// The page of a tool is given where the tenant shows apps, as the server has it now, with a policy that names no host
// unless a list of the tenant or the operator does; with it, the tools that it may ask for. Where its definition
// changed, it is not shown.
func TestToolApp(t *testing.T) {
	t.Parallel()

	const media, html = "text/html;profile=mcp-app", "<!doctype html><title>Files</title>"
	remote := newRemoteServer(t)
	remote.offer("read_file", "Reads a file.", pathSchema)
	remote.offerApp("show_file")
	remote.offerApp("fresh", "app")
	remote.offerApp("summarize", "model")
	remote.page("show_file", media, html, map[string]any{
		"connectDomains":  []string{"https://api.example.com", "https://evil.example"},
		"resourceDomains": []string{"https://cdn.example.com"},
	})
	remote.page("fresh", "text/html", html, nil)
	b := setup(t, showing(t, remote.host, "api.example.com"))
	attach := `{"slug":"files","server_url":"` + remote.url + `","allowed_tools":["*"],"trust_hints":true}`
	require.Equal(t, http.StatusCreated, b.do(t, http.MethodPost, "/v1/mcp/servers", attach).status)
	get := func(path, key string) answer { return b.do(t, http.MethodGet, "/v1/tools/"+path, "", key) }
	form := func(slug string) (f v1.ToolForm) {
		get(slug+"/fields", b.key).into(t, &f)
		return f
	}

	require.False(t, form("filesShowFile").App)
	p := get("filesShowFile/app", b.key).problem(t)
	require.Equal(t, tool.Denied, p.Code)
	require.Contains(t, p.Detail, "switch for publishing is off")
	require.Equal(t, http.StatusOK,
		b.do(t, http.MethodPut, "/v1/tenants/"+string(b.tenant)+"/publishing", `{"mcp_apps_publish_enabled":true}`).status)
	require.True(t, form("filesShowFile").App)
	require.False(t, form("filesReadFile").App)
	require.Equal(t, tool.AudienceUser, form("filesFresh").Audience, "it is for apps alone")

	var app v1.ToolApp
	get("filesShowFile/app", b.key).into(t, &app)
	require.Equal(t, html, app.HTML)
	require.Equal(t, "show_file", app.RemoteName)
	require.Equal(t, []string{"https://api.example.com"}, app.ConnectDomains)
	require.Empty(t, app.ResourceDomains)
	require.Contains(t, app.CSP, "connect-src https://api.example.com;")
	require.NotContains(t, app.CSP, "evil")
	require.Empty(t, app.Tools, "drafts do not run")
	for _, slug := range []string{"filesReadFile", "filesShowFile", "filesFresh", "filesSummarize"} {
		require.Equal(t, http.StatusOK, b.do(t, http.MethodPost, "/v1/tools/"+slug+"/publish", "").status, slug)
	}
	get("filesShowFile/app?version="+form("filesShowFile").Version, b.key).into(t, &app)
	require.Equal(t, []v1.AppTool{
		{Name: "fresh", Tool: "filesFresh"}, {Name: "read_file", Tool: "filesReadFile"}, {Name: "show_file", Tool: "filesShowFile"},
	}, app.Tools, "those for models alone are none of its")

	require.Equal(t, tool.NotFound, get("filesReadFile/app", b.key).problem(t).Code)
	require.Equal(t, tool.NotFound, get("filesShowFile/app?version=9.0.0", b.key).problem(t).Code)
	require.Equal(t, tool.Unavailable, get("filesFresh/app", b.key).problem(t).Code, "it is not of the type of apps")
	require.Equal(t, http.StatusForbidden, get("filesShowFile/app", b.Key(t, b.tenant, api.RunsRead)).status)
	other := b.Key(t, b.Tenant(t), "*")
	require.Equal(t, tool.NotFound, get("filesShowFile/app", other).problem(t).Code)

	remote.offerWith("show_file", map[string]any{"resourceUri": "ui://files/fresh"})
	require.Equal(t, http.StatusOK, b.do(t, http.MethodPost, "/v1/mcp/servers/files/refresh", "").status)
	require.Equal(t, tool.Conflict, get("filesShowFile/app", b.key).problem(t).Code)
	get("filesFresh/app", b.key).problem(t)
	require.Equal(t, http.StatusOK, b.do(t, http.MethodPost, "/v1/mcp/servers/files/approve",
		`{"tools":[{"name":"show_file"}],"publish":true}`).status)
	require.Equal(t, tool.Unavailable, get("filesShowFile/app", b.key).problem(t).Code, "its page is another one now")
}
