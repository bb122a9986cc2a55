package worker

import (
	"maps"
	"slices"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/tool"
)

// Customs returns the executors that custom tools may name here, for the
// registry that publishes them. It is nil where the host runs custom tools by
// an executor of its own in [Config.Executors].
func (p *Plugin) Customs() registry.Customs {
	if p.cfg.Executors[tool.Custom] != nil {
		return nil
	}
	return p.custom
}

// Functions returns the names of the functions that calls of this worker reach,
// former ones included, sorted; nil where the host runs function tools by
// [Config.Executors].
func (p *Plugin) Functions() []string {
	if p.cfg.Executors[tool.Function] != nil {
		return nil
	}
	return p.cfg.Functions.Reachable()
}

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
