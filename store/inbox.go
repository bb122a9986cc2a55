package store

import (
	"context"
	"slices"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/uuid7"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// maxTaken bounds the items that a turn takes up; the next turn takes more.
const maxTaken = 50

// AddToInbox puts something into the inbox of a run, and reports whether it did: a message
// is for a run that goes on. It fails with tool.NotFound for a run that the tenant does not
// have.
func (s *Store) AddToInbox(ctx context.Context, item agent.InboxItem) (bool, error) {
	const op = "store.AddToInbox"
	if !tool.ValidID(item.RunID) {
		return false, notFound(op, "run not found")
	}
	params, err := inboxParams(op, item)
	if err != nil {
		return false, err
	}
	var added int64
	err = s.do(ctx, op, item.Tenant, func(q *db.Queries) error {
		if added, err = q.AddInboxItem(ctx, params); err != nil || added > 0 {
			return err
		}
		_, err := q.FindRun(ctx, db.FindRunParams{TenantID: params.TenantID, ID: params.RunID})
		return err
	})
	if err != nil {
		return false, explain(err, tool.NotFound, "run not found")
	}
	if added > 0 {
		s.wake(item.Tenant, item.RunID)
	}
	return added > 0, nil
}

// addResult puts a result that came late into the inbox of the run whose call it answers. Where
// that run is nested and over, an agent above it gets the result.
func addResult(ctx context.Context, q *db.Queries, op string, item agent.InboxItem) error {
	params, err := inboxParams(op, item)
	if err != nil {
		return err
	}
	for {
		to, err := q.FindInboxRun(ctx, db.FindInboxRunParams{
			TenantID: params.TenantID, ID: item.RunID, Most: agent.MaxDepth + 1,
		})
		if err != nil {
			return err
		}
		if to == params.RunID { // It is locked, so that it still goes on.
			_, err = q.AddInboxItem(ctx, params)
			return err
		}
		if _, err := q.LockRun(ctx, db.LockRunParams{TenantID: params.TenantID, ID: to}); err != nil {
			return err
		}
		params.RunID = to
	}
}

func inboxParams(op string, item agent.InboxItem) (db.AddInboxItemParams, error) {
	var none db.AddInboxItemParams
	if err := checkIDs(op, item.ID, item.CallID); err != nil {
		return none, err
	}
	id, err := idOrNew(item.ID)
	if err != nil {
		return none, err
	}
	content, err := contentBlocks(item.Content)
	if err != nil {
		return none, err
	}
	return db.AddInboxItemParams{
		TenantID: string(item.Tenant), ID: id, RunID: item.RunID, Kind: string(item.Kind), Content: content,
		CallID: optional(item.CallID), Author: text(item.By),
	}, nil
}

// TakeInbox implements [agent.Runs].
func (s *Store) TakeInbox(
	ctx context.Context, tenant tool.TenantID, runID, head string, turn int,
) (after []agent.Message, taint *tool.Taint, err error) {
	const op = "store.TakeInbox"
	if !tool.ValidID(runID) {
		return nil, nil, notFound(op, "run not found")
	}
	if err := checkIDs(op, head); err != nil {
		return nil, nil, err
	}
	err = s.inTx(ctx, op, tenant, func(q *db.Queries) error {
		after = nil
		run, err := q.LockRunOfInbox(ctx, db.LockRunOfInboxParams{TenantID: string(tenant), RunID: runID})
		if err != nil {
			return explain(failure(op, err), tool.NotFound, "run not found")
		}
		rows, err := q.ListMessages(ctx, db.ListMessagesParams{TenantID: string(tenant), RunID: runID})
		if err != nil {
			return err
		}
		if after, err = collect(inboxAfter(rows, head), messageOf); err != nil {
			return err
		}
		last := head
		if len(after) > 0 {
			last = after[len(after)-1].ID
		}
		more, tainted, err := takeItems(ctx, q, string(tenant), runID, last, turn)
		if err != nil {
			return err
		}
		if more != nil {
			after = append(after, *more)
		}
		of, err := taintOf(slices.Concat(run.Taint, tainted)) // It has one at most.
		taint = ruled(of, run.TaintRule)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if len(after) > 0 {
		s.transcripts.append(transcriptKey{tenant, runID}, head, after)
		s.wake(tenant, runID)
	}
	return after, taint, nil
}

// inboxAfter returns what was taken from the inbox after a message: in a run, no other message of
// a person follows one.
func inboxAfter(rows []db.Message, head string) (out []db.Message) {
	for {
		at := slices.IndexFunc(rows, func(m db.Message) bool {
			return agent.Role(m.Role) == agent.RoleUser && value(m.ParentID) == head && head != ""
		})
		if at < 0 || len(out) == len(rows) {
			return out
		}
		out, head = append(out, rows[at]), rows[at].ID
	}
}

// takeItems makes a message of what is in the inbox of a run that is locked, and returns it with the
// taint that it brings; nil where there is nothing.
func takeItems(
	ctx context.Context, q *db.Queries, tenant, runID, parent string, turn int,
) (*agent.Message, []byte, error) {
	items, err := q.ListInbox(ctx, db.ListInboxParams{TenantID: tenant, RunID: runID, Limit: maxTaken})
	if err != nil || len(items) == 0 {
		return nil, nil, err
	}
	m := agent.Message{ParentID: parent, RunID: runID, Turn: turn, Role: agent.RoleUser}
	if m.ID, err = uuid7.New(); err != nil {
		return nil, nil, err
	}
	ids := make([]string, len(items))
	for i, item := range items {
		var content []tool.Content
		if err := decode(item.Content, &content); err != nil {
			return nil, nil, err
		}
		ids[i], m.Content = item.ID, append(m.Content, content...)
	}
	content, err := contentBlocks(m.Content)
	if err != nil {
		return nil, nil, err
	}
	data, err := encode(agent.InboxTaken{Turn: turn, Items: len(items)})
	if err != nil {
		return nil, nil, err
	}
	err = q.AddInboxMessage(ctx, db.AddInboxMessageParams{
		TenantID: tenant, RunID: runID, ID: m.ID, ParentID: parent, Turn: number(turn), Content: content,
		Taken: number(len(items)), EventType: string(agent.EventInbox), EventData: data,
	})
	if err != nil {
		return nil, nil, err
	}
	tainted, err := q.TaintByInbox(ctx, db.TaintByInboxParams{
		TenantID: tenant, RunID: runID, Ids: ids, Before: number(max(turn-1, 0)),
	})
	if err != nil {
		return nil, nil, err
	}
	err = q.TakeInboxItems(ctx, db.TakeInboxItemsParams{TenantID: tenant, MessageID: m.ID, Ids: ids})
	return &m, slices.Concat(tainted...), err
}
