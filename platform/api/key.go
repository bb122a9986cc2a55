package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

type createKeyOutput struct {
	Location string `header:"Location"`
	Body     v1.CreatedKey
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
			"the key without the secret. A key has no permission that its creator lacks, and is revoked with it. A key for a " +
			"toolset works for MCP clients at its address alone.",
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
		id: "revokeKey", method: http.MethodPost, path: "/v1/keys/{id}/revoke", tag: "keys", permission: KeysWrite,
		summary: "Revoke an API key, at once and permanently",
		detail:  "The keys that it created are revoked with it, and those that they created.",
	}, s.revokeKey)
}

func (s *server) createKey(ctx context.Context, p tool.Principal, in *body[v1.NewKey]) (*createKeyOutput, error) {
	if err := mayGrant(p, in.Body); err != nil {
		return nil, err
	}
	if in.Body.ExpiresAt != nil && !in.Body.ExpiresAt.After(time.Now()) {
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: "api.createKey", Path: "/expires_at", Msg: "expires_at has passed already",
		}
	}
	if err := s.mayOutlive(ctx, p, in.Body); err != nil {
		return nil, err
	}
	key, secret, err := s.cfg.Store.CreateKey(ctx, store.Key{
		Tenant: p.Tenant, Name: in.Body.Name, Permissions: in.Body.Permissions, Scopes: in.Body.Scopes,
		CreatedBy: p.Subject, ExpiresAt: in.Body.ExpiresAt, Toolset: in.Body.Toolset,
	})
	if err != nil {
		return nil, err
	}
	return &createKeyOutput{Location: "/v1/keys/" + key.ID, Body: v1.CreatedKey{Key: showKey(key), Secret: secret}}, nil
}

// mayGrant refuses a key with permissions that the principal creating it lacks.
func mayGrant(p tool.Principal, k v1.NewKey) error {
	for i, permission := range k.Permissions {
		if permission == "" || !p.May(permission) {
			return &tool.Error{
				Kind: tool.Denied, Op: "api.createKey", Path: fmt.Sprintf("/permissions/%d", i),
				Msg: fmt.Sprintf("a key cannot have the permission %q, which its creator lacks", permission),
			}
		}
	}
	return nil
}

// mayOutlive refuses a key that expires later than the one that creates it.
func (s *server) mayOutlive(ctx context.Context, p tool.Principal, k v1.NewKey) error {
	id, ok := strings.CutPrefix(p.Subject, "key:")
	if !ok {
		return nil
	}
	maker, err := s.cfg.Store.FindKey(ctx, p.Tenant, id)
	switch {
	case err != nil && tool.KindOf(err) == tool.NotFound: // Then the store refuses to create a key.
		return nil
	case err != nil:
		return fmt.Errorf("finding the creating key: %w", err)
	case maker.ExpiresAt == nil || k.ExpiresAt != nil && !k.ExpiresAt.After(*maker.ExpiresAt):
		return nil
	}
	return &tool.Error{
		Kind: tool.Denied, Op: "api.createKey", Path: "/expires_at",
		Msg: "a key cannot outlive the one that creates it: set expires_at to " + maker.ExpiresAt.UTC().Format(time.RFC3339) +
			" or earlier",
	}
}

func (s *server) getKey(ctx context.Context, p tool.Principal, in *keyInput) (*body[v1.Key], error) {
	key, err := s.cfg.Store.FindKey(ctx, p.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	return answer(showKey(key)), nil
}

func (s *server) listKeys(ctx context.Context, p tool.Principal, _ *struct{}) (*listed[v1.Key], error) {
	keys, err := s.cfg.Store.ListKeys(ctx, p.Tenant)
	if err != nil {
		return nil, err
	}
	out := answer(v1.Page[v1.Key]{Items: make([]v1.Key, len(keys))})
	for i, k := range keys {
		out.Body.Items[i] = showKey(k)
	}
	return out, nil
}

func (s *server) revokeKey(ctx context.Context, p tool.Principal, in *keyInput) (*body[v1.Key], error) {
	key, err := s.cfg.Store.RevokeKey(ctx, p.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	return answer(showKey(key)), nil
}

func showKey(k store.Key) v1.Key {
	return v1.Key{
		ID: k.ID, Name: k.Name, Permissions: k.Permissions, Scopes: k.Scopes, CreatedBy: k.CreatedBy,
		CreatedAt: k.CreatedAt, ExpiresAt: k.ExpiresAt, RevokedAt: k.RevokedAt, LastUsedAt: k.LastUsedAt,
		ToolsetID: k.ToolsetID, Toolset: k.Toolset,
	}
}
