package api

import (
	"context"
	"net/http"
	"time"

	"github.com/toolcrib/toolcrib/confirm"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

type grantInput struct {
	ID string `path:"grant" maxLength:"64"`
}

type listGrantsInput struct {
	Tool   string `query:"tool" maxLength:"64" doc:"Slug"`
	Active bool   `query:"active" doc:"Only those that may be used"`
	Paging
}

func (s *server) registerGrants() {
	handle(s, route{
		id: "createGrant", method: http.MethodPost, path: "/v1/approval-grants", tag: "approvals",
		permission: ApprovalsDecide, status: http.StatusCreated,
		summary: "Make a standing grant",
		detail: "Approves calls that are to come, within limits. It counts as one approval of the key that makes it, while " +
			"that key may decide such calls, and never for runs that this key started.",
	}, s.createGrant)
	handle(s, route{
		id: "listGrants", method: http.MethodGet, path: "/v1/approval-grants", tag: "approvals",
		permission: ApprovalsRead, summary: "List standing grants, newest first",
	}, s.listGrants)
	handle(s, route{
		id: "getGrant", method: http.MethodGet, path: "/v1/approval-grants/{grant}", tag: "approvals",
		permission: ApprovalsRead, summary: "Get a standing grant",
	}, s.getGrant)
	handle(s, route{
		id: "revokeGrant", method: http.MethodPost, path: "/v1/approval-grants/{grant}/revoke", tag: "approvals",
		permission: ApprovalsDecide,
		summary:    "Revoke a standing grant", detail: "What it approved stays approved.",
	}, s.revokeGrant)
}

func (s *server) createGrant(ctx context.Context, p tool.Principal, in *body[v1.NewGrant]) (*body[v1.Grant], error) {
	if err := needsKey(p, "a standing grant"); err != nil {
		return nil, err
	}
	asked := in.Body
	condition, err := confirm.Compile(tool.Confirmation{When: asked.When})
	if err != nil {
		return nil, err //nolint:wrapcheck // It says what is wrong, and where.
	}
	named, err := s.cfg.Store.FindTool(ctx, p.Tenant, tool.Ref{Slug: asked.Tool})
	if err != nil {
		return nil, err
	}
	if err := definition.CheckConditionFields(condition, named.InputSchema); err != nil {
		return nil, err //nolint:wrapcheck // As above.
	}
	if asked.Agent != "" {
		if _, err := s.cfg.Store.FindAgent(ctx, p.Tenant, asked.Agent); err != nil {
			return nil, err
		}
	}
	made, err := s.cfg.Store.AddGrant(ctx, wait.Grant{
		Tenant: p.Tenant, Tool: asked.Tool, Version: asked.Version, Agent: asked.Agent, Requester: asked.Requester,
		Condition: asked.When, Uses: asked.Uses, Reason: asked.Reason, CreatedBy: p.Subject,
	}, time.Duration(asked.ExpiresS)*time.Second)
	if err != nil {
		return nil, err
	}
	return answer(v1.FromGrant(made)), nil
}

func (s *server) listGrants(ctx context.Context, p tool.Principal, in *listGrantsInput) (*listed[v1.Grant], error) {
	q := wait.GrantQuery{Tenant: p.Tenant, Tool: in.Tool, Active: in.Active, Limit: in.fetch()}
	var err error
	if q.Before, err = in.before(); err != nil {
		return nil, err
	}
	found, err := s.cfg.Store.ListGrants(ctx, q)
	if err != nil {
		return nil, err
	}
	return answer(page(in.Paging, found, v1.FromGrant, func(g wait.Grant) string { return g.ID })), nil
}

func (s *server) getGrant(ctx context.Context, p tool.Principal, in *grantInput) (*body[v1.Grant], error) {
	found, err := s.cfg.Store.FindGrant(ctx, p.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	return answer(v1.FromGrant(found)), nil
}

func (s *server) revokeGrant(ctx context.Context, p tool.Principal, in *grantInput) (*body[v1.Grant], error) {
	revoked, err := s.cfg.Store.RevokeGrant(ctx, p.Tenant, in.ID, p.Subject)
	if err != nil {
		return nil, err
	}
	return answer(v1.FromGrant(revoked)), nil
}
