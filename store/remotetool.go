package store

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/registry/mcpserver"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// FindRemoteTool implements [mcpserver.Store].
func (s *Store) FindRemoteTool(
	ctx context.Context, tenant tool.TenantID, serverID, name string,
) (mcpserver.Tool, error) {
	const op = "store.FindRemoteTool"
	if !tool.ValidID(serverID) {
		return mcpserver.Tool{}, notFound(op, "server not found")
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).FindRemoteTool, db.FindRemoteToolParams{
		TenantID: string(tenant), ServerID: serverID, Name: text(name),
	})
	if err != nil {
		return mcpserver.Tool{}, explain(err, tool.NotFound, fmt.Sprintf("the server has no tool %q", name))
	}
	return remoteToolOf(row.RemoteTool, row.ToolSlug, row.ToolStatus, row.Quarantine)
}

// FindToolOrigin implements [mcpserver.Store].
func (s *Store) FindToolOrigin(ctx context.Context, tenant tool.TenantID, toolID string) (mcpserver.Tool, error) {
	const op = "store.FindToolOrigin"
	if !tool.ValidID(toolID) {
		return mcpserver.Tool{}, notFound(op, "tool not found")
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).FindToolOrigin, db.FindToolOriginParams{
		TenantID: string(tenant), ToolID: toolID,
	})
	if err != nil {
		return mcpserver.Tool{}, explain(err, tool.NotFound, "the tool was not imported from a server")
	}
	return remoteToolOf(row.RemoteTool, row.ToolSlug, row.ToolStatus, row.Quarantine)
}

// ListRemoteTools implements [mcpserver.Store].
func (s *Store) ListRemoteTools(
	ctx context.Context, tenant tool.TenantID, serverID string, q mcpserver.ToolQuery,
) ([]mcpserver.Tool, error) {
	const op = "store.ListRemoteTools"
	if !tool.ValidID(serverID) {
		return nil, notFound(op, "server not found")
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListRemoteTools, db.ListRemoteToolsParams{
		TenantID: string(tenant), ServerID: serverID, AfterName: text(q.AfterName), State: string(q.State),
		Limit: pageSize(q.Limit),
	})
	if err != nil {
		return nil, err
	}
	return collect(rows, func(row db.ListRemoteToolsRow) (mcpserver.Tool, error) {
		return remoteToolOf(row.RemoteTool, row.ToolSlug, row.ToolStatus, row.Quarantine)
	})
}

// PinTool implements [mcpserver.Store].
func (s *Store) PinTool(ctx context.Context, tenant tool.TenantID, toolID, digest, by string) error {
	const op = "store.PinTool"
	if err := checkIDs(op, toolID); err != nil {
		return err
	}
	return s.do(ctx, op, tenant, func(q *db.Queries) error {
		return q.PinRemoteTool(ctx, db.PinRemoteToolParams{
			TenantID: string(tenant), ToolID: toolID, Digest: digest, ApprovedBy: text(by),
		})
	})
}

// StopChangedTool quarantines a tool after a call found that its server has changed
// its definition or, if gone is set, no longer has it. It does nothing unless pinned
// is the definition that is currently allowed.
func (s *Store) StopChangedTool(ctx context.Context, tenant tool.TenantID, toolID, pinned string, gone bool) error {
	const op = "store.StopChangedTool"
	if err := checkIDs(op, toolID); err != nil {
		return err
	}
	state, reason := mcpserver.StateChanged,
		"the server has changed its definition: refresh the server to see the difference"
	if gone {
		state, reason = mcpserver.StateGone, "the server no longer has it: refresh the server to see"
	}
	return s.do(ctx, op, tenant, func(q *db.Queries) error {
		return q.StopChangedTool(ctx, db.StopChangedToolParams{
			TenantID: string(tenant), ToolID: toolID, Pinned: pinned, State: string(state), Reason: reason,
		})
	})
}

func remoteParams(server mcpserver.Server, t *mcpserver.Tool) (db.PutRemoteToolParams, error) {
	pinned, pinnedDigest, err := remoteDefinition(t.Pinned)
	if err != nil {
		return db.PutRemoteToolParams{}, err
	}
	seen, seenDigest, err := remoteDefinition(t.Seen)
	if err != nil {
		return db.PutRemoteToolParams{}, err
	}
	return db.PutRemoteToolParams{
		TenantID: string(server.Tenant), ServerID: server.ID, Name: text(t.Name), ToolID: optional(t.ToolID),
		State: string(t.State), Reason: text(t.Reason), PinnedDigest: pinnedDigest, Pinned: pinned,
		ApprovedDigest: t.ApprovedDigest, ApprovedBy: text(t.ApprovedBy), ApprovedAt: t.ApprovedAt,
		SeenDigest: seenDigest, Seen: seen, SeenAt: t.SeenAt, ChangedAt: t.ChangedAt,
	}, nil
}

// remoteDefinition returns the columns of a definition; empty for none. Its text is
// stored for people to read, with unstorable characters replaced: the digest is the
// server's.
func remoteDefinition(d *mcpserver.ToolDefinition) (raw []byte, digest string, err error) {
	if d == nil {
		return nil, "", nil
	}
	raw, err = encodePayload(d)
	return raw, d.Digest, err
}

func remoteToolOf(row db.RemoteTool, slug, status, quarantine string) (mcpserver.Tool, error) {
	t := mcpserver.Tool{
		Name: row.Name, ToolID: value(row.ToolID), ToolSlug: slug, ToolStatus: tool.Status(status), Quarantine: quarantine,
		State: mcpserver.State(row.State), Reason: row.Reason, ApprovedDigest: row.ApprovedDigest,
		ApprovedBy: row.ApprovedBy, ApprovedAt: row.ApprovedAt, FirstSeenAt: row.FirstSeenAt, SeenAt: row.SeenAt,
		ChangedAt: row.ChangedAt,
	}
	if err := decode(row.Pinned, &t.Pinned); err != nil {
		return mcpserver.Tool{}, err
	}
	return t, decode(row.Seen, &t.Seen)
}
