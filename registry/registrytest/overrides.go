package registrytest

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/registry"
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
	o.Slug, o.ChangedAt = t.Slug, time.Now().UTC()
	s.overrides[overrideKey{o.Tenant, o.ToolID}] = clone(o)
	return o, nil
}

// DeleteOverride implements [registry.Store].
func (s *Store) DeleteOverride(_ context.Context, id tool.TenantID, toolID string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.mayWrite(id); err != nil {
		return err
	}
	key := overrideKey{id, toolID}
	if _, ok := s.overrides[key]; !ok {
		return notFound("override", toolID)
	}
	delete(s.overrides, key)
	return nil
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
