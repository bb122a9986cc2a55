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
