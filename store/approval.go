package store

import (
	"cmp"
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// maxApprovals is the largest page of requests.
const maxApprovals = 500

// Ask implements [wait.Approvals]. The call is identified by its effect: after a reset the
// request is that of the first invocation, whose id the answer has. What was admitted
// before is taken back, unless it was sent, which is a tool.Conflict.
func (s *Store) Ask(ctx context.Context, r wait.Request) (wait.Approval, error) {
	const op = "store.Ask"
	asking, err := askParams(op, r)
	if err != nil {
		return wait.Approval{}, err
	}
	var found wait.Approval
	err = s.inTx(ctx, op, r.Entry.Principal.Tenant, func(q *db.Queries) (err error) {
		found, err = asking.ask(ctx, q)
		return err
	})
	if err != nil {
		return wait.Approval{}, err
	}
	s.wake(found.Tenant, found.RunID)
	return found, nil
}

// asking is a request that is being recorded.
type asking struct {
	op     string
	r      wait.Request
	entry  entry
	digest string // Of the arguments.
	tenant string
	id     string // Of the invocation that the ledger has.
}

func askParams(op string, r wait.Request) (*asking, error) {
	invalid := func(msg string) error { return &tool.Error{Kind: tool.Invalid, Op: op, Msg: msg} }
	e := r.Entry
	switch {
	case e.EffectID == "" || e.InvocationID == "" || e.RunID == "":
		return nil, invalid("a call needs an effect id, an invocation id and a run to be approved")
	case r.Binding == "":
		return nil, invalid("a request needs the binding of what it asks for")
	case r.EscalateAfter < 0 || (r.EscalateAfter == 0) != (r.EscalateTo == ""):
		return nil, invalid("a request that escalates needs the time of it, and a permission")
	case r.Expires < 0 || r.Needed < 0:
		return nil, invalid("a request needs a time to wait, and a number of approvals")
	}
	r.Expires = cmp.Or(r.Expires, wait.DefaultExpiry)
	r.Needed = cmp.Or(r.Needed, 1)
	r.Permission = cmp.Or(r.Permission, wait.DecidePermission)
	checked, err := entryParams(op, e)
	if err != nil {
		return nil, err
	}
	a := &asking{op: op, r: r, entry: checked, tenant: string(e.Principal.Tenant), id: e.InvocationID}
	switch {
	case checked.argumentsDigest != nil:
		a.digest = *checked.argumentsDigest
	case !e.ArgumentsStored:
		a.digest, err = tool.Digest(nil)
	}
	return a, err
}

// ask locks effect, invocation, run and request, in this order as everywhere.
func (a *asking) ask(ctx context.Context, q *db.Queries) (wait.Approval, error) {
	a.id = a.r.Entry.InvocationID // An attempt before may have found another.
	call, err := q.FindCallOfRun(ctx, db.FindCallOfRunParams{
		TenantID: a.tenant, RunID: a.r.Entry.RunID, MessageID: optional(a.r.Entry.MessageID),
		Position: number(a.r.Entry.Position),
	})
	if err != nil {
		return wait.Approval{}, explain(failure(a.op, err), tool.NotFound, "run not found")
	}
	input, digest := a.entry.arguments, a.digest
	if a.r.Entry.ArgumentsStored {
		if input, digest = call.Arguments, call.ArgumentsDigest; input == nil {
			return wait.Approval{}, argumentsUnknown.refusal(a.op, a.r.Entry)
		}
	}
	phase, err := a.lockEffect(ctx, q, digest)
	if err != nil {
		return wait.Approval{}, err
	}
	if err := q.LockInvocation(ctx, db.LockInvocationParams{TenantID: a.tenant, ID: a.id}); err != nil {
		return wait.Approval{}, err
	}
	prior, known, err := lockApproval(ctx, q, a.op, a.tenant, a.r.Entry.RunID, a.id)
	if err != nil {
		return wait.Approval{}, err
	}
	renew := known && prior.Status == wait.Approved && a.r.Binding != prior.Binding && a.r.Binding != prior.asked
	switch {
	case known && prior.effect != text(a.r.Entry.EffectID):
		return wait.Approval{}, invocationTaken.refusal(a.op, a.r.Entry)
	case known && prior.Status == wait.Pending && phase == tool.PhaseAccepted, known && prior.Status.Final() && !renew:
		return prior.Approval, nil
	case phase == tool.PhaseSent:
		return wait.Approval{}, &tool.Error{Kind: tool.Conflict, Op: a.op, Msg: "the call was sent already"}
	}
	if err := a.hold(ctx, q, input); err != nil || known && !renew {
		return prior.Approval, err
	}
	if renew {
		err = a.renew(ctx, q, prior)
	} else {
		err = a.add(ctx, q, call)
	}
	if err != nil {
		return wait.Approval{}, err
	}
	return a.announce(ctx, q)
}

// lockEffect locks the call's effect, or opens it, and returns its phase.
func (a *asking) lockEffect(ctx context.Context, q *db.Queries, digest string) (tool.Phase, error) {
	e := a.r.Entry
	row, err := q.LockEffect(ctx, db.LockEffectParams{TenantID: a.tenant, EffectID: text(e.EffectID)})
	if errors.Is(err, pgx.ErrNoRows) {
		opened, err := q.OpenEffect(ctx, db.OpenEffectParams{
			TenantID: a.tenant, EffectID: text(e.EffectID), InvocationID: a.id, Digest: e.Digest, ArgumentsDigest: digest,
		})
		if err == nil && opened == 0 {
			err = errRaced
		}
		return tool.PhaseAccepted, err
	}
	if err != nil {
		return "", err
	}
	a.id = row.InvocationID
	conflict := func(msg string) error { return &tool.Error{Kind: tool.Conflict, Op: a.op, Msg: msg} }
	switch phase := tool.Phase(row.Phase); {
	case row.VersionDigest != e.Digest || row.ArgumentsDigest != digest:
		return "", conflict("the idempotency key was used for another call")
	case phase == tool.PhaseDone:
		return "", conflict("the call has ended")
	default:
		return phase, nil
	}
}

// hold takes the call back from its attempts.
func (a *asking) hold(ctx context.Context, q *db.Queries, input []byte) error {
	e := a.r.Entry
	held, err := q.HoldEffect(ctx, db.HoldEffectParams{TenantID: a.tenant, EffectID: text(e.EffectID)})
	if err != nil {
		return err
	}
	if held == 0 {
		return errRaced
	}
	if err := q.ReleaseCall(ctx, db.ReleaseCallParams{TenantID: a.tenant, InvocationID: a.id}); err != nil {
		return err
	}
	held, err = q.HoldInvocation(ctx, db.HoldInvocationParams{
		TenantID: a.tenant, ID: a.id, RunID: optional(e.RunID), Turn: number(e.Turn), Position: number(e.Position),
		CallID: text(e.CallID), EffectID: optional(text(e.EffectID)), ToolID: optional(e.ToolID), Tool: text(e.Slug),
		Version: text(e.Version), Digest: e.Digest, ImplementationType: string(e.Implementation),
		Subject: text(e.Principal.Subject), AgentID: optional(e.AgentID), Mode: string(a.entry.mode), Input: input,
		Receipt: a.entry.receipt, ParentID: optional(e.ParentID),
	})
	if err == nil && held == 0 {
		return invocationTaken.refusal(a.op, e)
	}
	return err
}

func (a *asking) add(ctx context.Context, q *db.Queries, call db.FindCallOfRunRow) error {
	e := a.r.Entry
	root, err := q.FindRootRun(ctx, db.FindRootRunParams{TenantID: a.tenant, ID: e.RunID, Most: agent.MaxDepth + 1})
	if err != nil {
		return err
	}
	return q.AddApproval(ctx, db.AddApprovalParams{
		TenantID: a.tenant, ID: a.id, RunID: e.RunID, RootRunID: root, EffectID: text(e.EffectID), Turn: number(e.Turn),
		CallID: text(e.CallID), Tool: text(e.Slug), Version: text(e.Version), Agent: text(cmp.Or(a.r.Agent, call.Agent)),
		Requester: text(cmp.Or(e.Principal.Subject, call.Subject)), Content: text(a.r.Target.Content),
		Credential: text(a.r.Target.Credential), Host: text(a.r.Target.Host), Binding: text(a.r.Binding),
		Message: text(a.r.Message), Reasons: texts(a.r.Reasons), Needed: number(a.r.Needed),
		Permission: text(a.r.Permission), WorkflowID: text(a.r.WorkflowID), ExpiresS: a.r.Expires.Seconds(),
		EscalateS: a.escalateAfter(), EscalateTo: text(a.r.EscalateTo),
		Own: a.r.Target.Own && call.Kind == string(agent.RunKindToolCall),
	})
}

// renew asks in the next round. Edited arguments are kept where the new binding is theirs.
func (a *asking) renew(ctx context.Context, q *db.Queries, prior storedApproval) error {
	keep := false
	if len(prior.Edited) > 0 {
		digest, err := tool.Digest(prior.Edited)
		if err != nil {
			return err
		}
		keep = a.r.Binding == a.r.Target.Bind(digest)
	}
	return q.RenewApproval(ctx, db.RenewApprovalParams{
		TenantID: a.tenant, ID: a.id, Content: text(a.r.Target.Content), Credential: text(a.r.Target.Credential),
		Host: text(a.r.Target.Host), Binding: text(a.r.Binding), KeepEdited: keep, Message: text(a.r.Message),
		Reasons: texts(a.r.Reasons), Needed: number(a.r.Needed), Permission: text(a.r.Permission),
		WorkflowID: text(a.r.WorkflowID), ExpiresS: a.r.Expires.Seconds(),
		EscalateS: a.escalateAfter(), EscalateTo: text(a.r.EscalateTo),
		Own: a.r.Target.Own && prior.Own,
	})
}

// escalateAfter returns when the request escalates, in seconds from now; nil for never.
func (a *asking) escalateAfter() *float64 {
	if a.r.EscalateAfter == 0 {
		return nil
	}
	seconds := a.r.EscalateAfter.Seconds()
	return &seconds
}

// announce writes the event, and returns the request.
func (a *asking) announce(ctx context.Context, q *db.Queries) (wait.Approval, error) {
	asked, _, err := findApproval(ctx, q, a.tenant, a.id)
	if err != nil {
		return wait.Approval{}, err
	}
	return asked.Approval, addCallEvent(ctx, q, asked.Approval, tool.EventNeedsApproval, agent.ApprovalAsked{
		Tool: asked.Tool, Version: asked.Version, CallID: asked.CallID, ApprovalID: asked.ID, Round: asked.Round,
		Message: asked.Message, Reasons: asked.Reasons, Binding: asked.Binding, Needed: asked.Needed,
		ExpiresAt: asked.ExpiresAt,
	})
}

func addCallEvent(ctx context.Context, q *db.Queries, a wait.Approval, kind tool.EventType, payload any) error {
	data, err := encodePayload(payload)
	if err != nil {
		return err
	}
	return q.AddCallEvent(ctx, db.AddCallEventParams{
		TenantID: string(a.Tenant), RunID: a.RunID, Type: string(kind), InvocationID: a.ID, Data: data,
	})
}

// FindApproval implements [wait.Approvals].
func (s *Store) FindApproval(ctx context.Context, tenant tool.TenantID, id string) (wait.Approval, error) {
	const op = "store.FindApproval"
	if !tool.ValidID(id) {
		return wait.Approval{}, approvalNotFound(op)
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).FindApproval, db.FindApprovalParams{
		TenantID: string(tenant), ID: id,
	})
	if err != nil {
		return wait.Approval{}, explain(err, tool.NotFound, approvalUnknown)
	}
	return approvalOf(row)
}

// ListApprovals implements [wait.Approvals].
func (s *Store) ListApprovals(ctx context.Context, q wait.Query) ([]wait.Approval, error) {
	const op = "store.ListApprovals"
	var turn *int32
	if q.Batch != nil {
		q.RunID, turn = q.Batch.RunID, new(number(q.Batch.Turn))
	}
	if err := checkIDs(op, q.RunID, q.Before); err != nil {
		return nil, err
	}
	params := db.ListApprovalsParams{
		TenantID: string(q.Tenant), Status: string(q.Status), RunID: optional(q.RunID), Turn: turn, Tool: text(q.Tool),
		Before: optional(q.Before), Limit: min(pageSize(q.Limit), maxApprovals),
	}
	if q.Oldest {
		rows, err := ask(ctx, s.doFiltered, op, q.Tenant, (*db.Queries).ListOldestApprovals,
			db.ListOldestApprovalsParams(params))
		if err != nil {
			return nil, err
		}
		return collect(rows, func(row db.ListOldestApprovalsRow) (wait.Approval, error) {
			return approvalOf(db.FindApprovalRow(row))
		})
	}
	rows, err := ask(ctx, s.doFiltered, op, q.Tenant, (*db.Queries).ListApprovals, params)
	if err != nil {
		return nil, err
	}
	return collect(rows, func(row db.ListApprovalsRow) (wait.Approval, error) {
		return approvalOf(db.FindApprovalRow(row))
	})
}

const approvalUnknown = "approval not found"

func approvalNotFound(op string) error { return notFound(op, approvalUnknown) }

// storedApproval is a request with what only the store knows of it.
type storedApproval struct {
	wait.Approval
	effect  string // Of the call.
	asked   string // The binding that was asked for.
	overdue bool   // Its time is over.
	subject string // Of the run.
	// announced reports whether the event of its escalation is written.
	announced bool
}

// lockApproval locks a run and a request of it, and reports whether there is the request.
func lockApproval(
	ctx context.Context, q *db.Queries, op, tenant, runID, id string,
) (found storedApproval, known bool, err error) {
	subject, err := q.LockRun(ctx, db.LockRunParams{TenantID: tenant, ID: runID})
	if err != nil {
		return found, false, explain(failure(op, err), tool.NotFound, "run not found")
	}
	if err := q.LockApproval(ctx, db.LockApprovalParams{TenantID: tenant, ID: id}); err != nil {
		return found, false, err
	}
	found, known, err = findApproval(ctx, q, tenant, id)
	found.subject = subject
	return found, known, err
}

func findApproval(ctx context.Context, q *db.Queries, tenant, id string) (storedApproval, bool, error) {
	row, err := q.FindApproval(ctx, db.FindApprovalParams{TenantID: tenant, ID: id})
	if errors.Is(err, pgx.ErrNoRows) {
		return storedApproval{}, false, nil
	}
	if err != nil {
		return storedApproval{}, false, err
	}
	approval, err := approvalOf(row)
	return storedApproval{
		Approval: approval, effect: row.Approval.EffectID, asked: row.Approval.Asked, overdue: row.Overdue,
		announced: row.Approval.EscalatedAt != nil,
	}, err == nil, err
}

func approvalOf(row db.FindApprovalRow) (wait.Approval, error) {
	r := row.Approval
	a := wait.Approval{
		ID: r.ID, Tenant: tool.TenantID(r.TenantID), RunID: r.RunID, RootRunID: r.RootRunID, Turn: int(r.Turn),
		CallID: r.CallID, Tool: r.Tool, Version: r.Version, Agent: r.Agent, Requester: r.Requester,
		Arguments: row.Arguments, Edited: r.Edited,
		Target:  wait.Target{Content: r.Content, Credential: r.Credential, Host: r.Host, Own: r.Own},
		Binding: r.Binding, Message: r.Message, Round: int(r.Round), Needed: int(r.Needed), Permission: r.Permission,
		Status: wait.Status(r.Status), Reason: r.Reason, CreatedAt: r.CreatedAt, ExpiresAt: r.ExpiresAt, EndedAt: r.EndedAt,
		WorkflowID: r.WorkflowID, EscalatesAt: r.EscalatesAt, EscalateTo: r.EscalateTo, Escalated: row.Escalated,
	}
	if len(r.Reasons) > 0 {
		a.Reasons = r.Reasons
	}
	if err := decode(row.Decisions, &a.Decisions); err != nil {
		return a, err
	}
	for i := range a.Decisions {
		if string(a.Decisions[i].Edited) == "null" {
			a.Decisions[i].Edited = nil
		}
	}
	return a, nil
}

// texts returns strings as an array column can store them.
func texts(values []string) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = text(v)
	}
	return out
}
