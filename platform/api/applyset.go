package api

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/profile"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolset"
)

// lacks is the error of a definition whose kind the caller may not write.
func lacks(permission string) error {
	return &tool.Error{
		Kind: tool.Denied, Op: "api.apply", Msg: fmt.Sprintf("the caller lacks the permission %q", permission),
		Err: &tool.PermissionError{Permissions: []string{permission}},
	}
}

// applyProfile changes a profile to its definition.
func (s *server) applyProfile(
	ctx context.Context, p tool.Principal, spec *definition.ProfileSpec, write bool,
) (definition.Change, error) {
	c := definition.Change{Kind: "profile", Slug: spec.Name, Action: definition.Created}
	if !p.May(ProfilesWrite) {
		return c, lacks(ProfilesWrite)
	}
	asked, err := spec.Profile()
	if err != nil {
		return c, err
	}
	asked.Tenant, asked.ChangedBy = p.Tenant, p.Subject
	before, err := s.cfg.Store.FindProfile(ctx, p.Tenant, asked.Name)
	create := tool.KindOf(err) == tool.NotFound
	switch {
	case create:
		before = profile.Profile{}
	case err != nil:
		return c, fmt.Errorf("finding profile %q: %w", asked.Name, err)
	}
	if !create {
		if err := definition.CheckRevision("profile", before.Name, before.Revision, spec.Revision); err != nil {
			return c, err
		}
		c.ID, c.Action = before.ID, definition.Updated
		if definition.SameProfile(before, asked) {
			c.Action = definition.Unchanged
		}
	}
	switch {
	case !write || c.Action == definition.Unchanged:
		return c, nil
	case create:
		made, err := s.cfg.Store.CreateProfile(ctx, asked)
		c.ID = made.ID
		return c, err
	default:
		asked.Revision = before.Revision
		_, err := s.cfg.Store.ChangeProfile(ctx, asked)
		return c, err
	}
}

// applyToolset changes a toolset to its definition. Without writing, tools and servers may be
// missing: [batch.checkToolsets] looks for them in the batch too.
func (s *server) applyToolset(
	ctx context.Context, p tool.Principal, spec *definition.ToolsetSpec, write bool,
) (definition.Change, error) {
	c := definition.Change{Kind: "toolset", Slug: spec.Slug, Action: definition.Created}
	if !p.May(ToolsetsWrite) {
		return c, lacks(ToolsetsWrite)
	}
	asked, err := spec.Toolset()
	if err != nil {
		return c, err
	}
	asked.Tenant, asked.CreatedBy, asked.ChangedBy = p.Tenant, p.Subject, p.Subject
	before, err := s.cfg.Store.FindToolset(ctx, p.Tenant, asked.Slug)
	create := tool.KindOf(err) == tool.NotFound
	switch {
	case create:
		before = toolset.Toolset{}
	case err != nil:
		return c, fmt.Errorf("finding toolset %q: %w", asked.Slug, err)
	}
	if !create {
		if err := definition.CheckRevision("toolset", before.Slug, before.Revision, spec.Revision); err != nil {
			return c, err
		}
		if spec.Status == "" { // Who disabled it did so for a reason that the definition does not know.
			asked.Status = before.Status
		}
		c.ID, c.Action = before.ID, definition.Updated
		if definition.SameToolset(before, asked) {
			c.Action = definition.Unchanged
		}
	}
	switch {
	case !write || c.Action == definition.Unchanged:
		return c, nil
	case create:
		made, err := s.cfg.Store.CreateToolset(ctx, asked)
		c.ID = made.ID
		return c, err
	default:
		asked.ID, asked.Revision = before.ID, before.Revision
		_, err := s.cfg.Store.SaveToolset(ctx, asked)
		return c, err
	}
}

// checkToolset fails for a toolset with a tool or a server that neither exists nor is part of the
// batch.
func (b *batch) checkToolset(ctx context.Context, spec *definition.ToolsetSpec) error {
	tenant := b.principal.Tenant
	missing, err := spec.Lacks(b.definitions, func(name string) (bool, error) {
		ref := tool.Ref{Slug: name}
		if tool.ValidID(name) {
			ref = tool.Ref{ID: name}
		}
		_, err := b.server.cfg.Store.FindTool(ctx, tenant, ref)
		if tool.KindOf(err) == tool.NotFound {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return fmt.Errorf("finding the tools of toolset %q: %w", spec.Slug, err)
	}
	if missing >= 0 {
		return &tool.Error{
			Kind: tool.NotFound, Op: "api.apply", Path: fmt.Sprintf("/tools/%d", missing),
			Msg: fmt.Sprintf("no tool %q", spec.Tools[missing].Tool),
		}
	}
	for i, name := range spec.Servers {
		if b.bringsServer(name) {
			continue
		}
		if _, err := b.server.cfg.Store.FindServer(ctx, tenant, name); err != nil {
			e := *tool.AsError(err)
			e.Path = fmt.Sprintf("/servers/%d", i)
			return &e
		}
	}
	return nil
}

func (b *batch) bringsServer(slug string) bool {
	for _, d := range b.definitions {
		if d.Server != nil && d.Server.Slug == slug {
			return true
		}
	}
	return false
}
