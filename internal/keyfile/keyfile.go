// Package keyfile reads and writes the files and variables that hold a process's symmetric keys.
//
// Keys are in base64, one a line or separated by commas. Messages name what the keys are for, and
// never quote one.
package keyfile

import (
	"bufio"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Size is the number of bytes of a key.
const Size = 32

// maxFile bounds a file of keys.
const maxFile = 64 << 10

// Kind is what keys are for, as messages name one of them: "key-encryption key".
type Kind string

// Parse parses keys in base64, one a line or separated by commas. Empty lines, and those that
// begin with #, are skipped.
func (k Kind) Parse(text string) ([][]byte, error) {
	var keys [][]byte
	lines := bufio.NewScanner(strings.NewReader(strings.ReplaceAll(text, ",", "\n")))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		raw, err := base64.StdEncoding.DecodeString(line)
		if err != nil { // Its text may quote the key.
			return nil, fmt.Errorf("%s on line %d is not in base64", k, n)
		}
		if len(raw) != Size {
			return nil, fmt.Errorf("line %d: a %s has %d bytes, not %d", n, k, Size, len(raw))
		}
		keys = append(keys, raw)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading %ss: %w", k, err)
	}
	return keys, nil
}

// Read reads the keys of a file, like [Kind.Parse]. A file that others than its owner may read or
// write is refused.
func (k Kind) Read(path string) ([][]byte, error) {
	file, err := os.Open(path) //nolint:gosec // The operator names it.
	if err != nil {
		return nil, fmt.Errorf("opening the file of %ss: %w", k, err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the file of %ss: %w", k, err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("the file of %ss %s is not a regular file", k, path)
	case !private(info):
		return nil, fmt.Errorf("the file of %ss %s is accessible to other users: chmod 600 %s", k, path, path)
	case info.Size() > maxFile:
		return nil, fmt.Errorf("the file of %ss %s has more than %d bytes", k, path, maxFile)
	}
	raw, err := io.ReadAll(io.LimitReader(file, maxFile))
	if err != nil {
		return nil, fmt.Errorf("reading the file of %ss: %w", k, err)
	}
	keys, err := k.Parse(string(raw))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return keys, nil
}

// FromEnvironment reads the keys of the file that one variable names, or those that the other holds.
// It returns nil where neither is set, and fails if both are.
func (k Kind) FromEnvironment(getenv func(name string) string, fileVariable, variable string) ([][]byte, error) {
	file, text := getenv(fileVariable), getenv(variable)
	switch {
	case file != "" && text != "":
		return nil, fmt.Errorf("%s and %s are both set: keep one", fileVariable, variable)
	case file != "":
		keys, err := k.Read(file)
		if err == nil && len(keys) == 0 {
			err = fmt.Errorf("%s has no %s", file, k)
		}
		return keys, err
	case text != "":
		keys, err := k.Parse(text)
		if err == nil && len(keys) == 0 {
			err = fmt.Errorf("it has no %s", k)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", variable, err)
		}
		return keys, nil
	default:
		return nil, nil
	}
}

// Write creates a file with a new key, readable by its owner alone. It fails with [os.ErrExist] if
// the file exists.
func (k Kind) Write(path string) error {
	text := Generate() + "\n"
	// Write under another name first, so that no process reads a half-written key.
	draft, err := os.CreateTemp(filepath.Dir(path), ".key-*")
	if err != nil {
		return fmt.Errorf("making the file of %ss: %w", k, err)
	}
	defer func() { _ = os.Remove(draft.Name()) }()
	_, err = draft.WriteString(text)
	if syncErr := draft.Sync(); err == nil {
		err = syncErr
	}
	if closeErr := draft.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Link(draft.Name(), path) // Unlike a rename, it does not replace a file.
	}
	if err != nil {
		return fmt.Errorf("making the file of %ss: %w", k, err)
	}
	return nil
}

// Generate returns a new key in the form of [Kind.Parse].
func Generate() string {
	raw := make([]byte, Size)
	_, _ = rand.Read(raw) // It never fails.
	return base64.StdEncoding.EncodeToString(raw)
}
