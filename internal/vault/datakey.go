package vault

import (
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"github.com/tink-crypto/tink-go/v2/aead/subtle"

	"github.com/toolcrib/toolcrib/internal/cache"
	"github.com/toolcrib/toolcrib/tool"
)

// DataKey is a stored data key of a tenant.
type DataKey struct {
	Tenant    tool.TenantID
	Version   int    // Counts from 1.
	Wrapped   []byte // By the key-encryption key.
	KEK       string // Its id.
	CreatedAt time.Time
}

// dataKey is an opened data key: keys derived from its bytes, one for each purpose.
type dataKey struct {
	version int
	cipher  *subtle.XChaCha20Poly1305
	digest  []byte
}

func newDataKey(version int, seed []byte) (*dataKey, error) {
	encryption, err := hkdf.Key(sha256.New, seed, nil, "toolcrib credential encryption", KeySize)
	if err != nil {
		return nil, fmt.Errorf("deriving a key: %w", err)
	}
	digest, err := hkdf.Key(sha256.New, seed, nil, "toolcrib request digest", KeySize)
	if err != nil {
		return nil, fmt.Errorf("deriving a key: %w", err)
	}
	cipher, err := subtle.NewXChaCha20Poly1305(encryption)
	if err != nil {
		return nil, fmt.Errorf("making a cipher: %w", err)
	}
	return &dataKey{version: version, cipher: cipher, digest: digest}, nil
}

// mac returns a keyed MAC of text, which cannot be brute-forced without the key.
func (k *dataKey) mac(text []byte) []byte {
	h := hmac.New(sha256.New, k.digest)
	_, _ = h.Write(text) // It never fails.
	return h.Sum(nil)
}

// bound encodes associated data unambiguously.
func bound(parts ...any) []byte {
	raw, err := json.Marshal(parts)
	if err != nil { // Strings, numbers and lists of strings always encode.
		panic(fmt.Sprintf("vault: encoding associated data: %v", err))
	}
	return raw
}

func (k DataKey) binding() []byte { return bound("toolcrib data key", k.Tenant, k.Version) }

// generate returns a new data key of a tenant, wrapped.
func (r *Keyring) generate(ctx context.Context, tenant tool.TenantID, version int) (DataKey, error) {
	seed := make([]byte, KeySize)
	_, _ = rand.Read(seed) // It never fails.
	return r.wrap(ctx, DataKey{Tenant: tenant, Version: version}, seed)
}

func (r *Keyring) wrap(ctx context.Context, k DataKey, seed []byte) (DataKey, error) {
	kek, err := r.primary()
	if err != nil {
		return DataKey{}, err
	}
	k.KEK = kek.ID
	if k.Wrapped, err = kek.AEAD.EncryptWithContext(ctx, seed, k.binding()); err != nil {
		return DataKey{}, unwrapFailure(kek.ID, err)
	}
	return k, nil
}

func (r *Keyring) unwrap(ctx context.Context, k DataKey) ([]byte, error) {
	kek, err := r.find(k.KEK)
	if err != nil {
		return nil, err
	}
	seed, err := kek.AEAD.DecryptWithContext(ctx, k.Wrapped, k.binding())
	if err != nil {
		return nil, unwrapFailure(kek.ID, err)
	}
	return seed, nil
}

func unwrapFailure(id string, cause error) error {
	return &tool.Error{
		Kind: tool.Unavailable, Op: "vault", Err: cause,
		Msg: fmt.Sprintf("the key-encryption key %s does not open the tenant's data key", id),
	}
}

// Bounds of the cache of opened data keys, which saves calls to a remote key service.
const (
	maxOpened  = 4096
	openedLife = 10 * time.Minute
)

// openedID is a digest of all of a stored row, so that a row that was tampered with does not
// match the cached one.
type openedID [sha256.Size]byte

func (k DataKey) openedID() openedID {
	return sha256.Sum256(bound(k.Tenant, k.Version, k.KEK, k.Wrapped))
}

func newOpened[ID comparable]() *cache.Cache[ID, *dataKey] {
	return cache.New[ID, *dataKey](cache.Options{Entries: maxOpened, Life: openedLife})
}

// openKey returns the data key of a row.
func (v *Vault) openKey(ctx context.Context, k DataKey) (*dataKey, error) {
	id := k.openedID()
	if opened, ok := v.opened.Get(id); ok {
		return opened, nil
	}
	seed, err := v.keys.unwrap(ctx, k)
	if err != nil {
		return nil, err
	}
	opened, err := newDataKey(k.Version, seed)
	if err != nil {
		return nil, err
	}
	v.opened.Set(id, opened)
	return opened, nil
}

// currentKey returns the newest data key of a tenant, and creates its first.
func (v *Vault) currentKey(ctx context.Context, tenant tool.TenantID) (*dataKey, error) {
	if _, err := v.keys.primary(); err != nil {
		return nil, err
	}
	newest, err := v.store.NewestDataKey(ctx, tenant)
	if err != nil && tool.KindOf(err) == tool.NotFound {
		first, wrapErr := v.keys.generate(ctx, tenant, 1)
		if wrapErr != nil {
			return nil, wrapErr
		}
		newest, err = v.store.AddDataKey(ctx, first) // Or the key of a concurrent writer.
	}
	if err != nil {
		return nil, err
	}
	return v.openKey(ctx, newest)
}
