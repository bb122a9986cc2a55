package registry

import (
	"context"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/uuid7"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/registry/release"
	"github.com/toolcrib/toolcrib/tool"
)

// VersionAgent snapshots the head of an agent under number; see
// [Registry.Version]. Any greater number is valid.
func (r *Registry) VersionAgent(
	ctx context.Context, p tool.Principal, slugOrID, number string,
) (agent.Agent, agent.Version, error) {
	a, versions, err := r.agentVersions(ctx, p, slugOrID)
	if err != nil {
		return agent.Agent{}, agent.Version{}, err
	}
	a.Version = number
	v, err := r.cutAgent(a, versions)
	if err != nil {
		return agent.Agent{}, agent.Version{}, err
	}
	return r.addAgent(ctx, a, v)
}

// PublishAgent makes the head of an agent available in production, snapshotted
// under its number if it has not been. It resolves all tools in production mode,
// and fails with all faults: missing tools, two tools of the same name for the
// model, calls that lead back to the agent, or agents nested too deep.
func (r *Registry) PublishAgent(
	ctx context.Context, p tool.Principal, slugOrID string,
) (agent.Agent, agent.Version, error) {
	a, versions, err := r.agentVersions(ctx, p, slugOrID)
	if err != nil {
		return agent.Agent{}, agent.Version{}, err
	}
	v, err := r.cutAgent(a, versions)
	if err != nil {
		return agent.Agent{}, agent.Version{}, err
	}
	if err := r.publishAgent(ctx, p, &a, &v); err != nil {
		return agent.Agent{}, agent.Version{}, err
	}
	return r.addAgent(ctx, a, v)
}

// DisableAgent stops new runs of an agent.
func (r *Registry) DisableAgent(ctx context.Context, p tool.Principal, slugOrID string) (agent.Agent, error) {
	return r.changeAgent(ctx, p, slugOrID, func(*agent.Agent, []agent.Version) tool.Status { return tool.Disabled })
}

// EnableAgent ends the disabled status of an agent: it is published if one of its
// versions is, else a draft.
func (r *Registry) EnableAgent(ctx context.Context, p tool.Principal, slugOrID string) (agent.Agent, error) {
	return r.changeAgent(ctx, p, slugOrID, func(_ *agent.Agent, versions []agent.Version) tool.Status {
		return agentStatus(versions)
	})
}

func (r *Registry) changeAgent(
	ctx context.Context, p tool.Principal, slugOrID string, status func(*agent.Agent, []agent.Version) tool.Status,
) (agent.Agent, error) {
	a, versions, err := r.agentVersions(ctx, p, slugOrID)
	if err != nil {
		return agent.Agent{}, err
	}
	next := status(&a, versions)
	if a.Status == next {
		return a, nil
	}
	a.Status, a.UpdatedAt = next, r.opts.Clock().UTC()
	if a, err = r.store.UpdateAgent(ctx, a); err != nil {
		return agent.Agent{}, fmt.Errorf("changing agent %q: %w", slugOrID, err)
	}
	return a, nil
}

// cutAgent returns the version of the head under its number. It stores nothing.
func (r *Registry) cutAgent(a agent.Agent, versions []agent.Version) (agent.Version, error) {
	digest, err := a.Definition.Digest()
	if err != nil {
		return agent.Version{}, refusal.New(tool.Invalid, "", "agent %q holds malformed JSON", a.Slug)
	}
	exists, err := release.OfAgent(versions).Judge(a.Version, digest, nil)
	if err != nil {
		return agent.Version{}, err
	}
	if exists {
		return versions[slices.IndexFunc(versions, func(v agent.Version) bool { return v.Number == a.Version })], nil
	}
	id, err := uuid7.New()
	if err != nil {
		return agent.Version{}, err
	}
	return agent.Version{
		ID: id, AgentID: a.ID, Tenant: a.Tenant, Slug: a.Slug, Number: a.Version, Digest: digest,
		Snapshot: a.Definition, CreatedAt: r.opts.Clock().UTC(),
	}, nil
}

// publishAgent marks a version and its agent as published, if its tools resolve.
func (r *Registry) publishAgent(ctx context.Context, p tool.Principal, a *agent.Agent, v *agent.Version) error {
	if err := r.mayPublishAgent(a, v); err != nil {
		return err
	}
	if len(v.Snapshot.Tools) > 0 {
		bound, err := r.opts.Resolver.BindNew(ctx, p, v.Snapshot.Tools, tool.Production)
		if err != nil {
			return refusal.Within("/tools", err)
		}
		if err := fitModel(v.Snapshot.Model, bound); err != nil {
			return err
		}
	}
	if err := r.walkAgent(ctx, p.Tenant, node{"agent", a.Slug, a.ID}, v.Snapshot.Tools, nil); err != nil {
		return err
	}
	now := r.opts.Clock().UTC()
	if !v.Published {
		v.Published, v.PublishedAt = true, &now
	}
	if a.PublishedAt == nil {
		a.PublishedAt = &now
	}
	a.Status = tool.Published
	return nil
}

// mayPublishAgent fails for an agent that cannot be published, before its tools are
// resolved.
func (r *Registry) mayPublishAgent(a *agent.Agent, v *agent.Version) error {
	switch {
	case a.Status == tool.Disabled:
		return refusal.New(tool.Conflict, "/status", "agent %q is disabled: enable it before publishing", a.Slug)
	case v.Snapshot.Model == "":
		return refusal.New(tool.Invalid, "/model", `expected a model, as "provider/name"`)
	case len(v.Snapshot.Tools) > 0 && r.opts.Resolver == nil:
		return refusal.New(tool.Conflict, "/tools", "tools cannot be resolved here, so agents with tools cannot be published")
	}
	return nil
}

func (r *Registry) addAgent(ctx context.Context, a agent.Agent, v agent.Version) (agent.Agent, agent.Version, error) {
	a.UpdatedAt = r.opts.Clock().UTC()
	head, stored, err := r.store.AddAgentVersion(ctx, a, v)
	if err != nil {
		return agent.Agent{}, agent.Version{}, fmt.Errorf("adding version %s of agent %q: %w", v.Number, a.Slug, err)
	}
	return head, stored, nil
}

// agentVersions returns an agent that p may change, with its versions.
func (r *Registry) agentVersions(
	ctx context.Context, p tool.Principal, slugOrID string,
) (agent.Agent, []agent.Version, error) {
	if err := refusal.Unpermitted(p, AgentsWrite); err != nil {
		return agent.Agent{}, nil, err
	}
	a, err := r.ownAgent(ctx, p, slugOrID)
	if err != nil {
		return agent.Agent{}, nil, err
	}
	versions, err := r.store.ListAgentVersions(ctx, p.Tenant, a.ID)
	if err != nil {
		return agent.Agent{}, nil, fmt.Errorf("listing the versions of agent %q: %w", a.Slug, err)
	}
	return a, versions, nil
}
