package api

import (
	"context"
	"net/http"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/mcpserver"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolset"
)

// ToolsetPath names the toolset of a path. It is exported as [Paging] is.
type ToolsetPath struct {
	Toolset string `path:"toolset" maxLength:"64" doc:"Slug or id" example:"support"`
}

type toolsetInput struct {
	ToolsetPath
	Reading
}

type saveToolsetInput struct {
	ToolsetPath
	Changing
	Body v1.ToolsetDefinition
}

type deleteToolsetInput struct {
	ToolsetPath
	Changing
}

type createToolsetOutput struct {
	Location string `header:"Location"`
	Etag     string `header:"Etag"`
	Body     v1.Toolset
}

type toolsetOutput struct {
	Status int
	Etag   string `header:"Etag" doc:"Names this state of the toolset, for If-Match and If-None-Match"`
	Body   v1.Toolset
}

func (s *server) registerToolsets() {
	handle(s, route{
		id: "createToolset", method: http.MethodPost, path: "/v1/toolsets", tag: "mcp", permission: ToolsetsWrite,
		status: http.StatusCreated, summary: "Create a toolset",
		detail: "MCP clients at its address see and call those of its tools that their key may call, and no others. " +
			"A key that is made for it works there alone. A slug that the tenant already has is a conflict.",
	}, s.createToolset)
	handle(s, route{
		id: "listToolsets", method: http.MethodGet, path: "/v1/toolsets", tag: "mcp", permission: ToolsRead,
		summary: "List toolsets, in the order of slugs",
	}, s.listToolsets)
	handle(s, route{
		id: "getToolset", method: http.MethodGet, path: "/v1/toolsets/{toolset}", tag: "mcp", permission: ToolsRead,
		summary: "Get a toolset",
		detail:  "Tools that were deleted and servers that were detached are not in it.",
	}, s.getToolset)
	handle(s, route{
		id: "updateToolset", method: http.MethodPut, path: "/v1/toolsets/{toolset}", tag: "mcp", permission: ToolsetsWrite,
		summary: "Replace a toolset",
		detail: "Absent fields get the defaults of a new toolset. The slug cannot change. Clients are notified that their " +
			"list has changed; a tool that is no longer in it cannot be called from then on.",
	}, s.updateToolset)
	handle(s, route{
		id: "deleteToolset", method: http.MethodDelete, path: "/v1/toolsets/{toolset}", tag: "mcp",
		permission: ToolsetsWrite, summary: "Delete a toolset, and revoke the keys that were made for it",
	}, s.deleteToolset)
}

func (s *server) createToolset(
	ctx context.Context, p tool.Principal, in *body[v1.ToolsetDefinition],
) (*createToolsetOutput, error) {
	t := in.Body.Toolset()
	t.Tenant, t.CreatedBy = p.Tenant, p.Subject
	made, err := s.cfg.Store.CreateToolset(ctx, t)
	if err != nil {
		return nil, err
	}
	return &createToolsetOutput{
		Location: "/v1/toolsets/" + made.Slug, Etag: etag(made.ID, made.Revision), Body: showToolset(made),
	}, nil
}

func showToolset(t toolset.Toolset) v1.Toolset {
	return v1.FromToolset(t, mcpserver.ToolsetPath(t.Slug))
}

func (s *server) listToolsets(ctx context.Context, p tool.Principal, in *Paging) (*listed[v1.Toolset], error) {
	after, err := openCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	found, err := s.cfg.Store.ListToolsets(ctx, p.Tenant, after, in.fetch())
	if err != nil {
		return nil, err
	}
	return answer(page(*in, found, showToolset, func(t toolset.Toolset) string { return t.Slug })), nil
}

func (s *server) getToolset(ctx context.Context, p tool.Principal, in *toolsetInput) (*toolsetOutput, error) {
	found, err := s.cfg.Store.FindToolset(ctx, p.Tenant, in.Toolset)
	if err != nil {
		return nil, err
	}
	out := answerToolset(found)
	if in.unchanged(out.Etag) {
		out.Status = http.StatusNotModified
	}
	return out, nil
}

func answerToolset(t toolset.Toolset) *toolsetOutput {
	return &toolsetOutput{Status: http.StatusOK, Etag: etag(t.ID, t.Revision), Body: showToolset(t)}
}

// changingToolset returns a toolset that may be changed under the condition.
func (s *server) changingToolset(
	ctx context.Context, p tool.Principal, name string, c Changing,
) (toolset.Toolset, error) {
	found, err := s.cfg.Store.FindToolset(ctx, p.Tenant, name)
	if err == nil && c.IfMatch != "" && !names(c.IfMatch, etag(found.ID, found.Revision), false) {
		err = preconditionFailed()
	}
	return found, err
}

func (s *server) updateToolset(ctx context.Context, p tool.Principal, in *saveToolsetInput) (*toolsetOutput, error) {
	found, err := s.changingToolset(ctx, p, in.Toolset, in.Changing)
	if err != nil {
		return nil, err
	}
	t := in.Body.Toolset()
	if t.Slug != found.Slug {
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: "api.updateToolset", Path: "/slug", Msg: "a slug cannot be changed: it is " + found.Slug,
		}
	}
	if err := definition.CheckRevision("toolset", found.Slug, found.Revision, in.Body.Revision); err != nil {
		return nil, err
	}
	t.Tenant, t.ID, t.Revision, t.ChangedBy = p.Tenant, found.ID, found.Revision, p.Subject
	saved, err := s.cfg.Store.SaveToolset(ctx, t)
	if err != nil {
		return nil, in.failed(err)
	}
	return answerToolset(saved), nil
}

func (s *server) deleteToolset(
	ctx context.Context, p tool.Principal, in *deleteToolsetInput,
) (*body[v1.DeletedToolset], error) {
	found, err := s.changingToolset(ctx, p, in.Toolset, in.Changing)
	if err != nil {
		return nil, err
	}
	revoked, err := s.cfg.Store.DeleteToolset(ctx, p.Tenant, found.ID, found.Revision)
	if err != nil {
		return nil, in.failed(err)
	}
	return answer(v1.DeletedToolset{Toolset: found.Slug, RevokedKeys: revoked}), nil
}
