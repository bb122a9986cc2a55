package store

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

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

	secretHash []byte // Of the key.
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
	err := s.do(ctx, "store.BeginWebSession", w.Tenant, func(q *db.Queries) error {
		return q.BeginWebSession(ctx, db.BeginWebSessionParams{
			TenantID: string(w.Tenant), TokenHash: hash, KeyID: optional(w.KeyID), Subject: optional(w.Person.Subject),
			Roles: list(w.Person.Roles), IdleSeconds: WebSessionIdle.Seconds(), LongestSeconds: longest.Seconds(),
		})
	})
	return explain(err, tool.NotFound, "tenant not found")
}

// FindWebSession returns the session of a browser with a tenant, and records its use. It fails with
// tool.NotFound where there is none, and where it has ended.
func (s *Store) FindWebSession(ctx context.Context, tenant tool.TenantID, hash []byte) (WebSession, error) {
	row, err := ask(ctx, s.do, "store.FindWebSession", tenant, (*db.Queries).UseWebSession, db.UseWebSessionParams{
		TenantID: string(tenant), TokenHash: hash, IdleSeconds: WebSessionIdle.Seconds(),
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

// EndWebSessions signs a browser out of every tenant.
func (s *Store) EndWebSessions(ctx context.Context, hash []byte) error {
	return s.doGlobal(ctx, "store.EndWebSessions", func(q *db.Queries) error {
		return q.EndWebSessions(ctx, hash)
	})
}
