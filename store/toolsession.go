package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolsession"
)

var _ toolsession.Store = (*Store)(nil)

const (
	sessionUnknown    = "tool session not found"
	submissionUnknown = "submission not found"
)

// CreateToolSession implements [toolsession.Store].
func (s *Store) CreateToolSession(ctx context.Context, t toolsession.Session) (toolsession.Session, error) {
	const op = "store.CreateToolSession"
	if err := checkIDs(op, t.ID, t.ToolID); err != nil {
		return toolsession.Session{}, err
	}
	if err := t.Check(); err != nil {
		return toolsession.Session{}, err
	}
	if len(t.Config) == 0 {
		t.Config = []byte("{}")
	}
	var row db.ToolSession
	err := s.inTx(ctx, op, t.Tenant, func(q *db.Queries) error {
		if err := q.LockNumber(ctx, db.LockNumberParams{Of: "tool_sessions", TenantID: string(t.Tenant)}); err != nil {
			return err
		}
		if _, err := q.DropOldToolSessions(ctx, string(t.Tenant)); err != nil {
			return err
		}
		live, err := q.CountLiveToolSessions(ctx, string(t.Tenant))
		switch {
		case err != nil:
			return err
		case live >= toolsession.MaxLive:
			return &tool.Error{Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf(
				"the tenant has %d tool sessions that go on, which is the most: complete one first", live)}
		}
		row, err = q.CreateToolSession(ctx, db.CreateToolSessionParams{
			TenantID: string(t.Tenant), ID: t.ID, Name: text(t.Title), ToolID: t.ToolID, Tool: t.Slug, Version: t.Version,
			Digest: t.Digest, EntityIds: append([]string{}, t.Entities...), Config: t.Config, Aggregate: text(t.Aggregate),
			Permission: text(t.Permission), CreatedBy: text(t.CreatedBy),
		})
		if errors.Is(err, pgx.ErrNoRows) {
			return &tool.Error{Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf(
				"the tool %q is disabled, quarantined or gone: it takes no submissions", t.Slug)}
		}
		return err
	})
	return sessionOf(row), err
}

// FindToolSession implements [toolsession.Store].
func (s *Store) FindToolSession(
	ctx context.Context, tenant tool.TenantID, id string,
) (toolsession.Session, error) {
	const op = "store.FindToolSession"
	if !tool.ValidID(id) {
		return toolsession.Session{}, notFound(op, sessionUnknown)
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListToolSessions, db.ListToolSessionsParams{
		TenantID: string(tenant), ID: &id, Limit: 1,
	})
	switch {
	case err != nil:
		return toolsession.Session{}, err
	case len(rows) == 0:
		return toolsession.Session{}, notFound(op, sessionUnknown)
	}
	return listedSession(rows[0]), nil
}

// ListToolSessions implements [toolsession.Store].
func (s *Store) ListToolSessions(ctx context.Context, q toolsession.Query) ([]toolsession.Session, error) {
	const op = "store.ListToolSessions"
	if err := checkIDs(op, q.Before, q.ToolID); err != nil {
		return nil, err
	}
	rows, err := ask(ctx, s.do, op, q.Tenant, (*db.Queries).ListToolSessions, db.ListToolSessionsParams{
		TenantID: string(q.Tenant), ToolID: optional(q.ToolID), Status: string(q.Status), Before: optional(q.Before),
		Limit: pageSize(q.Limit),
	})
	return convert(rows, listedSession), err
}

// EndToolSession implements [toolsession.Store].
func (s *Store) EndToolSession(
	ctx context.Context, tenant tool.TenantID, id string, as toolsession.Status, by string,
) (toolsession.Session, error) {
	const op = "store.EndToolSession"
	if !tool.ValidID(id) {
		return toolsession.Session{}, notFound(op, sessionUnknown)
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).EndToolSession, db.EndToolSessionParams{
		TenantID: string(tenant), ID: id, Status: string(as), ChangedBy: text(by),
	})
	if tool.KindOf(err) != tool.NotFound || err == nil {
		return sessionOf(row), err
	}
	found, err := s.FindToolSession(ctx, tenant, id)
	if err == nil && found.Status != as {
		err = sessionOver(op, found.Status)
	}
	return found, err
}

func sessionOver(op string, as toolsession.Status) error {
	return &tool.Error{Kind: tool.Conflict, Op: op, Msg: "the session has ended: it is " + string(as)}
}

// LinkToolSession implements [toolsession.Store].
func (s *Store) LinkToolSession(
	ctx context.Context, tenant tool.TenantID, id, by string, secretHash []byte, keep time.Duration,
) (toolsession.Session, error) {
	const op = "store.LinkToolSession"
	if !tool.ValidID(id) {
		return toolsession.Session{}, notFound(op, sessionUnknown)
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).LinkToolSession, db.LinkToolSessionParams{
		TenantID: string(tenant), ID: id, SecretHash: secretHash, KeepSeconds: keep.Seconds(), ChangedBy: text(by),
	})
	if tool.KindOf(err) != tool.NotFound || err == nil {
		return withLink(sessionOf(row)), err
	}
	found, err := s.FindToolSession(ctx, tenant, id)
	switch {
	case err != nil:
		return toolsession.Session{}, err
	case found.Status != toolsession.Active:
		return toolsession.Session{}, sessionOver(op, found.Status)
	}
	return toolsession.Session{}, publishingOff(op)
}

func withLink(t toolsession.Session) toolsession.Session {
	t.Linked = t.LinkUntil != nil
	return t
}

// UnlinkToolSession implements [toolsession.Store].
func (s *Store) UnlinkToolSession(
	ctx context.Context, tenant tool.TenantID, id, by string,
) (toolsession.Session, error) {
	const op = "store.UnlinkToolSession"
	if !tool.ValidID(id) {
		return toolsession.Session{}, notFound(op, sessionUnknown)
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).UnlinkToolSession, db.UnlinkToolSessionParams{
		TenantID: string(tenant), ID: id, ChangedBy: text(by),
	})
	return sessionOf(row), explain(err, tool.NotFound, sessionUnknown)
}

// OpenToolSession implements [toolsession.Store].
func (s *Store) OpenToolSession(
	ctx context.Context, tenant tool.TenantID, id string, secretHash []byte,
) (toolsession.Session, error) {
	const op = "store.OpenToolSession"
	if !tool.ValidID(id) {
		return toolsession.Session{}, notFound(op, sessionUnknown)
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).OpenToolSession, db.OpenToolSessionParams{
		TenantID: string(tenant), ID: id, SecretHash: secretHash,
	})
	return withLink(sessionOf(row)), explain(err, tool.NotFound, sessionUnknown)
}

// AddSubmission implements [toolsession.Store].
func (s *Store) AddSubmission(
	ctx context.Context, b toolsession.Submission,
) (stored toolsession.Submission, repeated bool, err error) {
	const op = "store.AddSubmission"
	if err := checkIDs(op, b.ID, b.SessionID); err != nil {
		return toolsession.Submission{}, false, err
	}
	var row db.ToolSessionSubmission
	err = s.inTx(ctx, op, b.Tenant, func(q *db.Queries) error {
		session, err := q.LockToolSession(ctx, db.LockToolSessionParams{
			TenantID: string(b.Tenant), ID: b.SessionID, SecretHash: b.Link,
		})
		if err != nil {
			return err
		}
		submissions, err := q.CountToolSubmissions(ctx, db.CountToolSubmissionsParams{
			TenantID: string(b.Tenant), SessionID: b.SessionID,
		})
		if err != nil {
			return err
		}
		before, err := q.ListToolSubmissions(ctx, db.ListToolSubmissionsParams{
			TenantID: string(b.Tenant), SessionID: b.SessionID, Nonce: b.Nonce, Limit: 1,
		})
		switch {
		case err != nil:
			return err
		case len(before) > 0 && b.Nonce != "":
			row, repeated = before[0], true
			return nil
		case session.Status != string(toolsession.Active):
			return sessionOver(op, toolsession.Status(session.Status))
		case b.ByLink && !session.Linked: // It was replaced or revoked, or has expired, since it was opened.
			return notFound(op, sessionUnknown)
		case submissions >= toolsession.MaxSubmissions:
			return &tool.Error{Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf(
				"the session has %d submissions, which is the most", submissions)}
		}
		row, err = q.AddToolSubmission(ctx, db.AddToolSubmissionParams{
			TenantID: string(b.Tenant), ID: b.ID, SessionID: b.SessionID, Subject: text(b.Subject), Guest: text(b.Guest),
			ByLink: b.ByLink, Input: b.Input, Nonce: b.Nonce,
		})
		return err
	})
	return submissionOf(row), repeated, explain(err, tool.NotFound, sessionUnknown)
}

// SettleSubmission implements [toolsession.Store].
func (s *Store) SettleSubmission(ctx context.Context, b toolsession.Submission) (toolsession.Submission, error) {
	const op = "store.SettleSubmission"
	if err := checkIDs(op, b.ID, b.SessionID); err != nil {
		return toolsession.Submission{}, err
	}
	row, err := ask(ctx, s.do, op, b.Tenant, (*db.Queries).SettleToolSubmission, db.SettleToolSubmissionParams{
		TenantID: string(b.Tenant), ID: b.ID, SessionID: b.SessionID, Status: string(b.Status), Output: b.Output,
		Error: text(b.Error),
	})
	if tool.KindOf(err) == tool.NotFound && err != nil { // It was settled before.
		return s.FindSubmission(ctx, b.Tenant, b.SessionID, b.ID)
	}
	return submissionOf(row), err
}

// FindSubmission implements [toolsession.Store].
func (s *Store) FindSubmission(
	ctx context.Context, tenant tool.TenantID, sessionID, id string,
) (toolsession.Submission, error) {
	const op = "store.FindSubmission"
	if !tool.ValidID(id) || !tool.ValidID(sessionID) {
		return toolsession.Submission{}, notFound(op, submissionUnknown)
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListToolSubmissions, db.ListToolSubmissionsParams{
		TenantID: string(tenant), SessionID: sessionID, ID: &id, Limit: 1,
	})
	switch {
	case err != nil:
		return toolsession.Submission{}, err
	case len(rows) == 0:
		return toolsession.Submission{}, notFound(op, submissionUnknown)
	}
	return submissionOf(rows[0]), nil
}

// ListSubmissions implements [toolsession.Store].
func (s *Store) ListSubmissions(
	ctx context.Context, q toolsession.SubmissionQuery,
) ([]toolsession.Submission, error) {
	const op = "store.ListSubmissions"
	if err := checkIDs(op, q.SessionID, q.Before); err != nil {
		return nil, err
	}
	rows, err := ask(ctx, s.do, op, q.Tenant, (*db.Queries).ListToolSubmissions, db.ListToolSubmissionsParams{
		TenantID: string(q.Tenant), SessionID: q.SessionID, Status: string(q.Status), Before: optional(q.Before),
		Limit: pageSize(q.Limit),
	})
	return convert(rows, submissionOf), err
}

func listedSession(row db.ListToolSessionsRow) toolsession.Session {
	t := sessionOf(row.ToolSession)
	t.Linked, t.Submissions = row.Linked, int(row.Submissions)
	return t
}

func sessionOf(row db.ToolSession) toolsession.Session {
	return toolsession.Session{
		ID: row.ID, Tenant: tool.TenantID(row.TenantID), Title: row.Name,
		VersionIdentity: tool.VersionIdentity{ToolID: row.ToolID, Slug: row.Tool, Version: row.Version, Digest: row.Digest},
		Status:          toolsession.Status(row.Status), Entities: row.EntityIds, Config: row.Config,
		Aggregate: row.Aggregate, Permission: row.Permission, LinkUntil: row.LinkUntil, CreatedBy: row.CreatedBy,
		ChangedBy: row.ChangedBy, EndedAt: row.EndedAt, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt,
	}
}

func submissionOf(row db.ToolSessionSubmission) toolsession.Submission {
	return toolsession.Submission{
		ID: row.ID, Tenant: tool.TenantID(row.TenantID), SessionID: row.SessionID, Subject: row.Subject, Guest: row.Guest,
		ByLink: row.ByLink, Input: row.Input, Status: toolsession.SubmissionStatus(row.Status), Output: row.Output,
		Error: row.Error, CreatedAt: row.CreatedAt, EndedAt: row.EndedAt,
	}
}
