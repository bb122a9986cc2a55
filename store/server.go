package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/internal/remote"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/mcpserver"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// CreateServer implements [mcpserver.Store].
func (s *Store) CreateServer(ctx context.Context, server mcpserver.Server) (mcpserver.Server, error) {
	const op = "store.CreateServer"
	row, err := serverRow(server)
	if err != nil {
		return mcpserver.Server{}, err
	}
	err = s.do(ctx, op, server.Tenant, func(q *db.Queries) (err error) {
		row, err = q.CreateServer(ctx, db.CreateServerParams{
			ID: row.ID, TenantID: row.TenantID, Slug: row.Slug, Name: row.Name, Transport: row.Transport, URL: row.URL,
			Command: row.Command, Headers: row.Headers, Auth: row.Auth, AllowedTools: row.AllowedTools,
			TrustHints: row.TrustHints, Status: row.Status, CreatedBy: row.CreatedBy,
		})
		return err
	})
	if err != nil {
		err = explain(err, tool.NotFound, "tenant not found")
		return mcpserver.Server{}, explain(err, tool.Conflict, fmt.Sprintf("a server %q is attached already", server.Slug))
	}
	return serverOf(row)
}

// SaveServer implements [mcpserver.Store].
func (s *Store) SaveServer(
	ctx context.Context, server mcpserver.Server, c mcpserver.Changes,
) (mcpserver.Server, error) {
	const op = "store.SaveServer"
	var saved mcpserver.Server
	err := s.inTx(ctx, op, server.Tenant, func(q *db.Queries) (err error) {
		if err := lockSlugs(ctx, q, server.Tenant, c.Create); err != nil {
			return err
		}
		if saved, err = updateServer(ctx, q, op, server); err != nil {
			return err
		}
		for _, head := range c.Create {
			if err := createTool(ctx, q, op, server.Tenant, head); err != nil {
				return err
			}
		}
		// Lock remote tools before tools, in the same order as StopChangedTool.
		if err := saveRemoteTools(ctx, q, server, c); err != nil {
			return err
		}
		for id, reason := range c.Stop {
			if err := q.QuarantineTool(ctx, db.QuarantineToolParams{
				ScopeID: scopeID(server.Tenant), ID: id, Quarantine: text(reason),
			}); err != nil {
				return err
			}
		}
		return nil
	})
	return saved, err
}

// lockSlugs locks the slugs of new tools.
func lockSlugs(ctx context.Context, q *db.Queries, tenant tool.TenantID, heads []tool.Tool) error {
	if len(heads) == 0 {
		return nil
	}
	return lockNames(ctx, q, tenant, convert(heads, func(t tool.Tool) string { return t.Slug })...)
}

// createTool stores the draft of a new tool, whose slug is locked, within a
// transaction.
func createTool(ctx context.Context, q *db.Queries, op string, tenant tool.TenantID, head tool.Tool) error {
	head.Tenant = tenant
	row, err := toolRow(head)
	if err != nil {
		return err
	}
	if err := freeOfFormer(ctx, q, op, head); err != nil {
		return err
	}
	if _, err := q.CreateTool(ctx, createParams(row)); err != nil {
		return explain(failure(op, err), tool.Conflict, fmt.Sprintf("a tool %q exists already", head.Slug))
	}
	return nil
}

// saveRemoteTools stores the changes of a server's tools.
func saveRemoteTools(ctx context.Context, q *db.Queries, server mcpserver.Server, c mcpserver.Changes) error {
	for i := range c.Put {
		params, err := remoteParams(server, &c.Put[i])
		if err != nil {
			return err
		}
		if err := q.PutRemoteTool(ctx, params); err != nil {
			return err
		}
	}
	if len(c.Seen) == 0 || server.DiscoveredAt == nil {
		return nil
	}
	return q.SeeRemoteTools(ctx, db.SeeRemoteToolsParams{
		TenantID: string(server.Tenant), ServerID: server.ID, Names: c.Seen, SeenAt: *server.DiscoveredAt,
	})
}

// updateServer stores a changed server under the rules of [Store.SaveServer].
func updateServer(
	ctx context.Context, q *db.Queries, op string, server mcpserver.Server,
) (mcpserver.Server, error) {
	row, err := serverRow(server)
	if err != nil {
		return mcpserver.Server{}, err
	}
	stored, err := q.UpdateServer(ctx, db.UpdateServerParams{
		TenantID: row.TenantID, ID: row.ID, Revision: server.Revision, Name: row.Name, Transport: row.Transport, URL: row.URL,
		Command: row.Command, Headers: row.Headers, Auth: row.Auth, AllowedTools: row.AllowedTools,
		TrustHints: row.TrustHints,
		Status:     row.Status, DiscoveredAt: row.DiscoveredAt, DiscoveryError: row.DiscoveryError,
		ProtocolVersion: row.ProtocolVersion, ServerName: row.ServerName, ServerVersion: row.ServerVersion,
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return mcpserver.Server{}, serverChanged(ctx, q, op, server)
	}
	if err != nil {
		return mcpserver.Server{}, err
	}
	return serverOf(stored)
}

// serverChanged returns why nothing was written: the server does not exist, or is at
// another revision.
func serverChanged(ctx context.Context, q *db.Queries, op string, server mcpserver.Server) error {
	stored, err := q.FindServerByID(ctx, db.FindServerByIDParams{TenantID: string(server.Tenant), ID: server.ID})
	if err != nil {
		return explain(failure(op, err), tool.NotFound, fmt.Sprintf("server %q not found", server.Slug))
	}
	return &tool.Error{Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf(
		"server %q changed meanwhile: revision %d was asked for, it is at %d; read it again", server.Slug, server.Revision,
		stored.Revision), Err: definition.ErrChanged}
}

// TrustServer implements [mcpserver.Store].
func (s *Store) TrustServer(
	ctx context.Context, server mcpserver.Server, trusted bool,
) (saved mcpserver.Server, err error) {
	const op = "store.TrustServer"
	if err := checkIDs(op, server.ID); err != nil {
		return mcpserver.Server{}, err
	}
	err = s.inTx(ctx, op, server.Tenant, func(q *db.Queries) error {
		row, err := q.TrustServer(ctx, db.TrustServerParams{
			TenantID: string(server.Tenant), ID: server.ID, Revision: server.Revision, Trusted: trusted,
		})
		if errors.Is(err, pgx.ErrNoRows) {
			return serverChanged(ctx, q, op, server)
		}
		if err != nil {
			return err
		}
		saved, err = serverOf(row)
		return err
	})
	return saved, err
}

// DetachServer implements [mcpserver.Store].
func (s *Store) DetachServer(ctx context.Context, server mcpserver.Server) error {
	const op = "store.DetachServer"
	if err := checkIDs(op, server.ID); err != nil {
		return err
	}
	return s.inTx(ctx, op, server.Tenant, func(q *db.Queries) error {
		gone, err := q.DetachServer(ctx, db.DetachServerParams{
			TenantID: string(server.Tenant), ID: server.ID, Revision: server.Revision,
		})
		switch {
		case err != nil:
			return err
		case gone == 0:
			return serverChanged(ctx, q, op, server)
		}
		// Nothing that runs on it is published from now on: see holdServer. What was is seen by this statement.
		tools, err := q.ListServerTools(ctx, db.ListServerToolsParams{
			ScopeID: scopeID(server.Tenant), Server: text(server.Slug),
		})
		if err != nil {
			return err
		}
		for i := range tools {
			if status := tool.Status(tools[i].Status); status == tool.Published || status == tool.Deprecated {
				return &tool.Error{Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf(
					"server %q is in use: tool %q was published meanwhile", server.Slug, tools[i].Slug)}
			}
		}
		return nil
	})
}

// holdServer keeps the server that a definition runs on from being detached before the transaction ends, where t runs
// what was published of it. It fails with tool.Conflict where the server is detached. It comes before the head is
// locked, as changes of servers lock those of their tools.
func holdServer(ctx context.Context, q *db.Queries, op string, t tool.Tool, d *tool.Definition) error {
	slug := mcpserver.SlugOf(d)
	if t.Global() || slug == "" {
		return nil
	}
	held, err := q.HoldServer(ctx, db.HoldServerParams{TenantID: string(t.Tenant), Slug: text(slug)})
	if err == nil && held == 0 {
		return &tool.Error{Kind: tool.Conflict, Op: op, Path: "/implementation_config/server", Msg: fmt.Sprintf(
			"no server %q is attached: attach it before what runs on it is published or enabled", slug)}
	}
	return err
}

// FindServer implements [mcpserver.Store].
func (s *Store) FindServer(ctx context.Context, tenant tool.TenantID, slugOrID string) (mcpserver.Server, error) {
	var row db.MCPServer
	err := s.do(ctx, "store.FindServer", tenant, func(q *db.Queries) (err error) {
		if tool.ValidID(slugOrID) {
			row, err = q.FindServerByID(ctx, db.FindServerByIDParams{TenantID: string(tenant), ID: slugOrID})
		} else {
			row, err = q.FindServerBySlug(ctx, db.FindServerBySlugParams{TenantID: string(tenant), Slug: text(slugOrID)})
		}
		return err
	})
	if err != nil {
		return mcpserver.Server{}, explain(err, tool.NotFound, fmt.Sprintf("server %q not found", slugOrID))
	}
	return serverOf(row)
}

// ListServers implements [mcpserver.Store].
func (s *Store) ListServers(
	ctx context.Context, tenant tool.TenantID, afterSlug string, limit int,
) ([]mcpserver.Server, error) {
	rows, err := ask(ctx, s.do, "store.ListServers", tenant, (*db.Queries).ListServers, db.ListServersParams{
		TenantID: string(tenant), AfterSlug: text(afterSlug), Limit: pageSize(limit),
	})
	if err != nil {
		return nil, err
	}
	return collect(rows, serverOf)
}

// ListServerTools implements [mcpserver.Store].
func (s *Store) ListServerTools(ctx context.Context, tenant tool.TenantID, serverSlug string) ([]tool.Tool, error) {
	rows, err := ask(ctx, s.do, "store.ListServerTools", tenant, (*db.Queries).ListServerTools, db.ListServerToolsParams{
		ScopeID: scopeID(tenant), Server: text(serverSlug),
	})
	if err != nil {
		return nil, err
	}
	return collect(rows, s.seen)
}

func serverRow(s mcpserver.Server) (db.MCPServer, error) {
	id, err := idOrNew(s.ID)
	if err != nil {
		return db.MCPServer{}, err
	}
	if err := checkIDs("store", id); err != nil {
		return db.MCPServer{}, err
	}
	headers, err := content(s.Headers)
	if err != nil {
		return db.MCPServer{}, err
	}
	var auth []byte
	if s.Auth != nil {
		if auth, err = content(s.Auth); err != nil {
			return db.MCPServer{}, err
		}
	}
	return db.MCPServer{
		ID: id, TenantID: string(s.Tenant), Slug: text(s.Slug), Name: text(s.Name), Transport: string(s.Kind()),
		URL:     text(s.URL),
		Command: text(s.Command), Headers: headers, Auth: auth, AllowedTools: list(s.AllowedTools), TrustHints: s.TrustHints,
		Status: s.Status, DiscoveredAt: s.DiscoveredAt, DiscoveryError: text(s.DiscoveryError),
		ProtocolVersion: text(s.ProtocolVersion), ServerName: text(s.ServerName), ServerVersion: text(s.ServerVersion),
		CreatedBy: text(s.CreatedBy),
	}, nil
}

func serverOf(row db.MCPServer) (mcpserver.Server, error) {
	s := mcpserver.Server{
		ID: row.ID, Tenant: tool.TenantID(row.TenantID), Slug: row.Slug, Name: row.Name,
		Connection:   definition.Connection{URL: row.URL, Transport: remote.Transport(row.Transport), Command: row.Command},
		AllowedTools: row.AllowedTools, TrustHints: row.TrustHints, Trusted: row.Trusted, Status: row.Status,
		DiscoveredAt: row.DiscoveredAt, DiscoveryError: row.DiscoveryError, ProtocolVersion: row.ProtocolVersion,
		ServerName: row.ServerName, ServerVersion: row.ServerVersion,
		Revision: row.Revision, CreatedBy: row.CreatedBy, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt,
	}
	if err := decode(row.Headers, &s.Headers); err != nil {
		return mcpserver.Server{}, err
	}
	return s, decode(row.Auth, &s.Auth)
}
