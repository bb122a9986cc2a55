package resolver

import (
	"fmt"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// ChooseAgent returns the version of an agent that a run is to use: in
// production the highest published one that meets the constraint, in debug
// mode the draft as it is when there is no constraint.
//
// It fails with tool.Conflict when the agent is disabled or has nothing
// published, with tool.NotFound when no version meets the constraint, and with
// tool.Invalid when the constraint is none.
func ChooseAgent(a agent.Agent, versions []agent.Version, constraint string, mode tool.Mode) (agent.Version, error) {
	const op = "resolver.ChooseAgent"
	want, err := parseConstraint(constraint)
	if err != nil {
		return agent.Version{}, &tool.Error{Kind: tool.Invalid, Op: op, Msg: err.Error()}
	}
	if a.Status == tool.Disabled {
		return agent.Version{}, &tool.Error{Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf("agent %q is disabled", a.Slug)}
	}
	if mode == tool.Debug && want.rules == nil {
		return draftAgent(a)
	}
	if mode != tool.Debug && a.Status == tool.Draft {
		return agent.Version{}, &tool.Error{
			Kind: tool.Conflict, Op: op,
			Msg: fmt.Sprintf("agent %q is a draft: publish it first, or use debug mode", a.Slug),
		}
	}
	infos := make([]VersionInfo, len(versions))
	byID := make(map[string]agent.Version, len(versions))
	for i, v := range versions {
		infos[i] = VersionInfo{ID: v.ID, Number: v.Number, Digest: v.Digest, Published: v.Published}
		byID[v.ID] = v
	}
	best, ok := highest(infos, want, mode != tool.Debug)
	if !ok {
		return agent.Version{}, &tool.Error{
			Kind: tool.NotFound, Op: op,
			Msg: fmt.Sprintf("agent %q has no version that meets %q", a.Slug, constraint),
		}
	}
	return byID[best.ID], nil
}

// draftAgent makes an unstored version of the agent's head.
func draftAgent(a agent.Agent) (agent.Version, error) {
	digest, err := a.Definition.Digest()
	if err != nil {
		return agent.Version{}, fmt.Errorf("digesting agent %q: %w", a.Slug, err)
	}
	return agent.Version{
		AgentID: a.ID, Tenant: a.Tenant, Slug: a.Slug, Number: draftNumber(a.Version), Digest: digest, Snapshot: a.Definition,
	}, nil
}
