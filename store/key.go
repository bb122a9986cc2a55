package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/access"
	"github.com/toolcrib/toolcrib/internal/uuid7"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// KeyPrefix is the prefix of every API key, for secret scanners.
const KeyPrefix = "tck_"

// secretSize is the number of random bytes in a key.
const secretSize = 32

// keyText encodes a key's bytes: its tenant, id and secret.
var keyText = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// Key is an API key without its secret, of which only the sha256 is stored: a random
// secret of this size needs no slow hash.
type Key struct {
	ID          string        `json:"id"`
	Tenant      tool.TenantID `json:"tenant_id"`
	Name        string        `json:"name"`
	Permissions []string      `json:"permissions"`
	Scopes      []string      `json:"scopes"`
	// Roles are names of built-in roles and of the tenant's. The key has what they permit when it is used.
	Roles []string `json:"roles,omitempty"`
	// Owner answers for a service account: a person or a team, as the maker names it.
	Owner string `json:"owner,omitempty"`
	// Limits of what the key may send; zero for those of the servers.
	Limits     Limits     `json:"limits"`
	CreatedBy  string     `json:"created_by,omitempty"`
	ExpiresAt  *time.Time `json:"expires_at,omitempty"` // Nil for never.
	RevokedAt  *time.Time `json:"revoked_at,omitempty"`
	LastUsedAt *time.Time `json:"last_used_at,omitempty"` // To the minute.
	CreatedAt  time.Time  `json:"created_at"`
	// ToolsetID is the toolset at whose address alone the key works; empty for a key of the API. Toolset is
	// its slug, empty where it was deleted.
	ToolsetID string `json:"toolset_id,omitempty"`
	Toolset   string `json:"toolset,omitempty"`

	granted []string // What the roles of the tenant permit.
}

// Principal returns the principal of callers with the key. Of a key that was read to be used, it has
// what the roles of the tenant permit.
func (k Key) Principal() tool.Principal {
	return tool.Principal{
		Tenant: k.Tenant, Subject: keySubject + k.ID, Scopes: k.Scopes,
		Permissions: permitted(k.Permissions, k.Roles, k.granted),
	}
}

// permitted returns permissions of a key with those of its roles: of built-in ones, and what the
// tenant's permit.
func permitted(own, roles, granted []string) []string {
	if len(roles) == 0 {
		return own
	}
	out := access.Expand(own, roles...)
	for _, p := range granted {
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// keySubject is the prefix of the subject of callers with a key.
const keySubject = "key:"

// CreateKey stores a new key for k.Tenant with k's name, owner, permissions, scopes, roles, limits and
// expiry, and returns it with its text, which is not stored. If k.CreatedBy is another
// key, that must not be revoked; else CreateKey fails with tool.Denied. It fails with tool.Invalid
// where there is no such role. If k.Toolset is the slug of a toolset, the key is bound to it for
// good; CreateKey fails with tool.NotFound where there is none.
func (s *Store) CreateKey(ctx context.Context, k Key) (Key, string, error) {
	const op = "store.CreateKey"
	if k.Name == "" {
		return Key{}, "", &tool.Error{Kind: tool.Invalid, Op: op, Msg: "an API key needs a name"}
	}
	if err := k.Limits.Check(); err != nil {
		return Key{}, "", err
	}
	id, err := uuid7.New()
	if err != nil {
		return Key{}, "", err
	}
	secret := make([]byte, secretSize)
	_, _ = rand.Read(secret) // It never fails.
	hash := sha256.Sum256(secret)
	var maker *string
	if id, ok := strings.CutPrefix(k.CreatedBy, keySubject); ok && tool.ValidID(id) {
		maker = &id
	}
	var row db.APIKey
	err = s.inTx(ctx, op, k.Tenant, func(q *db.Queries) error {
		if err := q.LockKeysShared(ctx, string(k.Tenant)); err != nil {
			return err
		}
		if k.ToolsetID = ""; k.Toolset != "" {
			of, err := q.LockToolset(ctx, db.LockToolsetParams{TenantID: string(k.Tenant), Slug: text(k.Toolset)})
			if errors.Is(err, pgx.ErrNoRows) {
				return notFound(op, fmt.Sprintf("toolset %q not found", k.Toolset))
			}
			if err != nil {
				return err
			}
			k.ToolsetID = of.ID
		}
		if err := requireRoles(ctx, q, op, k.Tenant, k.Roles); err != nil {
			return err
		}
		row, err = q.CreateKey(ctx, db.CreateKeyParams{
			ID: id, TenantID: string(k.Tenant), Name: text(k.Name), SecretHash: hash[:], Permissions: list(k.Permissions),
			Scopes: list(k.Scopes), Roles: list(k.Roles), Owner: text(k.Owner), CreatedBy: text(k.CreatedBy),
			ExpiresAt: k.ExpiresAt, MakerID: maker, RequestsPerSecond: positive[int32](k.Limits.RequestsPerSecond),
			Burst: positive[int32](k.Limits.Burst), BytesPerMinute: positive[int64](k.Limits.BytesPerMinute),
			ToolsetID: optional(k.ToolsetID),
		})
		return err
	})
	if maker != nil && errors.Is(err, pgx.ErrNoRows) {
		return Key{}, "", &tool.Error{Kind: tool.Denied, Op: op, Msg: "the creating key has been revoked", Err: err}
	}
	if err != nil && k.Toolset == "" {
		err = explain(err, tool.NotFound, "tenant not found")
	}
	if err != nil {
		return Key{}, "", err
	}
	return keyOf(row, k.Toolset), formatKey(string(k.Tenant), id, secret), nil
}

// ListKeys returns a tenant's keys, oldest first, the revoked ones included.
func (s *Store) ListKeys(ctx context.Context, tenant tool.TenantID) ([]Key, error) {
	rows, err := ask(ctx, s.do, "store.ListKeys", tenant, (*db.Queries).ListKeys, string(tenant))
	return convert(rows, func(row db.ListKeysRow) Key { return keyOf(row.APIKey, row.Toolset) }), err
}

// FindKey returns a key by its id. It fails with tool.NotFound.
func (s *Store) FindKey(ctx context.Context, tenant tool.TenantID, id string) (Key, error) {
	const op = "store.FindKey"
	if !tool.ValidID(id) {
		return Key{}, notFound(op, "API key not found")
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).FindKey, db.FindKeyParams{TenantID: string(tenant), ID: id})
	if err != nil {
		return Key{}, explain(err, tool.NotFound, "API key not found")
	}
	return keyOf(row.APIKey, row.Toolset), nil
}

// RevokeKey revokes a key, with all keys created by it, recursively, and ends the sessions of browsers
// that began with them. It is idempotent. It fails with tool.NotFound.
func (s *Store) RevokeKey(ctx context.Context, tenant tool.TenantID, id string) (Key, error) {
	const op = "store.RevokeKey"
	if !tool.ValidID(id) {
		return Key{}, notFound(op, "API key not found")
	}
	err := s.inTx(ctx, op, tenant, func(q *db.Queries) error {
		// The lock excludes concurrent creation of keys.
		if err := q.LockKeys(ctx, string(tenant)); err != nil {
			return err
		}
		if _, err := q.RevokeKey(ctx, db.RevokeKeyParams{TenantID: string(tenant), ID: id}); err != nil {
			return err
		}
		if _, err := q.RevokeMadeKeys(ctx, db.RevokeMadeKeysParams{TenantID: string(tenant), ID: id}); err != nil {
			return err
		}
		return q.EndKeySessions(ctx, string(tenant))
	})
	if err != nil {
		return Key{}, explain(err, tool.NotFound, "API key not found")
	}
	return s.FindKey(ctx, tenant, id)
}

// Authenticate returns the key of a text. The tenant is part of the key, so that even
// this lookup is bound to one tenant. It fails with tool.Denied, and with the same
// message for every fault, such as that the toolset of the key was deleted.
func (s *Store) Authenticate(ctx context.Context, text string) (Key, error) {
	key, _, err := s.UseKey(ctx, text, Draw{})
	return key, err
}

// UseKey is [Store.Authenticate] for a key that may have a limit of what it sends: it draws on that
// in the same round trip.
func (s *Store) UseKey(ctx context.Context, text string, d Draw) (Key, Allowance, error) {
	const op = "store.Authenticate"
	tenant, id, secret, ok := parseKey(text)
	if !ok {
		return Key{}, Allowance{}, &tool.Error{Kind: tool.Denied, Op: op, Msg: invalidKey}
	}
	hash := sha256.Sum256(secret)
	return s.useKey(ctx, tenant, id, hash[:], d)
}

const invalidKey = "the API key is not valid"

// useKey uses the key with an id and the digest of its secret.
func (s *Store) useKey(ctx context.Context, tenant, id string, hash []byte, d Draw) (Key, Allowance, error) {
	const op = "store.Authenticate"
	refused := &tool.Error{Kind: tool.Denied, Op: op, Msg: invalidKey}
	standard := d.Standard.Or(Limits{})
	row, err := ask(ctx, s.do, op, tool.TenantID(tenant), (*db.Queries).UseKey, db.UseKeyParams{
		TenantID: tenant, ID: id, SecretHash: hash, Take: d.Take, Unused: d.Unused, Bytes: d.Bytes,
		Rate: number(standard.RequestsPerSecond), Burst: number(standard.Burst), BytesPerMinute: standard.BytesPerMinute,
	})
	switch {
	case tool.KindOf(err) == tool.NotFound && err != nil:
		return Key{}, Allowance{}, refused
	case err != nil:
		return Key{}, Allowance{}, err
	case subtle.ConstantTimeCompare(row.APIKey.SecretHash, hash) != 1, row.APIKey.RevokedAt != nil, row.Expired,
		TenantStatus(row.TenantStatus) != TenantActive, row.APIKey.ToolsetID != nil && row.Toolset == "":
		return Key{}, Allowance{}, refused
	}
	key := keyOf(row.APIKey, row.Toolset)
	if len(row.RolePermissions) > 0 {
		key.granted = row.RolePermissions
	}
	return key, allowance(key.Limits.Or(standard), row.Taken), nil
}

// positive returns a pointer to a number, or nil for zero: none.
func positive[To, From int | int32 | int64](n From) *To {
	if n == 0 {
		return nil
	}
	return new(To(n))
}

func formatKey(tenant, id string, secret []byte) string {
	t, k := uuid.MustParse(tenant), uuid.MustParse(id)
	raw := make([]byte, 0, len(t)+len(k)+len(secret))
	raw = append(append(append(raw, t[:]...), k[:]...), secret...)
	return KeyPrefix + keyText.EncodeToString(raw)
}

func parseKey(text string) (tenant, id string, secret []byte, ok bool) {
	spelled, ok := strings.CutPrefix(text, KeyPrefix)
	if !ok {
		return "", "", nil, false
	}
	raw, err := keyText.DecodeString(spelled)
	if err != nil || len(raw) != 2*len(uuid.UUID{})+secretSize {
		return "", "", nil, false
	}
	return uuid.UUID(raw[:16]).String(), uuid.UUID(raw[16:32]).String(), raw[32:], true
}

// keyOf returns a key that is bound to a toolset with a slug, or to none.
func keyOf(row db.APIKey, toolset string) Key {
	limits := Limits{}
	if row.RequestsPerSecond != nil {
		limits.RequestsPerSecond = int(*row.RequestsPerSecond)
	}
	if row.Burst != nil {
		limits.Burst = int(*row.Burst)
	}
	if row.BytesPerMinute != nil {
		limits.BytesPerMinute = *row.BytesPerMinute
	}
	return Key{
		Roles: row.Roles, Owner: row.Owner, Limits: limits,

		ID: row.ID, Tenant: tool.TenantID(row.TenantID), Name: row.Name, Permissions: row.Permissions, Scopes: row.Scopes,
		CreatedBy: row.CreatedBy, ExpiresAt: row.ExpiresAt, RevokedAt: row.RevokedAt, LastUsedAt: row.LastUsedAt,
		CreatedAt: row.CreatedAt, ToolsetID: value(row.ToolsetID), Toolset: toolset,
	}
}
