package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/budget"
	"github.com/toolcrib/toolcrib/internal/uuid7"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/profile"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// verdict is the result of the authority check, computed by the statement AdmitCall.
type verdict string

const (
	granted            verdict = "granted"
	tenantSuspended    verdict = "tenant_suspended"
	runUnknown         verdict = "run_unknown"
	invocationTaken    verdict = "invocation_taken"
	toolUnknown        verdict = "tool_unknown"
	toolDisabled       verdict = "tool_disabled"
	toolOff            verdict = "tool_off"
	toolQuarantined    verdict = "tool_quarantined"
	artifactDisabled   verdict = "artifact_disabled"
	toolDraft          verdict = "tool_draft"
	versionUnknown     verdict = "version_unknown"
	versionUnpublished verdict = "version_unpublished"
	argumentsUnknown   verdict = "arguments_unknown"
	budgetSpent        verdict = "budget_spent"
	rateLimited        verdict = "rate_limited"
	toolRevoked        verdict = "tool_revoked"
)

// refusal returns the verdict as an error, or nil when the call is granted.
func (v verdict) refusal(op string, e ledger.Entry) error {
	kind, msg := tool.InternalError, "internal error"
	switch v {
	case granted:
		return nil
	case tenantSuspended:
		kind, msg = tool.Denied, "the tenant is suspended"
	case runUnknown:
		kind, msg = tool.NotFound, "run not found"
	case invocationTaken:
		kind, msg = tool.Conflict, "the invocation id was used for another call"
	case toolUnknown:
		kind, msg = tool.NotFound, fmt.Sprintf("tool %q not found", e.Slug)
	case toolDisabled:
		kind, msg = tool.Conflict, fmt.Sprintf("tool %q is disabled", e.Slug)
	case toolOff:
		kind, msg = tool.Conflict, fmt.Sprintf("tool %q is switched off", e.Slug)
	case toolQuarantined:
		kind, msg = tool.Conflict, fmt.Sprintf("tool %q is quarantined until it is reviewed", e.Slug)
	case artifactDisabled:
		kind, msg = tool.Conflict, fmt.Sprintf("the artifact of tool %q is disabled", e.Slug)
	case toolDraft:
		kind, msg = tool.Conflict, fmt.Sprintf("tool %q is a draft and runs in debug mode only", e.Slug)
	case versionUnknown:
		kind, msg = tool.NotFound, fmt.Sprintf("tool %q has no such version", e.Slug)
	case versionUnpublished:
		kind, msg = tool.Conflict, fmt.Sprintf("this version of tool %q is not published", e.Slug)
	case toolRevoked:
		kind, msg = tool.Denied, fmt.Sprintf("tool %q is no longer assigned to the agent", e.Slug)
	case budgetSpent, rateLimited: // [limitRefusal] says it.
	case argumentsUnknown:
		kind, msg = tool.NotFound, "the assistant message has no arguments for this call"
	}
	return &tool.Error{Kind: kind, Op: op, Msg: msg}
}

// Admit implements [ledger.Ledger]. A settled effect returns its outcome whatever
// the current authority: it ran while it was allowed. The outcome is also written to
// the call's place in the transcript.
func (s *Store) Admit(ctx context.Context, req ledger.AdmitRequest) (ledger.Ticket, error) {
	const op = "store.Admit"
	params, err := admitParams(op, req)
	if err != nil {
		return ledger.Ticket{}, err
	}
	var ticket ledger.Ticket
	err = s.doPlanned(ctx, op, req.Principal.Tenant, func(q *db.Queries) error {
		row, err := q.AdmitCall(ctx, params)
		if errors.Is(err, pgx.ErrNoRows) {
			return notFound(op, "tenant not found")
		}
		if err != nil {
			return err
		}
		ticket, err = ticketOf(op, req, row)
		return err
	})
	if err != nil {
		return ledger.Ticket{}, err
	}
	if req.RunID != "" && ticket.Done == nil {
		s.wake(req.Principal.Tenant, req.RunID)
	}
	return ticket, nil
}

// ticketOf converts the row of AdmitCall.
func ticketOf(op string, req ledger.AdmitRequest, row db.AdmitCallRow) (ledger.Ticket, error) {
	policy, err := policyOf(row.EgressClass, row.EgressRules, row.RequiresApproval, row.PermissionPolicy,
		row.RequiredPermission, row.TenantSlugs)
	if err != nil {
		return ledger.Ticket{}, err
	}
	if policy.Profiles, err = usesOf(row.Profiles); err != nil {
		return ledger.Ticket{}, err
	}
	taint, err := taintOf(row.Taint)
	if err != nil {
		return ledger.Ticket{}, err
	}
	ticket := ledger.Ticket{
		InvocationID: row.InvocationID, Fence: row.Fence, Attempt: int(row.Attempt),
		Deprecated: row.Deprecated, Followed: row.Followed, Arguments: req.Arguments,
		Policy: policy, Approved: row.Approved, Taint: taint,
	}
	if row.Held {
		ticket.Attempt++ // It counts when it starts.
	}
	switch {
	case row.EditedArguments != nil:
		ticket.Arguments = row.EditedArguments
	case req.ArgumentsStored:
		ticket.Arguments = row.StoredArguments
	}
	switch {
	case row.Fence > 0:
		return ticket, nil
	case !row.SameCall:
		return ledger.Ticket{}, &tool.Error{Kind: tool.Conflict, Op: op, Msg: "the idempotency key was used for another call"}
	case tool.Phase(row.PriorPhase) == tool.PhaseDone:
		outcome, err := outcomeOf(row.InvocationID, row.Status, row.Result, row.ErrorKind, row.Error)
		outcome.Sent = row.Sent
		ticket.Done = &outcome
		return ticket, err
	case tool.Phase(row.PriorPhase) == tool.PhaseSent && !req.Repeatable:
		return ledger.Ticket{}, &tool.Error{Kind: tool.Unknown, Op: op, Msg: ledger.UnknownMessage, Sent: true}
	}
	if row.Limits != nil {
		return ledger.Ticket{}, limitRefusal(op, row.Limits)
	}
	if err := verdict(row.Verdict).refusal(op, req.Entry); err != nil {
		return ledger.Ticket{}, err
	}
	return ledger.Ticket{}, errRaced
}

// limitRefusal returns the budget or the rate that refuses a call as an error.
func limitRefusal(op string, raw []byte) error {
	var refused struct {
		Budget *budget.Refusal  `json:"budget"`
		Rate   *profile.Limited `json:"rate"`
	}
	if err := decode(raw, &refused); err != nil {
		return err
	}
	if refused.Rate != nil {
		return refused.Rate.Error(op)
	}
	return refused.Budget.Error(op, "call")
}

func admitParams(op string, req ledger.AdmitRequest) (db.AdmitCallParams, error) {
	var none db.AdmitCallParams
	if req.EffectID == "" || req.InvocationID == "" {
		return none, &tool.Error{
			Kind: tool.Invalid, Op: op, Msg: "a call needs an effect id and an invocation id to be admitted",
		}
	}
	e, err := entryParams(op, req.Entry)
	if err != nil {
		return none, err
	}
	if e.argumentsDigest == nil && !req.ArgumentsStored {
		digest, err := tool.Digest(nil)
		if err != nil {
			return none, err
		}
		e.argumentsDigest = &digest
	}
	return db.AdmitCallParams{
		TenantID: string(req.Principal.Tenant), EffectID: text(req.EffectID), InvocationID: req.InvocationID,
		RunID: optional(req.RunID), AgentID: optional(req.AgentID), ToolID: optional(req.ToolID),
		MessageID: optional(req.MessageID),
		Turn:      number(req.Turn), Position: number(req.Position), CallID: text(req.CallID), Tool: text(req.Slug),
		Version: text(req.Version), Digest: req.Digest, ImplementationType: string(req.Implementation),
		Subject: text(req.Principal.Subject), Mode: string(e.mode),
		ArgumentsStored: req.ArgumentsStored, Arguments: e.arguments, ArgumentsDigest: e.argumentsDigest, Receipt: e.receipt,
		Repeatable: req.Repeatable, Send: req.Send, AnswerID: e.answerID, ParentID: optional(req.ParentID),
		Hidden: req.Hidden, Assigned: req.Assigned, Secret: req.Secret, Permissions: list(req.Principal.Permissions),
	}, nil
}

// MarkSent implements [ledger.Ledger]. It fails with tool.NotFound for an
// effect the tenant does not have.
func (s *Store) MarkSent(ctx context.Context, tenant tool.TenantID, effectID string, fence int64) error {
	const op = "store.MarkSent"
	row, err := ask(ctx, s.doPlanned, op, tenant, (*db.Queries).MarkSent, db.MarkSentParams{
		TenantID: string(tenant), EffectID: text(effectID), Fence: fence,
	})
	if err != nil {
		return err
	}
	return moved(op, row.Moved, row.Known)
}

// MarkUnsent implements [ledger.Ledger]. It fails with tool.NotFound for an
// effect the tenant does not have.
func (s *Store) MarkUnsent(ctx context.Context, tenant tool.TenantID, effectID string, fence int64) error {
	const op = "store.MarkUnsent"
	row, err := ask(ctx, s.doPlanned, op, tenant, (*db.Queries).MarkUnsent, db.MarkUnsentParams{
		TenantID: string(tenant), EffectID: text(effectID), Fence: fence,
	})
	if err != nil {
		return err
	}
	return moved(op, row.Moved, row.Known)
}

// moved converts the result of a compare-and-set on an effect.
func moved(op string, moved, known bool) error {
	switch {
	case moved:
		return nil
	case !known:
		return notFound(op, "the call was never admitted")
	default:
		return &tool.Error{Kind: tool.Conflict, Op: op, Msg: "another attempt of this call is running, or the call has ended"}
	}
}

// entry has the values of a [ledger.Entry] that are converted before they are stored.
type entry struct {
	mode               tool.Mode
	arguments, receipt []byte
	argumentsDigest    *string // Nil where the arguments are not given.
	answerID           string  // For the tool message.
}

func entryParams(op string, e ledger.Entry) (entry, error) {
	out := entry{mode: e.Mode}
	if out.mode == "" {
		out.mode = tool.Production
	}
	if err := checkIDs(op, e.InvocationID, e.RunID, e.AgentID, e.ToolID, e.MessageID, e.ParentID); err != nil {
		return entry{}, err
	}
	var err error
	if out.receipt, err = payload(e.Receipt); err != nil {
		return entry{}, err
	}
	if out.answerID, err = uuid7.New(); err != nil {
		return entry{}, err
	}
	if e.ArgumentsStored {
		return out, nil
	}
	if out.arguments, err = payload(e.Arguments); err != nil || out.arguments == nil {
		return out, err
	}
	digest, err := tool.Digest(e.Arguments)
	if err != nil {
		return entry{}, &tool.Error{Kind: tool.Invalid, Op: op, Msg: "the arguments are not JSON", Err: err}
	}
	out.argumentsDigest = &digest
	return out, nil
}
