package registry

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/redact"
	"github.com/toolcrib/toolcrib/internal/uuid7"
	"github.com/toolcrib/toolcrib/tool"
)

// CreateAgent makes a draft of a new agent.
func (r *Registry) CreateAgent(ctx context.Context, p tool.Principal, s AgentSpec) (agent.Agent, []string, error) {
	if err := firstOf(mayWrite(p, AgentsWrite), refusePublished(s.wanted())); err != nil {
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

// UpdateAgent replaces the draft head of an agent. Its slug stays.
func (r *Registry) UpdateAgent(
	ctx context.Context, p tool.Principal, slugOrID string, s AgentSpec,
) (agent.Agent, []string, error) {
	if err := firstOf(mayWrite(p, AgentsWrite), refusePublished(s.wanted())); err != nil {
		return agent.Agent{}, nil, err
	}
	a, err := r.ownAgent(ctx, p, slugOrID)
	if err != nil {
		return agent.Agent{}, nil, err
	}
	if s.Slug == "" {
		s.Slug = a.Slug
	}
	a, warnings, err := r.editedAgent(a, s)
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

// ownAgent returns an agent that is to be changed.
func (r *Registry) ownAgent(ctx context.Context, p tool.Principal, slugOrID string) (agent.Agent, error) {
	a, err := r.GetAgent(ctx, p, slugOrID)
	if err != nil {
		return agent.Agent{}, err
	}
	if err := refuseChanged("agent", a.Slug, a.Revision, r.revision); err != nil {
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

func (r *Registry) newAgent(tenant tool.TenantID, s AgentSpec) (agent.Agent, []string, error) {
	id, err := uuid7.New()
	if err != nil {
		return agent.Agent{}, nil, err
	}
	a := agent.Agent{
		ID: id, Tenant: tenant, Slug: s.Slug, Status: tool.Draft, Version: FirstVersion, CreatedAt: r.opts.Clock().UTC(),
	}
	return r.editedAgent(a, s)
}

// editedAgent returns a as s wants it, but for publishing.
func (r *Registry) editedAgent(a agent.Agent, s AgentSpec) (agent.Agent, []string, error) {
	s.ModelOptions = redact.Restore(s.ModelOptions, a.ModelOptions)
	warnings, err := checkAgentSpec(&s)
	if err != nil {
		return a, nil, err
	}
	if s.Slug != a.Slug {
		return a, nil, refuse(tool.Invalid, "/slug", "a slug cannot be changed: it is %s", a.Slug)
	}
	if err := refuseChanged("agent", a.Slug, a.Revision, s.Revision); err != nil {
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
	return a, append(warnings, r.adviseModel(a.Model)...), nil
}

// checkAgentSpec refuses what no draft may hold, and fills in defaults.
func checkAgentSpec(s *AgentSpec) ([]string, error) {
	if !tool.ValidSlug(s.Slug) {
		return nil, refuse(tool.Invalid, "/slug", "slug %.80q: expected a letter, then letters, digits, _ or -, at most 64",
			s.Slug)
	}
	if s.Name == "" {
		s.Name = s.Slug
	}
	if s.Version != "" {
		if _, err := parseVersion(s.Version); err != nil {
			return nil, err
		}
	}
	switch s.ToolMode {
	case "", agent.Sequential, agent.ParallelSafe:
	default:
		return nil, refuse(tool.Invalid, "/tool_mode", "tool mode %.40q: expected sequential or parallel_safe", s.ToolMode)
	}
	for _, group := range slices.Sorted(maps.Keys(s.MaxConcurrency)) {
		if n := s.MaxConcurrency[group]; group == "" || len(group) > maxGroupName || n < 1 || n > maxConcurrency {
			return nil, refuse(tool.Invalid, "/max_concurrency/"+group,
				"max_concurrency of group %.80q is %d: expected 1 to %d for a concurrency group of the agent's tools, such as %q",
				group, n, maxConcurrency, tool.DefaultConcurrencyGroup)
		}
	}
	if p := s.OnUnavailableTool; p != "" && !slices.Contains(agent.UnavailablePolicies(), p) {
		return nil, refuse(tool.Invalid, "/on_unavailable_tool", "on_unavailable_tool %.40q: expected omit or refuse", p)
	}
	if provider, name, ok := strings.Cut(s.Model, "/"); s.Model != "" && (!ok || provider == "" || name == "") {
		return nil, refuse(tool.Invalid, "/model", `model %.80q: expected "provider/name"`, s.Model)
	}
	for field, value := range map[string]int{
		"max_turns": s.Limits.MaxTurns, "max_calls": s.Limits.MaxCalls,
		"max_calls_per_turn": s.Limits.MaxCallsPerTurn, "timeout_s": s.Limits.TimeoutSeconds,
	} {
		if value < 0 {
			return nil, refuse(tool.Invalid, "/limits/"+field, "%s is %d: expected 0 for the default, or more", field, value)
		}
	}
	if err := refuseRedacted("/model_options", s.ModelOptions); err != nil {
		return nil, err
	}
	seen := make(map[string]bool, len(s.Tools))
	for i, ref := range s.Tools {
		if name := ref.Name(); name == "" || seen[name] {
			return nil, refuse(tool.Invalid, fmt.Sprintf("/tools/%d", i), "tool %q is missing a name or listed twice", ref)
		}
		seen[ref.Name()] = true
	}
	if err := checkSkills(s.Skills); err != nil {
		return nil, err
	}
	if s.Instructions == "" {
		return []string{"no instructions: the model gets nothing but the conversation"}, nil
	}
	return nil, nil
}
