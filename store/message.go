package store

import (
	"cmp"
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// Transcript returns a run's messages from the root to its head, each assistant
// message followed by the tool messages that answer its calls, in call order.
// It fails with tool.NotFound.
func (s *Store) Transcript(ctx context.Context, tenant tool.TenantID, runID string) ([]agent.Message, error) {
	const op = "store.Transcript"
	if !tool.ValidID(runID) {
		return nil, notFound(op, "run not found")
	}
	var runs []db.Run
	var rows []db.Message
	err := s.read(ctx, op, tenant, func(b *pgx.Batch) {
		queue(b, &runs, db.FindRun, string(tenant), runID)
		queue(b, &rows, db.ListMessages, string(tenant), runID)
	})
	if err != nil {
		return nil, err
	}
	if len(runs) == 0 {
		return nil, notFound(op, "run not found")
	}
	return transcript(rows, value(runs[0].HeadMessageID))
}

// TranscriptPlace is a part of a transcript: the last messages before one, or with Forward the first ones after
// it. An empty ID is the end of it, or its beginning.
type TranscriptPlace struct {
	ID      string
	Limit   int
	Forward bool
}

// TranscriptPage returns a part of a run's transcript in order, and whether there is more in that direction. It
// fails with tool.NotFound, also for a message that the transcript does not have.
func (s *Store) TranscriptPage(
	ctx context.Context, tenant tool.TenantID, runID string, at TranscriptPlace,
) (page []agent.Message, more bool, err error) {
	const op = "store.TranscriptPage"
	if !tool.ValidID(runID) {
		return nil, false, notFound(op, "run not found")
	}
	var runs []db.Run
	var links []db.ListMessageLinksRow
	err = s.read(ctx, op, tenant, func(b *pgx.Batch) {
		queue(b, &runs, db.FindRun, string(tenant), runID)
		queue(b, &links, db.ListMessageLinks, string(tenant), runID)
	})
	if err != nil {
		return nil, false, err
	}
	if len(runs) == 0 {
		return nil, false, notFound(op, "run not found")
	}
	ids := linked(links, value(runs[0].HeadMessageID))
	if at.ID != "" {
		i := slices.Index(ids, at.ID)
		switch {
		case i < 0:
			return nil, false, notFound(op, "message not found")
		case at.Forward:
			ids = ids[i+1:]
		default:
			ids = ids[:i]
		}
	}
	if n := int(pageSize(at.Limit)); len(ids) > n {
		if more = true; at.Forward {
			ids = ids[:n]
		} else {
			ids = ids[len(ids)-n:]
		}
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListMessagesByID, db.ListMessagesByIDParams{
		TenantID: string(tenant), RunID: runID, Ids: ids,
	})
	if err != nil {
		return nil, false, err
	}
	place := make(map[string]int, len(ids))
	for i, id := range ids {
		place[id] = i
	}
	slices.SortFunc(rows, func(a, b db.Message) int { return cmp.Compare(place[a.ID], place[b.ID]) })
	page, err = collect(rows, messageOf)
	return page, more, err
}

// linked returns the ids of a transcript, as [transcript] orders it.
func linked(links []db.ListMessageLinksRow, head string) []string {
	byID := make(map[string]db.ListMessageLinksRow, len(links))
	answers := make(map[string][]db.ListMessageLinksRow)
	for _, l := range links {
		byID[l.ID] = l
		if agent.Role(l.Role) == agent.RoleTool {
			answers[value(l.ParentID)] = append(answers[value(l.ParentID)], l)
		}
	}
	var ids []string // From the head to the root, and backwards within a turn.
	for l, ok := byID[head]; ok; l, ok = byID[value(l.ParentID)] {
		calls := answers[l.ID]
		slices.SortFunc(calls, func(a, b db.ListMessageLinksRow) int { return cmp.Compare(b.Position, a.Position) })
		for _, c := range calls {
			ids = append(ids, c.ID)
		}
		ids = append(ids, l.ID)
	}
	slices.Reverse(ids)
	return ids
}

// transcript selects the chain from the root to the head from a run's messages, each
// followed by the answers to its calls. It is empty when the head is not among them.
func transcript(rows []db.Message, head string) ([]agent.Message, error) {
	byID := make(map[string]db.Message, len(rows))
	answers := make(map[string][]db.Message)
	for _, row := range rows {
		byID[row.ID] = row
		if agent.Role(row.Role) == agent.RoleTool {
			answers[value(row.ParentID)] = append(answers[value(row.ParentID)], row)
		}
	}
	var chain []db.Message // From the head to the root, and backwards within a turn.
	for row, ok := byID[head]; ok; row, ok = byID[value(row.ParentID)] {
		calls := answers[row.ID]
		slices.SortFunc(calls, func(a, b db.Message) int { return cmp.Compare(b.Position, a.Position) })
		chain = append(append(chain, calls...), row)
	}
	slices.Reverse(chain)
	return collect(chain, messageOf)
}

// contentBlocks encodes blocks for their column; an empty list for none.
func contentBlocks(blocks []tool.Content) ([]byte, error) {
	if blocks == nil {
		blocks = []tool.Content{}
	}
	return encodePayload(blocks)
}

func messageOf(row db.Message) (agent.Message, error) {
	m := agent.Message{
		ID: row.ID, ParentID: value(row.ParentID), RunID: row.RunID, Turn: int(row.Turn), Role: agent.Role(row.Role),
		Position: int(row.Position), CallID: row.CallID, IsError: row.IsError, CreatedAt: row.CreatedAt,
	}
	if row.InputTokens != nil && row.OutputTokens != nil {
		m.Usage = &agent.Usage{
			InputTokens: int(*row.InputTokens), OutputTokens: int(*row.OutputTokens),
			CachedInputTokens: tokens(row.CachedInputTokens), ReasoningTokens: tokens(row.ReasoningTokens),
		}
	}
	if err := decode(row.Content, &m.Content); err != nil {
		return m, err
	}
	return m, decode(row.Calls, &m.Calls)
}

// tokens returns 0 for a number of tokens that was not stored.
func tokens(n *int32) int {
	if n == nil {
		return 0
	}
	return int(*n)
}
