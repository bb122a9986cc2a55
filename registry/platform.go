package registry

import (
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// Operator returns the principal for whom a registry of [Registry.ForPlatform] acts.
func Operator() tool.Principal {
	return tool.Principal{Subject: platformSubject, Permissions: []string{"*"}}
}

// ForPlatform returns a registry whose methods for tools act on the global ones, for an [Operator]: it creates,
// versions, publishes, disables and deletes them as tenants do with their own. A global tool is off for every
// tenant until an override switches it on. The registry must use a store that is opened for the platform: the
// database refuses any other. Agents, servers and artifacts belong to tenants.
func (r *Registry) ForPlatform() *Registry {
	out := *r
	out.platform = true
	return &out
}

// unpermitted refuses a principal that may not change tools.
func (r *Registry) unpermitted(p tool.Principal) error {
	if r.platform && p.Tenant == "" && p.May(ToolsWrite) {
		return nil
	}
	return refusal.Unpermitted(p, ToolsWrite)
}
