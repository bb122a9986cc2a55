package registry

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/nearest"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

// agentOf visits the agent that a tool runs, and its dependencies.
func (w *walk) agentOf(ctx context.Context, use *agent.Target) (extent, error) {
	if s := w.batch.Agent(use.Ref.Slug); s != nil {
		w.checkSkill(use.Skill, s.Slug, s.Skills)
		return w.agent(ctx, node{"agent", s.Slug, w.r.agentID(ctx, w.as.Tenant, s.Slug)}, batchDigest, s.Tools)
	}
	found, err := w.r.store.FindAgent(ctx, w.as.Tenant, use.Ref.Name())
	if err != nil {
		if tool.KindOf(err) == tool.NotFound {
			err = refusal.New(tool.NotFound, "", "agent %q not found", use.Ref.Name())
		}
		w.miss(err)
		return extent{}, nil
	}
	versions, err := w.r.store.ListAgentVersions(ctx, w.as.Tenant, found.ID)
	if err != nil {
		return extent{}, fmt.Errorf("listing the versions of agent %q: %w", found.Slug, err)
	}
	chosen, err := resolver.ChooseAgent(found, versions, use.Ref.Constraint, tool.Production)
	if err != nil {
		w.miss(err)
		if chosen, err = resolver.ChooseAgent(found, versions, use.Ref.Constraint, tool.Debug); err != nil {
			return extent{}, nil //nolint:nilerr // It was recorded as missing.
		}
	}
	w.checkSkill(use.Skill, found.Slug+"@"+chosen.Number, chosen.Snapshot.Skills)
	return w.agent(ctx, node{"agent", found.Slug, found.ID}, chosen.Digest, chosen.Snapshot.Tools)
}

// checkSkill records a skill that an agent lacks as missing, with a suggestion.
func (w *walk) checkSkill(name, of string, skills map[string]agent.Skill) {
	if _, ok := skills[name]; ok || name == "" {
		return
	}
	hint := ""
	if meant := nearest.Name(name, slices.Sorted(maps.Keys(skills))); meant != "" {
		hint = fmt.Sprintf(": did you mean %q?", meant)
	}
	w.miss(refusal.New(tool.NotFound, "", "agent %s has no skill %q%s", of, name, hint))
}

// agent visits an agent with the given tools, and its dependencies.
func (w *walk) agent(ctx context.Context, n node, digest string, tools []tool.Ref) (extent, error) {
	above := w.agentsAbove()
	if err := w.down(n); err != nil {
		return extent{}, err
	}
	defer w.up()
	key := n.key() + " " + digest
	e, ok := w.known(key)
	if !ok {
		var err error
		if e, err = w.toolsOf(ctx, n, tools); err != nil {
			return e, err
		}
		w.seen[key] = e
	}
	if deep := above + len(e.agents) - 1; deep > agent.MaxDepth {
		return e, w.refuse("agents run %d deep below the first%s: at most %d", deep, furtherDown(e.agents), agent.MaxDepth)
	}
	return e, nil
}

// furtherDown names the nested agents of one that was visited before.
func furtherDown(agents []string) string {
	if len(agents) < 2 {
		return ""
	}
	return " (" + strings.Join(agents, " -> ") + ")"
}

// agentsAbove counts the agents on the current path, and the calling run where the
// root is a tool.
func (w *walk) agentsAbove() int {
	n := 0
	if w.root != "" {
		n++
	}
	for _, above := range w.line {
		if above.kind == "agent" {
			n++
		}
	}
	return n
}

// toolsOf visits the tools of an agent.
func (w *walk) toolsOf(ctx context.Context, n node, tools []tool.Ref) (extent, error) {
	var e extent
	e.reach(n)
	for i, ref := range tools {
		w.enter(fmt.Sprintf("/tools/%d", i))
		found, err := w.resolve(ctx, ref, false)
		if err != nil {
			return e, err
		}
		if found == nil {
			continue
		}
		below, err := w.visit(ctx, found)
		if err != nil {
			return e, err
		}
		e.include(below)
	}
	e.agents = append([]string{n.slug}, e.agents...)
	return e, nil
}
