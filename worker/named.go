package worker

import (
	"maps"
	"slices"

	"github.com/toolcrib/toolcrib/agent"
)

// ModelProviders returns the names of the model providers that calls of this
// worker can ask, sorted.
func (p *Plugin) ModelProviders() []string { return slices.Sorted(maps.Keys(p.models)) }

// LocalModelProviders returns those of them that answer within this process,
// sorted. It is never nil.
func (p *Plugin) LocalModelProviders() []string {
	local := []string{}
	for name, m := range p.cfg.Models {
		if agent.IsLocal(m) {
			local = append(local, name)
		}
	}
	slices.Sort(local)
	return local
}
