package store

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/internal/uuid7"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// How long sessions of browsers last: unused, and in all. A token of a person lasts minutes, and the
// platform cannot ask its issuer again: a session that begins with one ends within a working day.
const (
	WebSessionIdle   = 12 * time.Hour
	LongestOfAKey    = 7 * 24 * time.Hour
	LongestOfAPerson = 12 * time.Hour
)

// WebSession is the session of a browser with a tenant. It begins with a key or with a token of a
// person, and has no authority of its own.
type WebSession struct {
	Tenant tool.TenantID
	KeyID  string    // Empty for a person.
	Person TokenUser // Empty for a key.
	// Browser is its kind, for people to recognize it by, such as "Firefox on Linux".
	Browser string

	secretHash []byte // Of the key.
}

// ListedSession is the session of a browser as people see it. Its id opens nothing.
type ListedSession struct {
	ID                    string
	Subject               string // Of the key or person that it began with.
	Browser               string
	CreatedAt, LastUsedAt time.Time // The latter to the minute.
	Until                 time.Time // When it ends, if it is not used until then.
	Current               bool      // It is of the browser that asks.
}

// SessionQuery selects sessions of browsers.
type SessionQuery struct {
	Subject string // Empty for all of the tenant.
	Current []byte // Digest of the secret of the browser that asks; nil for none.
	Before  string // The last id of the previous page.
	Limit   int
}

// BrowserTenant is a tenant that a browser is signed in to.
type BrowserTenant struct {
	Slug string `json:"slug"`
	Name string `json:"name"`
}

// BeginWebSession begins the session of a browser whose secret has a digest, in place of one with the
// same tenant. The browser's sessions with other tenants get the digest as well, in place of the digest
// before, if there was one. It fails with tool.NotFound where there is no such tenant.
func (s *Store) BeginWebSession(ctx context.Context, w WebSession, before, hash []byte) error {
	longest := LongestOfAKey
	if w.KeyID == "" {
		longest = LongestOfAPerson
	}
	if len(before) == sha256.Size {
		err := s.doGlobal(ctx, "store.MoveWebSessions", func(q *db.Queries) error {
			return q.MoveWebSessions(ctx, db.MoveWebSessionsParams{FromHash: before, ToHash: hash})
		})
		if err != nil {
			return err
		}
	}
	id, err := uuid7.New()
	if err != nil {
		return err
	}
	err = s.inTx(ctx, "store.BeginWebSession", w.Tenant, func(q *db.Queries) error {
		err := q.LeaveWebSession(ctx, db.LeaveWebSessionParams{TenantID: string(w.Tenant), TokenHash: hash})
		if err != nil {
			return err
		}
		return q.BeginWebSession(ctx, db.BeginWebSessionParams{
			TenantID: string(w.Tenant), TokenHash: hash, ID: id, KeyID: optional(w.KeyID),
			Subject: optional(w.Person.Subject), Roles: list(w.Person.Roles), Browser: text(w.Browser),
			IdleSeconds: WebSessionIdle.Seconds(), LongestSeconds: longest.Seconds(),
		})
	})
	return explain(err, tool.NotFound, "tenant not found")
}

// FindWebSession returns the session of a browser with a tenant. What a person attends to is recorded as its
// use, from which the idle time counts; what pages ask by themselves is not. It fails with tool.NotFound where
// there is none, and where it has ended.
func (s *Store) FindWebSession(
	ctx context.Context, tenant tool.TenantID, hash []byte, attended bool,
) (WebSession, error) {
	row, err := ask(ctx, s.do, "store.FindWebSession", tenant, (*db.Queries).UseWebSession, db.UseWebSessionParams{
		TenantID: string(tenant), TokenHash: hash, IdleSeconds: WebSessionIdle.Seconds(), Attended: attended,
	})
	if err != nil {
		return WebSession{}, explain(err, tool.NotFound, "there is no such session")
	}
	w := WebSession{Tenant: tenant, KeyID: value(row.KeyID), secretHash: row.SecretHash}
	if w.KeyID == "" {
		w.Person = TokenUser{Tenant: tenant, Subject: value(row.Subject), Roles: row.Roles}
	}
	return w, nil
}

// UseSessionKey is [Store.UseKey] for the key that a session began with.
func (s *Store) UseSessionKey(ctx context.Context, w WebSession, d Draw) (Key, Allowance, error) {
	return s.useKey(ctx, string(w.Tenant), w.KeyID, w.secretHash, d)
}

// BrowserTenants lists the active tenants that a browser is signed in to, by their slugs. Whether its
// keys still work is seen when they are used.
func (s *Store) BrowserTenants(ctx context.Context, hash []byte) ([]BrowserTenant, error) {
	const op = "store.BrowserTenants"
	var raw []byte
	err := s.doGlobal(ctx, op, func(q *db.Queries) (err error) {
		raw, err = q.WebSessionTenants(ctx, hash)
		return err
	})
	if err != nil {
		return nil, err
	}
	var out []BrowserTenant
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return out, nil
}

// ListWebSessions lists sessions of browsers with a tenant that have not ended, the newest first.
func (s *Store) ListWebSessions(ctx context.Context, tenant tool.TenantID, q SessionQuery) ([]ListedSession, error) {
	const op = "store.ListWebSessions"
	if err := checkIDs(op, given(q.Before)...); err != nil {
		return nil, err
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListWebSessions, db.ListWebSessionsParams{
		TenantID: string(tenant), Subject: text(q.Subject), Current: hashOf(q.Current), Before: optional(q.Before),
		Max: pageSize(q.Limit),
	})
	return convert(rows, func(r db.ListWebSessionsRow) ListedSession {
		return ListedSession{
			ID: r.ID, Subject: r.OfSubject, Browser: r.Browser, CreatedAt: r.CreatedAt, LastUsedAt: r.LastUsedAt,
			Until: r.Until, Current: r.Current,
		}
	}), err
}

// EndWebSession ends the session with an id, which must be of a subject unless that is empty. It returns the
// digest of the secret of its browser, and fails with tool.NotFound.
func (s *Store) EndWebSession(ctx context.Context, tenant tool.TenantID, id, subject string) ([]byte, error) {
	const op, missing = "store.EndWebSession", "there is no such session"
	if !tool.ValidID(id) {
		return nil, notFound(op, missing)
	}
	hash, err := ask(ctx, s.do, op, tenant, (*db.Queries).EndWebSession, db.EndWebSessionParams{
		TenantID: string(tenant), ID: id, Subject: text(subject),
	})
	if err != nil {
		return nil, explain(err, tool.NotFound, missing)
	}
	return hash, nil
}

// EndOtherWebSessions ends the sessions of a subject with a tenant, but that of the browser whose secret has a
// digest, which may be nil. It returns the digests of the secrets of their browsers.
func (s *Store) EndOtherWebSessions(
	ctx context.Context, tenant tool.TenantID, subject string, current []byte,
) ([][]byte, error) {
	return ask(ctx, s.do, "store.EndOtherWebSessions", tenant, (*db.Queries).EndOtherWebSessions,
		db.EndOtherWebSessionsParams{TenantID: string(tenant), Subject: text(subject), Current: hashOf(current)})
}

// hashOf returns a digest as a parameter: that of no browser is empty.
func hashOf(digest []byte) []byte {
	if digest == nil {
		return []byte{}
	}
	return digest
}

// EndWebSessions signs a browser out of every tenant.
func (s *Store) EndWebSessions(ctx context.Context, hash []byte) error {
	return s.doGlobal(ctx, "store.EndWebSessions", func(q *db.Queries) error {
		return q.EndWebSessions(ctx, hash)
	})
}
