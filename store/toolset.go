package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolset"
)

var _ toolset.Toolsets = (*Store)(nil)

// CreateToolset implements [toolset.Toolsets]. An empty id is generated.
func (s *Store) CreateToolset(ctx context.Context, t toolset.Toolset) (toolset.Toolset, error) {
	const op = "store.CreateToolset"
	id, err := idOrNew(t.ID)
	if err != nil {
		return toolset.Toolset{}, err
	}
	if err := checkIDs(op, id); err != nil {
		return toolset.Toolset{}, err
	}
	if err := t.Check(); err != nil {
		return toolset.Toolset{}, err
	}
	var row db.Toolset
	err = s.inTx(ctx, op, t.Tenant, func(q *db.Queries) error {
		tools, servers, err := membersOf(ctx, q, op, &t)
		if err != nil {
			return err
		}
		row, err = q.CreateToolset(ctx, db.CreateToolsetParams{
			TenantID: string(t.Tenant), ID: id, Slug: t.Slug, Name: text(t.Name), Instructions: text(t.Instructions),
			Catalog: string(t.Catalog), Status: string(t.Status), Tools: tools, Servers: servers,
			CreatedBy: text(t.CreatedBy),
		})
		return err
	})
	if err != nil {
		return toolset.Toolset{}, explain(err, tool.Conflict, fmt.Sprintf("a toolset %q exists already", t.Slug))
	}
	return s.FindToolset(ctx, t.Tenant, row.ID)
}

// SaveToolset implements [toolset.Toolsets].
func (s *Store) SaveToolset(ctx context.Context, t toolset.Toolset) (toolset.Toolset, error) {
	const op = "store.SaveToolset"
	if err := checkIDs(op, t.ID); err != nil {
		return toolset.Toolset{}, err
	}
	if err := t.Check(); err != nil {
		return toolset.Toolset{}, err
	}
	err := s.inTx(ctx, op, t.Tenant, func(q *db.Queries) error {
		tools, servers, err := membersOf(ctx, q, op, &t)
		if err != nil {
			return err
		}
		_, err = q.UpdateToolset(ctx, db.UpdateToolsetParams{
			TenantID: string(t.Tenant), ID: t.ID, Revision: t.Revision, Name: text(t.Name),
			Instructions: text(t.Instructions), Catalog: string(t.Catalog), Status: string(t.Status), Tools: tools,
			Servers: servers, ChangedBy: text(t.ChangedBy),
		})
		if errors.Is(err, pgx.ErrNoRows) {
			return toolsetChanged(ctx, q, op, t.Tenant, t.ID, t.Revision)
		}
		return err
	})
	if err != nil {
		return toolset.Toolset{}, err
	}
	return s.FindToolset(ctx, t.Tenant, t.ID)
}

// toolsetChanged returns why nothing was written: the toolset does not exist, or is at another revision.
func toolsetChanged(
	ctx context.Context, q *db.Queries, op string, tenant tool.TenantID, id string, revision int64,
) error {
	rows, err := q.ListToolsets(ctx, db.ListToolsetsParams{TenantID: string(tenant), ID: &id, Limit: 1})
	switch {
	case err != nil:
		return err
	case len(rows) == 0:
		return notFound(op, "toolset not found")
	}
	return &tool.Error{Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf(
		"toolset %q changed meanwhile: revision %d was asked for, it is at %d; read it again", rows[0].Toolset.Slug,
		revision, rows[0].Toolset.Revision), Err: definition.ErrChanged}
}

// toolsetTool is a tool of a toolset as it is stored.
type toolsetTool struct {
	ID      string `json:"tool_id"`
	Version string `json:"version,omitempty"`
}

// membersOf returns the tools and servers that a toolset names, as they are stored.
func membersOf(
	ctx context.Context, q *db.Queries, op string, t *toolset.Toolset,
) (tools []byte, servers []string, err error) {
	stored := make([]toolsetTool, len(t.Tools))
	names := convert(t.Tools, func(m toolset.Tool) string { return text(m.Name) })
	found, err := q.FindToolsetTools(ctx, db.FindToolsetToolsParams{TenantID: string(t.Tenant), Names: names})
	if err != nil {
		return nil, nil, err
	}
	seen := map[string]bool{}
	for _, f := range found {
		at := int(f.Place) - 1
		if seen[f.ID] {
			path := fmt.Sprintf("/tools/%d/tool", at)
			return nil, nil, unfit(tool.Invalid, op, path, fmt.Sprintf("the tool %q is there twice", f.Slug))
		}
		seen[f.ID] = true
		stored[at] = toolsetTool{f.ID, t.Tools[at].Version}
	}
	for i := range stored {
		if stored[i].ID == "" {
			path := fmt.Sprintf("/tools/%d/tool", i)
			return nil, nil, unfit(tool.NotFound, op, path, fmt.Sprintf("tool %q not found", names[i]))
		}
	}
	names = convert(t.Servers, func(m toolset.Server) string { return text(m.Name) })
	attached, err := q.FindToolsetServers(ctx, db.FindToolsetServersParams{TenantID: string(t.Tenant), Names: names})
	if err != nil {
		return nil, nil, err
	}
	servers = make([]string, len(names))
	for _, a := range attached {
		servers[a.Place-1] = a.ID
	}
	for i := range servers {
		if servers[i] == "" {
			path := fmt.Sprintf("/servers/%d", i)
			return nil, nil, unfit(tool.NotFound, op, path, fmt.Sprintf("server %q not found", names[i]))
		}
	}
	tools, err = encode(stored)
	return tools, servers, err
}

func unfit(kind tool.Kind, op, path, msg string) error {
	return &tool.Error{Kind: kind, Op: op, Path: path, Msg: msg}
}

// FindToolset implements [toolset.Toolsets].
func (s *Store) FindToolset(
	ctx context.Context, tenant tool.TenantID, slugOrID string,
) (toolset.Toolset, error) {
	const op = "store.FindToolset"
	params := db.ListToolsetsParams{TenantID: string(tenant), Limit: 1}
	if tool.ValidID(slugOrID) {
		params.ID = &slugOrID
	} else {
		slug := text(slugOrID)
		params.Slug = &slug
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListToolsets, params)
	switch {
	case err != nil:
		return toolset.Toolset{}, err
	case len(rows) == 0:
		return toolset.Toolset{}, notFound(op, fmt.Sprintf("toolset %q not found", slugOrID))
	}
	return toolsetOf(rows[0])
}

// ListToolsets implements [toolset.Toolsets].
func (s *Store) ListToolsets(
	ctx context.Context, tenant tool.TenantID, afterSlug string, limit int,
) ([]toolset.Toolset, error) {
	rows, err := ask(ctx, s.do, "store.ListToolsets", tenant, (*db.Queries).ListToolsets, db.ListToolsetsParams{
		TenantID: string(tenant), AfterSlug: text(afterSlug), Limit: pageSize(limit),
	})
	if err != nil {
		return nil, err
	}
	return collect(rows, toolsetOf)
}

// DeleteToolset implements [toolset.Toolsets].
func (s *Store) DeleteToolset(
	ctx context.Context, tenant tool.TenantID, id string, revision int64,
) (revoked int, err error) {
	const op = "store.DeleteToolset"
	if err := checkIDs(op, id); err != nil {
		return 0, err
	}
	err = s.inTx(ctx, op, tenant, func(q *db.Queries) error {
		gone, err := q.DeleteToolset(ctx, db.DeleteToolsetParams{TenantID: string(tenant), ID: id, Revision: revision})
		if errors.Is(err, pgx.ErrNoRows) {
			return toolsetChanged(ctx, q, op, tenant, id, revision)
		}
		revoked = int(gone.Revoked)
		return err
	})
	return revoked, err
}

// FindOffer implements [toolset.Toolsets].
func (s *Store) FindOffer(ctx context.Context, tenant tool.TenantID, slug string) (toolset.Offer, error) {
	row, err := ask(ctx, s.do, "store.FindOffer", tenant, (*db.Queries).FindOffer, db.FindOfferParams{
		TenantID: string(tenant), Slug: text(slug),
	})
	if err != nil {
		return toolset.Offer{}, explain(err, tool.NotFound, fmt.Sprintf("toolset %q not found", slug))
	}
	offer := toolset.Offer{
		ID: row.ID, Slug: row.Slug, Revision: row.Revision, Instructions: row.Instructions,
		Catalog: toolset.Catalog(row.Catalog), Tools: make(map[string]string, len(row.ToolIds)),
	}
	for i, id := range row.ToolIds {
		offer.Tools[id] = row.Versions[i]
	}
	return offer, nil
}

func toolsetOf(row db.ListToolsetsRow) (toolset.Toolset, error) {
	t := row.Toolset
	out := toolset.Toolset{
		ID: t.ID, Tenant: tool.TenantID(t.TenantID), Slug: t.Slug, Name: t.Name, Instructions: t.Instructions,
		Catalog: toolset.Catalog(t.Catalog), Status: toolset.Status(t.Status), Revision: t.Revision,
		CreatedBy: t.CreatedBy, ChangedBy: t.ChangedBy, CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt,
	}
	type member struct {
		ID      string `json:"id"`
		Slug    string `json:"slug"`
		Version string `json:"version"`
	}
	var tools, servers []member
	if err := decode(row.NamedTools, &tools); err != nil {
		return out, err
	}
	if err := decode(row.NamedServers, &servers); err != nil {
		return out, err
	}
	for _, m := range tools {
		out.Tools = append(out.Tools, toolset.Tool{Name: m.Slug, ID: m.ID, Version: m.Version})
	}
	for _, m := range servers {
		out.Servers = append(out.Servers, toolset.Server{Name: m.Slug, ID: m.ID})
	}
	return out, nil
}
