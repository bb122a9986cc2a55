package store

import (
	"context"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/internal/uuid7"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// FindGate implements [registry.LifecycleStore].
func (s *Store) FindGate(ctx context.Context, tenant tool.TenantID, toolID string) (registry.Gate, error) {
	const op = "store.FindGate"
	if err := checkIDs(op, toolID); err != nil {
		return registry.Gate{}, err
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).FindGate, db.FindGateParams{
		TenantID: string(tenant), ToolID: optional(toolID),
	})
	if err == nil && len(rows) == 0 {
		err = notFound(op, "nothing is required before a version is published")
	}
	if err != nil {
		return registry.Gate{}, err
	}
	return gateOf(rows[0]), nil
}

// SetGate stores the gate of a tool of a tenant, or of all its tools where ToolID is empty, in the place of the one
// it had. It fails with tool.NotFound for a tool that is not the tenant's own.
func (s *Store) SetGate(ctx context.Context, g registry.Gate) (registry.Gate, error) {
	const op = "store.SetGate"
	if err := checkIDs(op, g.ToolID); err != nil {
		return registry.Gate{}, err
	}
	if g.Replay < 1 || g.Replay > registry.MaxReplay || g.MaxDifferent < 0 || g.MaxDifferent > registry.MaxReplay {
		return registry.Gate{}, &tool.Error{Kind: tool.Invalid, Op: op, Path: "/replay", Msg: fmt.Sprintf(
			"expected a replay of 1 to %d calls, of which 0 to %d may differ", registry.MaxReplay, registry.MaxReplay)}
	}
	id, err := uuid7.New()
	if err != nil {
		return registry.Gate{}, err
	}
	row, err := ask(ctx, s.do, op, g.Tenant, (*db.Queries).SetGate, db.SetGateParams{
		TenantID: string(g.Tenant), ID: id, ToolID: optional(g.ToolID),
		Replay: int16(g.Replay), MaxDifferent: int16(g.MaxDifferent),
		ChangedBy: text(g.ChangedBy),
	})
	if err != nil {
		return registry.Gate{}, explain(err, tool.NotFound, "the tenant has no such tool of its own")
	}
	return gateOf(row), nil
}

// DeleteGate removes a gate. It fails with tool.NotFound where there is none.
func (s *Store) DeleteGate(ctx context.Context, tenant tool.TenantID, toolID string) error {
	const op = "store.DeleteGate"
	if err := checkIDs(op, toolID); err != nil {
		return err
	}
	n, err := ask(ctx, s.do, op, tenant, (*db.Queries).DeleteGate, db.DeleteGateParams{
		TenantID: string(tenant), ToolID: optional(toolID),
	})
	if err == nil && n == 0 {
		err = notFound(op, "there is no gate here")
	}
	return err
}

func gateOf(row db.ToolGate) registry.Gate {
	return registry.Gate{
		Tenant: tool.TenantID(row.TenantID), ToolID: value(row.ToolID), Replay: int(row.Replay),
		MaxDifferent: int(row.MaxDifferent), ChangedBy: row.ChangedBy,
	}
}

// ReplayableCalls returns the last calls of a tool in production that ended with an answer or a failure, newest
// first, without those that were refused before they reached the tool.
func (s *Store) ReplayableCalls(
	ctx context.Context, tenant tool.TenantID, toolID string, limit int,
) ([]tool.Invocation, error) {
	rows, err := ask(ctx, s.do, "store.ReplayableCalls", tenant, (*db.Queries).ListReplayable, db.ListReplayableParams{
		TenantID: string(tenant), ToolID: &toolID, Limit: pageSize(limit),
	})
	if err != nil {
		return nil, err
	}
	return collect(rows, invocationOf)
}

// CreateReplay stores a replay, and removes those of the tool that are older than thirty days.
func (s *Store) CreateReplay(ctx context.Context, r registry.Replay) (registry.Replay, error) {
	const op = "store.CreateReplay"
	id, err := idOrNew(r.ID)
	if err != nil {
		return registry.Replay{}, err
	}
	var row db.ToolReplay
	err = s.inTx(ctx, op, r.Tenant, func(q *db.Queries) (err error) {
		if err := q.DeleteOldReplays(ctx, db.DeleteOldReplaysParams{
			TenantID: string(r.Tenant), ToolID: r.ToolID,
		}); err != nil {
			return err
		}
		row, err = q.CreateReplay(ctx, db.CreateReplayParams{
			TenantID: string(r.Tenant), ID: id, ToolID: r.ToolID, Version: text(r.Version), Digest: r.Digest,
			Asked: int16(r.Asked), State: replayState(r.Ended), Calls: r.Calls, //nolint:gosec // At most 50.
			Same: int16(r.Same), Different: int16(r.Different), Skipped: int16(r.Skipped), //nolint:gosec // At most 50.
			StartedBy: text(r.StartedBy), EndedAt: endOf(r.Ended),
		})
		return err
	})
	return replayOf(row), err
}

// EndReplay writes what a replay has compared. One that has ended is left as it is.
func (s *Store) EndReplay(ctx context.Context, r registry.Replay) error {
	_, err := ask(ctx, s.do, "store.EndReplay", r.Tenant, (*db.Queries).EndReplay, db.EndReplayParams{
		TenantID: string(r.Tenant), ID: r.ID, State: replayState(r.Ended), Calls: r.Calls,
		Same: int16(r.Same), Different: int16(r.Different), Skipped: int16(r.Skipped), //nolint:gosec // At most 50.
		EndedAt: endOf(r.Ended),
	})
	return err
}

// FindReplay returns a replay of a tool. It fails with tool.NotFound.
func (s *Store) FindReplay(ctx context.Context, tenant tool.TenantID, toolID, id string) (registry.Replay, error) {
	const op = "store.FindReplay"
	if !tool.ValidID(id) || !tool.ValidID(toolID) {
		return registry.Replay{}, notFound(op, "replay not found")
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).FindReplay, db.FindReplayParams{
		TenantID: string(tenant), ToolID: toolID, ID: id,
	})
	if err != nil {
		return registry.Replay{}, explain(err, tool.NotFound, "replay not found")
	}
	return replayOf(row), nil
}

// ListReplays returns the replays of a tool, newest first.
func (s *Store) ListReplays(
	ctx context.Context, tenant tool.TenantID, toolID, before string, limit int,
) ([]registry.Replay, error) {
	const op = "store.ListReplays"
	if err := checkIDs(op, toolID, before); err != nil {
		return nil, err
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListReplays, db.ListReplaysParams{
		TenantID: string(tenant), ToolID: toolID, Before: optional(before), Limit: pageSize(limit),
	})
	return convert(rows, replayOf), err
}

// LastReplay implements [registry.LifecycleStore].
func (s *Store) LastReplay(
	ctx context.Context, tenant tool.TenantID, toolID, digest string,
) (registry.Replay, error) {
	const op = "store.LastReplay"
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListReplays, db.ListReplaysParams{
		TenantID: string(tenant), ToolID: toolID, Digest: digest, Limit: 1,
	})
	if err == nil && len(rows) == 0 {
		err = notFound(op, "no calls were replayed with this content")
	}
	if err != nil {
		return registry.Replay{}, err
	}
	return replayOf(rows[0]), nil
}

func replayState(ended bool) string {
	if ended {
		return "ended"
	}
	return "running"
}

func endOf(ended bool) *time.Time {
	if !ended {
		return nil
	}
	return new(time.Now().UTC())
}

func replayOf(row db.ToolReplay) registry.Replay {
	return registry.Replay{
		ID: row.ID, Tenant: tool.TenantID(row.TenantID), ToolID: row.ToolID, Version: row.Version, Digest: row.Digest,
		Asked: int(row.Asked), Ended: row.State == "ended", Same: int(row.Same), Different: int(row.Different),
		Skipped: int(row.Skipped), Calls: row.Calls, StartedBy: row.StartedBy,
	}
}
