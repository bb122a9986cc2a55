package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// AppendOutput appends a piece of output to a run's stream. It fails with
// tool.NotFound.
func (s *Store) AppendOutput(ctx context.Context, o agent.Output) error {
	const op = "store.AppendOutput"
	if o.RunID == "" || !tool.ValidID(o.RunID) {
		return notFound(op, "run not found")
	}
	err := s.do(ctx, op, o.Tenant, func(q *db.Queries) error {
		_, err := q.AppendOutput(ctx, db.AppendOutputParams{
			TenantID: string(o.Tenant), RunID: o.RunID, Turn: number(o.Turn), Attempt: number(o.Attempt),
			CallID: optional(text(o.CallID)), Text: text(o.Text),
		})
		return err
	})
	if err != nil {
		return explain(err, tool.NotFound, "run not found")
	}
	s.wake(o.Tenant, o.RunID)
	return nil
}

// StreamPage is a part of a run's stream.
type StreamPage struct {
	// Events holds events and output in their common order. Output is an event
	// whose data is an [agent.Output].
	Events []tool.Event
	// Status of the run before Events were read.
	Status agent.RunStatus
	// Over means that the run had ended before Events were read, and that they
	// include its last event.
	Over bool
}

// ReadStream returns a run's stream after a sequence number: its events and,
// between them, its output, numbered without gaps. A reader that continues with
// the last number it got receives each once and misses none. It fails with
// tool.NotFound.
func (s *Store) ReadStream(
	ctx context.Context, tenant tool.TenantID, runID string, after int64, limit int,
) (StreamPage, error) {
	const op = "store.ReadStream"
	if !tool.ValidID(runID) {
		return StreamPage{}, notFound(op, "run not found")
	}
	var progress []db.RunProgressRow // Read first, so that the rows read next include all it counts.
	var rows []db.ListStreamRow
	err := s.read(ctx, op, tenant, func(b *pgx.Batch) {
		queue(b, &progress, db.RunProgress, string(tenant), runID)
		queue(b, &rows, db.ListStream, pageSize(limit), string(tenant), runID, after)
	})
	if err != nil {
		return StreamPage{}, err
	}
	if len(progress) == 0 {
		return StreamPage{}, notFound(op, "run not found")
	}
	page := StreamPage{Status: agent.RunStatus(progress[0].Status)}
	page.Events, err = collect(rows, func(row db.ListStreamRow) (tool.Event, error) { return streamed(runID, row) })
	if err != nil {
		return StreamPage{}, err
	}
	if n := len(page.Events); n > 0 {
		after = page.Events[n-1].Seq
	}
	page.Over = page.Status.Final() && after >= progress[0].LastSeq
	return page, nil
}

// streamed converts a row of a run's stream to an event.
func streamed(runID string, row db.ListStreamRow) (tool.Event, error) {
	event := tool.Event{
		RunID: runID, Seq: row.Seq, Type: tool.EventType(row.Type), InvocationID: value(row.InvocationID), Data: row.Data,
		At: row.At,
	}
	if row.Type != "" {
		return event, nil
	}
	output := agent.Output{Turn: int(row.Turn), Attempt: int(row.Attempt), CallID: value(row.CallID), Text: row.Text}
	var err error
	event.Type = output.EventType()
	event.Data, err = encode(output)
	return event, err
}
