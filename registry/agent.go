package registry

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/uuid7"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/registry/release"
	"github.com/toolcrib/toolcrib/tool"
)

// CreateAgent makes a draft of a new agent.
func (r *Registry) CreateAgent(
	ctx context.Context, p tool.Principal, s definition.AgentSpec,
) (agent.Agent, []string, error) {
	if err := refusal.First(refusal.Unpermitted(p, AgentsWrite), refusePublished(s.AsksToPublish())); err != nil {
		return agent.Agent{}, nil, err
	}
	a, warnings, err := r.newAgent(p.Tenant, s)
	if err != nil {
		return agent.Agent{}, nil, err
	}
	if a, err = r.store.CreateAgent(ctx, a); err != nil {
		return agent.Agent{}, nil, fmt.Errorf("creating agent %q: %w", s.Slug, err)
	}
	return a, warnings, nil
}

// UpdateAgent replaces the draft head of an agent. Its slug cannot change.
func (r *Registry) UpdateAgent(
	ctx context.Context, p tool.Principal, slugOrID string, s definition.AgentSpec,
) (agent.Agent, []string, error) {
	if err := refusal.First(refusal.Unpermitted(p, AgentsWrite), refusePublished(s.AsksToPublish())); err != nil {
		return agent.Agent{}, nil, err
	}
	a, err := r.ownAgent(ctx, p, slugOrID)
	if err != nil {
		return agent.Agent{}, nil, err
	}
	if s.Slug == "" {
		s.Slug = a.Slug
	}
	a, warnings, err := r.editAgent(a, s)
	if err != nil {
		return agent.Agent{}, nil, err
	}
	if a, err = r.store.UpdateAgent(ctx, a); err != nil {
		return agent.Agent{}, nil, fmt.Errorf("updating agent %q: %w", s.Slug, err)
	}
	return a, warnings, nil
}

// GetAgent returns an agent of the tenant.
func (r *Registry) GetAgent(ctx context.Context, p tool.Principal, slugOrID string) (agent.Agent, error) {
	a, err := r.store.FindAgent(ctx, p.Tenant, slugOrID)
	if err != nil {
		return agent.Agent{}, fmt.Errorf("finding agent %q: %w", slugOrID, err)
	}
	return a, nil
}

// ownAgent returns an agent to change, at the revision of [Registry.At].
func (r *Registry) ownAgent(ctx context.Context, p tool.Principal, slugOrID string) (agent.Agent, error) {
	a, err := r.GetAgent(ctx, p, slugOrID)
	if err != nil {
		return agent.Agent{}, err
	}
	if err := definition.CheckRevision("agent", a.Slug, a.Revision, r.revision); err != nil {
		return agent.Agent{}, err
	}
	return a, nil
}

// ListAgents returns a page of the tenant's agents in slug order.
func (r *Registry) ListAgents(
	ctx context.Context, p tool.Principal, afterSlug string, limit int,
) ([]agent.Agent, error) {
	agents, err := r.store.ListAgents(ctx, p.Tenant, afterSlug, limit)
	if err != nil {
		return nil, fmt.Errorf("listing agents: %w", err)
	}
	return agents, nil
}

// AgentVersions returns the versions of an agent, newest first.
func (r *Registry) AgentVersions(ctx context.Context, p tool.Principal, slugOrID string) ([]agent.Version, error) {
	a, err := r.GetAgent(ctx, p, slugOrID)
	if err != nil {
		return nil, err
	}
	versions, err := r.store.ListAgentVersions(ctx, p.Tenant, a.ID)
	if err != nil {
		return nil, fmt.Errorf("listing the versions of agent %q: %w", a.Slug, err)
	}
	return versions, nil
}

func (r *Registry) newAgent(tenant tool.TenantID, s definition.AgentSpec) (agent.Agent, []string, error) {
	id, err := uuid7.New()
	if err != nil {
		return agent.Agent{}, nil, err
	}
	a := agent.Agent{
		ID: id, Tenant: tenant, Slug: s.Slug, Status: tool.Draft, Version: release.First, CreatedAt: r.opts.Clock().UTC(),
	}
	return r.editAgent(a, s)
}

// editAgent returns a with the fields of s. It does not publish.
func (r *Registry) editAgent(a agent.Agent, s definition.AgentSpec) (agent.Agent, []string, error) {
	s.Restore(a.Definition)
	warnings, err := s.Check()
	if err == nil {
		err = s.CheckSchemas(r.opts.Schemas)
	}
	if err != nil {
		return a, nil, err
	}
	if s.Slug != a.Slug {
		return a, nil, refusal.New(tool.Invalid, "/slug", "a slug cannot be changed: it is %s", a.Slug)
	}
	if err := definition.CheckRevision("agent", a.Slug, a.Revision, s.Revision); err != nil {
		return a, nil, err
	}
	if a.Status, err = nextStatus(a.Status, s.Status); err != nil {
		return a, nil, err
	}
	a.Definition = s.Definition
	if s.Version != "" {
		a.Version = s.Version
	}
	a.UpdatedAt = r.opts.Clock().UTC()
	return a, append(warnings, r.adviseModels(a.Definition)...), nil
}
