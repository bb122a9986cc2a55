package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/space"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// EnterSpace implements [space.Visits].
func (s *Store) EnterSpace(
	ctx context.Context, tenant tool.TenantID, runID, agentID, slugOrID string,
) (space.Space, error) {
	const op = "store.EnterSpace"
	if !tool.ValidID(runID) || !tool.ValidID(agentID) {
		return space.Space{}, notFound(op, "run not found")
	}
	if _, err := s.FindRun(ctx, tenant, runID); err != nil {
		return space.Space{}, err
	}
	found, err := s.FindSpace(ctx, tenant, slugOrID)
	if err != nil {
		return space.Space{}, err
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).EnterSpace, db.EnterSpaceParams{
		TenantID: string(tenant), RunID: runID, AgentID: agentID, SpaceID: found.ID, Most: agent.MaxDepth + 1,
	})
	if err == nil && !row.Allowed {
		return space.Space{}, notFound(op, spaceUnknown)
	}
	return found, err
}

// LeaveSpace implements [space.Visits].
func (s *Store) LeaveSpace(ctx context.Context, tenant tool.TenantID, runID string) (*space.Space, error) {
	const op = "store.LeaveSpace"
	if !tool.ValidID(runID) {
		return nil, notFound(op, "run not found")
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).LeaveSpace, db.LeaveSpaceParams{
		TenantID: string(tenant), RunID: runID,
	})
	if tool.KindOf(err) == tool.NotFound || errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // It was in none.
	}
	if err != nil {
		return nil, err
	}
	left := spaceOf(row)
	return &left, nil
}

// RunSpace implements [space.Visits].
func (s *Store) RunSpace(ctx context.Context, tenant tool.TenantID, runID string) (*space.Place, error) {
	const op = "store.RunSpace"
	if !tool.ValidID(runID) {
		return nil, notFound(op, "run not found")
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).FindRunSpace, db.FindRunSpaceParams{
		TenantID: string(tenant), RunID: runID,
	})
	if tool.KindOf(err) == tool.NotFound || errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // It is in none.
	}
	if err != nil {
		return nil, err
	}
	return &space.Place{Space: spaceOf(row.Space), Agent: row.Agent, Hops: int(row.Hops)}, nil
}

// SetNotes implements [space.Visits].
func (s *Store) SetNotes(
	ctx context.Context, tenant tool.TenantID, agentID string, notes []space.Note,
) error {
	const op, unknown = "store.SetNotes", "agent not found"
	if !tool.ValidID(agentID) {
		return notFound(op, unknown)
	}
	return s.inTx(ctx, op, tenant, func(q *db.Queries) error {
		_, err := q.LockAgentForNotes(ctx, db.LockAgentForNotesParams{TenantID: string(tenant), AgentID: agentID})
		if err != nil {
			return explain(failure(op, err), tool.NotFound, unknown)
		}
		kinds := map[space.NoteKind]bool{}
		for _, n := range notes {
			kinds[n.Kind] = true
			err := q.SetAgentNote(ctx, db.SetAgentNoteParams{
				TenantID: string(tenant), AgentID: agentID, Kind: string(n.Kind), Key: text(n.Key), Text: text(n.Text),
				Done: n.Done,
			})
			if err != nil {
				return err
			}
		}
		for kind := range kinds {
			n, err := q.CountAgentNotes(ctx, db.CountAgentNotesParams{
				TenantID: string(tenant), AgentID: agentID, Kind: string(kind),
			})
			if err != nil {
				return err
			}
			if n > space.MaxNotes {
				return &tool.Error{Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf(
					"an agent keeps at most %d notes of each kind, and these would be %d of kind %s: delete some first",
					space.MaxNotes, n, kind)}
			}
		}
		return nil
	})
}

// DeleteNotes implements [space.Visits].
func (s *Store) DeleteNotes(
	ctx context.Context, tenant tool.TenantID, agentID string, kind space.NoteKind, keys []string,
) ([]string, error) {
	const op = "store.DeleteNotes"
	if !tool.ValidID(agentID) {
		return nil, notFound(op, "agent not found")
	}
	return ask(ctx, s.do, op, tenant, (*db.Queries).DeleteAgentNotes, db.DeleteAgentNotesParams{
		TenantID: string(tenant), AgentID: agentID, Kind: string(kind), Keys: texts(keys),
	})
}

// ListNotes implements [space.Visits].
func (s *Store) ListNotes(
	ctx context.Context, tenant tool.TenantID, agentID string, kind space.NoteKind,
) ([]space.Note, error) {
	const op = "store.ListNotes"
	if !tool.ValidID(agentID) {
		return nil, notFound(op, "agent not found")
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListAgentNotes, db.ListAgentNotesParams{
		TenantID: string(tenant), AgentID: agentID, Kind: string(kind),
	})
	return convert(rows, func(row db.AgentNote) space.Note {
		return space.Note{
			Kind: space.NoteKind(row.Kind), Key: row.Key, Text: row.Text, Done: row.Done, CreatedAt: row.CreatedAt,
			UpdatedAt: row.UpdatedAt,
		}
	}), err
}
