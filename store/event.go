package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// ListEvents returns a run's events after a sequence number, in order, without
// output; see [Store.ReadStream]. It fails with tool.NotFound.
func (s *Store) ListEvents(
	ctx context.Context, tenant tool.TenantID, runID string, after int64, limit int,
) ([]tool.Event, error) {
	const op = "store.ListEvents"
	if !tool.ValidID(runID) {
		return nil, notFound(op, "run not found")
	}
	var runs []db.Run
	var rows []db.ListEventsRow
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
	return convert(rows, func(row db.ListEventsRow) tool.Event {
		return eventOf(row.RunID, row.Seq, row.Type, row.InvocationID, row.Data, row.At)
	}), nil
}

// CallEvents returns the events of one call of a run in order, without output: at most 1000,
// the first ones. An unknown run or call has none.
func (s *Store) CallEvents(
	ctx context.Context, tenant tool.TenantID, runID, invocationID string,
) ([]tool.Event, error) {
	const op = "store.CallEvents"
	if !tool.ValidID(runID) || !tool.ValidID(invocationID) {
		return nil, nil
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListCallEvents, db.ListCallEventsParams{
		TenantID: string(tenant), RunID: runID, InvocationID: invocationID, Limit: pageSize(maxCallEvents),
	})
	if err != nil {
		return nil, err
	}
	return convert(rows, func(row db.ListCallEventsRow) tool.Event {
		return eventOf(row.RunID, row.Seq, row.Type, row.InvocationID, row.Data, row.At)
	}), nil
}

const maxCallEvents = 1000

// EventCursor is a position in a tenant's stream of events: the number of the last
// event before it. Zero is the beginning. Events are numbered after they commit, and
// keep their numbers in copies of the database.
type EventCursor int64

// TenantEvent is an event and its place in its tenant's stream.
type TenantEvent struct {
	tool.Event
	Cursor EventCursor
}

// TenantEvents returns the events of all of a tenant's runs after a cursor, without
// output. Each is returned once and none is skipped. Events of one run are in the
// order of their sequence numbers; those of different runs in the order in which they
// were numbered. Purged runs leave gaps.
//
// It fails with tool.Conflict for a cursor beyond the end of the stream: from another
// database, or from after the backup that this one was restored from.
func (s *Store) TenantEvents(
	ctx context.Context, tenant tool.TenantID, after EventCursor, limit int,
) ([]TenantEvent, error) {
	const op = "store.TenantEvents"
	var sealed []int32
	var heads []int64
	var rows []db.ListTenantEventsRow
	err := s.read(ctx, op, tenant, func(b *pgx.Batch) {
		queueScalars(b, &sealed, db.SealEvents, string(tenant), int32(sealBatch))
		queueScalars(b, &heads, db.EventHead, string(tenant))
		queue(b, &rows, db.ListTenantEvents, string(tenant), int64(after), pageSize(limit))
	})
	if err != nil {
		return nil, err
	}
	if head := EventCursor(last(heads)); after > head {
		return nil, &tool.Error{Kind: tool.Conflict, Op: op, Path: "after", Msg: fmt.Sprintf(
			"the stream ends at %d and %d is beyond it: the cursor is of another database, or the database was restored from "+
				"an older backup; continue from a cursor up to %[1]d, or from now", head, after)}
	}
	return convert(rows, func(row db.ListTenantEventsRow) TenantEvent {
		return TenantEvent{
			Event:  eventOf(row.RunID, row.Seq, row.Type, row.InvocationID, row.Data, row.At),
			Cursor: EventCursor(row.Place),
		}
	}), nil
}

// EventHorizon returns the end of a tenant's stream: every committed event is before
// it, later events are after it.
func (s *Store) EventHorizon(ctx context.Context, tenant tool.TenantID) (EventCursor, error) {
	const op = "store.EventHorizon"
	if err := s.SealEvents(ctx, tenant); err != nil {
		return 0, err
	}
	heads, err := ask(ctx, s.do, op, tenant, (*db.Queries).EventHead, string(tenant))
	return EventCursor(last(heads)), err
}

func last(heads []int64) int64 {
	if len(heads) == 0 {
		return 0
	}
	return heads[len(heads)-1]
}

func eventOf(run string, seq int64, kind string, invocation *string, data json.RawMessage, at time.Time) tool.Event {
	return tool.Event{
		RunID: run, Seq: seq, Type: tool.EventType(kind), InvocationID: value(invocation), Data: data, At: at,
	}
}
