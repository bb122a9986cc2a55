package vault

import (
	"errors"
	"fmt"
	"os"

	"github.com/toolcrib/toolcrib/internal/keyfile"
)

// Environment variables with key-encryption keys.
const (
	KeyVariable  = "TOOLCRIB_KEK"      // The keys themselves, separated by commas.
	FileVariable = "TOOLCRIB_KEK_FILE" // A file with one key a line.
)

const kek = keyfile.Kind("key-encryption key")

// ParseKeys parses keys in base64, one a line or separated by commas. The first wraps. Empty
// lines, and those that begin with #, are skipped.
func ParseKeys(text string) (*Keyring, error) {
	raw, err := kek.Parse(text)
	if err != nil {
		return nil, err
	}
	return ringOf(raw)
}

func ringOf(raw [][]byte) (*Keyring, error) {
	keys := make([]Key, len(raw))
	for i, bytes := range raw {
		var err error
		if keys[i], err = NewKey(bytes); err != nil {
			return nil, err
		}
	}
	return NewKeyring(keys...)
}

// ReadKeyFile reads the keys of a file, like [ParseKeys]. A file that others than its owner may
// read or write is refused.
func ReadKeyFile(path string) (*Keyring, error) {
	raw, err := kek.Read(path)
	if err != nil {
		return nil, err
	}
	keys, err := ringOf(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return keys, nil
}

// FromEnvironment reads the keys of [FileVariable] or [KeyVariable]. It returns nil where neither
// is set, and fails if both are.
func FromEnvironment(getenv func(name string) string) (*Keyring, error) {
	raw, err := kek.FromEnvironment(getenv, FileVariable, KeyVariable)
	if err != nil || raw == nil {
		return nil, err
	}
	return ringOf(raw)
}

// EnsureKeyFile reads the keys of a file, and creates it with a new key if it does not exist.
func EnsureKeyFile(path string) (*Keyring, error) {
	if err := WriteKeyFile(path); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	return ReadKeyFile(path)
}

// WriteKeyFile creates a file with a new key, readable by its owner alone. It fails with
// [os.ErrExist] if it exists.
func WriteKeyFile(path string) error { return kek.Write(path) }

// GenerateKey returns a new key in the form of [ParseKeys].
func GenerateKey() string { return keyfile.Generate() }
