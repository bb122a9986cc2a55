package registry

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/internal/uuid7"
	"github.com/toolcrib/toolcrib/tool"
)

// AttachServer makes a server known, and asks it what it offers: the tools that
// are allowed become drafts. A server that does not answer is attached all the
// same; the Refresh says why it did not.
func (r *Registry) AttachServer(ctx context.Context, p tool.Principal, spec MCPServerSpec) (MCPServer, Refresh, error) {
	s, err := r.newServer(p, spec)
	if err != nil {
		return MCPServer{}, Refresh{}, err
	}
	if s, err = r.store.CreateServer(ctx, s); err != nil {
		return MCPServer{}, Refresh{}, fmt.Errorf("attaching server %q: %w", spec.Slug, err)
	}
	return r.firstRefresh(ctx, p, s)
}

// firstRefresh asks a server that stands already, so that its silence is no
// failure of what went before.
func (r *Registry) firstRefresh(ctx context.Context, p tool.Principal, s MCPServer) (MCPServer, Refresh, error) {
	if s.Status != ServerActive {
		return s, Refresh{}, nil
	}
	asked, report, err := r.refresh(ctx, p, s)
	if err != nil && report.Err == nil {
		return MCPServer{}, Refresh{}, err
	}
	return asked, report, nil
}

func (r *Registry) newServer(p tool.Principal, spec MCPServerSpec) (MCPServer, error) {
	if err := mayWrite(p, ToolsWrite); err != nil {
		return MCPServer{}, err
	}
	if err := r.checkServer(&spec); err != nil {
		return MCPServer{}, err
	}
	id, err := uuid7.New()
	if err != nil {
		return MCPServer{}, err
	}
	now := r.opts.Clock().UTC()
	s := MCPServer{ID: id, Tenant: p.Tenant, Slug: spec.Slug, CreatedBy: p.Subject, CreatedAt: now, UpdatedAt: now}
	spec.apply(&s)
	return s, nil
}

// UpdateServer changes how a server is reached and what is allowed of it. Its
// slug stays. An imported tool that is no longer allowed stops at once; one
// that is allowed now comes with the next refresh.
func (r *Registry) UpdateServer(
	ctx context.Context, p tool.Principal, slugOrID string, spec MCPServerSpec,
) (MCPServer, error) {
	s, err := r.ownServer(ctx, p, slugOrID)
	if err != nil {
		return MCPServer{}, err
	}
	if spec.Slug == "" {
		spec.Slug = s.Slug
	}
	if s, err = r.editedServer(s, spec); err != nil {
		return MCPServer{}, err
	}
	return r.saveServer(ctx, s)
}

// editedServer returns s as spec wants it.
func (r *Registry) editedServer(s MCPServer, spec MCPServerSpec) (MCPServer, error) {
	if err := r.checkServer(&spec); err != nil {
		return s, err
	}
	if spec.Slug != s.Slug {
		return s, refuse(tool.Invalid, "/slug", "a slug cannot be changed: it is %s", s.Slug)
	}
	if err := refuseChanged("server", s.Slug, s.Revision, spec.Revision); err != nil {
		return s, err
	}
	spec.apply(&s)
	return s, nil
}

// saveServer stores a changed server, and stops what it no longer allows.
func (r *Registry) saveServer(ctx context.Context, s MCPServer) (MCPServer, error) {
	known, err := r.remoteTools(ctx, &s)
	if err != nil {
		return MCPServer{}, err
	}
	now := r.opts.Clock().UTC()
	forbidden := plan{server: &s, now: now, changes: RemoteChanges{Stop: make(map[string]string)}}
	for _, t := range known {
		if t.Imported() && t.State != Gone && !s.Allows(t.Name) {
			forbidden.stop(t, Refused, RemoteRefused, notAllowed)
		}
	}
	s.UpdatedAt = now
	saved, err := r.store.SaveServer(ctx, s, forbidden.changes)
	if err != nil {
		return MCPServer{}, fmt.Errorf("updating server %q: %w", s.Slug, err)
	}
	return saved, nil
}

// DetachServer forgets a server. It is refused with Conflict while tools that
// are published run on it, unless force disables those. It returns the slugs
// of what was disabled.
func (r *Registry) DetachServer(ctx context.Context, p tool.Principal, slugOrID string, force bool) ([]string, error) {
	s, err := r.ownServer(ctx, p, slugOrID)
	if err != nil {
		return nil, err
	}
	tools, err := r.store.ListServerTools(ctx, p.Tenant, s.Slug)
	if err != nil {
		return nil, fmt.Errorf("listing the tools of server %q: %w", s.Slug, err)
	}
	var running []tool.Tool
	var slugs []string
	for _, t := range tools {
		if t.Status == tool.Published || t.Status == tool.Deprecated {
			running, slugs = append(running, t), append(slugs, t.Slug)
		}
	}
	if len(running) > 0 && !force {
		return nil, refuse(
			tool.Conflict, "",
			"server %q is in use by %d published tools (%s): disable them, or detach with force, which disables them", s.Slug,
			len(running), few(slugs),
		)
	}
	for i := range running {
		running[i].Status, running[i].UpdatedAt = tool.Disabled, r.opts.Clock().UTC()
		if _, err := r.store.UpdateTool(ctx, running[i]); err != nil {
			return nil, fmt.Errorf("disabling tool %q: %w", running[i].Slug, err)
		}
	}
	if err := r.store.DetachServer(ctx, s); err != nil {
		return nil, fmt.Errorf("detaching server %q: %w", s.Slug, err)
	}
	return slugs, nil
}

// Server returns a server of the tenant.
func (r *Registry) Server(ctx context.Context, p tool.Principal, slugOrID string) (MCPServer, error) {
	s, err := r.store.FindServer(ctx, p.Tenant, slugOrID)
	if err != nil {
		return MCPServer{}, fmt.Errorf("finding server %q: %w", slugOrID, err)
	}
	return s, nil
}

// Servers returns a page of the tenant's servers in the order of slugs.
func (r *Registry) Servers(ctx context.Context, p tool.Principal, afterSlug string, limit int) ([]MCPServer, error) {
	servers, err := r.store.ListServers(ctx, p.Tenant, afterSlug, limit)
	if err != nil {
		return nil, fmt.Errorf("listing servers: %w", err)
	}
	return servers, nil
}

// RemoteTools returns a page of what a server offers, and offered, in the order
// of names.
func (r *Registry) RemoteTools(
	ctx context.Context, p tool.Principal, slugOrID string, q RemoteQuery,
) ([]RemoteTool, error) {
	s, err := r.Server(ctx, p, slugOrID)
	if err != nil {
		return nil, err
	}
	tools, err := r.store.ListRemoteTools(ctx, p.Tenant, s.ID, q)
	if err != nil {
		return nil, fmt.Errorf("listing what server %q offers: %w", s.Slug, err)
	}
	return tools, nil
}

// remoteTools returns all that is known of a server's tools.
func (r *Registry) remoteTools(ctx context.Context, s *MCPServer) ([]RemoteTool, error) {
	var all []RemoteTool
	q := RemoteQuery{Limit: remotePage}
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

// ownServer returns a server that p may change.
func (r *Registry) ownServer(ctx context.Context, p tool.Principal, slugOrID string) (MCPServer, error) {
	if err := mayWrite(p, ToolsWrite); err != nil {
		return MCPServer{}, err
	}
	s, err := r.Server(ctx, p, slugOrID)
	if err != nil {
		return MCPServer{}, err
	}
	if err := refuseChanged("server", s.Slug, s.Revision, r.revision); err != nil {
		return MCPServer{}, err
	}
	return s, nil
}
