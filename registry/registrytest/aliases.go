package registrytest

import (
	"maps"
	"time"

	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

// over reports whether the last day of a former name is past.
func (a alias) over() bool {
	return a.removeBy != "" && a.removeBy < time.Now().UTC().Format(time.DateOnly)
}

// aliased returns the entries that have name as a further name.
func (s *Store) aliased(id tool.TenantID, name string) []resolver.Entry {
	var out []resolver.Entry
	for _, scope := range []tool.TenantID{id, ""} {
		a, ok := s.aliases[aliasKey{scope, name}]
		if !ok || a.over() || !s.sees(id, s.tools[a.toolID]) {
			continue
		}
		e := s.entry(s.tools[a.toolID])
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
		if a, taken := s.aliases[aliasKey{t.Tenant, name}]; taken && a.toolID != t.ID && !a.over() {
			return conflict("the name %q belongs to another tool", name)
		}
	}
	maps.DeleteFunc(s.aliases, func(_ aliasKey, a alias) bool { return a.toolID == t.ID })
	for name, removeBy := range names {
		s.aliases[aliasKey{t.Tenant, name}] = alias{t.ID, removeBy}
	}
	return nil
}
