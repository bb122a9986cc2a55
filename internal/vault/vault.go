package vault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/internal/cache"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/internal/uuid7"
	"github.com/toolcrib/toolcrib/tool"
)

// maxTries bounds the retries of a change that loses to another one.
const maxTries = 8

// Vault encrypts and opens credentials. It is safe for concurrent use. The caller closes it.
type Vault struct {
	store  Store
	keys   *Keyring
	log    *slog.Logger
	opened *cache.Cache[openedID, *dataKey]
	// versions caches the data keys of sessions, whose ids are opened at each call.
	versions *cache.Cache[versionID, *dataKey]
	uses     *uses
}

// Options configures [New].
type Options struct {
	// Keys wrap and unwrap data keys. Without keys, credentials can only be listed and
	// revoked: see [ErrNoKeys].
	Keys *Keyring
	// Logger logs uses of credentials that could not be recorded. Defaults to
	// discarding.
	Logger *slog.Logger
}

// New returns a vault over a store. The caller closes the store.
func New(store Store, opts Options) *Vault {
	log := opts.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Vault{
		store: store, keys: opts.Keys, log: log, opened: newOpened[openedID](), versions: newOpened[versionID](),
		uses: newUses(store, log),
	}
}

// Close waits for background work.
func (v *Vault) Close() error {
	v.uses.close()
	return nil
}

// HasKeys reports whether the vault was given key-encryption keys.
func (v *Vault) HasKeys() bool { return v.keys != nil }

// Create encrypts and stores a new credential with c's tenant, ref, selector, hosts and expiry.
// It fails with Conflict where the tenant has one with that ref or selector, and with
// [ErrNoKeys].
func (v *Vault) Create(ctx context.Context, c Credential, value string) (Credential, error) {
	if err := c.check(); err != nil {
		return Credential{}, err
	}
	if err := cmp.Or(checkValue(value), checkExpiry(c.ExpiresAt)); err != nil {
		return Credential{}, err
	}
	id, err := uuid7.New()
	if err != nil {
		return Credential{}, err
	}
	c.ID, c.Version = id, 1
	s, err := v.seal(ctx, c, value)
	if err != nil {
		return Credential{}, err
	}
	return v.store.CreateCredential(ctx, s)
}

// Change lists changes of a credential; nil fields are unchanged.
type Change struct {
	Value    *string // The new value, for rotation.
	Hosts    *[]string
	Selector *secret.Selector
	// ExpiresAt is the new expiry; the zero time for none.
	ExpiresAt *time.Time
	// Revision, unless it is zero, is the expected revision; another one fails with
	// [ErrChanged].
	Revision int64
}

// Change rotates a credential, or changes its allowed hosts and its purpose. Adding hosts
// requires its value again and fails with Denied without it: otherwise a principal that may
// change credentials could send one to a host of its own. It fails with NotFound and Conflict
// like [Vault.Create].
func (v *Vault) Change(ctx context.Context, tenant tool.TenantID, name string, change Change) (Credential, error) {
	if change.Value != nil && *change.Value == secret.Redacted {
		change.Value = nil // The redaction mark, sent back.
	}
	var changed Credential
	err := v.repeat(func() error {
		s, err := v.store.FindCredential(ctx, tenant, name)
		if err != nil {
			return err
		}
		if change.Revision != 0 && change.Revision != s.Revision {
			return final{changedMeanwhile()}
		}
		next, err := v.changed(ctx, s, change)
		if err != nil {
			return err
		}
		changed, err = v.store.ChangeCredential(ctx, next) // Re-encryption does not change the revision.
		return err
	})
	return changed, err
}

// changed returns s with the change applied.
func (v *Vault) changed(ctx context.Context, s Sealed, change Change) (Sealed, error) {
	next := s
	if change.Selector != nil {
		next.Selector = *change.Selector
	}
	if change.Hosts != nil {
		next.Hosts = *change.Hosts
	}
	if err := next.check(); err != nil {
		return Sealed{}, err
	}
	if at := change.ExpiresAt; at != nil {
		if next.ExpiresAt = at; at.IsZero() {
			next.ExpiresAt = nil
		}
		if err := checkExpiry(next.ExpiresAt); err != nil {
			return Sealed{}, err
		}
	}
	switch {
	case change.Value != nil:
		if err := checkValue(*change.Value); err != nil {
			return Sealed{}, err
		}
		next.Version++
		return v.seal(ctx, next.Credential, *change.Value)
	case slices.Equal(s.Hosts, next.Hosts):
		return next, nil
	}
	for _, h := range next.Hosts {
		if !covers(s.Hosts, h) {
			return Sealed{}, &tool.Error{Kind: tool.Denied, Op: "vault.Change", Path: "/hosts", Msg: fmt.Sprintf(
				"the credential may not be sent to %s so far: to allow that, send its value again", h)}
		}
	}
	value, err := v.decrypt(ctx, s) // The hosts are bound to the ciphertext.
	if err != nil {
		return Sealed{}, err
	}
	return v.seal(ctx, next.Credential, value)
}

// Revoke revokes a credential: the next call that needs it is refused. Its value is destroyed. A
// revision that is not zero is the expected one.
func (v *Vault) Revoke(ctx context.Context, tenant tool.TenantID, name string, revision int64) (Credential, error) {
	s, err := v.store.FindCredential(ctx, tenant, name)
	if err != nil {
		return Credential{}, err
	}
	if revision != 0 && revision != s.Revision {
		return Credential{}, changedMeanwhile()
	}
	return v.store.RevokeCredential(ctx, tenant, s.ID)
}

// Get returns a credential without its value.
func (v *Vault) Get(ctx context.Context, tenant tool.TenantID, name string) (Credential, error) {
	s, err := v.store.FindCredential(ctx, tenant, name)
	return s.Credential, err
}

// List returns up to limit credentials in the order of refs.
func (v *Vault) List(ctx context.Context, tenant tool.TenantID, afterRef string, limit int) ([]Credential, error) {
	return v.store.ListCredentials(ctx, tenant, afterRef, limit)
}

// Digest returns a digest of text under a key of the tenant's own, so that it cannot be
// brute-forced without the key. It fails with [ErrNoKeys].
func (v *Vault) Digest(ctx context.Context, tenant tool.TenantID, text []byte) ([]byte, error) {
	key, err := v.currentKey(ctx, tenant)
	if err != nil {
		return nil, err
	}
	return key.mac(text), nil
}

// seal encrypts a value under the newest data key.
func (v *Vault) seal(ctx context.Context, c Credential, value string) (Sealed, error) {
	key, err := v.currentKey(ctx, c.Tenant)
	if err != nil {
		return Sealed{}, err
	}
	c.KeyVersion = key.version
	ciphertext, err := key.cipher.Encrypt([]byte(value), c.binding())
	if err != nil {
		return Sealed{}, fmt.Errorf("encrypting a credential: %w", err)
	}
	return Sealed{Credential: c, Ciphertext: ciphertext}, nil
}

// decrypt returns the value of a credential.
func (v *Vault) decrypt(ctx context.Context, s Sealed) (string, error) {
	key, err := v.openKey(ctx, s.Key)
	if err != nil {
		return "", err
	}
	value, err := key.cipher.Decrypt(s.Ciphertext, s.binding())
	if err != nil {
		return "", unreadable(err)
	}
	return string(value), nil
}

// final is an error that is not retried.
type final struct{ error }

func (f final) Unwrap() error { return f.error }

// repeat retries fn on conflicts with another writer's change, at most [maxTries] times.
func (v *Vault) repeat(fn func() error) error {
	var err error
	for range maxTries {
		if err = fn(); !errors.Is(err, ErrChanged) {
			return err
		}
		if f, ok := errors.AsType[final](err); ok {
			return f.error
		}
	}
	return err
}

func changedMeanwhile() error {
	return &tool.Error{Kind: tool.Conflict, Op: "vault", Msg: ErrChanged.Error(), Err: ErrChanged}
}

func checkExpiry(at *time.Time) error {
	if at != nil && !at.After(time.Now()) {
		return invalid("/expires_at", "expires_at has passed already")
	}
	return nil
}
