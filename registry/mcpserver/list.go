package mcpserver

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// Get returns a server of the tenant.
func (r *Registry) Get(ctx context.Context, p tool.Principal, slugOrID string) (Server, error) {
	s, err := r.store.FindServer(ctx, p.Tenant, slugOrID)
	if err != nil {
		return Server{}, fmt.Errorf("finding server %q: %w", slugOrID, err)
	}
	return s, nil
}

// List returns a page of the tenant's servers in the order of slugs.
func (r *Registry) List(ctx context.Context, p tool.Principal, afterSlug string, limit int) ([]Server, error) {
	servers, err := r.store.ListServers(ctx, p.Tenant, afterSlug, limit)
	if err != nil {
		return nil, fmt.Errorf("listing servers: %w", err)
	}
	return servers, nil
}

// Tools returns a page of the tools that a server offers or has offered, in the
// order of names.
func (r *Registry) Tools(ctx context.Context, p tool.Principal, slugOrID string, q ToolQuery) ([]Tool, error) {
	s, err := r.Get(ctx, p, slugOrID)
	if err != nil {
		return nil, err
	}
	tools, err := r.store.ListRemoteTools(ctx, p.Tenant, s.ID, q)
	if err != nil {
		return nil, fmt.Errorf("listing what server %q offers: %w", s.Slug, err)
	}
	return tools, nil
}

// known returns all stored tools of a server.
func (r *Registry) known(ctx context.Context, s *Server) ([]Tool, error) {
	var all []Tool
	q := ToolQuery{Limit: remotePage}
	for {
		page, err := r.store.ListRemoteTools(ctx, s.Tenant, s.ID, q)
		if err != nil {
			return nil, fmt.Errorf("listing what server %q offers: %w", s.Slug, err)
		}
		all = append(all, page...)
		if len(page) < remotePage {
			return all, nil
		}
		q.AfterName = page[len(page)-1].Name
	}
}

const remotePage = 500

// own returns a server that p may change.
func (r *Registry) own(ctx context.Context, p tool.Principal, slugOrID string) (Server, error) {
	if err := refusal.Unpermitted(p, refusal.ToolsWrite); err != nil {
		return Server{}, err
	}
	s, err := r.Get(ctx, p, slugOrID)
	if err != nil {
		return Server{}, err
	}
	if err := definition.CheckRevision("server", s.Slug, s.Revision, r.revision); err != nil {
		return Server{}, err
	}
	return s, nil
}
