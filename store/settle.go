package store

import (
	"cmp"
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// Settle implements [ledger.Ledger]. If the effect id belongs to another call, that call
// is unchanged and this one ends like a call without an effect. It fails with
// tool.NotFound for a run, or a fence of an effect, that the tenant does not have.
func (s *Store) Settle(ctx context.Context, settlement ledger.Settlement) (ledger.Outcome, error) {
	const op = "store.Settle"
	params, err := settleParams(op, settlement)
	if err != nil {
		return ledger.Outcome{}, err
	}
	var outcome ledger.Outcome
	err = s.doPlanned(ctx, op, settlement.Principal.Tenant, func(q *db.Queries) error {
		row, err := q.SettleCall(ctx, params)
		if errors.Is(err, pgx.ErrNoRows) {
			return notFound(op, "tenant not found")
		}
		if err != nil {
			return err
		}
		outcome, err = settledOutcome(op, settlement.Fence, row)
		return err
	})
	if err != nil {
		return ledger.Outcome{}, err
	}
	if outcome.Won && settlement.RunID != "" {
		s.wake(settlement.Principal.Tenant, settlement.RunID)
	}
	return outcome, nil
}

// settledOutcome converts the row of SettleCall.
func settledOutcome(op string, fence int64, row db.SettleCallRow) (ledger.Outcome, error) {
	switch {
	case row.InvocationID != nil:
		outcome, err := outcomeOf(*row.InvocationID, row.Status, row.Result, row.ErrorKind, row.Error)
		outcome.Won, outcome.Sent = row.Won, row.Sent
		return outcome, err
	case fence != 0 && row.PriorFence == nil:
		return ledger.Outcome{}, notFound(op, "the call was never admitted")
	case fence != 0 && *row.PriorFence != fence:
		return ledger.Outcome{}, &tool.Error{Kind: tool.Conflict, Op: op, Msg: "a later attempt of this call is running"}
	default:
		return ledger.Outcome{}, errRaced
	}
}

func settleParams(op string, s ledger.Settlement) (db.SettleCallParams, error) {
	var none db.SettleCallParams
	switch {
	case !s.Status.Final():
		return none, &tool.Error{Kind: tool.Invalid, Op: op, Msg: "a call cannot end as " + string(s.Status)}
	case s.Result == nil && s.Kind == "":
		return none, &tool.Error{Kind: tool.Invalid, Op: op, Msg: "a call ends with a result or the kind of its failure"}
	case s.InvocationID == "":
		return none, &tool.Error{Kind: tool.Invalid, Op: op, Msg: "a call needs an invocation id to be settled"}
	}
	e, err := entryParams(op, s.Entry)
	if err != nil {
		return none, err
	}
	var result []byte
	if s.Result != nil {
		if result, err = encodePayload(resultRow(s)); err != nil {
			return none, err
		}
	}
	var declared string
	var attempted *string
	if s.Drift != nil {
		declared, attempted = string(s.Drift.Declared), new(text(s.Drift.Attempted))
	}
	var mismatch *string
	if s.Result != nil && s.Result.Mismatch != "" {
		mismatch = new(text(s.Result.Mismatch))
	}
	return db.SettleCallParams{
		TenantID: string(s.Principal.Tenant), EffectID: optional(text(s.EffectID)), InvocationID: s.InvocationID,
		Fence: s.Fence,
		RunID: optional(s.RunID), AgentID: optional(s.AgentID), ToolID: optional(s.ToolID), MessageID: optional(s.MessageID),
		Turn: number(s.Turn), Position: number(s.Position), CallID: text(s.CallID), Tool: text(s.Slug),
		Version: text(s.Version), Digest: s.Digest, ImplementationType: string(s.Implementation),
		Subject: text(s.Principal.Subject), Mode: string(e.mode),
		ArgumentsStored: s.ArgumentsStored, Arguments: e.arguments, ArgumentsDigest: e.argumentsDigest, Receipt: e.receipt,
		Status: string(s.Status), Result: result, ErrorKind: string(s.Kind), Error: text(s.Msg),
		Taints: s.Taints, Nested: s.Nested, ByLink: s.ByLink,
		UnknownIfSent: s.UnknownIfSent, Unsent: s.Unsent, Acted: s.Acted, UnknownMessage: ledger.UnknownMessage,
		EventType: string(tool.EndEvent(s.Status)), AnswerID: e.answerID,
		ParentID: optional(s.ParentID), DriftDeclared: declared, DriftAttempted: attempted, OutputMismatch: mismatch,
	}, nil
}

// storedResult is a result as it is stored: once, with what models are shown of it where that is
// less.
type storedResult struct {
	*tool.Result

	Preview []tool.Content `json:"preview,omitempty"`
	// InlineBytes is the tool's own limit of what is shown; zero for none.
	InlineBytes int `json:"inline_bytes,omitempty"`
}

func resultRow(s ledger.Settlement) storedResult {
	row := storedResult{Result: s.Result}
	if shown, cut := tool.Preview(s.Result.Content, cmp.Or(s.Reference, s.InvocationID), s.InlineBytes); cut {
		row.Preview, row.InlineBytes = shown, s.InlineBytes
	}
	return row
}

// outcomeOf converts a call's outcome from its columns.
func outcomeOf(invocationID, status string, result []byte, kind, msg string) (ledger.Outcome, error) {
	outcome := ledger.Outcome{InvocationID: invocationID, Status: tool.InvocationStatus(status)}
	if len(result) == 0 {
		outcome.Kind, outcome.Msg = tool.Kind(kind), msg
		return outcome, nil
	}
	outcome.Result = &tool.Result{}
	return outcome, decode(result, outcome.Result)
}
