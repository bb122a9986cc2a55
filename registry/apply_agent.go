package registry

import (
	"context"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/registry/release"
	"github.com/toolcrib/toolcrib/tool"
)

// agentChange is an agent before and after its definition is applied.
type agentChange struct {
	before, after agent.Agent
	versions      []agent.Version
	create        bool
	warnings      []string
}

// settleAgent versions and publishes an applied agent, and writes it.
func (r *Registry) settleAgent(
	ctx context.Context, p tool.Principal, s definition.AgentSpec, ch agentChange, write bool,
) (definition.Change, error) {
	a := ch.after
	digest, err := a.Definition.Digest()
	if err != nil {
		return definition.Change{}, refusal.New(tool.Invalid, "", "agent %q holds malformed JSON", a.Slug)
	}
	if s.Version == "" {
		a.Version = release.OfAgent(ch.versions).Propose(a.Version, digest, nil)
	}
	c := definition.Change{
		Kind: "agent", Slug: a.Slug, ID: a.ID, Version: a.Version, Action: definition.Updated,
		Warnings: ch.warnings,
	}
	var v agent.Version
	if s.AsksToPublish() {
		if v, err = r.cutAgent(a, ch.versions); err != nil {
			return definition.Change{}, err
		}
		if err := r.mayPublishAgent(&ch.after, &v); err != nil {
			return definition.Change{}, err
		}
		c.Published = !slices.ContainsFunc(ch.versions, func(have agent.Version) bool {
			return have.Number == v.Number && have.Published
		})
		a.Status = tool.Published
	}
	was, _ := ch.before.Definition.Digest() // The stored digest; it matches none when it can't be computed.
	switch {
	case ch.create:
		c.Action = definition.Created
	case was == digest && ch.before.Status == a.Status && ch.before.Version == a.Version && !c.Published:
		c.Action = definition.Unchanged
		return c, nil
	}
	if !write {
		return c, nil
	}
	if v.Number != "" {
		a.Status = ch.after.Status
		if err := r.publishAgent(ctx, p, &a, &v); err != nil {
			return definition.Change{}, err
		}
	}
	return c, r.writeAgent(ctx, ch.create, a, v)
}

// writeAgent stores a head, and a version if v is one.
func (r *Registry) writeAgent(ctx context.Context, create bool, a agent.Agent, v agent.Version) error {
	if create {
		draft := a
		if v.Number != "" { // It is a draft until the version is stored.
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
