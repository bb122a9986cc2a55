package resolver

import (
	"fmt"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// ChooseAgent returns the version of an agent for a run, by the same rules as for tools: in
// production the highest published one that meets the constraint; in debug mode any that
// meets it, and the draft head when there is no constraint. It is pure.
//
// It fails with tool.Invalid for a malformed constraint, with tool.NotFound
// when no version meets it, and with tool.Conflict for a disabled agent, and in
// production for a draft.
func ChooseAgent(
	a agent.Agent, versions []agent.Version, constraintText string, mode tool.Mode,
) (agent.Version, error) {
	want, err := parseConstraint(constraintText)
	if err != nil {
		return agent.Version{}, agentError(tool.Invalid, err.Error())
	}
	if a.Status == tool.Disabled {
		return agent.Version{}, agentError(tool.Conflict, fmt.Sprintf("agent %q is disabled", a.Slug))
	}
	if mode == tool.Debug && want.rules == nil {
		return agentHead(a, versions)
	}
	if mode != tool.Debug && a.Status == tool.Draft {
		return agent.Version{}, agentError(
			tool.Conflict, fmt.Sprintf("agent %q is a draft: publish it first, or use debug mode", a.Slug),
		)
	}
	infos := make([]VersionInfo, len(versions))
	for i, v := range versions {
		infos[i] = VersionInfo{ID: v.ID, Number: v.Number, Digest: v.Digest, Published: v.Published}
	}
	best, ok := highest(infos, want, mode != tool.Debug)
	if !ok {
		return agent.Version{}, agentError(
			tool.NotFound, fmt.Sprintf("agent %q has no version that meets %q in %s mode", a.Slug, constraintText, mode),
		)
	}
	for _, v := range versions {
		if v.ID == best.ID && v.Number == best.Number {
			return v, nil
		}
	}
	return agent.Version{}, agentError(tool.InternalError, "internal error") // Unreachable: best is one of versions.
}

// agentHead returns the head as a version: the stored version that it equals,
// or a draft.
func agentHead(a agent.Agent, versions []agent.Version) (agent.Version, error) {
	digest, err := a.Definition.Digest()
	if err != nil {
		e := agentError(tool.Invalid, fmt.Sprintf("the draft of agent %q contains malformed JSON", a.Slug))
		e.Err = err
		return agent.Version{}, e
	}
	for _, v := range versions {
		if v.Digest == digest && v.Number == a.Version {
			return v, nil
		}
	}
	return agent.Version{
		AgentID: a.ID, Tenant: a.Tenant, Slug: a.Slug, Number: draftNumber(a.Version),
		Digest: digest, Snapshot: a.Definition, CreatedAt: a.UpdatedAt,
	}, nil
}

func agentError(kind tool.Kind, msg string) *tool.Error {
	return &tool.Error{Kind: kind, Op: "resolver.ChooseAgent", Msg: msg}
}
