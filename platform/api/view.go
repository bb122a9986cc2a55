package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/views"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/view"
)

// ViewPath names the published view of a path. It is exported as [Paging] is.
type ViewPath struct {
	ID string `path:"view" maxLength:"64" doc:"Id" example:"01975c2e-7d1a-7c3e-9f00-0000000000e8"`
}

type viewInput struct{ ViewPath }

type rotateViewInput struct {
	ViewPath
	Body *v1.ViewRotation
}

type publishedViewOutput struct {
	Location string `header:"Location"`
	Body     v1.PublishedView
}

type publishingInput struct {
	Tenant string `path:"tenant" maxLength:"64" doc:"Slug or id"`
	Body   v1.Publishing
}

func (s *server) registerViews() {
	handle(s, route{
		id: "publishView", method: http.MethodPost, path: "/v1/views", tag: "views", permission: ViewsWrite,
		status: http.StatusCreated, summary: "Publish a view",
		detail: "Everyone who has the link can open its page without a login, until it expires or is revoked. The page " +
			"displays only: a view that takes input is refused, and so is a call without a result. The result of a call " +
			"takes `runs.read` too. The tenant's switch for publishing has to be on. Only this response has the link.",
		secret: true,
	}, s.publishView)
	handle(s, route{
		id: "listViews", method: http.MethodGet, path: "/v1/views", tag: "views", permission: ViewsRead,
		summary: "List published views, newest first",
		detail:  "Views whose link expired or was revoked more than 90 days ago are deleted as others are published.",
	}, s.listViews)
	handle(s, route{
		id: "getView", method: http.MethodGet, path: "/v1/views/{view}", tag: "views", permission: ViewsRead,
		summary: "Get a published view",
	}, s.getView)
	handle(s, route{
		id: "revokeView", method: http.MethodDelete, path: "/v1/views/{view}", tag: "views", permission: ViewsWrite,
		summary: "Revoke a published view",
		detail:  "Its link opens nothing from then on, for good. Doing so again changes nothing.",
	}, s.revokeView)
	handle(s, route{
		id: "rotateView", method: http.MethodPost, path: "/v1/views/{view}/rotate", tag: "views", permission: ViewsWrite,
		summary: "Replace the link of a published view",
		detail: "The old link opens nothing from then on. The result of a call takes `runs.read` too. Only this response " +
			"has the new one.",
		secret: true,
	}, s.rotateView)
	handle(s, route{
		id: "setTenantPublishing", method: http.MethodPut, path: "/v1/tenants/{tenant}/publishing", tag: "tenants",
		permission: TenantsWrite, summary: "Set whether the tenant publishes views",
		detail: "It is off at first. On, MCP clients whose key may call tools and publish views are offered " +
			"`publish_view` and `submit_view_response` too, and the console shows the apps of MCP servers. Links that were " +
			"shared before it was switched off open until they are revoked.",
	}, s.setTenantPublishing)
}

func (s *server) publishView(
	ctx context.Context, p tool.Principal, in *body[v1.NewView],
) (*publishedViewOutput, error) {
	made, err := s.views.Publish(ctx, views.Request{
		Principal: p, Title: in.Body.Title, Description: in.Body.Description, Kind: in.Body.Kind, RunID: in.Body.RunID,
		Tool: refOf(in.Body.Tool, ""), Keep: time.Duration(in.Body.ExpiresIn) * time.Second,
	})
	if err != nil {
		return nil, err
	}
	return s.showPublished(made), nil
}

func (s *server) showPublished(p views.Published) *publishedViewOutput {
	return &publishedViewOutput{
		Location: "/v1/views/" + p.ID,
		Body: v1.PublishedView{
			View: v1.FromView(p.View), URL: strings.TrimSuffix(s.cfg.PublicURL, "/") + p.Path(), Token: p.Token,
		},
	}
}

func (s *server) listViews(ctx context.Context, p tool.Principal, in *Paging) (*listed[v1.View], error) {
	before, err := openCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	found, err := s.cfg.Store.ListViews(ctx, p.Tenant, before, in.fetch())
	if err != nil {
		return nil, err
	}
	return answer(page(*in, found, v1.FromView, func(v view.View) string { return v.ID })), nil
}

func (s *server) getView(ctx context.Context, p tool.Principal, in *viewInput) (*body[v1.View], error) {
	found, err := s.cfg.Store.FindView(ctx, p.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	return answer(v1.FromView(found)), nil
}

func (s *server) revokeView(ctx context.Context, p tool.Principal, in *viewInput) (*body[v1.View], error) {
	gone, err := s.cfg.Store.RevokeView(ctx, p.Tenant, in.ID, p.Subject)
	if err != nil {
		return nil, err
	}
	return answer(v1.FromView(gone)), nil
}

func (s *server) rotateView(
	ctx context.Context, p tool.Principal, in *rotateViewInput,
) (*publishedViewOutput, error) {
	var keep time.Duration
	if in.Body != nil {
		keep = time.Duration(in.Body.ExpiresIn) * time.Second
	}
	rotated, err := s.views.Rotate(ctx, p, in.ID, keep)
	if err != nil {
		return nil, err
	}
	return s.showPublished(rotated), nil
}

func (s *server) setTenantPublishing(
	ctx context.Context, p tool.Principal, in *publishingInput,
) (*body[v1.Tenant], error) {
	if _, err := s.ownTenant(ctx, p, in.Tenant); err != nil {
		return nil, err
	}
	changed, err := s.cfg.Store.SetPublishing(ctx, p.Tenant, in.Body.Enabled)
	if err != nil {
		return nil, err
	}
	return answer(showTenant(changed)), nil
}
