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

// Environment variables with key-encryption keys.
const (
	KeyVariable  = "TOOLCRIB_KEK"      // The keys themselves, separated by commas.
	FileVariable = "TOOLCRIB_KEK_FILE" // A file with one key a line.
)

// maxKeyFile bounds a file of keys.
const maxKeyFile = 64 << 10

// ParseKeys parses keys in base64, one a line or separated by commas. The first wraps. Empty
// lines, and those that begin with #, are skipped.
func ParseKeys(text string) (*Keyring, error) {
	var keys []Key
	lines := bufio.NewScanner(strings.NewReader(strings.ReplaceAll(text, ",", "\n")))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		raw, err := base64.StdEncoding.DecodeString(line)
		if err != nil { // Its text may quote the key.
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

// ReadKeyFile reads the keys of a file, like [ParseKeys]. A file that others than its owner may
// read or write is refused.
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
		return nil, fmt.Errorf("the file of key-encryption keys %s is not a regular file", path)
	case !private(info):
		return nil, fmt.Errorf("the file of key-encryption keys %s is accessible to other users: chmod 600 %s", path, path)
	case info.Size() > maxKeyFile:
		return nil, fmt.Errorf("the file of key-encryption keys %s has more than %d bytes", path, maxKeyFile)
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

// FromEnvironment reads the keys of [FileVariable] or [KeyVariable]. It returns nil where neither
// is set, and fails if both are.
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
		return nil, nil
	}
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
func WriteKeyFile(path string) error {
	text := GenerateKey() + "\n"
	// Write under another name first, so that no process reads a half-written key.
	draft, err := os.CreateTemp(filepath.Dir(path), ".kek-*")
	if err != nil {
		return fmt.Errorf("making the file of key-encryption keys: %w", err)
	}
	defer func() { _ = os.Remove(draft.Name()) }()
	_, err = draft.WriteString(text)
	err = errors.Join(err, draft.Sync(), draft.Close())
	if err == nil {
		err = os.Link(draft.Name(), path) // Unlike a rename, it does not replace a file.
	}
	if err != nil {
		return fmt.Errorf("making the file of key-encryption keys: %w", err)
	}
	return nil
}

// GenerateKey returns a new key in the form of [ParseKeys].
func GenerateKey() string {
	raw := make([]byte, KeySize)
	_, _ = rand.Read(raw) // It never fails.
	return base64.StdEncoding.EncodeToString(raw)
}
