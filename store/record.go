package store

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// uncommon is the SQLSTATE of a record that the function record_steps gives up.
const uncommon = "TC001"

// Record implements [loop.Journal]. It leaves what its one statement does not do: a
// settlement without a fence or with a warning, a turn with calls that are refused, an
// artifact, and the opening of a turn whose transcript is not in memory.
func (s *Store) Record(ctx context.Context, r loop.Record) (loop.Recorded, error) {
	const op = "store.Record"
	if !tool.ValidID(r.RunID) {
		return loop.Recorded{}, notFound(op, "run not found")
	}
	p, err := s.recordParams(op, r)
	if err != nil || p.nothing() {
		return loop.Recorded{Tickets: make([]*ledger.Ticket, len(r.Begin))}, err
	}
	var row recordRow
	err = s.doPlanned(ctx, op, r.Tenant, func(q *db.Queries) error {
		raw, err := q.RecordSteps(ctx, p.RecordStepsParams)
		if codeOf(err) == uncommon {
			return nil // Nothing was written.
		}
		if err != nil {
			return err
		}
		return decode(raw, &row)
	})
	if err != nil {
		return loop.Recorded{}, err
	}
	switch {
	case row.Over:
		s.wakeEnd(r.Tenant, r.RunID)
	case row.Ended > 0 || row.Turn || len(row.Tickets) > 0:
		s.wake(r.Tenant, r.RunID)
	}
	return s.recorded(r, &p, &row)
}

// recordParams are the parts of a record that the statement may do.
type recordParams struct {
	db.RecordStepsParams

	ended   []endedCall
	answers []agent.Message // As they are stored, one for each of ended.
	turn    *agent.Message  // As it is stored.
	kept    *keptTranscript // The transcript of the question.
}

func (p *recordParams) nothing() bool {
	return p.Ended == nil && p.Turn == nil && p.Begin == nil && p.Ask == nil && p.End == nil
}

// own reports whether a part of the record is of its run.
func (p *recordParams) own(tenant tool.TenantID, runID string) bool {
	return string(tenant) == p.TenantID && runID == p.RunID
}

// recordParams converts a record up to the first part that is uncommon.
func (s *Store) recordParams(op string, r loop.Record) (recordParams, error) {
	p := recordParams{RecordStepsParams: db.RecordStepsParams{
		TenantID: string(r.Tenant), RunID: r.RunID, Mode: string(tool.Production),
	}}
	whole, err := p.addEnded(op, r.Ended)
	if err != nil || !whole {
		return p, err
	}
	if r.Turn != nil {
		if whole, err = p.addTurn(op, *r.Turn); err != nil || !whole {
			return p, err
		}
		if err := p.addEnd(r.End); err != nil {
			return p, err
		}
	}
	if err := p.addBegun(op, r.Begin); err != nil {
		return p, err
	}
	if r.Ask != nil && r.Turn == nil {
		return p, p.addQuestion(s, r)
	}
	return p, nil
}

// endedCall is a settlement, for the statement.
type endedCall struct {
	EffectID  string          `json:"effect_id"`
	Fence     int64           `json:"fence"`
	Status    string          `json:"status"`
	Result    json.RawMessage `json:"result"`
	IsError   bool            `json:"is_error"`
	ErrorKind string          `json:"error_kind"`
	Error     string          `json:"error"`
	Unsent    bool            `json:"unsent"`
	Acted     bool            `json:"acted"`
	EventType string          `json:"event_type"`
	Tool      string          `json:"tool"`
	Version   string          `json:"version"`
	CallID    string          `json:"call_id"`
	MessageID *string         `json:"message_id"`
	AnswerID  string          `json:"answer_id"`
	Turn      int             `json:"turn"`
	Position  int             `json:"position"`
	Taints    bool            `json:"taints,omitempty"`
}

// addEnded reports whether all settlements are common ones.
func (p *recordParams) addEnded(op string, ended []ledger.Settlement) (whole bool, err error) {
	for _, s := range ended {
		if s.Fence == 0 || s.UnknownIfSent || s.Drift != nil || s.EffectID == "" || s.Nested ||
			!p.own(s.Principal.Tenant, s.RunID) ||
			s.Result != nil && s.Result.Mismatch != "" {
			break
		}
		s.Arguments, s.ArgumentsStored, s.Receipt = nil, false, nil // Admission stored them.
		checked, err := settleParams(op, s)
		if err != nil {
			return false, err
		}
		call := endedCall{
			EffectID: *checked.EffectID, Fence: s.Fence, Status: checked.Status, Result: checked.Result,
			IsError: s.Result == nil || s.Result.IsError, ErrorKind: checked.ErrorKind, Error: checked.Error,
			Unsent: s.Unsent, Acted: s.Acted, EventType: checked.EventType,
			Tool: checked.Tool, Version: checked.Version, CallID: checked.CallID,
			MessageID: checked.MessageID, AnswerID: checked.AnswerID, Turn: s.Turn, Position: s.Position, Taints: s.Taints,
		}
		answer, err := call.message(p.RunID)
		if err != nil {
			return false, err
		}
		p.ended, p.answers = append(p.ended, call), append(p.answers, answer)
	}
	if len(p.ended) > 0 {
		p.Ended, err = encode(p.ended)
	}
	return len(p.ended) == len(ended), err
}

// message returns the call's answer as it is read from the database.
func (c *endedCall) message(runID string) (agent.Message, error) {
	m := agent.Message{
		ID: c.AnswerID, ParentID: value(c.MessageID), RunID: runID, Turn: c.Turn, Role: agent.RoleTool,
		Position: c.Position, CallID: c.CallID, IsError: c.IsError,
	}
	if c.Result == nil {
		m.Content = ledger.Outcome{Kind: tool.Kind(c.ErrorKind), Msg: c.Error}.Content()
		return m, nil
	}
	var result struct {
		Content []tool.Content `json:"content"`
		Preview []tool.Content `json:"preview"`
	}
	err := decode(c.Result, &result)
	m.Content = result.Content
	if result.Preview != nil {
		m.Content = result.Preview
	}
	return m, err
}

// recordedTurn is a turn, for the statement.
type recordedTurn struct {
	ID           string          `json:"id"`
	ParentID     *string         `json:"parent_id"`
	Turn         int             `json:"turn"`
	Content      json.RawMessage `json:"content"`
	Calls        json.RawMessage `json:"calls"`
	Prepared     json.RawMessage `json:"prepared"`
	TurnKey      string          `json:"turn_key"`
	InputTokens  *int32          `json:"input_tokens"`
	OutputTokens *int32          `json:"output_tokens"`
	CachedTokens *int32          `json:"cached_input_tokens"`
	Reasoning    *int32          `json:"reasoning_tokens"`
	Model        *string         `json:"model"`
	Event        json.RawMessage `json:"event"`
}

// addTurn reports whether the turn is a common one: none of its calls is refused.
func (p *recordParams) addTurn(op string, turn agent.Turn) (whole bool, err error) {
	refused := slices.ContainsFunc(turn.Calls, func(c agent.PreparedCall) bool { return c.Refused != nil })
	if refused || !p.own(turn.Tenant, turn.RunID) {
		return false, nil
	}
	checked, err := turnParams(op, turn)
	if err != nil {
		return false, err
	}
	p.Turn, err = encode(recordedTurn{
		ID: checked.ID, ParentID: checked.ParentID, Turn: turn.Message.Turn, Content: checked.Content, Calls: checked.Calls,
		Prepared: checked.Prepared, TurnKey: *checked.TurnKey, InputTokens: checked.InputTokens,
		OutputTokens: checked.OutputTokens, CachedTokens: checked.CachedInputTokens, Reasoning: checked.ReasoningTokens,
		Model: checked.Model, Event: checked.EventData,
	})
	if err != nil {
		return false, err
	}
	m, err := messageOf(db.Message{
		ID: checked.ID, RunID: p.RunID, ParentID: checked.ParentID, Turn: checked.Turn, Role: string(agent.RoleAssistant),
		Content: checked.Content, Calls: checked.Calls, InputTokens: checked.InputTokens, OutputTokens: checked.OutputTokens,
		CachedInputTokens: checked.CachedInputTokens, ReasoningTokens: checked.ReasoningTokens,
	})
	p.turn = &m
	return true, err
}

// recordedEnd is the end of a run, for the statement.
type recordedEnd struct {
	Execution string          `json:"execution"`
	Output    string          `json:"output"`
	Calls     int             `json:"calls"`
	Event     json.RawMessage `json:"event"`
}

// addEnd adds the end of a run that its turn completes.
func (p *recordParams) addEnd(end *agent.RunEnd) error {
	if end == nil || end.Status != agent.RunCompleted || end.HeadMessageID != p.turn.ID || end.Execution == "" {
		return nil
	}
	event, err := encode(agent.RunEnded{Status: end.Status, Turns: end.Turns})
	if err != nil {
		return err
	}
	var output strings.Builder
	for _, block := range p.turn.Content {
		if block.Type == tool.ContentText {
			output.WriteString(block.Text)
		}
	}
	p.End, err = encode(recordedEnd{
		Execution: text(end.Execution), Output: cmp.Or(text(end.Output), output.String()), Calls: end.Calls, Event: event,
	})
	return err
}

// begunCall is an admission, for the statement.
type begunCall struct {
	EffectID           string          `json:"effect_id"`
	InvocationID       string          `json:"invocation_id"`
	ToolID             string          `json:"tool_id"`
	Turn               int             `json:"turn"`
	Position           int             `json:"position"`
	CallID             string          `json:"call_id"`
	Tool               string          `json:"tool"`
	Version            string          `json:"version"`
	Digest             string          `json:"digest"`
	ImplementationType string          `json:"implementation_type"`
	ParentID           *string         `json:"parent_id"`
	Arguments          json.RawMessage `json:"arguments"`
	ArgumentsDigest    *string         `json:"arguments_digest"`
	Receipt            json.RawMessage `json:"receipt"`
	Send               bool            `json:"send"`
	Hidden             bool            `json:"hidden"`
	Assigned           bool            `json:"assigned,omitempty"`
	Secret             bool            `json:"secret,omitempty"`
	Permissions        []string        `json:"permissions,omitempty"` // Of the caller.
}

// addBegun adds the calls that may be admitted with the record.
func (p *recordParams) addBegun(op string, begin []ledger.AdmitRequest) error {
	var calls []begunCall
	for _, req := range begin {
		own := p.own(req.Principal.Tenant, req.RunID)
		if !own || req.ArgumentsStored || req.ToolID == "" || req.Implementation == tool.Artifact {
			continue
		}
		checked, err := admitParams(op, req)
		if err != nil {
			return err
		}
		mode, agentID := checked.Mode, checked.AgentID
		if len(calls) > 0 && (mode != p.Mode || checked.Subject != p.Subject || value(agentID) != value(p.AgentID)) {
			continue
		}
		p.Mode, p.Subject, p.AgentID = mode, checked.Subject, agentID
		calls = append(calls, begunCall{
			EffectID: checked.EffectID, InvocationID: checked.InvocationID, ToolID: req.ToolID, Turn: req.Turn,
			Position: req.Position, CallID: checked.CallID, Tool: checked.Tool, Version: checked.Version, Digest: checked.Digest,
			ImplementationType: checked.ImplementationType, ParentID: checked.ParentID, Arguments: checked.Arguments,
			ArgumentsDigest: checked.ArgumentsDigest, Receipt: checked.Receipt, Send: req.Send, Hidden: req.Hidden,
			Assigned: req.Assigned, Secret: req.Secret, Permissions: req.Principal.Permissions,
		})
	}
	if len(calls) == 0 {
		return nil
	}
	raw, err := encode(calls)
	p.Begin = raw
	return err
}

// recordedQuestion is the question that follows, for the statement.
type recordedQuestion struct {
	Key      string   `json:"key"`
	Tools    []string `json:"tools"`              // The ids of those that the run's plan pins.
	Assigned []string `json:"assigned,omitempty"` // Those of them that the agent has by assignments.
}

// addQuestion adds the question, if the transcript before it is in memory or ends with
// the calls of the record.
func (p *recordParams) addQuestion(s *Store, r loop.Record) (err error) {
	kept, known := s.transcripts.find(transcriptKey{r.Tenant, r.RunID})
	if !known || kept.run.Plan == nil || !kept.answeredWith(p.answers, r.Ask.Head) {
		return nil
	}
	p.kept = &kept
	question := recordedQuestion{Key: text(r.Ask.Key), Tools: make([]string, len(kept.run.Plan.Tools))}
	for i, pin := range kept.run.Plan.Tools {
		question.Tools[i] = pin.ToolID
		if pin.Assigned {
			question.Assigned = append(question.Assigned, pin.ToolID)
		}
	}
	p.Ask, err = encode(question)
	return err
}

var _ loop.Journal = (*Store)(nil)
