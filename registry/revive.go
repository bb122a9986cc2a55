package registry

import (
	"slices"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// Reviving returns a registry whose [Registry.Apply] and [Registry.Check] take the tool with an id out of the archive,
// or end the disabled status of the agent with it, where its definition is applied. It is for definitions of what was
// taken away because a set of definitions no longer had it, and has it again.
func (r *Registry) Reviving(id string) *Registry {
	reviving := *r
	reviving.revive = id
	return &reviving
}

// revivedTool returns a tool as it is edited: out of the archive where the registry revives.
func (r *Registry) revivedTool(t tool.Tool, versions []tool.Version) tool.Tool {
	if r.revive == t.ID && t.ArchivedAt != nil {
		t.ArchivedAt, t.ArchivedBy = nil, ""
		t.Status, t.Active = tool.Draft, true
		if slices.ContainsFunc(versions, func(v tool.Version) bool { return v.Published }) {
			t.Status = tool.Published
		}
	}
	return t
}

// revivedAgent returns an agent as it is edited: not disabled where the registry revives.
func (r *Registry) revivedAgent(a agent.Agent, versions []agent.Version) agent.Agent {
	if r.revive == a.ID && a.Status == tool.Disabled {
		a.Status = agentStatus(versions)
	}
	return a
}

// agentStatus returns the status of an agent that is not disabled.
func agentStatus(versions []agent.Version) tool.Status {
	if slices.ContainsFunc(versions, func(v agent.Version) bool { return v.Published }) {
		return tool.Published
	}
	return tool.Draft
}
