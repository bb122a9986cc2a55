package store

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/access"
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolembed"
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

// authorize refuses who may not decide.
func (d *deciding) authorize(ctx context.Context) error {
	denied := func(msg string, cause error) error {
		return &tool.Error{Kind: tool.Denied, Op: d.op, Msg: msg, Err: cause}
	}
	p, own := d.v.Principal, []string{}
	if d.found.Confirms(p) && (d.found.subject == "" || d.found.subject == p.Subject) {
		return nil
	}
	started := []string{d.found.Requester, d.found.subject}
	for _, subject := range started[:2] {
		if maker, ok := toolembed.Maker(subject); ok { // The key let its caller start the run.
			started = append(started, maker)
		}
	}
	for _, subject := range started {
		switch subject {
		case "":
		case text(p.Subject):
			return denied("who started the run does not decide on its calls"+d.others(), nil)
		default:
			own = append(own, subject)
		}
	}
	behind, err := d.lineage(ctx, own)
	among := func(subjects []string) func(string) bool {
		return func(s string) bool { return slices.Contains(subjects, s) }
	}
	person := func(s string) bool { return strings.HasPrefix(s, UserSubject) && among(behind.Others)(s) }
	switch {
	case err != nil:
		return err
	case slices.ContainsFunc(behind.Own, among(own)):
		return denied("a key that was created by who started the run does not decide on its calls"+d.others(), nil)
	case slices.ContainsFunc(behind.Own, person):
		return denied("a person decides on no calls of a run that was started with a key of theirs"+d.others(), nil)
	case !d.found.Permits(p):
		cause := &tool.PermissionError{Permissions: []string{d.found.Permission}}
		return denied(cause.Error(), cause)
	}
	return nil
}

// lineage returns the subjects behind the principal, and those behind others.
func (d *deciding) lineage(ctx context.Context, others []string) (db.SubjectsBehindRow, error) {
	key := strings.Join(others, "\x00")
	if known, ok := d.lineages[key]; ok {
		return known, nil
	}
	found, err := d.q.SubjectsBehind(ctx, db.SubjectsBehindParams{
		TenantID: string(d.v.Principal.Tenant), Subject: text(d.v.Principal.Subject), Others: others,
	})
	if err == nil && d.lineages != nil {
		d.lineages[key] = found
	}
	return found, err
}

// MayDecide implements [wait.Approvals].
func (s *Store) MayDecide(ctx context.Context, p tool.Principal, asked []wait.Approval) ([]error, error) {
	const op = "store.MayDecide"
	refusals := make([]error, len(asked))
	if len(asked) == 0 {
		return refusals, nil
	}
	ids := make([]string, len(asked))
	for i, a := range asked {
		ids[i] = a.ID
	}
	if err := checkIDs(op, ids...); err != nil {
		return nil, err
	}
	err := s.do(ctx, op, p.Tenant, func(q *db.Queries) error {
		rows, err := q.StandingOfApprovals(ctx, db.StandingOfApprovalsParams{TenantID: string(p.Tenant), Ids: ids})
		if err != nil {
			return err
		}
		standing := map[string]db.StandingOfApprovalsRow{}
		for _, row := range rows {
			standing[row.ID] = row
		}
		lineages := map[string]db.SubjectsBehindRow{}
		for i, a := range asked {
			known, ok := standing[a.ID]
			if !ok {
				refusals[i] = approvalNotFound(op)
				continue
			}
			d := &deciding{
				op: op, v: wait.Verdict{Principal: p, ID: a.ID, Approve: true}, q: q, lineages: lineages,
				found: storedApproval{Approval: a, overdue: known.Overdue, subject: known.Subject},
			}
			var refusal *tool.Error
			if err := d.counts(ctx); errors.As(err, &refusal) {
				refusals[i] = refusal
			} else if err != nil {
				return err
			}
		}
		return nil
	})
	return refusals, err
}

// counts returns why a decision would not count; nil where it would.
func (d *deciding) counts(ctx context.Context) error {
	if err := checkVerdict(d.op, d.v); err != nil {
		return err
	}
	if d.found.Status.Final() || d.found.overdue {
		_, err := d.check()
		if err == nil {
			err = &tool.Error{Kind: tool.Conflict, Op: d.op, Msg: d.over()}
		}
		return err
	}
	if err := d.authorize(ctx); err != nil {
		return err
	}
	repeated, err := d.check()
	if repeated {
		err = &tool.Error{Kind: tool.Conflict, Op: d.op, Msg: "you have approved it: it needs the approval of others too"}
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

// others says who decides instead.
func (d *deciding) others() string {
	return ": another person with the permission " + d.found.Permission + " has to"
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

// endApproval ends a pending request whose invocation and run are locked.
func endApproval(
	ctx context.Context, q *db.Queries, a wait.Approval, as wait.Status, by *string, reason string,
) error {
	err := q.EndInvocationApproval(ctx, db.EndInvocationApprovalParams{
		TenantID: string(a.Tenant), ID: a.ID, ApprovalStatus: string(invocationStatus(as)), DecidedBy: by,
		Reason: optional(reason),
	})
	if err != nil {
		return err
	}
	return q.EndApproval(ctx, db.EndApprovalParams{
		TenantID: string(a.Tenant), ID: a.ID, Status: string(as), Reason: reason,
	})
}

// invocationStatus is what an invocation records of its request. One that is cancelled has
// lapsed, like one that expired.
func invocationStatus(s wait.Status) tool.ApprovalStatus {
	switch s {
	case wait.Approved:
		return tool.ApprovalApproved
	case wait.Rejected:
		return tool.ApprovalRejected
	case wait.Expired, wait.Cancelled:
		return tool.ApprovalExpired
	case wait.Pending:
		return tool.ApprovalPending
	default:
		return tool.ApprovalPending
	}
}

// End implements [wait.Approvals]. A request that is to expire and has time left is
// returned as it is.
func (s *Store) End(ctx context.Context, tenant tool.TenantID, id string, as wait.Status) (wait.Approval, error) {
	ended, _, err := s.endApproval(ctx, tenant, id, as)
	return ended, err
}

func (s *Store) endApproval(
	ctx context.Context, tenant tool.TenantID, id string, as wait.Status,
) (ended wait.Approval, won bool, err error) {
	const op = "store.End"
	if as != wait.Expired && as != wait.Cancelled {
		return ended, false, &tool.Error{Kind: tool.Invalid, Op: op, Msg: "a request does not end by itself as " + string(as)}
	}
	if !tool.ValidID(id) {
		return ended, false, approvalNotFound(op)
	}
	err = s.inTx(ctx, op, tenant, func(q *db.Queries) error {
		won = false
		d := &deciding{op: op, v: wait.Verdict{Principal: tool.Principal{Tenant: tenant}, ID: id}, q: q}
		if err := d.lock(ctx); err != nil {
			return err
		}
		won = !d.found.Status.Final() && (as != wait.Expired || d.found.overdue)
		if won {
			if err := endApproval(ctx, q, d.found.Approval, as, nil, ""); err != nil {
				return err
			}
			if err := d.reload(ctx); err != nil {
				return err
			}
		}
		ended = d.found.Approval
		return nil
	})
	if err != nil {
		return wait.Approval{}, false, err
	}
	if won {
		s.wake(tenant, ended.RunID)
	}
	return ended, won, nil
}

// CountApprovers implements [wait.Approvals]. It leaves out the keys that the subject
// created, which may not decide either.
func (s *Store) CountApprovers(
	ctx context.Context, tenant tool.TenantID, permissions []string, except string,
) (int, error) {
	if maker, ok := toolembed.Maker(except); ok {
		except = maker
	}
	n, err := ask(ctx, s.do, "store.CountApprovers", tenant, (*db.Queries).CountApprovers, db.CountApproversParams{
		TenantID: string(tenant), Permissions: texts(permissions), Subject: text(except),
		BuiltinRoles: access.With(permissions),
	})
	return int(n), err
}

// ExpireOverdue implements [wait.Approvals]. Each request is ended in a transaction of its
// own, as its tenant.
func (s *Store) ExpireOverdue(ctx context.Context, limit int, over time.Duration) (int, error) {
	const op = "store.ExpireOverdue"
	var raw []byte
	err := s.doGlobal(ctx, op, func(q *db.Queries) (err error) {
		raw, err = q.OverdueApprovals(ctx, db.OverdueApprovalsParams{Most: number(limit), OverS: over.Seconds()})
		return err
	})
	if err != nil {
		return 0, err
	}
	var keys []approvalKey
	if err := decode(raw, &keys); err != nil {
		return 0, err
	}
	expired := 0
	for _, k := range keys {
		_, won, err := s.endApproval(ctx, k.Tenant, k.ID, wait.Expired)
		switch {
		case err != nil && tool.KindOf(err) != tool.NotFound: // It was purged meanwhile.
			return expired, err
		case won:
			expired++
		}
	}
	return expired, nil
}

// approvalKey is a request of any tenant, as the database's functions return it.
type approvalKey struct {
	Tenant     tool.TenantID `json:"t"`
	ID         string        `json:"i"`
	WorkflowID string        `json:"w"`
	Round      int           `json:"r"`
}

// ClaimUndelivered implements [wait.Approvals].
func (s *Store) ClaimUndelivered(
	ctx context.Context, limit int, lease time.Duration,
) ([]wait.Undelivered, error) {
	const op = "store.ClaimUndelivered"
	if err := checkLease(op, lease); err != nil {
		return nil, err
	}
	var raw []byte
	err := s.doGlobal(ctx, op, func(q *db.Queries) (err error) {
		raw, err = q.ClaimEndedApprovals(ctx, db.ClaimEndedApprovalsParams{Most: number(limit), LeaseS: lease.Seconds()})
		return err
	})
	if err != nil {
		return nil, err
	}
	var keys []approvalKey
	err = decode(raw, &keys)
	return convert(keys, func(k approvalKey) wait.Undelivered { return wait.Undelivered(k) }), err
}

// Delivered implements [wait.Approvals]. It does nothing for a request that is not
// undelivered.
func (s *Store) Delivered(ctx context.Context, u wait.Undelivered) error {
	const op = "store.Delivered"
	if err := checkIDs(op, u.ID); err != nil {
		return err
	}
	return s.do(ctx, op, u.Tenant, func(q *db.Queries) error {
		return q.ApprovalDelivered(ctx, db.ApprovalDeliveredParams{
			TenantID: string(u.Tenant), ID: u.ID, Round: number(u.Round),
		})
	})
}
