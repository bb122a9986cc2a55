package registry

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/internal/uuid7"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/registry/release"
	"github.com/toolcrib/toolcrib/tool"
)

// Create makes a draft of a new tool.
func (r *Registry) Create(ctx context.Context, p tool.Principal, s definition.ToolSpec) (tool.Tool, []string, error) {
	if err := r.unpermitted(p); err != nil {
		return tool.Tool{}, nil, err
	}
	if err := refusePublished(s.AsksToPublish()); err != nil {
		return tool.Tool{}, nil, err
	}
	t, warnings, err := r.newTool(p.Tenant, s)
	if err == nil {
		err = r.recordReads(p, tool.Definition{}, &t)
	}
	if err != nil {
		return tool.Tool{}, nil, err
	}
	unpinned, err := r.pin(ctx, &t)
	if err != nil {
		return tool.Tool{}, nil, err
	}
	warnings = append(warnings, unpinned...)
	if t, err = r.store.CreateTool(ctx, t); err != nil {
		return tool.Tool{}, nil, fmt.Errorf("creating tool %q: %w", s.Slug, err)
	}
	return t, warnings, nil
}

// Update replaces the draft head of a tool, and its policy and status. Its slug
// cannot change. Published versions are not changed.
func (r *Registry) Update(
	ctx context.Context, p tool.Principal, ref tool.Ref, s definition.ToolSpec,
) (tool.Tool, []string, error) {
	if err := r.unpermitted(p); err != nil {
		return tool.Tool{}, nil, err
	}
	if err := refusePublished(s.AsksToPublish()); err != nil {
		return tool.Tool{}, nil, err
	}
	t, err := r.own(ctx, p.Tenant, ref)
	if err != nil {
		return tool.Tool{}, nil, err
	}
	if s.Slug == "" {
		s.Slug = t.Slug
	}
	before := t.Definition
	t, warnings, err := r.edit(t, s)
	if err == nil {
		err = r.recordReads(p, before, &t)
	}
	if err != nil {
		return tool.Tool{}, nil, err
	}
	unpinned, err := r.pin(ctx, &t)
	if err != nil {
		return tool.Tool{}, nil, err
	}
	warnings = append(warnings, unpinned...)
	if t, err = r.store.UpdateTool(ctx, t); err != nil {
		return tool.Tool{}, nil, fmt.Errorf("updating tool %q: %w", s.Slug, err)
	}
	return t, warnings, nil
}

// Get returns a tool as the tenant sees it: its own, or a global one.
func (r *Registry) Get(ctx context.Context, p tool.Principal, ref tool.Ref) (tool.Tool, error) {
	t, err := r.store.FindTool(ctx, p.Tenant, ref)
	if err != nil {
		return tool.Tool{}, fmt.Errorf("finding tool %q: %w", ref.Name(), err)
	}
	return t, nil
}

// List returns a page of the tools that the tenant sees, drafts and disabled
// ones included: see the resolver's List for what may be called.
func (r *Registry) List(ctx context.Context, p tool.Principal, q ToolQuery) ([]tool.Tool, error) {
	tools, err := r.store.ListTools(ctx, p.Tenant, q)
	if err != nil {
		return nil, fmt.Errorf("listing tools: %w", err)
	}
	return tools, nil
}

// Versions returns the versions of a tool, newest first.
func (r *Registry) Versions(ctx context.Context, p tool.Principal, ref tool.Ref) ([]tool.Version, error) {
	t, err := r.Get(ctx, p, ref)
	if err != nil {
		return nil, err
	}
	versions, err := r.store.ListVersions(ctx, p.Tenant, t.ID)
	if err != nil {
		return nil, fmt.Errorf("listing the versions of tool %q: %w", t.Slug, err)
	}
	return versions, nil
}

// own returns a tool that the tenant may change.
func (r *Registry) own(ctx context.Context, tenant tool.TenantID, ref tool.Ref) (tool.Tool, error) {
	t, err := r.store.FindTool(ctx, tenant, ref)
	if err != nil {
		return tool.Tool{}, fmt.Errorf("finding tool %q: %w", ref.Name(), err)
	}
	if t.Tenant != tenant {
		return tool.Tool{}, refusal.New(tool.Denied, "",
			"tool %q is global: make one of your own with this slug to replace it",
			t.Slug)
	}
	if err := definition.CheckRevision("tool", t.Slug, t.Revision, r.revision); err != nil {
		return tool.Tool{}, err
	}
	return t, nil
}

// newTool makes the first head of a tool.
func (r *Registry) newTool(tenant tool.TenantID, s definition.ToolSpec) (tool.Tool, []string, error) {
	id, err := uuid7.New()
	if err != nil {
		return tool.Tool{}, nil, err
	}
	now := r.opts.Clock().UTC()
	t := tool.Tool{
		ID: id, Tenant: tenant, Slug: s.Slug, Status: tool.Draft, Active: true, Version: release.First, CreatedAt: now,
	}
	return r.edit(t, s)
}

// edit returns t with the fields of s. It does not publish.
func (r *Registry) edit(t tool.Tool, s definition.ToolSpec) (tool.Tool, []string, error) {
	s.Restore(t.Definition)
	warnings, err := r.checkTool(&s)
	if err != nil {
		return t, nil, err
	}
	switch {
	case s.Slug != t.Slug:
		return t, nil, refusal.New(
			tool.Invalid, "/slug", "a slug cannot be changed by an edit: it is %s; toolcrib tool rename does", t.Slug,
		)
	case s.BuiltinKey != "" && !t.Global():
		// It would bypass the operator's policy for the platform's tool.
		return t, nil, refusal.New(tool.Invalid, "/builtin_key",
			"only the platform's own tools run built-ins: drop builtin_key, and bind the platform's tool %.64q", s.BuiltinKey)
	}
	if err := definition.CheckRevision("tool", t.Slug, t.Revision, s.Revision); err != nil {
		return t, nil, err
	}
	if t.Status, err = nextStatus(t.Status, s.Status); err != nil {
		return t, nil, err
	}
	t.Definition, t.Policy = s.Definition, s.Policy
	t.BuiltinKey, t.ArtifactID, t.ArtifactVersion = s.BuiltinKey, s.ArtifactID, s.ArtifactVersion
	t.System = t.Global() // Only the platform has system tools.
	if s.Active != nil {
		t.Active = *s.Active
	}
	if s.Version != "" {
		t.Version = s.Version
	}
	t.UpdatedAt = r.opts.Clock().UTC()
	return t, warnings, nil
}

// nextStatus returns the status after an edit. An edit does not publish.
func nextStatus(now, wanted tool.Status) (tool.Status, error) {
	switch wanted {
	case "", now, tool.Published:
		return now, nil
	case tool.Deprecated:
		if now != tool.Published {
			return now, refusal.New(tool.Conflict, "/status", "only what is published can be deprecated: it is %s", now)
		}
		return wanted, nil
	case tool.Draft, tool.Disabled:
		return wanted, nil
	default:
		return now, refusal.New(tool.Invalid, "/status", "status %.40q: expected draft, deprecated or disabled", wanted)
	}
}

func refusePublished(wanted bool) error {
	if wanted {
		return refusal.New(tool.Conflict, "/status",
			"status published is reached by publishing: save the draft, then publish it")
	}
	return nil
}
