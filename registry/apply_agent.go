package registry

import (
	"context"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// agentChange is an agent before and after.
type agentChange struct {
	before, after agent.Agent
	versions      []agent.Version
	create        bool
	warnings      []string
}

// settleAgent versions and publishes an applied agent, and writes it.
func (r *Registry) settleAgent(
	ctx context.Context, p tool.Principal, s AgentSpec, ch agentChange, write bool,
) (Change, error) {
	a := ch.after
	digest, err := a.Definition.Digest()
	if err != nil {
		return Change{}, refuse(tool.Invalid, "", "agent %q holds malformed JSON", a.Slug)
	}
	if s.Version == "" {
		a.Version = propose(a.Version, digest, agentReleases(ch.versions), func(*release) demand { return demand{} })
	}
	c := Change{Kind: "agent", Slug: a.Slug, ID: a.ID, Version: a.Version, Action: Updated, Warnings: ch.warnings}
	var v agent.Version
	if s.wanted() {
		if v, err = r.cutAgent(a, ch.versions); err != nil {
			return Change{}, err
		}
		if err := r.mayPublishAgent(&ch.after, &v); err != nil {
			return Change{}, err
		}
		c.Published = !slices.ContainsFunc(ch.versions, func(have agent.Version) bool {
			return have.Number == v.Number && have.Published
		})
		a.Status = tool.Published
	}
	was, _ := ch.before.Definition.Digest() // The stored digest; it matches none when it can't be computed.
	switch {
	case ch.create:
		c.Action = Created
	case was == digest && ch.before.Status == a.Status && ch.before.Version == a.Version && !c.Published:
		c.Action = Unchanged
		return c, nil
	}
	if !write {
		return c, nil
	}
	if v.Number != "" {
		a.Status = ch.after.Status
		if err := r.publishAgent(ctx, p, &a, &v); err != nil {
			return Change{}, err
		}
	}
	return c, r.writeAgent(ctx, ch.create, a, v)
}

// writeAgent stores a head, and a version if v is one.
func (r *Registry) writeAgent(ctx context.Context, create bool, a agent.Agent, v agent.Version) error {
	if create {
		draft := a
		if v.Number != "" { // Until the version stands, it is a draft.
			draft.Status, draft.PublishedAt = tool.Draft, nil
		}
		stored, err := r.store.CreateAgent(ctx, draft)
		if err != nil {
			return fmt.Errorf("creating agent %q: %w", a.Slug, err)
		}
		a.ID, a.Revision, v.AgentID = stored.ID, stored.Revision, stored.ID
	}
	switch {
	case v.Number != "":
		_, _, err := r.addAgent(ctx, a, v)
		return err
	case create:
		return nil
	default:
		if _, err := r.store.UpdateAgent(ctx, a); err != nil {
			return fmt.Errorf("updating agent %q: %w", a.Slug, err)
		}
		return nil
	}
}
