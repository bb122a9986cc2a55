package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// CreateAgent implements [registry.Store]. It fails with tool.Conflict when the
// slug is taken in the tenant.
func (s *Store) CreateAgent(ctx context.Context, a agent.Agent) (agent.Agent, error) {
	const op = "store.CreateAgent"
	id, err := idOrNew(a.ID)
	if err != nil {
		return agent.Agent{}, err
	}
	encoded, err := content(a.Definition)
	if err != nil {
		return agent.Agent{}, err
	}
	row, err := ask(ctx, s.do, op, a.Tenant, (*db.Queries).CreateAgent, db.CreateAgentParams{
		ID: id, TenantID: string(a.Tenant), Slug: text(a.Slug), Name: text(a.Name), Definition: encoded,
		Status: string(a.Status), Version: text(a.Version), PublishedAt: a.PublishedAt,
	})
	if err != nil {
		return agent.Agent{}, explain(err, tool.Conflict, fmt.Sprintf("an agent %q exists already", a.Slug))
	}
	return agentOf(row)
}

// UpdateAgent implements [registry.Store].
func (s *Store) UpdateAgent(ctx context.Context, a agent.Agent) (agent.Agent, error) {
	const op = "store.UpdateAgent"
	var updated agent.Agent
	err := s.do(ctx, op, a.Tenant, func(q *db.Queries) (err error) {
		updated, err = updateAgent(ctx, q, op, a)
		return err
	})
	return updated, err
}

// updateAgent stores a changed head under the rules of [Store.UpdateAgent].
func updateAgent(ctx context.Context, q *db.Queries, op string, a agent.Agent) (agent.Agent, error) {
	if err := checkIDs(op, a.ID); err != nil {
		return agent.Agent{}, err
	}
	encoded, err := content(a.Definition)
	if err != nil {
		return agent.Agent{}, err
	}
	row, err := q.UpdateAgent(ctx, db.UpdateAgentParams{
		TenantID: string(a.Tenant), ID: a.ID, Revision: a.Revision, Slug: text(a.Slug), Name: text(a.Name),
		Definition: encoded, Status: string(a.Status), Version: text(a.Version), PublishedAt: a.PublishedAt,
	})
	if err == nil {
		return agentOf(row)
	}
	err = failure(op, err)
	if tool.KindOf(err) != tool.NotFound {
		return agent.Agent{}, explain(err, tool.Conflict, fmt.Sprintf("an agent %q exists already", a.Slug))
	}
	stored, err := q.FindAgentByID(ctx, db.FindAgentByIDParams{TenantID: string(a.Tenant), ID: a.ID})
	if err != nil {
		return agent.Agent{}, explain(failure(op, err), tool.NotFound, fmt.Sprintf("agent %q not found", a.Slug))
	}
	return agent.Agent{}, &tool.Error{Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf(
		"agent %q changed meanwhile: revision %d was asked for, it is at %d; read it again", a.Slug, a.Revision,
		stored.Revision), Err: definition.ErrChanged}
}

// FindAgent implements [registry.Store].
func (s *Store) FindAgent(ctx context.Context, tenant tool.TenantID, slugOrID string) (agent.Agent, error) {
	var row db.Agent
	err := s.do(ctx, "store.FindAgent", tenant, func(q *db.Queries) (err error) {
		if tool.ValidID(slugOrID) {
			row, err = q.FindAgentByID(ctx, db.FindAgentByIDParams{TenantID: string(tenant), ID: slugOrID})
		} else {
			row, err = q.FindAgentBySlug(ctx, db.FindAgentBySlugParams{TenantID: string(tenant), Slug: text(slugOrID)})
		}
		return err
	})
	if err != nil {
		return agent.Agent{}, explain(err, tool.NotFound, fmt.Sprintf("agent %q not found", slugOrID))
	}
	return agentOf(row)
}

// ListAgents implements [registry.Store]. The page is in the order of slugs.
func (s *Store) ListAgents(
	ctx context.Context, tenant tool.TenantID, afterSlug string, limit int,
) ([]agent.Agent, error) {
	rows, err := ask(ctx, s.do, "store.ListAgents", tenant, (*db.Queries).ListAgents, db.ListAgentsParams{
		TenantID: string(tenant), AfterSlug: text(afterSlug), Limit: pageSize(limit),
	})
	if err != nil {
		return nil, err
	}
	return collect(rows, agentOf)
}

// AddAgentVersion implements [registry.Store].
func (s *Store) AddAgentVersion(
	ctx context.Context, a agent.Agent, v agent.Version,
) (agent.Agent, agent.Version, error) {
	const op = "store.AddAgentVersion"
	id, err := idOrNew(v.ID)
	if err != nil {
		return agent.Agent{}, agent.Version{}, err
	}
	snapshot, err := content(v.Snapshot)
	if err != nil {
		return agent.Agent{}, agent.Version{}, err
	}
	var head agent.Agent
	var stored agent.Version
	err = s.inTx(ctx, op, a.Tenant, func(q *db.Queries) (err error) {
		if head, err = updateAgent(ctx, q, op, a); err != nil {
			return err
		}
		row, err := q.AddAgentVersion(ctx, db.AddAgentVersionParams{
			ID: id, AgentID: a.ID, TenantID: string(a.Tenant), Version: text(v.Number), Digest: v.Digest,
			Snapshot: snapshot, Published: v.Published, PublishedAt: v.PublishedAt,
		})
		if errors.Is(err, pgx.ErrNoRows) {
			return &tool.Error{Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf(
				"version %s of agent %q exists with other content; use a new number", v.Number, a.Slug)}
		}
		if err != nil {
			return err
		}
		stored, err = agentVersionOf(row, head.Slug)
		return err
	})
	if err != nil {
		return agent.Agent{}, agent.Version{}, err
	}
	return head, stored, nil
}

// ListAgentVersions implements [registry.Store].
func (s *Store) ListAgentVersions(ctx context.Context, tenant tool.TenantID, agentID string) ([]agent.Version, error) {
	_, versions, err := s.FindAgentVersions(ctx, tenant, agentID)
	return versions, err
}

// FindAgentVersions returns an agent and its versions, the newest first. It fails with
// tool.NotFound.
func (s *Store) FindAgentVersions(
	ctx context.Context, tenant tool.TenantID, id string,
) (agent.Agent, []agent.Version, error) {
	const op = "store.FindAgentVersions"
	if !tool.ValidID(id) {
		return agent.Agent{}, nil, notFound(op, "agent not found")
	}
	var agents []db.Agent
	var rows []db.AgentVersion
	var assigned []string
	err := s.read(ctx, op, tenant, func(b *pgx.Batch) {
		queue(b, &agents, db.FindAgentByID, string(tenant), id)
		queue(b, &rows, db.ListAgentVersions, string(tenant), id)
		queueScalars(b, &assigned, db.ListAssignedTools, string(tenant), id)
	})
	if err != nil {
		return agent.Agent{}, nil, err
	}
	if len(agents) == 0 {
		return agent.Agent{}, nil, notFound(op, "agent not found")
	}
	found, err := agentOf(agents[0])
	if err != nil {
		return agent.Agent{}, nil, err
	}
	found.Assigned = assigned
	versions, err := collect(rows, func(row db.AgentVersion) (agent.Version, error) {
		return agentVersionOf(row, found.Slug)
	})
	return found, versions, err
}

func agentOf(row db.Agent) (agent.Agent, error) {
	a := agent.Agent{
		ID: row.ID, Tenant: tool.TenantID(row.TenantID), Slug: row.Slug, Status: tool.Status(row.Status),
		Version:  row.Version,
		Revision: row.Revision, PublishedAt: row.PublishedAt, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt,
	}
	return a, decode(row.Definition, &a.Definition)
}

func agentVersionOf(row db.AgentVersion, slug string) (agent.Version, error) {
	v := agent.Version{
		ID: row.ID, AgentID: row.AgentID, Tenant: tool.TenantID(row.TenantID), Slug: slug, Number: row.Version,
		Digest: row.Digest, Published: row.Published, PublishedAt: row.PublishedAt, CreatedAt: row.CreatedAt,
	}
	return v, decode(row.Snapshot, &v.Snapshot)
}
