package vault

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/tink-crypto/tink-go/v2/aead/subtle"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// AEAD encrypts data with associated data, perhaps remotely. It is Tink's
// tink.AEADWithContext, so that the clients of cloud key services fit. Implementations are
// safe for concurrent use.
type AEAD interface {
	EncryptWithContext(ctx context.Context, plaintext, associatedData []byte) ([]byte, error)
	DecryptWithContext(ctx context.Context, ciphertext, associatedData []byte) ([]byte, error)
}

var _ AEAD = tink.AEADWithContext(nil)

// Key is a key-encryption key. It only wraps the data keys of tenants.
type Key struct {
	// ID names the key in the database, such as "gcp-kms://…/cryptoKeys/crib". It is
	// not secret, and must never be reused for another key.
	ID   string
	AEAD AEAD
}

// KeySize is the size of a key that is given as bytes.
const KeySize = 32

// NewKey returns a key of [KeySize] random bytes. Its id is derived from them, so that the same
// key has the same id everywhere.
func NewKey(raw []byte) (Key, error) {
	cipher, err := subtle.NewXChaCha20Poly1305(raw)
	if err != nil {
		return Key{}, fmt.Errorf("a key-encryption key has %d bytes, not %d", KeySize, len(raw))
	}
	sum := sha256.Sum256(append([]byte("toolcrib key-encryption key id\x00"), raw...))
	return Key{ID: "kek-" + hex.EncodeToString(sum[:6]), AEAD: local{cipher}}, nil
}

// KeyOf returns the key of an AEAD without contexts, such as one of tink-go's registry.
func KeyOf(id string, a tink.AEAD) Key { return Key{ID: id, AEAD: local{a}} }

// local is an AEAD that ignores its context.
type local struct{ tink.AEAD }

func (l local) EncryptWithContext(_ context.Context, plaintext, associatedData []byte) ([]byte, error) {
	return l.Encrypt(plaintext, associatedData)
}

func (l local) DecryptWithContext(_ context.Context, ciphertext, associatedData []byte) ([]byte, error) {
	return l.Decrypt(ciphertext, associatedData)
}

// Keyring has the key-encryption keys of a process: the first wraps, all of them unwrap. A nil
// Keyring has none. It is safe for concurrent use.
type Keyring struct{ keys []Key }

// NewKeyring returns a keyring. Keys after the first unwrap data keys from before a rotation.
func NewKeyring(keys ...Key) (*Keyring, error) {
	if len(keys) == 0 {
		return nil, errors.New("a keyring needs a key-encryption key")
	}
	for i, k := range keys {
		if k.ID == "" || k.AEAD == nil {
			return nil, errors.New("a key-encryption key needs an id and an AEAD")
		}
		if slices.ContainsFunc(keys[:i], func(other Key) bool { return other.ID == k.ID }) {
			return nil, fmt.Errorf("the key-encryption key %s is listed twice", k.ID)
		}
	}
	return &Keyring{keys: slices.Clone(keys)}, nil
}

// Keys returns the keys, the one that wraps first.
func (r *Keyring) Keys() []Key {
	if r == nil {
		return nil
	}
	return slices.Clone(r.keys)
}

// IDs returns the ids of the keys, the one that wraps first.
func (r *Keyring) IDs() []string {
	if r == nil {
		return nil
	}
	ids := make([]string, len(r.keys))
	for i, k := range r.keys {
		ids[i] = k.ID
	}
	return ids
}

// primary returns the key that wraps.
func (r *Keyring) primary() (Key, error) {
	if r == nil {
		return Key{}, errNoKeys()
	}
	return r.keys[0], nil
}

// find returns the key with an id.
func (r *Keyring) find(id string) (Key, error) {
	if r == nil {
		return Key{}, errNoKeys()
	}
	for _, k := range r.keys {
		if k.ID == id {
			return k, nil
		}
	}
	return Key{}, errKeyMissing(id)
}
