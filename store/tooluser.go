package store

import (
	"context"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

var _ registry.LifecycleStore = (*Store)(nil)

// NamesOf implements [registry.LifecycleStore].
func (s *Store) NamesOf(ctx context.Context, t tool.Tool) ([]string, error) {
	return ask(ctx, s.do, "store.NamesOf", t.Tenant, (*db.Queries).ListNamesOfTool, db.ListNamesOfToolParams{
		ScopeID: scopeID(t.Tenant), ToolID: t.ID,
	})
}

// RunsPinning implements [registry.LifecycleStore].
func (s *Store) RunsPinning(
	ctx context.Context, tenant tool.TenantID, toolID string, limit int,
) ([]string, error) {
	return ask(ctx, s.do, "store.RunsPinning", tenant, (*db.Queries).ListRunsPinning, db.ListRunsPinningParams{
		TenantID: string(tenant), ToolID: toolID, Limit: pageSize(limit),
	})
}

// ListUsers implements [registry.LifecycleStore].
func (s *Store) ListUsers(
	ctx context.Context, tenant tool.TenantID, q registry.UserQuery,
) ([]registry.User, error) {
	const op = "store.ListUsers"
	if err := checkIDs(op, q.ToolID); err != nil {
		return nil, err
	}
	switch q.Kind {
	case registry.UserAgent:
		return s.agentsNaming(ctx, op, tenant, q)
	case registry.UserTool:
		return s.toolsNaming(ctx, op, tenant, q)
	case registry.UserToolset:
		rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListToolsetsWith, db.ListToolsetsWithParams{
			TenantID: string(tenant), ToolID: q.ToolID, AfterSlug: text(q.After), Limit: pageSize(q.Limit),
		})
		return convert(rows, func(r db.ListToolsetsWithRow) registry.User {
			return registry.User{
				Kind: q.Kind, ID: r.ID, Name: r.Slug, Published: true, Status: r.Status, Constraint: r.VersionConstraint,
				Place: r.Slug,
			}
		}), err
	case registry.UserSchedule:
		return s.schedulesNaming(ctx, op, tenant, q)
	case registry.UserAssignment, registry.UserProfile:
		return s.assignmentsOf(ctx, op, tenant, q)
	default:
		return nil, nil
	}
}

// agentsNaming lists agents; the place of one is its slug, and whether it is the draft.
func (s *Store) agentsNaming(
	ctx context.Context, op string, tenant tool.TenantID, q registry.UserQuery,
) ([]registry.User, error) {
	slug, draft, _ := strings.Cut(q.After, "\n")
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListAgentsNaming, db.ListAgentsNamingParams{
		TenantID: string(tenant), Names: convert(q.Names, text), AfterSlug: text(slug), AfterDraft: draft == "true",
		Limit: pageSize(q.Limit),
	})
	if err != nil {
		return nil, err
	}
	return collect(rows, func(r db.ListAgentsNamingRow) (registry.User, error) {
		var d agent.Definition
		err := decode(r.Content, &d)
		return registry.User{
			Kind: q.Kind, ID: r.ID, Name: r.Slug, Version: r.Version, Published: r.Published, Status: r.Status,
			Tools: d.Tools, Refuses: d.OnUnavailableTool == agent.RefuseRun,
			Place: r.Slug + "\n" + strconv.FormatBool(!r.Published),
		}, err
	})
}

// toolsNaming lists tools twice where the draft is another content than what is published.
func (s *Store) toolsNaming(
	ctx context.Context, op string, tenant tool.TenantID, q registry.UserQuery,
) ([]registry.User, error) {
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListToolsNaming, db.ListToolsNamingParams{
		ScopeID: scopeID(tenant), ToolID: q.ToolID, Names: convert(q.Names, text), AfterSlug: text(q.After),
		Limit: pageSize(q.Limit),
	})
	if err != nil {
		return nil, err
	}
	var out []registry.User
	for _, r := range rows {
		head, err := s.seen(r.ToolRegistry)
		if err != nil {
			return nil, err
		}
		u := registry.User{Kind: q.Kind, ID: head.ID, Name: head.Slug, Status: string(head.Status), Place: head.Slug}
		var digest string
		if r.PublishedVersion != "" {
			var d tool.Definition
			if err := decode(r.PublishedSnapshot, &d); err != nil {
				return nil, err
			}
			published := u
			published.Version, published.Published, published.Definition = r.PublishedVersion, true, &d
			out = append(out, published)
			if digest, err = (tool.Snapshot{Definition: d}).Digest(); err != nil {
				return nil, err
			}
		}
		if now, err := (tool.Snapshot{Definition: head.Definition}).Digest(); err != nil || now != digest {
			u.Definition = &head.Definition
			out = append(out, u)
		}
	}
	return out, nil
}

func (s *Store) schedulesNaming(
	ctx context.Context, op string, tenant tool.TenantID, q registry.UserQuery,
) ([]registry.User, error) {
	id, name, _ := strings.Cut(q.After, "\n")
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListSchedulesNaming, db.ListSchedulesNamingParams{
		TenantID: string(tenant), Names: convert(q.Names, text), AfterName: text(name), AfterID: orNil(id),
		Limit: pageSize(q.Limit),
	})
	if err != nil {
		return nil, err
	}
	return collect(rows, func(r db.ListSchedulesNamingRow) (registry.User, error) {
		var d agent.Definition
		err := decode(r.Snapshot, &d)
		status := "active"
		if r.Paused {
			status = "paused"
		}
		return registry.User{
			Kind: q.Kind, ID: r.ID, Name: r.Name, Published: true, Status: status, Through: r.Agent, Tools: d.Tools,
			Refuses: d.OnUnavailableTool == agent.RefuseRun, Place: r.ID + "\n" + r.Name,
		}, err
	})
}

// assignmentsOf lists assignments with an agent, or those without.
func (s *Store) assignmentsOf(
	ctx context.Context, op string, tenant tool.TenantID, q registry.UserQuery,
) ([]registry.User, error) {
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListAssignmentsOfTool, db.ListAssignmentsOfToolParams{
		TenantID: string(tenant), ToolID: q.ToolID, WithAgent: q.Kind == registry.UserAssignment, AfterID: orNil(q.After),
		Limit: pageSize(q.Limit),
	})
	return convert(rows, func(r db.ListAssignmentsOfToolRow) registry.User {
		u := registry.User{
			Kind: q.Kind, ID: r.ID, Name: r.Agent, Published: true, Status: r.AgentStatus, Through: r.Profile, Place: r.ID,
		}
		if q.Kind == registry.UserProfile {
			u.Name, u.Through, u.Status = r.Profile, "", ""
		}
		return u
	}), err
}
