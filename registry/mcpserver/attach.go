package mcpserver

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/internal/uuid7"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// Attach stores a new server and refreshes it: allowed tools are imported as
// drafts. A server that does not answer is attached too; Report.Err has the
// failure.
func (r *Registry) Attach(ctx context.Context, p tool.Principal, spec definition.ServerSpec) (Server, Report, error) {
	s, err := r.create(p, spec)
	if err != nil {
		return Server{}, Report{}, err
	}
	if s, err = r.store.CreateServer(ctx, s); err != nil {
		return Server{}, Report{}, fmt.Errorf("attaching server %q: %w", spec.Slug, err)
	}
	return r.firstRefresh(ctx, p, s)
}

// firstRefresh refreshes a server that is stored already. A failure of the server
// is reported in Report.Err, and is no error.
func (r *Registry) firstRefresh(ctx context.Context, p tool.Principal, s Server) (Server, Report, error) {
	if s.Status != definition.ServerActive {
		return s, Report{}, nil
	}
	asked, report, err := r.refresh(ctx, p, s)
	if err != nil && report.Err == nil {
		return Server{}, Report{}, err
	}
	return asked, report, nil
}

func (r *Registry) create(p tool.Principal, spec definition.ServerSpec) (Server, error) {
	if err := refusal.Unpermitted(p, refusal.ToolsWrite); err != nil {
		return Server{}, err
	}
	if err := r.check(&spec); err != nil {
		return Server{}, err
	}
	id, err := uuid7.New()
	if err != nil {
		return Server{}, err
	}
	now := r.opts.Clock().UTC()
	s := Server{ID: id, Tenant: p.Tenant, Slug: spec.Slug, CreatedBy: p.Subject, CreatedAt: now, UpdatedAt: now}
	apply(&spec, &s)
	return s, nil
}

// Update replaces the connection and the allowed tools of a server. Its slug
// cannot change. An imported tool that is no longer allowed is quarantined at
// once; a newly allowed one is imported by the next refresh.
func (r *Registry) Update(
	ctx context.Context, p tool.Principal, slugOrID string, spec definition.ServerSpec,
) (Server, error) {
	s, err := r.own(ctx, p, slugOrID)
	if err != nil {
		return Server{}, err
	}
	if spec.Slug == "" {
		spec.Slug = s.Slug
	}
	if s, err = r.edit(s, spec); err != nil {
		return Server{}, err
	}
	return r.save(ctx, s)
}

// edit returns s with the fields of spec.
func (r *Registry) edit(s Server, spec definition.ServerSpec) (Server, error) {
	if err := r.check(&spec); err != nil {
		return s, err
	}
	if spec.Slug != s.Slug {
		return s, refusal.New(tool.Invalid, "/slug", "a slug cannot be changed: it is %s", s.Slug)
	}
	if err := definition.CheckRevision("server", s.Slug, s.Revision, spec.Revision); err != nil {
		return s, err
	}
	apply(&spec, &s)
	return s, nil
}

// save stores a changed server, and quarantines imported tools that it no longer
// allows.
func (r *Registry) save(ctx context.Context, s Server) (Server, error) {
	known, err := r.known(ctx, &s)
	if err != nil {
		return Server{}, err
	}
	now := r.opts.Clock().UTC()
	forbidden := plan{server: &s, now: now, changes: Changes{Stop: make(map[string]string)}}
	for _, t := range known {
		if t.Imported() && t.State != StateGone && !s.Allows(t.Name) {
			forbidden.stop(t, StateRefused, ChangeRefused, notAllowed)
		}
	}
	s.UpdatedAt = now
	saved, err := r.store.SaveServer(ctx, s, forbidden.changes)
	if err != nil {
		return Server{}, fmt.Errorf("updating server %q: %w", s.Slug, err)
	}
	return saved, nil
}

// Detach removes a server. While published tools run on it, it fails with
// tool.Conflict, unless force is set, which disables them. It returns the slugs of
// the disabled tools.
func (r *Registry) Detach(ctx context.Context, p tool.Principal, slugOrID string, force bool) ([]string, error) {
	s, err := r.own(ctx, p, slugOrID)
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
		return nil, refusal.New(
			tool.Conflict, "",
			"server %q is in use by %d published tools (%s): disable them, or detach with force, which disables them", s.Slug,
			len(running), refusal.List(slugs),
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

// apply copies the fields of spec to s.
func apply(spec *definition.ServerSpec, s *Server) {
	s.Name, s.Connection, s.AllowedTools = spec.Name, spec.Connection, spec.AllowedTools
	s.TrustHints, s.Status = spec.TrustHints, spec.Status
}
