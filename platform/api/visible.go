package api

import (
	"context"
	"errors"
	"fmt"

	"github.com/toolcrib/toolcrib/policy"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/tool"
)

// viewer decides which tools are visible to a principal: one that it may not use
// looks absent. A principal that manages a tenant's tools sees all tools of that
// tenant.
type viewer struct {
	server    *server
	principal tool.Principal
	slug      string // Of the tenant, read on first use.
}

func (s *server) viewer(p tool.Principal) *viewer { return &viewer{server: s, principal: p} }

// sees reports whether t is visible to the principal.
func (v *viewer) sees(ctx context.Context, t *tool.Tool) (bool, error) {
	if t.Interaction.Visibility == tool.VisibilityInternal && !v.principal.May(ToolsWrite) {
		return false, nil
	}
	if !t.Global() {
		return policy.Permits(v.principal, t.Policy) || v.principal.May(ToolsWrite), nil
	}
	if !policy.Permits(v.principal, t.Policy) {
		return false, nil
	}
	if len(t.TenantSlugs) > 0 && v.slug == "" {
		tenant, err := v.server.cfg.Store.FindTenant(ctx, v.principal.Tenant)
		if err != nil {
			return false, fmt.Errorf("finding the tenant: %w", err)
		}
		v.slug = tenant.Slug
	}
	return t.Serves(v.slug), nil
}

// findTool returns a tool that is visible to p, by slug or id.
func (s *server) findTool(ctx context.Context, p tool.Principal, name string) (tool.Tool, error) {
	absent := &tool.Error{Kind: tool.NotFound, Op: "api", Msg: fmt.Sprintf("tool %q not found", name)}
	ref := tool.Ref{Slug: name}
	switch {
	case tool.ValidID(name):
		ref = tool.Ref{ID: name}
	case !tool.ValidSlug(name):
		return tool.Tool{}, absent
	}
	t, err := s.cfg.Registry.Get(ctx, p, ref)
	switch {
	case err != nil && tool.KindOf(err) == tool.NotFound:
		return tool.Tool{}, s.calledNow(ctx, p, err, absent)
	case err != nil:
		return tool.Tool{}, err
	}
	if sees, err := s.viewer(p).sees(ctx, &t); err != nil {
		return tool.Tool{}, err
	} else if !sees {
		return tool.Tool{}, absent
	}
	return t, nil
}

// calledNow returns an error that names the current slug of a tool that was
// looked up by a former one, if the tool is visible to the principal; otherwise
// it returns absent.
func (s *server) calledNow(ctx context.Context, p tool.Principal, err error, absent *tool.Error) error {
	renamed, ok := errors.AsType[*registry.RenamedError](err)
	if !ok {
		return absent
	}
	_, hidden := s.findTool(ctx, p, renamed.Slug)
	switch {
	case hidden == nil:
		return &tool.Error{Kind: tool.NotFound, Op: "api", Msg: tool.AsError(err).Msg}
	case tool.KindOf(hidden) == tool.NotFound:
		return absent
	default:
		return hidden
	}
}
