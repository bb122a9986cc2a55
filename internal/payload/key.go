package payload

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/toolcrib/toolcrib/internal/keyfile"
	"github.com/toolcrib/toolcrib/tool"
)

// Environment variables with payload keys.
const (
	KeysVariable = "TOOLCRIB_PAYLOAD_KEYS"      // The keys themselves, separated by commas.
	FileVariable = "TOOLCRIB_PAYLOAD_KEYS_FILE" // A file with one key a line.
)

const kind = keyfile.Kind("payload key")

// Keyring has the payload keys of a process: the first encrypts, all of them decrypt. A nil Keyring
// has none: nothing is encrypted. It is safe for concurrent use.
type Keyring struct{ keys []key }

// key is a payload key. Its id is derived from it, so that the same key has the same id everywhere.
type key struct {
	id     string
	secret []byte // Pseudorandom, from which the keys of tenants are derived.
}

// NewKeyring returns a keyring of keys of [keyfile.Size] random bytes; nil for none.
func NewKeyring(raw ...[]byte) (*Keyring, error) {
	if len(raw) == 0 {
		return nil, nil //nolint:nilnil // A nil keyring is one without keys.
	}
	r := &Keyring{}
	for i, bytes := range raw {
		if len(bytes) != keyfile.Size {
			return nil, fmt.Errorf("payload key %d has %d bytes, not %d", i+1, len(bytes), keyfile.Size)
		}
		sum := sha256.Sum256(append([]byte("toolcrib.payload.key.id\x00"), bytes...))
		k := key{id: "pk-" + hex.EncodeToString(sum[:6])}
		var err error
		if k.secret, err = hkdf.Extract(sha256.New, bytes, []byte("toolcrib.payload.key")); err != nil {
			return nil, fmt.Errorf("deriving from payload key %d: %w", i+1, err)
		}
		if _, listed := r.find(k.id); listed {
			return nil, fmt.Errorf("the payload key %s is listed twice", k.id)
		}
		r.keys = append(r.keys, k)
	}
	return r, nil
}

// IDs returns the ids of the keys, the one that encrypts first. They are not secret.
func (r *Keyring) IDs() []string {
	if r == nil {
		return nil
	}
	ids := make([]string, len(r.keys))
	for i, k := range r.keys {
		ids[i] = k.id
	}
	return ids
}

func (r *Keyring) find(id string) (key, bool) {
	if r != nil {
		for _, k := range r.keys {
			if k.id == id {
				return k, true
			}
		}
	}
	return key{}, false
}

// of derives the key that encrypts one payload of a tenant, by the payload's seed.
func (k key) of(tenant tool.TenantID, seed []byte) ([]byte, error) {
	own, err := hkdf.Expand(sha256.New, k.secret, "tenant\x00"+string(tenant), keyfile.Size)
	if err != nil {
		return nil, fmt.Errorf("deriving the key of a tenant: %w", err)
	}
	one, err := hkdf.Expand(sha256.New, own, "payload\x00"+string(seed), keyfile.Size)
	if err != nil {
		return nil, fmt.Errorf("deriving the key of a payload: %w", err)
	}
	return one, nil
}

// ParseKeys parses keys in base64, one a line or separated by commas. Empty lines, and those that
// begin with #, are skipped. It fails where there is no key.
func ParseKeys(text string) (*Keyring, error) {
	raw, err := kind.Parse(text)
	if err != nil {
		return nil, err
	}
	return ringOf(raw)
}

func ringOf(raw [][]byte) (*Keyring, error) {
	if len(raw) == 0 {
		return nil, errors.New("there is no payload key")
	}
	return NewKeyring(raw...)
}

// ReadKeyFile reads the keys of a file, like [ParseKeys]. A file that others than its owner may read
// or write is refused.
func ReadKeyFile(path string) (*Keyring, error) {
	raw, err := kind.Read(path)
	if err != nil {
		return nil, err
	}
	keys, err := ringOf(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return keys, nil
}

// FromEnvironment reads the keys of [FileVariable] or [KeysVariable]. It returns nil where neither
// is set, and fails if both are.
func FromEnvironment(getenv func(name string) string) (*Keyring, error) {
	raw, err := kind.FromEnvironment(getenv, FileVariable, KeysVariable)
	if err != nil || raw == nil {
		return nil, err
	}
	return ringOf(raw)
}

// WriteKeyFile creates a file with a new key, readable by its owner alone. It fails with
// [os.ErrExist] if the file exists.
func WriteKeyFile(path string) error { return kind.Write(path) }

// GenerateKey returns a new key in the form of [ParseKeys].
func GenerateKey() string { return keyfile.Generate() }
