package store

import (
	"context"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// ListEvents returns a run's events after a number, in order. It fails with
// tool.NotFound.
func (s *Store) ListEvents(ctx context.Context, tenant tool.TenantID, runID string, after int64, limit int) ([]tool.Event, error) {
	const op = "store.ListEvents"
	if !tool.ValidID(runID) {
		return nil, notFound(op, "run not found")
	}
	var runs []db.Run
	var rows []db.RunEvent
	err := s.read(ctx, op, tenant, func(b *pgx.Batch) {
		queue(b, &runs, db.FindRun, string(tenant), runID)
		queue(b, &rows, db.ListEvents, string(tenant), runID, after, pageSize(limit))
	})
	if err != nil {
		return nil, err
	}
	if len(runs) == 0 {
		return nil, notFound(op, "run not found")
	}
	return convert(rows, eventOf), nil
}

// EventCursor is a place in a tenant's stream of events. The zero cursor is its
// beginning.
type EventCursor struct {
	Transaction uint64 `json:"transaction"`
	ID          int64  `json:"id"`
}

// TenantEvents returns the events of all of a tenant's runs after a cursor,
// with the cursor behind the last of them. Each comes once, and none is passed
// over: an event appears when every transaction begun before its own has ended,
// those of other databases of the cluster too. Calls of a run that settle at
// the same time may come in another order than their numbers.
func (s *Store) TenantEvents(ctx context.Context, tenant tool.TenantID, after EventCursor, limit int) ([]tool.Event, EventCursor, error) {
	var rows []db.RunEvent
	err := s.do(ctx, "store.TenantEvents", tenant, func(q *db.Queries) (err error) {
		rows, err = q.ListTenantEvents(ctx, db.ListTenantEventsParams{
			TenantID: string(tenant), AfterXid: strconv.FormatUint(after.Transaction, 10), AfterID: after.ID, Limit: pageSize(limit),
		})
		return err
	})
	if err != nil || len(rows) == 0 {
		return nil, after, err
	}
	last := rows[len(rows)-1]
	return convert(rows, eventOf), EventCursor{Transaction: last.Xid, ID: last.ID}, nil
}

func eventOf(row db.RunEvent) tool.Event {
	return tool.Event{
		RunID: row.RunID, Seq: row.Seq, Type: tool.EventType(row.Type), InvocationID: value(row.InvocationID), Data: row.Data, At: row.At,
	}
}
