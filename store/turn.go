package store

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/uuid7"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// FindHead implements [agent.Runs].
func (s *Store) FindHead(ctx context.Context, tenant tool.TenantID, runID, asked string) (string, error) {
	const op = "store.FindHead"
	if !tool.ValidID(runID) {
		return "", notFound(op, "run not found")
	}
	if err := checkIDs(op, asked); err != nil {
		return "", err
	}
	head, err := ask(ctx, s.do, op, tenant, (*db.Queries).FindHead, db.FindHeadParams{
		TenantID: string(tenant), RunID: runID, Asked: optional(asked),
	})
	if err != nil {
		return "", explain(err, tool.NotFound, "the run has no message to begin with")
	}
	return head, nil
}

// OpenTurn implements [agent.Runs]. It caches transcripts: each turn reads only the
// new messages.
func (s *Store) OpenTurn(ctx context.Context, tenant tool.TenantID, runID, head, key string) (agent.OpenTurn, error) {
	const op = "store.OpenTurn"
	if !tool.ValidID(runID) {
		return agent.OpenTurn{}, notFound(op, "run not found")
	}
	if head == "" {
		return agent.OpenTurn{}, notFound(op, "a turn needs the id of the message it answers")
	}
	if err := checkIDs(op, head); err != nil {
		return agent.OpenTurn{}, err
	}
	kept, known := s.transcripts.find(transcriptKey{tenant, runID})
	if known && head != kept.head { // A retried turn reads everything.
		open, followed, err := s.openTurn(ctx, op, tenant, runID, head, key, &kept)
		if err != nil || followed {
			return open, err
		}
	}
	open, _, err := s.openTurn(ctx, op, tenant, runID, head, key, nil)
	return open, err
}

// openTurn reads the start of a turn in one round trip: all of the run's messages, or
// those that follow the cached ones, if it reports true.
func (s *Store) openTurn(
	ctx context.Context, op string, tenant tool.TenantID, runID, head, key string, kept *keptTranscript,
) (open agent.OpenTurn, followed bool, err error) {
	var runs []db.Run
	var policies []db.ListToolPoliciesRow
	var messages []db.Message
	var around []db.RunSurroundingsRow
	err = s.read(ctx, op, tenant, func(b *pgx.Batch) {
		queue(b, &runs, db.FindRun, string(tenant), runID)
		queue(b, &policies, db.ListPinnedPolicies, string(tenant), runID)
		queue(b, &around, db.RunSurroundings, string(tenant), runID)
		if kept != nil {
			queue(b, &messages, db.ListTail, string(tenant), runID, head, text(key))
		} else {
			queue(b, &messages, db.ListMessages, string(tenant), runID)
		}
	})
	if err != nil {
		return open, false, err
	}
	if len(runs) == 0 {
		return open, false, notFound(op, "run not found")
	}
	return s.turnOpened(op, turnRows{runs[0], policies, messages, around}, head, key, kept)
}

// turnRows are what the start of a turn is made of.
type turnRows struct {
	run      db.Run
	policies []db.ListToolPoliciesRow
	messages []db.Message
	around   []db.RunSurroundingsRow
}

// turnOpened converts the start of a turn, and keeps its transcript.
func (s *Store) turnOpened(
	op string, rows turnRows, head, key string, kept *keptTranscript,
) (open agent.OpenTurn, followed bool, err error) {
	messages := rows.messages
	if open.Run, err = runOf(rows.run); err != nil {
		return open, false, err
	}
	if open.Policies, err = s.policies(rows.policies); err != nil {
		return open, false, err
	}
	for _, r := range rows.around {
		open.Followed, open.Budgeted = r.Followed, r.Budgeted
		open.Taint = ruled(open.Run.Taint, r.TaintRule)
	}
	grown := rowBytes(messages)
	open.Inbox = int(rows.run.Inbox)
	var all sequence
	if kept == nil {
		if after := inboxAfter(messages, head); len(after) > 0 {
			head = after[len(after)-1].ID
		}
		var read []agent.Message
		read, err = transcript(messages, head)
		all = sequenceOf(read)
	} else if all, followed, err = kept.extend(messages, head); !followed {
		return open, false, err
	} else {
		grown += int(kept.bytes)
	}
	if err != nil {
		return open, false, err
	}
	if open.Transcript = all.view(); len(open.Transcript) == 0 {
		return open, false, notFound(op, "the run has no such message")
	}
	s.transcripts.keep(transcriptKey{open.Run.Tenant, open.Run.ID}, open.Run, head, all, grown)
	stored := slices.IndexFunc(messages, func(m db.Message) bool { return value(m.TurnKey) == text(key) })
	if key == "" || stored < 0 {
		return open, followed, nil
	}
	turn, err := turnOf(messages[stored])
	open.Stored = &turn
	return open, followed, err
}

// SaveTurn implements [agent.Runs]. Empty ids are generated.
func (s *Store) SaveTurn(ctx context.Context, turn agent.Turn) (agent.Turn, error) {
	const op = "store.SaveTurn"
	params, err := turnParams(op, turn)
	if err != nil {
		return agent.Turn{}, err
	}
	var row db.SaveTurnRow
	err = s.doPlanned(ctx, op, turn.Tenant, func(q *db.Queries) error {
		row, err = q.SaveTurn(ctx, params)
		if !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		if _, err := q.FindRun(ctx, db.FindRunParams{TenantID: params.TenantID, ID: params.RunID}); err != nil {
			return err
		}
		return errRaced
	})
	if err != nil {
		return agent.Turn{}, explain(err, tool.NotFound, "run not found")
	}
	s.wake(turn.Tenant, turn.RunID)
	return turnOf(db.Message(row))
}

func turnParams(op string, turn agent.Turn) (db.SaveTurnParams, error) {
	var none db.SaveTurnParams
	if !tool.ValidID(turn.RunID) {
		return none, notFound(op, "run not found")
	}
	if turn.Key == "" {
		return none, &tool.Error{Kind: tool.Invalid, Op: op, Msg: "a turn needs a key"}
	}
	if err := checkIDs(op, turn.Message.ID, turn.Message.ParentID); err != nil {
		return none, err
	}
	key := text(turn.Key)
	params := db.SaveTurnParams{
		TenantID: string(turn.Tenant), RunID: turn.RunID, ParentID: optional(turn.Message.ParentID),
		Turn: number(turn.Message.Turn), TurnKey: &key,
	}
	usage := turn.Message.Usage
	if usage == nil {
		usage = &agent.Usage{}
	} else {
		in, out := number(usage.InputTokens), number(usage.OutputTokens)
		params.InputTokens, params.OutputTokens = &in, &out
		params.CachedInputTokens = new(number(min(usage.CachedInputTokens, usage.InputTokens)))
		params.ReasoningTokens = new(number(min(usage.ReasoningTokens, usage.OutputTokens)))
	}
	var fallback string
	if turn.Model != "" {
		params.Model = new(text(turn.Model))
	}
	if turn.Fallback {
		fallback = text(turn.Model)
	}
	var err error
	if params.ID, err = idOrNew(turn.Message.ID); err != nil {
		return none, err
	}
	if params.Content, err = contentBlocks(turn.Message.Content); err != nil {
		return none, err
	}
	if len(turn.Message.Calls) > 0 {
		if params.Calls, err = encodePayload(turn.Message.Calls); err != nil {
			return none, err
		}
	}
	if params.Prepared, err = encodePayload(turn.Calls); err != nil {
		return none, err
	}
	if params.Refused, err = refusedCalls(op, turn.Calls); err != nil {
		return none, err
	}
	params.EventData, err = encode(agent.TurnAnswered{
		Turn: turn.Message.Turn, Calls: len(turn.Calls), InputTokens: usage.InputTokens, OutputTokens: usage.OutputTokens,
		Model: fallback, WaitedMS: turn.Waited.Milliseconds(),
	})
	return params, err
}

// refusedCall is the JSON form of a call that must not run, for the statement.
type refusedCall struct {
	InvocationID string          `json:"invocation_id"`
	AnswerID     string          `json:"answer_id"`
	Position     int             `json:"position"`
	CallID       string          `json:"call_id"`
	Name         string          `json:"name"`
	Slug         string          `json:"slug,omitempty"`
	Arguments    json.RawMessage `json:"arguments,omitempty"`
	Receipt      json.RawMessage `json:"receipt,omitempty"`
	Kind         tool.Kind       `json:"kind"`
	Msg          string          `json:"msg"`
	Content      []tool.Content  `json:"content"`
}

func refusedCalls(op string, calls []agent.PreparedCall) ([]byte, error) {
	refused := []refusedCall{}
	for position, call := range calls {
		if call.Refused == nil {
			continue
		}
		invocation, err := idOrNew(call.InvocationID)
		if err != nil {
			return nil, err
		}
		answer, err := uuid7.New()
		if err != nil {
			return nil, err
		}
		if err := checkIDs(op, invocation); err != nil {
			return nil, err
		}
		outcome := ledger.Outcome{Status: tool.StatusFailed, Kind: call.Refused.Kind, Msg: call.Refused.Msg}
		refused = append(refused, refusedCall{
			InvocationID: invocation, AnswerID: answer, Position: position, CallID: call.CallID, Name: call.Name,
			Slug:      call.Slug,
			Arguments: call.Arguments, Receipt: call.Receipt, Kind: outcome.Kind, Msg: outcome.Msg, Content: outcome.Content(),
		})
	}
	return encodePayload(refused)
}

func turnOf(row db.Message) (agent.Turn, error) {
	message, err := messageOf(row)
	if err != nil {
		return agent.Turn{}, err
	}
	turn := agent.Turn{Tenant: tool.TenantID(row.TenantID), RunID: row.RunID, Key: value(row.TurnKey), Message: message}
	return turn, decode(row.Prepared, &turn.Calls)
}
