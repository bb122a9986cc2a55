package api

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/mcpserver"
	"github.com/toolcrib/toolcrib/tool"
)

// MCPServerPath names the server of a path. It is exported as [Paging] is.
type MCPServerPath struct {
	Server string `path:"server" maxLength:"64" doc:"Slug or id" example:"files"`
}

type attachServerOutput struct {
	Location string `header:"Location"`
	Etag     string `header:"Etag"`
	Body     v1.MCPRefresh
}

type serverInput struct {
	MCPServerPath
	Reading
}

type updateServerInput struct {
	MCPServerPath
	Changing
	Body json.RawMessage
}

type changeServerInput struct {
	MCPServerPath
	Changing
}

type serverOutput struct {
	Status int
	Etag   string `header:"Etag" doc:"Names this state of the server, for If-Match and If-None-Match"`
	Body   v1.MCPServer
}

type refreshServerOutput struct {
	Etag string `header:"Etag"`
	Body v1.MCPRefresh
}

type trustServerInput struct {
	MCPServerPath
	Changing
	Body v1.MCPTrust
}

type detachServerInput struct {
	MCPServerPath
	Changing
	Force bool `query:"force" doc:"Disable the published tools that run on it; otherwise they make it a conflict"`
}

func (s *server) registerMCPServers() {
	handle(s, route{
		id: "attachMCPServer", method: http.MethodPost, path: "/v1/mcp/servers", tag: "mcp", permission: ToolsWrite,
		status:  http.StatusCreated,
		summary: "Attach an MCP server", body: reflect.TypeFor[v1.MCPServerDefinition](),
		detail: "Lists the server's tools: each allowed one becomes a draft that pins the server's " +
			"definition. A server that does not respond is attached all the same; `error` says why. A slug that the " +
			"tenant already has is a conflict.",
	}, s.attachServer)
	handle(s, route{
		id: "listMCPServers", method: http.MethodGet, path: "/v1/mcp/servers", tag: "mcp", permission: ToolsRead,
		summary: "List MCP servers, in the order of slugs",
		detail:  "Those that are attached, with the result of the last discovery.",
	}, s.listServers)
	handle(s, route{
		id: "getMCPServer", method: http.MethodGet, path: "/v1/mcp/servers/{server}", tag: "mcp", permission: ToolsRead,
		summary: "Get an MCP server", detail: "It names credentials, but has no values of them.",
	}, s.getServer)
	handle(s, route{
		id: "updateMCPServer", method: http.MethodPut, path: "/v1/mcp/servers/{server}", tag: "mcp", permission: ToolsWrite,
		summary: "Replace the connection and the allowed tools of an MCP server",
		body:    reflect.TypeFor[v1.MCPServerDefinition](),
		detail: "Absent fields get the defaults of a new server. A tool that is no longer allowed stops at once; " +
			"a newly allowed one is imported by the next refresh. The slug cannot change.",
	}, s.updateServer)
	handle(s, route{
		id: "refreshMCPServer", method: http.MethodPost, path: "/v1/mcp/servers/{server}/refresh", tag: "mcp",
		permission: ToolsWrite,
		summary:    "Refresh the tools of an MCP server",
		detail: "Imports new, allowed tools as drafts. A tool whose definition changed, or which was removed, stops; the " +
			"others continue to work. A tool that returns to its approved definition works again. If the server does " +
			"not respond, nothing changes.",
	}, s.refreshServer)
	handle(s, route{
		id: "trustMCPServer", method: http.MethodPut, path: "/v1/mcp/servers/{server}/trust", tag: "mcp",
		permission: TenantsWrite,
		summary:    "Set whether results of an MCP server are trusted",
		detail: "Results of MCP servers taint the runs that get them, until an administrator says that this server is " +
			"trusted; `execution.trust` of a tool comes before it. Runs that began before stay as they are. A new address, " +
			"transport or command of the server takes it back.",
	}, s.trustServer)
	handle(s, route{
		id: "detachMCPServer", method: http.MethodPost, path: "/v1/mcp/servers/{server}/detach", tag: "mcp",
		permission: ToolsWrite,
		summary:    "Detach an MCP server",
		detail: "The imported tools stay, but no longer run. While some of them are published " +
			"it is a conflict, unless forced.",
	}, s.detachServer)
	s.registerMCPTools()
}

func (s *server) attachServer(
	ctx context.Context, p tool.Principal, in *body[json.RawMessage],
) (*attachServerOutput, error) {
	spec, err := parseServer(in.Body)
	if err != nil {
		return nil, err
	}
	attached, report, err := s.cfg.Registry.Servers().Attach(ctx, p, spec)
	if err != nil {
		return nil, err
	}
	out := &attachServerOutput{
		Location: "/v1/mcp/servers/" + attached.Slug, Etag: etag(attached.ID, attached.Revision),
		Body: v1.FromRefresh(attached, report),
	}
	if report.Err != nil {
		failed := *s.problem(ctx, "attachMCPServer", report.Err)
		failed.TraceID = traceID(ctx)
		out.Body.Error = &failed
	}
	return out, nil
}

// parseServer reads the definition of a server.
func parseServer(raw json.RawMessage) (definition.ServerSpec, error) {
	raw, err := withField(raw, "mcp_server", "kind")
	if err != nil {
		return definition.ServerSpec{}, err
	}
	d, err := definition.Parse(raw)
	if err != nil {
		return definition.ServerSpec{}, err
	}
	if d.Server == nil {
		return definition.ServerSpec{}, otherKind("MCP server")
	}
	return *d.Server, nil
}

func (s *server) listServers(ctx context.Context, p tool.Principal, in *Paging) (*listed[v1.MCPServer], error) {
	after, err := openCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	servers, err := s.cfg.Registry.Servers().List(ctx, p, after, in.fetch())
	if err != nil {
		return nil, err
	}
	return answer(page(*in, servers, v1.FromMCPServer, func(server mcpserver.Server) string { return server.Slug })), nil
}

func (s *server) getServer(ctx context.Context, p tool.Principal, in *serverInput) (*serverOutput, error) {
	found, err := s.cfg.Registry.Servers().Get(ctx, p, in.Server)
	if err != nil {
		return nil, err
	}
	out := showServer(found)
	if in.unchanged(out.Etag) {
		out.Status = http.StatusNotModified
	}
	return out, nil
}

func showServer(found mcpserver.Server) *serverOutput {
	return &serverOutput{Status: http.StatusOK, Etag: etag(found.ID, found.Revision), Body: v1.FromMCPServer(found)}
}

// changingServer returns a server, and the registry that changes it under the
// condition.
func (s *server) changingServer(
	ctx context.Context, p tool.Principal, name string, c Changing,
) (mcpserver.Server, *mcpserver.Registry, error) {
	found, err := s.cfg.Registry.Servers().Get(ctx, p, name)
	if err != nil {
		return mcpserver.Server{}, nil, err
	}
	changing, err := conditional(c, s.cfg.Registry.Servers(), found.ID, found.Revision)
	return found, changing, err
}

func (s *server) updateServer(ctx context.Context, p tool.Principal, in *updateServerInput) (*serverOutput, error) {
	found, changing, err := s.changingServer(ctx, p, in.Server, in.Changing)
	if err != nil {
		return nil, err
	}
	raw, err := withField(in.Body, found.Slug, "slug")
	if err != nil {
		return nil, err
	}
	spec, err := parseServer(raw)
	if err != nil {
		return nil, err
	}
	saved, err := changing.Update(ctx, p, found.ID, spec)
	if err != nil {
		return nil, in.failed(err)
	}
	return showServer(saved), nil
}

func (s *server) refreshServer(
	ctx context.Context, p tool.Principal, in *changeServerInput,
) (*refreshServerOutput, error) {
	found, changing, err := s.changingServer(ctx, p, in.Server, in.Changing)
	if err != nil {
		return nil, err
	}
	asked, report, err := changing.Refresh(ctx, p, found.ID)
	if err != nil {
		return nil, in.failed(err)
	}
	return &refreshServerOutput{Etag: etag(asked.ID, asked.Revision), Body: v1.FromRefresh(asked, report)}, nil
}

func (s *server) trustServer(ctx context.Context, p tool.Principal, in *trustServerInput) (*serverOutput, error) {
	found, changing, err := s.changingServer(ctx, p, in.Server, in.Changing)
	if err != nil {
		return nil, err
	}
	saved, err := changing.Trust(ctx, p, found.ID, in.Body.Trusted)
	if err != nil {
		return nil, in.failed(err)
	}
	return showServer(saved), nil
}

func (s *server) detachServer(
	ctx context.Context, p tool.Principal, in *detachServerInput,
) (*body[v1.DetachedMCP], error) {
	found, changing, err := s.changingServer(ctx, p, in.Server, in.Changing)
	if err != nil {
		return nil, err
	}
	disabled, err := changing.Detach(ctx, p, found.ID, in.Force)
	if err != nil {
		return nil, in.failed(err)
	}
	if disabled == nil {
		disabled = []string{}
	}
	return answer(v1.DetachedMCP{Server: found.Slug, Disabled: disabled}), nil
}
