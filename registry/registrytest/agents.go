package registrytest

import (
	"cmp"
	"context"
	"slices"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// CreateAgent implements [registry.Store].
func (s *Store) CreateAgent(_ context.Context, a agent.Agent) (agent.Agent, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.mayWrite(a.Tenant); err != nil {
		return agent.Agent{}, err
	}
	for _, other := range s.agents {
		if other.Tenant == a.Tenant && other.Slug == a.Slug {
			return agent.Agent{}, conflict("agent %q exists already", a.Slug)
		}
	}
	if a.ID == "" {
		a.ID = newID()
	}
	a.Revision = 1
	s.agents[a.ID] = clone(a)
	return clone(a), nil
}

// UpdateAgent implements [registry.Store].
func (s *Store) UpdateAgent(_ context.Context, a agent.Agent) (agent.Agent, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkAgent(a); err != nil {
		return agent.Agent{}, err
	}
	a.Revision++
	s.agents[a.ID] = clone(a)
	return clone(a), nil
}

// FindAgent implements [registry.Store].
func (s *Store) FindAgent(_ context.Context, id tool.TenantID, slugOrID string) (agent.Agent, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.agents {
		if a.Tenant == id && (a.Slug == slugOrID || a.ID == slugOrID) {
			return clone(a), nil
		}
	}
	return agent.Agent{}, notFound("agent", slugOrID)
}

// ListAgents implements [registry.Store].
func (s *Store) ListAgents(_ context.Context, id tool.TenantID, afterSlug string, limit int) ([]agent.Agent, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []agent.Agent
	for _, a := range s.agents {
		if a.Tenant == id && a.Slug > afterSlug {
			out = append(out, clone(a))
		}
	}
	slices.SortFunc(out, func(a, b agent.Agent) int { return cmp.Compare(a.Slug, b.Slug) })
	if limit > 0 && len(out) > limit {
		out = out[:limit]
	}
	return out, nil
}

// AddAgentVersion implements [registry.Store].
func (s *Store) AddAgentVersion(_ context.Context, a agent.Agent, v agent.Version) (agent.Agent, agent.Version, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkAgent(a); err != nil {
		return agent.Agent{}, agent.Version{}, err
	}
	versions := s.agentVersions[a.ID]
	i := slices.IndexFunc(versions, func(have agent.Version) bool { return have.Number == v.Number })
	switch {
	case i < 0:
		v = clone(v)
		v.AgentID, v.Tenant, v.Slug = a.ID, a.Tenant, a.Slug
		if v.ID == "" {
			v.ID = newID()
		}
		s.agentVersions[a.ID] = append(versions, v)
	case versions[i].Digest != v.Digest:
		return agent.Agent{}, agent.Version{}, conflict("version %s of agent %q exists with other content", v.Number, a.Slug)
	default:
		if v.Published && !versions[i].Published {
			versions[i].Published, versions[i].PublishedAt = true, v.PublishedAt
		}
		v = versions[i]
	}
	a.Revision++
	s.agents[a.ID] = clone(a)
	return clone(a), clone(v), nil
}

// ListAgentVersions implements [registry.Store].
func (s *Store) ListAgentVersions(_ context.Context, id tool.TenantID, agentID string) ([]agent.Version, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.agents[agentID]
	if !ok || a.Tenant != id {
		return nil, notFound("agent", agentID)
	}
	out := clone(s.agentVersions[agentID])
	slices.Reverse(out)
	return out, nil
}

func (s *Store) checkAgent(a agent.Agent) error {
	have, ok := s.agents[a.ID]
	if !ok || have.Tenant != a.Tenant || a.Tenant == "" {
		return notFound("agent", a.Slug)
	}
	if have.Revision != a.Revision {
		return changed("agent", a.Slug)
	}
	return nil
}
