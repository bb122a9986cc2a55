package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/toolcrib/toolcrib/internal/uuid7"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/embeds"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolembed"
)

type embedOriginInput struct {
	ID string `path:"origin" maxLength:"64" doc:"Id" example:"01975c2e-7d1a-7c3e-9f00-0000000000ec"`
}

func (s *server) registerEmbeds() {
	handle(s, route{
		id: "listEmbedOrigins", method: http.MethodGet, path: "/v1/embed-origins", tag: "embeds",
		permission: TenantsRead, summary: "List the origins that may frame the tenant's tools",
	}, s.listEmbedOrigins)
	handle(s, route{
		id: "addEmbedOrigin", method: http.MethodPost, path: "/v1/embed-origins", tag: "embeds",
		permission: TenantsWrite, status: http.StatusCreated, summary: "Let pages of an origin frame the tenant's tools",
		detail: "A tenant allows none at first, and 20 at most. Doing so again changes nothing.",
	}, s.addEmbedOrigin)
	handle(s, route{
		id: "removeEmbedOrigin", method: http.MethodDelete, path: "/v1/embed-origins/{origin}", tag: "embeds",
		permission: TenantsWrite, summary: "Let pages of an origin frame the tenant's tools no longer",
		detail: "Tokens for it open nothing from then on. Calls that have begun go on.",
	}, s.removeEmbedOrigin)
	handle(s, route{
		id: "createEmbedToken", method: http.MethodPost, path: "/v1/embed-tokens", tag: "embeds",
		permission: EmbedsMint, status: http.StatusCreated, secret: true,
		summary: "Make a token that runs a tool in a frame of another site",
		detail: "For the backend of that site, with an API key, for each view of a page. The token is good for five " +
			"minutes, for pages of one origin, and runs one version of one tool, as `caller`, with the permission that the " +
			"tool asks for, which the key has to have too. No endpoint of the API takes it. It ends with the key, and with " +
			"the origin. A form that asks for passwords gets none.",
	}, s.createEmbedToken)
}

func (s *server) listEmbedOrigins(
	ctx context.Context, p tool.Principal, _ *struct{},
) (*listed[v1.EmbedOrigin], error) {
	found, err := s.cfg.Store.ListEmbedOrigins(ctx, p.Tenant)
	if err != nil {
		return nil, err
	}
	out := v1.Page[v1.EmbedOrigin]{Items: []v1.EmbedOrigin{}}
	for _, o := range found {
		out.Items = append(out.Items, v1.FromEmbedOrigin(o))
	}
	return answer(out), nil
}

func (s *server) addEmbedOrigin(
	ctx context.Context, p tool.Principal, in *body[v1.NewEmbedOrigin],
) (*body[v1.EmbedOrigin], error) {
	id, err := uuid7.New()
	if err != nil {
		return nil, fmt.Errorf("making an id: %w", err)
	}
	made, err := s.cfg.Store.AddEmbedOrigin(ctx, toolembed.Origin{
		ID: id, Tenant: p.Tenant, Origin: in.Body.Origin, CreatedBy: p.Subject,
	})
	if err != nil {
		return nil, err
	}
	return answer(v1.FromEmbedOrigin(made)), nil
}

func (s *server) removeEmbedOrigin(
	ctx context.Context, p tool.Principal, in *embedOriginInput,
) (*body[v1.EmbedOrigin], error) {
	gone, err := s.cfg.Store.RemoveEmbedOrigin(ctx, p.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	return answer(v1.FromEmbedOrigin(gone)), nil
}

func (s *server) createEmbedToken(
	ctx context.Context, p tool.Principal, in *body[v1.NewEmbedToken],
) (*body[v1.EmbedToken], error) {
	made, err := s.embeds.Make(ctx, embeds.Request{
		Principal: p, Tool: refOf(in.Body.Tool, in.Body.Version), Origin: in.Body.Origin, Caller: in.Body.Caller,
	})
	if err != nil {
		return nil, err
	}
	own, err := s.cfg.Store.FindTenant(ctx, p.Tenant)
	if err != nil {
		return nil, err
	}
	return answer(v1.EmbedToken{
		Token: made.Token, ExpiresAt: made.ExpiresAt, Origin: made.Origin, Tool: made.Slug, Version: made.Version,
		URL:     strings.TrimSuffix(s.cfg.PublicURL, "/") + toolembed.Path + own.Slug + "/" + made.Slug,
		Subject: toolembed.Subject(made.KeyID, made.Caller),
	}), nil
}
