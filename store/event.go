package store

import (
	"context"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// ListEvents returns a run's events after a number, in order, without the output
// between them; see [Store.ReadStream]. It fails with tool.NotFound.
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

// TenantEvent is an event and its place in its tenant's stream.
type TenantEvent struct {
	tool.Event
	Cursor EventCursor
}

// TenantEvents returns the events of all of a tenant's runs after a cursor,
// without output. Each comes once, and none is passed over: an event appears
// when every transaction begun before its own has ended, those of other
// databases of the cluster too. Calls of a run that settle at the same time may
// come in another order than their numbers.
func (s *Store) TenantEvents(ctx context.Context, tenant tool.TenantID, after EventCursor, limit int) ([]TenantEvent, error) {
	var rows []db.RunEvent
	err := s.do(ctx, "store.TenantEvents", tenant, func(q *db.Queries) (err error) {
		rows, err = q.ListTenantEvents(ctx, db.ListTenantEventsParams{
			TenantID: string(tenant), AfterXid: strconv.FormatUint(after.Transaction, 10), AfterID: after.ID, Limit: pageSize(limit),
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	return convert(rows, func(row db.RunEvent) TenantEvent {
		return TenantEvent{Event: eventOf(row), Cursor: EventCursor{Transaction: row.Xid, ID: row.ID}}
	}), nil
}

// EventHorizon returns the place in a tenant's stream behind everything that
// has come to rest: what is still to appear comes after it.
func (s *Store) EventHorizon(ctx context.Context, tenant tool.TenantID) (EventCursor, error) {
	var xid string
	err := s.do(ctx, "store.EventHorizon", tenant, func(q *db.Queries) (err error) {
		xid, err = q.EventHorizon(ctx)
		return err
	})
	if err != nil {
		return EventCursor{}, err
	}
	transaction, err := strconv.ParseUint(xid, 10, 64)
	if err != nil {
		return EventCursor{}, failure("store.EventHorizon", err)
	}
	return EventCursor{Transaction: transaction}, nil
}

func eventOf(row db.RunEvent) tool.Event {
	return tool.Event{
		RunID: row.RunID, Seq: row.Seq, Type: tool.EventType(row.Type), InvocationID: value(row.InvocationID), Data: row.Data, At: row.At,
	}
}
