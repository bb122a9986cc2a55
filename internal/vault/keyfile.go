package vault

import (
	"bufio"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Variables that give a process its key-encryption keys.
const (
	KeyVariable  = "TOOLCRIB_KEK"      // The keys themselves, separated by commas.
	FileVariable = "TOOLCRIB_KEK_FILE" // A file with one key a line.
)

// maxKeyFile bounds a file of keys.
const maxKeyFile = 64 << 10

// ParseKeys reads keys in base64, one a line or separated by commas. The first
// wraps. Empty lines, and those that begin with #, are passed over.
func ParseKeys(text string) (*Keyring, error) {
	var keys []Key
	lines := bufio.NewScanner(strings.NewReader(strings.ReplaceAll(text, ",", "\n")))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		raw, err := base64.StdEncoding.DecodeString(line)
		if err != nil { // Which says where, but may say what.
			return nil, fmt.Errorf("key-encryption key on line %d is not in base64", n)
		}
		key, err := NewKey(raw)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		keys = append(keys, key)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading key-encryption keys: %w", err)
	}
	return NewKeyring(keys...)
}

// ReadKeyFile reads the keys of a file, as [ParseKeys] does. A file that others
// than its owner may read or write is refused.
func ReadKeyFile(path string) (*Keyring, error) {
	file, err := os.Open(path) //nolint:gosec // The operator names it.
	if err != nil {
		return nil, fmt.Errorf("opening the file of key-encryption keys: %w", err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the file of key-encryption keys: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s, of key-encryption keys, is no file", path)
	case !private(info):
		return nil, fmt.Errorf("%s, of key-encryption keys, can be read or written by others: chmod 600 %s", path, path)
	case info.Size() > maxKeyFile:
		return nil, fmt.Errorf("%s, of key-encryption keys, has more than %d bytes", path, maxKeyFile)
	}
	raw, err := io.ReadAll(io.LimitReader(file, maxKeyFile))
	if err != nil {
		return nil, fmt.Errorf("reading the file of key-encryption keys: %w", err)
	}
	keys, err := ParseKeys(string(raw))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return keys, nil
}

// FromEnvironment reads the keys that [FileVariable] or [KeyVariable] give. It
// returns nil where neither is set, and refuses both.
func FromEnvironment(getenv func(name string) string) (*Keyring, error) {
	file, text := getenv(FileVariable), getenv(KeyVariable)
	switch {
	case file != "" && text != "":
		return nil, fmt.Errorf("%s and %s are both set: keep one", FileVariable, KeyVariable)
	case file != "":
		return ReadKeyFile(file)
	case text != "":
		keys, err := ParseKeys(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", KeyVariable, err)
		}
		return keys, nil
	default:
		return nil, nil //nolint:nilnil // A nil Keyring has no keys.
	}
}

// EnsureKeyFile reads the keys of a file, and makes it with a new one where
// there is none.
func EnsureKeyFile(path string) (*Keyring, error) {
	if err := WriteKeyFile(path); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	return ReadKeyFile(path)
}

// WriteKeyFile makes a file with a new key, for its owner alone. It fails with
// [os.ErrExist] where there is one.
func WriteKeyFile(path string) error {
	text := GenerateKey() + "\n"
	// Write under another name first, so that no process reads a half-written
	// key.
	draft, err := os.CreateTemp(filepath.Dir(path), ".kek-*")
	if err != nil {
		return fmt.Errorf("making the file of key-encryption keys: %w", err)
	}
	defer func() { _ = os.Remove(draft.Name()) }()
	_, err = draft.WriteString(text)
	err = errors.Join(err, draft.Sync(), draft.Close())
	if err == nil {
		err = os.Link(draft.Name(), path) // Unlike a rename, it replaces nothing.
	}
	if err != nil {
		return fmt.Errorf("making the file of key-encryption keys: %w", err)
	}
	return nil
}

// GenerateKey returns a new key as [ParseKeys] reads it.
func GenerateKey() string {
	raw := make([]byte, KeySize)
	_, _ = rand.Read(raw) // It never fails.
	return base64.StdEncoding.EncodeToString(raw)
}
