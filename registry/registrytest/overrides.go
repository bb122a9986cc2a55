package registrytest

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/tool"
)

// overrideKey is a tool, and the tenant that decides about it; empty for the platform.
type overrideKey struct {
	tenant tool.TenantID
	toolID string
}

// SetOverride implements [registry.Store].
func (s *Store) SetOverride(_ context.Context, o tool.Override) (tool.Override, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.mayWrite(o.Tenant); err != nil {
		return tool.Override{}, err
	}
	t, ok := s.tools[o.ToolID]
	if !ok || !s.sees(o.Tenant, t) {
		return tool.Override{}, notFound("tool", o.ToolID)
	}
	key := overrideKey{o.Tenant, o.ToolID}
	if err := s.expects(key, o.Revision); err != nil {
		return tool.Override{}, err
	}
	o.Slug, o.ChangedAt, o.Revision = t.Slug, time.Now().UTC(), s.nextRevision(key)
	s.overrides[key] = clone(o)
	s.decided[key] = append(s.decided[key], tool.OverrideVersion{Override: clone(o)})
	return o, nil
}

// expects refuses a change that expects another revision.
func (s *Store) expects(key overrideKey, revision int64) error {
	now, there := s.overrides[key]
	switch {
	case revision == 0, revision == registry.NoOverride && !there, there && now.Revision == revision:
		return nil
	default:
		return &tool.Error{
			Kind: tool.Conflict, Op: "registrytest", Msg: "the override was changed meanwhile", Err: definition.ErrChanged,
		}
	}
}

func (s *Store) nextRevision(key overrideKey) int64 {
	if all := s.decided[key]; len(all) > 0 {
		return all[len(all)-1].Revision + 1
	}
	return 1
}

// DeleteOverride implements [registry.Store].
func (s *Store) DeleteOverride(_ context.Context, id tool.TenantID, toolID string, revision int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.mayWrite(id); err != nil {
		return err
	}
	key := overrideKey{id, toolID}
	if _, ok := s.overrides[key]; !ok && revision <= 0 {
		return notFound("override", toolID)
	}
	if err := s.expects(key, revision); err != nil {
		return err
	}
	s.decided[key] = append(s.decided[key], tool.OverrideVersion{Removed: true, Override: tool.Override{
		Tenant: id, ToolID: toolID, Revision: s.nextRevision(key), ChangedAt: time.Now().UTC(),
	}})
	delete(s.overrides, key)
	return nil
}

// ListOverrideVersions implements [registry.Store].
func (s *Store) ListOverrideVersions(
	_ context.Context, id tool.TenantID, toolID string, platform bool, before int64, limit int,
) (out []tool.OverrideVersion, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if platform {
		id = ""
	}
	for _, v := range slices.Backward(s.decided[overrideKey{id, toolID}]) {
		if (before == 0 || v.Revision < before) && (limit <= 0 || len(out) < limit) {
			out = append(out, clone(v))
		}
	}
	return out, nil
}

// OverridesAt implements [resolver.Source].
func (s *Store) OverridesAt(
	_ context.Context, id tool.TenantID, toolID string, at tool.OverrideRevisions,
) (out tool.Overrides, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	find := func(id tool.TenantID, revision int64) *tool.Override {
		for _, v := range s.decided[overrideKey{id, toolID}] {
			if v.Revision == revision && revision != 0 {
				found := clone(v.Override)
				return &found
			}
		}
		return nil
	}
	out.Tenant, out.Platform = find(id, at.Tenant), find("", at.Platform)
	if (at.Tenant != 0) != (out.Tenant != nil) || (at.Platform != 0) != (out.Platform != nil) {
		return tool.Overrides{}, notFound("override", toolID)
	}
	return out, nil
}

// OverridesOf implements [resolver.Source].
func (s *Store) OverridesOf(
	_ context.Context, id tool.TenantID, toolIDs []string,
) (map[string]tool.Overrides, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]tool.Overrides{}
	for _, toolID := range toolIDs {
		out[toolID] = s.overridesOf(id, toolID)
	}
	return out, nil
}

// ListOverrides implements [registry.Store].
func (s *Store) ListOverrides(
	_ context.Context, id tool.TenantID, after registry.OverridePlace, limit int,
) ([]tool.Override, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []tool.Override
	for key, o := range s.overrides {
		t, ok := s.tools[key.toolID]
		if !ok || !s.sees(id, t) || key.tenant != id && key.tenant != "" {
			continue
		}
		o.Slug = t.Slug
		if comparePlaces(placeOf(o), after) > 0 {
			out = append(out, clone(o))
		}
	}
	slices.SortFunc(out, func(a, b tool.Override) int { return comparePlaces(placeOf(a), placeOf(b)) })
	if limit > 0 && len(out) > limit {
		out = out[:limit]
	}
	return out, nil
}

func placeOf(o tool.Override) registry.OverridePlace {
	return registry.OverridePlace{Slug: o.Slug, ToolID: o.ToolID, Platform: o.Tenant == ""}
}

func comparePlaces(a, b registry.OverridePlace) int {
	rank := func(p registry.OverridePlace) int {
		if p.Platform {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(a.Slug, b.Slug), cmp.Compare(a.ToolID, b.ToolID), rank(a)-rank(b))
}

// overridesOf returns those of a tool that apply in a tenant.
func (s *Store) overridesOf(id tool.TenantID, toolID string) tool.Overrides {
	var out tool.Overrides
	if o, ok := s.overrides[overrideKey{id, toolID}]; ok && id != "" {
		out.Tenant = &o
	}
	if o, ok := s.overrides[overrideKey{"", toolID}]; ok {
		out.Platform = &o
	}
	return out
}
