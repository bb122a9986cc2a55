package store

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/access"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolembed"
	"github.com/toolcrib/toolcrib/toolsession"
	"github.com/toolcrib/toolcrib/wait"
)

// authorize refuses who may not decide.
func (d *deciding) authorize(ctx context.Context) error {
	denied := func(msg string, cause error) error {
		return &tool.Error{Kind: tool.Denied, Op: d.op, Msg: msg, Err: cause}
	}
	p, own := d.v.Principal, []string{}
	if d.found.Confirms(p) && (d.found.subject == "" || d.found.subject == p.Subject) {
		return nil
	}
	started, err := startedBy(ctx, d.q, string(p.Tenant), d.found.Requester, d.found.subject)
	if err != nil {
		return err
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

// startedBy returns subjects that started a run, and those that let them: the key behind the caller of an embed, and
// who made a tool session and its links.
func startedBy(ctx context.Context, q *db.Queries, tenant string, subjects ...string) ([]string, error) {
	subjects = slices.Compact(subjects)
	started := slices.Clone(subjects)
	for _, subject := range subjects {
		if maker, ok := toolembed.Maker(subject); ok {
			started = append(started, maker)
		}
		id, ok := toolsession.OfSubject(subject)
		if !ok {
			continue
		}
		makers, err := q.FindSessionMakers(ctx, db.FindSessionMakersParams{TenantID: tenant, ID: id})
		if errors.Is(err, pgx.ErrNoRows) { // It was deleted, long after its end.
			continue
		}
		if err != nil {
			return nil, err
		}
		started = append(started, makers...)
	}
	return started, nil
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

// others says who decides instead.
func (d *deciding) others() string {
	return ": another person with the permission " + d.found.Permission + " has to"
}

// CountApprovers implements [wait.Approvals]. It leaves out the keys that the subject
// created, which may not decide either.
func (s *Store) CountApprovers(
	ctx context.Context, tenant tool.TenantID, permissions []string, except string,
) (int, error) {
	var able int32
	err := s.do(ctx, "store.CountApprovers", tenant, func(q *db.Queries) error {
		started, err := startedBy(ctx, q, string(tenant), text(except))
		if err != nil {
			return err
		}
		able, err = q.CountApprovers(ctx, db.CountApproversParams{
			TenantID: string(tenant), Permissions: texts(permissions), Subjects: started,
			BuiltinRoles: access.With(permissions),
		})
		return err
	})
	return int(able), err
}
