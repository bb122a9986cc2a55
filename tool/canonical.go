package tool

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Snapshot is the content of a version: the part of a [Definition] that a run
// pins, in a form whose digest does not depend on formatting.
type Snapshot struct {
	Definition
}

// Digest returns the sha256, in hexadecimal, of the snapshot's canonical JSON.
// Equal content has equal digests, whatever its key order and white space.
func (s Snapshot) Digest() (string, error) {
	raw, err := json.Marshal(s.Definition)
	if err != nil {
		return "", fmt.Errorf("encoding snapshot: %w", err)
	}
	return Digest(raw)
}

// Digest returns the sha256, in hexadecimal, of raw's canonical form.
func Digest(raw json.RawMessage) (string, error) {
	canonical, err := Canonical(raw)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:]), nil
}

// Canonical returns raw with sorted keys, no white space and no HTML escapes. Numbers keep
// their spelling; 1 and 1.0 differ. An empty input is the empty object, like an omitted
// argument list.
func Canonical(raw json.RawMessage) (json.RawMessage, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return json.RawMessage("{}"), nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("reading JSON: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("reading JSON: more than one value")
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("writing JSON: %w", err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
