package store

import (
	"bytes"
	"context"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// Decide implements [wait.Approvals]. Who started the run may not decide, nor may a key
// that they created. A request whose time is over is one that is over, even before it is
// ended.
func (s *Store) Decide(ctx context.Context, v wait.Verdict) (wait.Approval, error) {
	const op = "store.Decide"
	if !tool.ValidID(v.ID) {
		return wait.Approval{}, approvalNotFound(op)
	}
	if err := checkVerdict(op, v); err != nil {
		return wait.Approval{}, err
	}
	var found wait.Approval
	err := s.inTx(ctx, op, v.Principal.Tenant, func(q *db.Queries) error {
		d := &deciding{op: op, v: v, q: q}
		err := d.decide(ctx)
		found = d.found.Approval
		return err
	})
	switch {
	case err == nil:
		s.wake(found.Tenant, found.RunID)
		return found, nil
	case tool.KindOf(err) == tool.Conflict:
		return found, err
	default:
		return wait.Approval{}, err
	}
}

func checkVerdict(op string, v wait.Verdict) error {
	invalid := func(msg string) error { return &tool.Error{Kind: tool.Invalid, Op: op, Msg: msg} }
	switch {
	case v.Principal.Subject == "":
		return &tool.Error{Kind: tool.Denied, Op: op, Msg: "a decision needs the subject that makes it"}
	case len(v.Edited) == 0:
		return nil
	case !v.Approve:
		return invalid("a rejection does not change the arguments")
	case v.Binding == "":
		return invalid("edited arguments need their binding")
	}
	digest, err := tool.Digest(v.Edited)
	switch {
	case err != nil:
		return &tool.Error{Kind: tool.Invalid, Op: op, Msg: "the arguments are not JSON", Err: err}
	case digest != v.EditedDigest:
		return invalid("the digest is not that of the edited arguments")
	case !bytes.Equal(storable(v.Edited), v.Edited):
		return invalid("arguments must not contain the NUL character or an unpaired surrogate")
	}
	return nil
}

// CheckDecision implements [wait.Approvals].
func (s *Store) CheckDecision(ctx context.Context, v wait.Verdict) (wait.Approval, error) {
	const op = "store.CheckDecision"
	if !tool.ValidID(v.ID) {
		return wait.Approval{}, approvalNotFound(op)
	}
	v.Edited = nil
	if err := checkVerdict(op, v); err != nil {
		return wait.Approval{}, err
	}
	var found wait.Approval
	err := s.inTx(ctx, op, v.Principal.Tenant, func(q *db.Queries) error {
		d := &deciding{op: op, v: v, q: q}
		if err := d.lock(ctx); err != nil {
			return err
		}
		if err := d.authorize(ctx); err != nil {
			return err
		}
		found = d.found.Approval
		_, err := d.check()
		return err
	})
	if err != nil {
		return wait.Approval{}, err
	}
	return found, nil
}

// deciding is a decision that is being recorded.
type deciding struct {
	op    string
	v     wait.Verdict
	q     *db.Queries
	found storedApproval
	grant string // ID of the standing grant that decides; empty for a person.
	// lineages keeps who is behind the principal and behind others, by these others, for decisions
	// that are only checked; nil to ask each time.
	lineages map[string]db.SubjectsBehindRow
}

func (d *deciding) decide(ctx context.Context) error {
	if err := d.lock(ctx); err != nil {
		return err
	}
	if err := d.authorize(ctx); err != nil {
		return err
	}
	repeated, err := d.check()
	if err != nil || repeated {
		return err
	}
	return d.settle(ctx)
}

// settle records a decision that counts, and ends the request where it is the last needed.
func (d *deciding) settle(ctx context.Context) error {
	err := d.record(ctx)
	if err != nil {
		return err
	}
	if err := d.reload(ctx); err != nil {
		return err
	}
	switch {
	case !d.v.Approve:
		err = d.end(ctx, wait.Rejected)
	case len(d.found.Decisions) >= d.found.Needed:
		err = d.end(ctx, wait.Approved)
	default:
		return nil
	}
	if err != nil {
		return err
	}
	return d.reload(ctx)
}

// lock finds the request and locks its invocation, its run and it.
func (d *deciding) lock(ctx context.Context) error {
	tenant := string(d.v.Principal.Tenant)
	seen, known, err := findApproval(ctx, d.q, tenant, d.v.ID)
	if err != nil {
		return err
	}
	if !known {
		return approvalNotFound(d.op)
	}
	if err := d.q.LockInvocation(ctx, db.LockInvocationParams{TenantID: tenant, ID: seen.ID}); err != nil {
		return err
	}
	d.found, known, err = lockApproval(ctx, d.q, d.op, tenant, seen.RunID, seen.ID)
	if err == nil && !known {
		return approvalNotFound(d.op)
	}
	return err
}

func (d *deciding) reload(ctx context.Context) error {
	found, known, err := findApproval(ctx, d.q, string(d.found.Tenant), d.found.ID)
	if err == nil && !known {
		err = approvalNotFound(d.op)
	}
	if err == nil {
		d.found = found
	}
	return err
}

// over says that the request is over, and who ended it.
func (d *deciding) over() string {
	if last := len(d.found.Decisions) - 1; last >= 0 &&
		(d.found.Status == wait.Approved || d.found.Status == wait.Rejected) {
		return "the request is over: it is " + string(d.found.Status) + ", already decided by " +
			d.found.Decisions[last].Subject
	}
	return "the request is over: it is " + string(d.found.Status)
}

// check refuses a decision that comes too late or is about something else, and reports
// whether the same was made before.
func (d *deciding) check() (repeated bool, err error) {
	conflict := func(msg string) error { return &tool.Error{Kind: tool.Conflict, Op: d.op, Msg: msg} }
	for _, made := range d.found.Decisions {
		if made.Subject != text(d.v.Principal.Subject) {
			continue
		}
		same, err := d.repeats(made)
		switch {
		case err != nil || same:
		case d.found.Status.Final():
			err = conflict(d.over())
		default:
			err = conflict("the same subject has decided otherwise")
		}
		return same, err
	}
	switch {
	case d.found.Status.Final():
		return false, conflict(d.over())
	case d.found.overdue:
		return false, conflict("the time of the request is over")
	case d.v.Seen != "" && d.v.Seen != d.found.Binding:
		return false, conflict("the request has changed since it was seen: look at it again, then decide")
	case len(d.v.Edited) > 0 && len(d.found.Decisions) > 0:
		return false, conflict("only the first approval may change the arguments")
	}
	return false, nil
}

// repeats reports whether the verdict is the same as a decision of its subject.
func (d *deciding) repeats(made wait.Decision) (bool, error) {
	switch {
	case made.Approve != d.v.Approve:
		return false, nil
	case len(d.v.Edited) == 0:
		return true, nil
	case len(made.Edited) == 0:
		return false, nil
	}
	digest, err := tool.Digest(made.Edited)
	return digest == d.v.EditedDigest, err
}

func (d *deciding) record(ctx context.Context) error {
	tenant := string(d.found.Tenant)
	err := d.q.AddDecision(ctx, db.AddDecisionParams{
		TenantID: tenant, ApprovalID: d.found.ID, Round: number(d.found.Round), Subject: text(d.v.Principal.Subject),
		Approve: d.v.Approve, Reason: text(d.v.Reason), Edited: d.v.Edited, GrantID: optional(d.grant),
	})
	if err != nil || len(d.v.Edited) == 0 {
		return err
	}
	return d.q.EditApproval(ctx, db.EditApprovalParams{
		TenantID: tenant, ID: d.found.ID, Edited: d.v.Edited, Binding: text(d.v.Binding),
	})
}

// end ends the request with this decision.
func (d *deciding) end(ctx context.Context, as wait.Status) error {
	a := d.found.Approval
	by := text(d.v.Principal.Subject)
	if err := endApproval(ctx, d.q, a, as, &by, text(d.v.Reason)); err != nil || as != wait.Approved {
		return err
	}
	subjects := make([]string, len(a.Decisions))
	for i, made := range a.Decisions {
		subjects[i] = made.Subject
	}
	return addCallEvent(ctx, d.q, a, tool.EventApproved, agent.CallApproved{
		Tool: a.Tool, Version: a.Version, CallID: a.CallID, ApprovalID: a.ID, Round: a.Round, By: subjects,
		Edited: len(a.Edited) > 0,
	})
}
