package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/input"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

const (
	callUnknown = "call not found"
	// submitKeySize is that of the hash whose key it is.
	submitKeySize = sha256.Size
)

// OfferCall implements [wait.Calls]. The call is identified by its effect: after a reset it
// is that of the first invocation, whose id the answer has.
func (s *Store) OfferCall(ctx context.Context, o wait.Offer) (wait.Call, error) {
	const op = "store.OfferCall"
	e := o.Entry
	if e.EffectID == "" || e.InvocationID == "" || e.RunID == "" {
		return wait.Call{}, &tool.Error{
			Kind: tool.Invalid, Op: op, Msg: "a call needs an effect id, an invocation id and a run to be answered from outside",
		}
	}
	checked, err := entryParams(op, e)
	if err != nil {
		return wait.Call{}, err
	}
	var found wait.Call
	err = s.inTx(ctx, op, e.Principal.Tenant, func(q *db.Queries) error {
		id, err := lockOffered(ctx, q, op, o)
		if err != nil {
			return err
		}
		found, err = addOffer(ctx, q, o, id, string(checked.mode))
		return err
	})
	if err != nil {
		return wait.Call{}, err
	}
	s.wake(e.Principal.Tenant, e.RunID)
	return found, nil
}

// lockOffered locks the effect and the invocation of a call, whose id it returns.
func lockOffered(ctx context.Context, q *db.Queries, op string, o wait.Offer) (string, error) {
	tenant := string(o.Entry.Principal.Tenant)
	row, err := q.LockEffect(ctx, db.LockEffectParams{TenantID: tenant, EffectID: text(o.Entry.EffectID)})
	if errors.Is(err, pgx.ErrNoRows) {
		return "", notFound(op, "the call was never admitted")
	}
	if err != nil {
		return "", err
	}
	conflict := func(msg string) error { return &tool.Error{Kind: tool.Conflict, Op: op, Msg: msg} }
	switch phase := tool.Phase(row.Phase); {
	case phase == tool.PhaseDone:
		return "", conflict("the call has ended")
	case phase == tool.PhaseAccepted:
		return "", conflict("the call waits for an approval")
	case row.Fence != o.Fence:
		return "", conflict("a later attempt of this call is running")
	}
	return row.InvocationID, q.LockInvocation(ctx, db.LockInvocationParams{TenantID: tenant, ID: row.InvocationID})
}

// addOffer records a call whose effect and invocation are locked.
func addOffer(ctx context.Context, q *db.Queries, o wait.Offer, id, mode string) (wait.Call, error) {
	e := o.Entry
	tenant := string(e.Principal.Tenant)
	root, err := q.FindRootRun(ctx, db.FindRootRunParams{TenantID: tenant, ID: e.RunID, Most: agent.MaxDepth + 1})
	if err != nil {
		return wait.Call{}, err
	}
	params := db.AddPendingCallParams{
		TenantID: tenant, ID: id, RunID: e.RunID, RootRunID: root, EffectID: text(e.EffectID),
		MessageID: optional(e.MessageID), ParentID: optional(e.ParentID), AgentID: optional(e.AgentID),
		Turn: number(e.Turn), Position: number(e.Position), CallID: text(e.CallID), ToolID: optional(e.ToolID),
		Tool: text(e.Slug), Version: text(e.Version), Digest: e.Digest, ImplementationType: string(e.Implementation),
		Subject: text(e.Principal.Subject), Mode: mode, Intent: string(o.Intent), Shown: o.Shown,
		RequiresResponse: o.Result == nil, IsAsync: o.Async, Status: string(wait.CallWaiting),
		WorkflowID: text(o.WorkflowID), InlineBytes: number(e.InlineBytes),
		AnswerS: o.Timeout.Seconds(), KeepS: (o.Timeout + wait.KeepResults).Seconds(),
	}
	params.SubmitKey = make([]byte, submitKeySize)
	_, _ = rand.Read(params.SubmitKey) // It never fails.
	switch {
	case o.Result != nil:
		params.Status = string(wait.CallResolved)
		if params.Result, err = encodePayload(o.Result); err != nil {
			return wait.Call{}, err
		}
	case o.Async:
		params.Status = string(wait.CallPending)
	}
	added, err := q.AddPendingCall(ctx, params)
	if err != nil {
		return wait.Call{}, err
	}
	found, err := findCall(ctx, q, tenant, id)
	if err != nil {
		return wait.Call{}, err
	}
	if found.Status == wait.CallWaiting {
		err = q.AwaitInvocation(ctx, db.AwaitInvocationParams{TenantID: tenant, ID: id})
	}
	if err != nil || added == 0 {
		return found.Call, err
	}
	if err := keepShown(ctx, q, &found.Call); err != nil {
		return found.Call, err
	}
	kind := ""
	if found.Implementation == tool.Input {
		kind = input.Kind
	}
	return found.Call, addPendingEvent(ctx, q, found.Call, tool.EventPending, agent.CallOffered{
		Kind: kind, Tool: found.Slug, Version: found.Version, CallID: found.CallID, PendingID: found.ID, Intent: found.Intent,
		Shown: found.Shown, RequiresResponse: found.RequiresResponse, Async: found.Async, AnswerBy: found.AnswerBy,
	})
}

func addPendingEvent(ctx context.Context, q *db.Queries, c wait.Call, kind tool.EventType, payload any) error {
	data, err := encodePayload(payload)
	if err != nil {
		return err
	}
	return q.AddCallEvent(ctx, db.AddCallEventParams{
		TenantID: string(c.Principal.Tenant), RunID: c.RunID, Type: string(kind), InvocationID: c.ID, Data: data,
	})
}

// SubmitResult implements [wait.Calls].
func (s *Store) SubmitResult(ctx context.Context, sub wait.Submission) (wait.Call, bool, error) {
	const op = "store.SubmitResult"
	if !tool.ValidID(sub.ID) {
		return wait.Call{}, false, notFound(op, callUnknown)
	}
	if sub.Result == nil {
		return wait.Call{}, false, &tool.Error{Kind: tool.Invalid, Op: op, Msg: "a submission needs a result"}
	}
	var found storedCall
	var first bool
	err := s.inTx(ctx, op, sub.Tenant, func(q *db.Queries) (err error) {
		found, first, err = submit(ctx, q, op, sub)
		return err
	})
	switch {
	case err == nil:
		s.wake(sub.Tenant, found.RunID)
		return found.Call, first, nil
	case tool.KindOf(err) == tool.Conflict:
		return found.Call, false, err
	default:
		return wait.Call{}, false, err
	}
}

// submit locks effect, invocation, run and call, in this order as everywhere.
func submit(ctx context.Context, q *db.Queries, op string, sub wait.Submission) (storedCall, bool, error) {
	tenant := string(sub.Tenant)
	found, err := findCall(ctx, q, tenant, sub.ID)
	if err != nil {
		return found, false, explain(err, tool.NotFound, callUnknown)
	}
	if _, err := q.LockEffect(ctx, db.LockEffectParams{TenantID: tenant, EffectID: text(found.EffectID)}); err != nil {
		return found, false, err
	}
	if err := q.LockInvocation(ctx, db.LockInvocationParams{TenantID: tenant, ID: sub.ID}); err != nil {
		return found, false, err
	}
	if _, err := q.LockRun(ctx, db.LockRunParams{TenantID: tenant, ID: found.RunID}); err != nil {
		return found, false, err
	}
	if err := q.LockPendingCall(ctx, db.LockPendingCallParams{TenantID: tenant, ID: sub.ID}); err != nil {
		return found, false, err
	}
	if found, err = findCall(ctx, q, tenant, sub.ID); err != nil {
		return found, false, err
	}
	switch found.Status {
	case wait.CallResolved:
		return found, false, nil
	case wait.CallCancelled:
		return found, false, &tool.Error{Kind: tool.Conflict, Op: op, Msg: "the call has ended: it takes no result"}
	case wait.CallExpired:
		return found, false, &tool.Error{Kind: tool.Conflict, Op: op, Msg: "the time for a result of this call is over"}
	case wait.CallWaiting, wait.CallPending:
	}
	if err := resolve(ctx, q, op, found, sub); err != nil {
		return found, false, err
	}
	found, err = findCall(ctx, q, tenant, sub.ID)
	return found, true, err
}

// resolve stores the result of a call that is locked and open, and settles it if it waits.
func resolve(ctx context.Context, q *db.Queries, op string, c storedCall, sub wait.Submission) error {
	result, err := encodePayload(sub.Result)
	if err != nil {
		return err
	}
	if err := useFiles(ctx, q, op, sub); err != nil {
		return err
	}
	late := c.Status != wait.CallWaiting
	inline, err := inlineBytes(ctx, q, c, sub.Result)
	if err != nil {
		return err
	}
	if !c.runOver {
		err := addPendingEvent(ctx, q, c.Call, tool.EventResultReceived, agent.ResultReceived{
			Tool: c.Slug, Version: c.Version, CallID: c.CallID, PendingID: c.ID, By: sub.Subject, IsError: sub.Result.IsError,
			Late: late,
		})
		if err != nil {
			return err
		}
	}
	if late {
		if err := addResult(ctx, q, op, c.InboxItem(sub.Result, sub.Subject, inline)); err != nil {
			return err
		}
	} else {
		taints, err := q.CallTaints(ctx, db.CallTaintsParams{TenantID: string(sub.Tenant), RunID: c.RunID, Tool: c.Slug})
		if err != nil {
			return err
		}
		params, err := settleParams(op, ledger.Settlement{
			Entry: ledger.Entry{
				CallIdentity: c.CallIdentity, VersionIdentity: c.VersionIdentity, InlineBytes: inline, Taints: taints,
			},
			Status: tool.StatusCompleted, Result: sub.Result, ByLink: sub.ByLink,
		})
		if err != nil {
			return err
		}
		row, err := q.SettleCall(ctx, params)
		if err != nil {
			return err
		}
		if !row.Won {
			return errRaced
		}
	}
	return q.ResolvePendingCall(ctx, db.ResolvePendingCallParams{
		TenantID: string(sub.Tenant), ID: sub.ID, Result: result, Late: late,
		SubmittedBy: text(sub.Subject), ByLink: sub.ByLink,
	})
}

// inlineBytes returns the limit of a call for what a model is shown of a result: that of its tool as overrides
// narrowed it when the run began. It is zero where there is none, or it does not matter.
func inlineBytes(ctx context.Context, q *db.Queries, c storedCall, r *tool.Result) (int, error) {
	if c.inline != nil {
		return int(*c.inline), nil
	}
	if c.ToolID == "" || !tool.Exceeds(r.Content, tool.MinInlineResult) {
		return 0, nil
	}
	row, err := q.FindToolVersion(ctx, db.FindToolVersionParams{
		ScopeID: scopeID(c.Principal.Tenant), ToolID: c.ToolID, Digest: c.Digest,
	})
	if errors.Is(err, pgx.ErrNoRows) { // The tool was deleted meanwhile.
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	v, err := versionOf(row.ToolVersion, row.Slug)
	return v.Snapshot.Execution.InlineBytes, err
}

// FindLateResult returns a result that came to the inbox of a run, and the limit of what the run is shown of it; zero
// for none of its own. It fails with tool.NotFound where none came.
func (s *Store) FindLateResult(
	ctx context.Context, tenant tool.TenantID, runID, id string,
) (result *tool.Result, limit int, err error) {
	const op = "store.FindLateResult"
	if !tool.ValidID(id) || !tool.ValidID(runID) {
		return nil, 0, notFound(op, callUnknown)
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).FindLateResult, db.FindLateResultParams{
		TenantID: string(tenant), RunID: runID, ID: id,
	})
	if err != nil {
		return nil, 0, explain(err, tool.NotFound, callUnknown)
	}
	if row.InlineBytes != nil {
		limit = int(*row.InlineBytes)
	}
	result = &tool.Result{}
	return result, limit, decode(row.Result, result)
}

// FindCall implements [wait.Calls].
func (s *Store) FindCall(ctx context.Context, tenant tool.TenantID, id string) (wait.Call, error) {
	const op = "store.FindCall"
	if !tool.ValidID(id) {
		return wait.Call{}, notFound(op, callUnknown)
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).FindPendingCall, db.FindPendingCallParams{
		TenantID: string(tenant), ID: id,
	})
	if err != nil {
		return wait.Call{}, explain(err, tool.NotFound, callUnknown)
	}
	found, err := callOf(row)
	return found.Call, err
}

// ListCalls implements [wait.Calls].
func (s *Store) ListCalls(ctx context.Context, q wait.CallQuery) ([]wait.Call, error) {
	const op = "store.ListCalls"
	if err := checkIDs(op, q.RunID, q.Before); err != nil {
		return nil, err
	}
	params := db.ListPendingCallsParams{
		TenantID: string(q.Tenant), Status: string(q.Status), RunID: optional(q.RunID), Tools: texts(q.Tools),
		CallID: text(q.CallID), Implementation: string(q.Of), Before: optional(q.Before),
		Limit: min(pageSize(q.Limit), maxApprovals),
	}
	if q.Oldest {
		rows, err := ask(ctx, s.doFiltered, op, q.Tenant, (*db.Queries).ListOldestPendingCalls,
			db.ListOldestPendingCallsParams(params))
		if err != nil {
			return nil, err
		}
		return collect(rows, func(row db.ListOldestPendingCallsRow) (wait.Call, error) {
			found, err := callOf(db.FindPendingCallRow(row))
			return found.Call, err
		})
	}
	rows, err := ask(ctx, s.doFiltered, op, q.Tenant, (*db.Queries).ListPendingCalls, params)
	if err != nil {
		return nil, err
	}
	return collect(rows, func(row db.ListPendingCallsRow) (wait.Call, error) {
		found, err := callOf(db.FindPendingCallRow(row))
		return found.Call, err
	})
}

// RevokeTokens implements [wait.Calls].
func (s *Store) RevokeTokens(ctx context.Context, tenant tool.TenantID, id string) error {
	const op = "store.RevokeTokens"
	if !tool.ValidID(id) {
		return notFound(op, callUnknown)
	}
	key := make([]byte, submitKeySize)
	_, _ = rand.Read(key) // It never fails.
	return s.do(ctx, op, tenant, func(q *db.Queries) error {
		changed, err := q.RekeyPendingCall(ctx, db.RekeyPendingCallParams{TenantID: string(tenant), ID: id, SubmitKey: key})
		if err == nil && changed == 0 {
			err = notFound(op, callUnknown)
		}
		return err
	})
}

// ClaimResolved implements [wait.Calls].
func (s *Store) ClaimResolved(ctx context.Context, limit int, lease time.Duration) ([]wait.Undelivered, error) {
	const op = "store.ClaimResolved"
	if err := checkLease(op, lease); err != nil {
		return nil, err
	}
	var raw []byte
	err := s.doGlobal(ctx, op, func(q *db.Queries) (err error) {
		raw, err = q.ClaimResolvedCalls(ctx, db.ClaimResolvedCallsParams{Most: number(limit), LeaseS: lease.Seconds()})
		return err
	})
	if err != nil {
		return nil, err
	}
	var keys []approvalKey
	err = decode(raw, &keys)
	return convert(keys, func(k approvalKey) wait.Undelivered { return wait.Undelivered(k) }), err
}

// CallDelivered implements [wait.Calls].
func (s *Store) CallDelivered(ctx context.Context, tenant tool.TenantID, id string) error {
	const op = "store.CallDelivered"
	if err := checkIDs(op, id); err != nil {
		return err
	}
	return s.do(ctx, op, tenant, func(q *db.Queries) error {
		return q.PendingCallDelivered(ctx, db.PendingCallDeliveredParams{TenantID: string(tenant), ID: id})
	})
}

// storedCall is a call with what only the store knows of it.
type storedCall struct {
	wait.Call
	runOver bool
	inline  *int32 // Nil for a call that was offered before limits were kept with it.
}

func findCall(ctx context.Context, q *db.Queries, tenant, id string) (storedCall, error) {
	row, err := q.FindPendingCall(ctx, db.FindPendingCallParams{TenantID: tenant, ID: id})
	if err != nil {
		return storedCall{}, err
	}
	return callOf(row)
}

func callOf(row db.FindPendingCallRow) (storedCall, error) {
	r := row.PendingToolCall
	c := wait.Call{
		ID: r.ID, RootRunID: r.RootRunID,
		CallIdentity: tool.CallIdentity{
			Principal: tool.Principal{Tenant: tool.TenantID(r.TenantID), Subject: r.Subject}, Mode: tool.Mode(r.Mode),
			RunID: r.RunID, AgentID: value(r.AgentID), MessageID: value(r.MessageID), Turn: int(r.Turn),
			Position: int(r.Position), ParentID: value(r.ParentID), CallID: r.CallID, InvocationID: r.ID, EffectID: r.EffectID,
		},
		VersionIdentity: tool.VersionIdentity{
			ToolID: value(r.ToolID), Slug: r.Tool, Version: r.Version, Digest: r.Digest,
			Implementation: tool.Implementation(r.ImplementationType),
		},
		Arguments: row.Arguments, Intent: tool.Intent(r.Intent), Shown: r.Shown, RequiresResponse: r.RequiresResponse,
		Async: r.IsAsync, Status: wait.CallStatus(r.Status), Late: r.Late, SubmittedBy: r.SubmittedBy,
		CreatedAt: r.CreatedAt, AnswerBy: r.AnswerBy, ExpiresAt: r.ExpiresAt, ResolvedAt: r.ResolvedAt,
		WorkflowID: r.WorkflowID, Key: r.SubmitKey,
	}
	if c.Status.Open() && row.Overdue {
		c.Status = wait.CallExpired
	}
	if len(r.Result) > 0 {
		c.Result = &tool.Result{}
		if err := decode(r.Result, c.Result); err != nil {
			return storedCall{}, err
		}
	}
	return storedCall{Call: c, runOver: row.RunOver, inline: r.InlineBytes}, nil
}
