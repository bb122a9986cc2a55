package registrytest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

// over reports whether the last day of a former name is past.
func (a alias) over() bool {
	return a.removeBy != "" && a.removeBy < time.Now().UTC().Format(time.DateOnly)
}

// entriesOf returns the entries that have name as a further name.
func (s *Store) entriesOf(id tool.TenantID, name string) []resolver.Entry {
	var out []resolver.Entry
	for _, scope := range []tool.TenantID{id, ""} {
		a, ok := s.aliases[aliasKey{scope, name}]
		if !ok || a.over() || !s.sees(id, s.tools[a.toolID]) {
			continue
		}
		e := s.entry(id, s.tools[a.toolID])
		e.Alias = &resolver.Alias{Name: name, RemoveBy: a.removeBy}
		out = append(out, e)
	}
	return out
}

// rename gives a tool the further names of a definition, unless another has one.
func (s *Store) rename(t tool.Tool, i tool.Interaction) error {
	names := maps.Clone(i.FormerNames)
	if names == nil {
		names = make(map[string]string)
	}
	for _, name := range i.Aliases {
		names[name] = ""
	}
	for name := range names {
		for _, other := range s.tools {
			if other.Tenant == t.Tenant && other.Slug == name {
				return conflict("%q is the slug of a tool", name)
			}
		}
		if a, taken := s.aliases[aliasKey{t.Tenant, name}]; taken && a.toolID != t.ID && !a.over() {
			return conflict("the name %q belongs to another tool", name)
		}
	}
	maps.DeleteFunc(s.aliases, func(_ aliasKey, a alias) bool { return a.toolID == t.ID && !a.renamed })
	for name, removeBy := range names {
		key := aliasKey{t.Tenant, name}
		s.aliases[key] = alias{t.ID, removeBy, s.aliases[key].renamed}
	}
	return nil
}

// RenameTool implements [registry.Store].
func (s *Store) RenameTool(_ context.Context, t tool.Tool, slug, lastDay string) (tool.Tool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkTool(t); err != nil {
		return tool.Tool{}, err
	}
	for _, other := range s.tools {
		if other.Tenant == t.Tenant && other.Slug == slug && other.ID != t.ID {
			return tool.Tool{}, conflict("a tool %q exists already", slug)
		}
	}
	former := aliasKey{t.Tenant, t.Slug}
	t.Slug = slug
	if err := s.freeOfFormer(t); err != nil {
		return tool.Tool{}, err
	}
	if a, taken := s.aliases[former]; lastDay != "" && taken && a.toolID != t.ID && !a.over() {
		return tool.Tool{}, conflict("%q is a further name of another tool", former.name)
	}
	if former.name == slug && lastDay == "" {
		maps.DeleteFunc(s.aliases, func(_ aliasKey, a alias) bool { return a.toolID == t.ID && a.removeBy != "" })
	}
	if own := (aliasKey{t.Tenant, slug}); s.aliases[own].toolID == t.ID {
		delete(s.aliases, own)
	}
	if lastDay != "" && former.name != slug {
		s.aliases[former] = alias{t.ID, lastDay, true}
	}
	t.Revision++
	return s.keepTool(t), nil
}

// freeOfFormer refuses a slug that is a former name of another tool.
func (s *Store) freeOfFormer(t tool.Tool) error {
	for _, n := range s.furtherNames(t.Tenant, []string{t.Slug}) {
		if n.Former() && n.ToolID != t.ID {
			return n.Taken("registrytest.Store")
		}
	}
	return nil
}

// FurtherNames implements [registry.Store].
func (s *Store) FurtherNames(_ context.Context, id tool.TenantID, names []string) ([]registry.FurtherName, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.furtherNames(id, names), nil
}

func (s *Store) furtherNames(id tool.TenantID, names []string) []registry.FurtherName {
	var out []registry.FurtherName
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		if a, taken := s.aliases[aliasKey{id, name}]; taken && !a.over() {
			out = append(out, registry.FurtherName{
				Name: name, ToolID: a.toolID, Slug: s.tools[a.toolID].Slug, LastDay: a.removeBy,
			})
		}
	}
	return out
}

// missing is the failure to find a tool by its slug.
func (s *Store) missing(id tool.TenantID, slug string) error {
	for _, e := range s.entriesOf(id, slug) {
		if s.aliases[aliasKey{e.Tool.Tenant, slug}].removeBy != "" {
			return &tool.Error{
				Kind: tool.NotFound, Op: "registrytest.Store", Err: &registry.RenamedError{Slug: e.Tool.Slug},
				Msg: fmt.Sprintf("tool %q is called %q now", slug, e.Tool.Slug),
			}
		}
	}
	return notFound("tool", slug)
}
