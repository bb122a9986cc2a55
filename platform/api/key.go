package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/access"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

type createKeyOutput struct {
	Location string `header:"Location"`
	Body     v1.CreatedKey
}

type listKeysInput struct {
	UnusedForS int    `query:"unused_for_s" minimum:"0" maximum:"315360000" doc:"Only keys that can be used, and were not for so many seconds, nor created since" example:"2592000"`
	Owner      string `query:"owner" maxLength:"200" doc:"Only service accounts of this owner" example:"team-support@example.com"`
}

type listPeopleInput struct {
	Limit int `query:"limit" minimum:"1" maximum:"200" default:"50"`
}

type keyInput struct {
	ID string `path:"id" maxLength:"64"`
}

func (s *server) registerKeys() {
	handle(s, route{
		id: "createKey", method: http.MethodPost, path: "/v1/keys", tag: "keys", permission: KeysWrite,
		status:  http.StatusCreated,
		summary: "Create an API key",
		detail: "Only this response has the secret: a repeated request with its idempotency key returns " +
			"the key without the secret. A key has no permission that its creator lacks, by itself or by a role, sends no " +
			"more than its creator may, and is revoked with it. A key for a toolset works for MCP clients at its address alone.",
		secret: true,
	}, s.createKey)
	handle(s, route{
		id: "getKey", method: http.MethodGet, path: "/v1/keys/{id}", tag: "keys", permission: KeysRead,
		summary: "Get an API key", detail: "Never its secret.",
	}, s.getKey)
	handle(s, route{
		id: "listKeys", method: http.MethodGet, path: "/v1/keys", tag: "keys", permission: KeysRead,
		summary: "List API keys, revoked ones too", detail: "The oldest first.",
	}, s.listKeys)
	handle(s, route{
		id: "listPeople", method: http.MethodGet, path: "/v1/people", tag: "keys", permission: KeysRead,
		summary: "List people who used tokens of an issuer, the last one first",
		detail:  "Those who were not seen for 90 days may be missing.",
	}, s.listPeople)
	handle(s, route{
		id: "revokeKey", method: http.MethodPost, path: "/v1/keys/{id}/revoke", tag: "keys", permission: KeysWrite,
		summary: "Revoke an API key, at once and permanently",
		detail:  "The keys that it created are revoked with it, and those that they created.",
	}, s.revokeKey)
}

func (s *server) createKey(ctx context.Context, p tool.Principal, in *body[v1.NewKey]) (*createKeyOutput, error) {
	if len(in.Body.Permissions)+len(in.Body.Roles) == 0 {
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: "api.createKey", Path: "/permissions",
			Msg: "a key needs permissions, such as runs.write, or roles, such as viewer: with neither it may do nothing",
		}
	}
	if err := s.mayGrant(ctx, p, in.Body); err != nil {
		return nil, err
	}
	if in.Body.ExpiresAt != nil && !in.Body.ExpiresAt.After(time.Now()) {
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: "api.createKey", Path: "/expires_at", Msg: "expires_at has passed already",
		}
	}
	limits, err := s.limitsOfNew(ctx, p, in.Body)
	if err != nil {
		return nil, err
	}
	key, secret, err := s.cfg.Store.CreateKey(ctx, store.Key{
		Tenant: p.Tenant, Name: in.Body.Name, Permissions: in.Body.Permissions, Scopes: in.Body.Scopes,
		Roles: unique(in.Body.Roles), Owner: in.Body.Owner, Limits: limits, Toolset: in.Body.Toolset,
		CreatedBy: p.Subject, ExpiresAt: in.Body.ExpiresAt,
	})
	if err != nil {
		return nil, err
	}
	return &createKeyOutput{Location: "/v1/keys/" + key.ID, Body: v1.CreatedKey{Key: showKey(key), Secret: secret}}, nil
}

// mayGrant refuses a key with permissions that the principal creating it lacks, by themselves or by a
// role as that is now.
func (s *server) mayGrant(ctx context.Context, p tool.Principal, k v1.NewKey) error {
	const op = "api.createKey"
	for i, permission := range k.Permissions {
		if permission == "" || !p.May(permission) {
			return &tool.Error{
				Kind: tool.Denied, Op: op, Path: fmt.Sprintf("/permissions/%d", i),
				Msg: fmt.Sprintf("a key cannot have the permission %q, which its creator lacks", permission),
			}
		}
	}
	for i, name := range k.Roles {
		role, err := s.findRole(ctx, p.Tenant, name)
		if tool.KindOf(err) == tool.NotFound && err != nil {
			return &tool.Error{
				Kind: tool.Invalid, Op: op, Path: fmt.Sprintf("/roles/%d", i),
				Msg: fmt.Sprintf("there is no role %q: /v1/roles lists them", name), Err: err,
			}
		}
		if err != nil {
			return err
		}
		for _, permission := range role.Permissions {
			if !p.May(permission) {
				return &tool.Error{
					Kind: tool.Denied, Op: op, Path: fmt.Sprintf("/roles/%d", i),
					Msg: fmt.Sprintf("a key cannot have the role %q: it permits %q, which the key's creator lacks", name, permission),
				}
			}
		}
	}
	return nil
}

// findRole returns a built-in role, or one of the tenant. It fails with tool.NotFound.
func (s *server) findRole(ctx context.Context, tenant tool.TenantID, name string) (access.Role, error) {
	if builtin, ok := access.Find(name); ok {
		return builtin, nil
	}
	found, err := s.cfg.Store.FindRole(ctx, tenant, name)
	return found.Role, err
}

// limitsOfNew returns the limits of a key that is created. It refuses one that expires later than the
// key that creates it, or may send more.
func (s *server) limitsOfNew(ctx context.Context, p tool.Principal, k v1.NewKey) (store.Limits, error) {
	var asked store.Limits
	if k.Limits != nil {
		asked = store.Limits(*k.Limits)
	}
	if asked.Burst > 0 && asked.RequestsPerSecond == 0 {
		return asked, &tool.Error{
			Kind: tool.Invalid, Op: "api.createKey", Path: "/limits/burst", Msg: "a burst needs requests_per_second beside it",
		}
	}
	var maker store.Key
	if id, isKey := strings.CutPrefix(p.Subject, "key:"); isKey {
		var err error
		maker, err = s.cfg.Store.FindKey(ctx, p.Tenant, id)
		if err != nil && tool.KindOf(err) != tool.NotFound { // Else the store refuses to create a key.
			return asked, fmt.Errorf("finding the creating key: %w", err)
		}
	}
	if ends := maker.ExpiresAt; ends != nil && (k.ExpiresAt == nil || k.ExpiresAt.After(*ends)) {
		return asked, &tool.Error{
			Kind: tool.Denied, Op: "api.createKey", Path: "/expires_at",
			Msg: "a key cannot outlive the one that creates it: set expires_at to " + ends.UTC().Format(time.RFC3339) +
				" or earlier",
		}
	}
	return asked.Within(maker.Limits, s.cfg.KeyLimits)
}

func (s *server) getKey(ctx context.Context, p tool.Principal, in *keyInput) (*body[v1.Key], error) {
	key, err := s.cfg.Store.FindKey(ctx, p.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	return answer(showKey(key)), nil
}

func (s *server) listKeys(ctx context.Context, p tool.Principal, in *listKeysInput) (*listed[v1.Key], error) {
	keys, err := s.cfg.Store.ListKeys(ctx, p.Tenant)
	if err != nil {
		return nil, err
	}
	now, out := time.Now(), answer(v1.Page[v1.Key]{Items: []v1.Key{}})
	for _, k := range keys {
		if in.UnusedForS > 0 && !unusedSince(k, now, now.Add(-time.Duration(in.UnusedForS)*time.Second)) ||
			in.Owner != "" && in.Owner != k.Owner {
			continue
		}
		out.Body.Items = append(out.Body.Items, showKey(k))
	}
	return out, nil
}

// unusedSince reports whether a key could be used since a time, and was not.
func unusedSince(k store.Key, now, since time.Time) bool {
	if k.RevokedAt != nil || k.ExpiresAt != nil && !k.ExpiresAt.After(now) {
		return false
	}
	return k.CreatedAt.Before(since) && (k.LastUsedAt == nil || k.LastUsedAt.Before(since))
}

func (s *server) listPeople(ctx context.Context, p tool.Principal, in *listPeopleInput) (*listed[v1.Person], error) {
	found, err := s.cfg.Store.ListTokenUsers(ctx, p.Tenant, in.Limit)
	if err != nil {
		return nil, err
	}
	out := answer(v1.Page[v1.Person]{Items: []v1.Person{}})
	for _, u := range found {
		out.Body.Items = append(out.Body.Items, v1.Person{
			Subject: u.Subject, Roles: u.Roles, FirstSeenAt: u.FirstSeenAt, LastSeenAt: u.LastSeenAt,
		})
	}
	return out, nil
}

func (s *server) revokeKey(ctx context.Context, p tool.Principal, in *keyInput) (*body[v1.Key], error) {
	key, err := s.cfg.Store.RevokeKey(ctx, p.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	s.connections.check(p.Tenant)
	return answer(showKey(key)), nil
}

func showKey(k store.Key) v1.Key {
	shown := v1.Key{
		ID: k.ID, Name: k.Name, Permissions: k.Permissions, Scopes: k.Scopes, Roles: k.Roles, Owner: k.Owner,
		CreatedBy: k.CreatedBy, CreatedAt: k.CreatedAt, ExpiresAt: k.ExpiresAt, RevokedAt: k.RevokedAt,
		LastUsedAt: k.LastUsedAt,
		ToolsetID:  k.ToolsetID, Toolset: k.Toolset,
	}
	if k.Limits != (store.Limits{}) {
		limits := v1.KeyLimits(k.Limits)
		shown.Limits = &limits
	}
	return shown
}
