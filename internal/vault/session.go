package vault

import (
	"context"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/internal/remote/session"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// SessionStore stores sessions with MCP servers. Package store implements it.
type SessionStore interface {
	LoadMCPSession(ctx context.Context, key session.Key) (*session.Session, error)
	SaveMCPSession(ctx context.Context, key session.Key, s *session.Session) (*session.Session, error)
	DropMCPSession(ctx context.Context, key session.Key, s *session.Session) error
	TakeExpiredMCPSessions(ctx context.Context, most int) ([]session.Expired, error)
}

// Sessions stores sessions with MCP servers with their ids encrypted by their tenant's data key.
// An id is bound to its tenant and server: a row that was moved to another does not decrypt. A
// session that does not decrypt is dropped and replaced. It is safe for concurrent use.
type Sessions struct {
	vault *Vault
	store SessionStore
}

// Sessions returns sessions over a store. It needs a key-encryption key: see [Vault.HasKeys].
func (v *Vault) Sessions(store SessionStore) *Sessions { return &Sessions{vault: v, store: store} }

// LoadMCPSession returns the session of a key; nil when there is none.
func (s *Sessions) LoadMCPSession(ctx context.Context, key session.Key) (*session.Session, error) {
	kept, err := s.store.LoadMCPSession(ctx, key)
	if err != nil || kept == nil {
		return nil, err
	}
	opened, err := s.open(ctx, key, kept)
	if err == nil {
		return opened, nil
	}
	if tool.KindOf(err) != tool.Conflict {
		return nil, err
	}
	return nil, s.store.DropMCPSession(ctx, key, kept)
}

// SaveMCPSession stores a session unless there is one already, and returns the stored one.
func (s *Sessions) SaveMCPSession(
	ctx context.Context, key session.Key, begun *session.Session,
) (*session.Session, error) {
	sealed, err := s.seal(ctx, key, begun)
	if err != nil {
		return nil, err
	}
	kept, err := s.store.SaveMCPSession(ctx, key, sealed)
	if err != nil {
		return nil, err
	}
	return s.open(ctx, key, kept)
}

// DropMCPSession removes the session of a key if it is still lost.
func (s *Sessions) DropMCPSession(ctx context.Context, key session.Key, lost *session.Session) error {
	kept, err := s.store.LoadMCPSession(ctx, key)
	if err != nil || kept == nil {
		return err
	}
	opened, err := s.open(ctx, key, kept)
	if err != nil && tool.KindOf(err) != tool.Conflict {
		return err
	}
	if err == nil && (!opened.ID.Equal(lost.ID) || opened.Protocol != lost.Protocol) {
		return nil
	}
	return s.store.DropMCPSession(ctx, key, kept)
}

// TakeExpiredMCPSessions deletes expired sessions, and returns those that could be decrypted:
// the others cannot be ended at the server.
func (s *Sessions) TakeExpiredMCPSessions(
	ctx context.Context, most int,
) (expired []session.Expired, taken int, err error) {
	rows, err := s.store.TakeExpiredMCPSessions(ctx, most)
	if err != nil {
		return nil, 0, err
	}
	for _, row := range rows {
		opened, err := s.open(ctx, session.Key{Tenant: row.Tenant, Server: row.Session.Server.Key()}, &row.Session)
		if err == nil {
			expired = append(expired, session.Expired{Tenant: row.Tenant, Session: *opened})
		}
	}
	return expired, len(rows), nil
}

// sessionPrefix is the prefix of the stored form of a session's id: a version of the form, then
// the data key's version, then the ciphertext.
const sessionPrefix = "sealed1."

func sessionBinding(key session.Key) []byte {
	return bound("toolcrib mcp session", key.Tenant, key.Server)
}

func (s *Sessions) seal(ctx context.Context, key session.Key, begun *session.Session) (*session.Session, error) {
	sealed := *begun
	if begun.ID.IsZero() {
		return &sealed, nil // Servers without sessions have no ids.
	}
	dataKey, err := s.vault.currentKey(ctx, key.Tenant)
	if err != nil {
		return nil, err
	}
	ciphertext, err := dataKey.cipher.Encrypt([]byte(begun.ID.Reveal()), sessionBinding(key))
	if err != nil {
		return nil, fmt.Errorf("encrypting a session: %w", err)
	}
	sealed.ID = secret.NewValue(sessionPrefix + strconv.Itoa(dataKey.version) + "." +
		base64.RawURLEncoding.EncodeToString(ciphertext))
	return &sealed, nil
}

// open returns a stored session with its id. It fails with Conflict if no key decrypts it.
func (s *Sessions) open(ctx context.Context, key session.Key, kept *session.Session) (*session.Session, error) {
	opened := *kept
	if kept.ID.IsZero() {
		return &opened, nil
	}
	unopened := &tool.Error{
		Kind: tool.Conflict, Op: "vault.Sessions", Msg: "the stored session with the MCP server cannot be decrypted",
	}
	rest, ok := strings.CutPrefix(kept.ID.Reveal(), sessionPrefix)
	number, encrypted, _ := strings.Cut(rest, ".")
	version, err := strconv.Atoi(number)
	if !ok || err != nil {
		return nil, unopened
	}
	ciphertext, err := base64.RawURLEncoding.DecodeString(encrypted)
	if err != nil {
		return nil, unopened
	}
	dataKey, err := s.vault.keyOf(ctx, key.Tenant, version)
	if err != nil {
		return nil, err
	}
	if dataKey == nil {
		return nil, unopened
	}
	id, err := dataKey.cipher.Decrypt(ciphertext, sessionBinding(key))
	if err != nil {
		return nil, unopened
	}
	opened.ID = secret.NewValue(string(id))
	return &opened, nil
}

// versionID identifies a data key by its version.
type versionID struct {
	tenant  tool.TenantID
	version int
}

// keyOf returns the data key of a version; nil where the tenant has none.
func (v *Vault) keyOf(ctx context.Context, tenant tool.TenantID, version int) (*dataKey, error) {
	id := versionID{tenant, version}
	if opened, ok := v.versions.Get(id); ok {
		return opened, nil
	}
	rows, err := v.store.ListDataKeys(ctx, tenant)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if row.Version == version {
			opened, err := v.openKey(ctx, row.DataKey)
			if err == nil {
				v.versions.Set(id, opened)
			}
			return opened, err
		}
	}
	return nil, nil // No key is none.
}
