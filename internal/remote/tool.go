package remote

import (
	"encoding/json"
	"fmt"

	"github.com/toolcrib/toolcrib/tool"
)

// Tool is a tool as its server defines it. Texts are cleaned and bounded, those
// inside the schemas too; the schemas are not compiled yet.
type Tool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title,omitempty"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"input_schema,omitempty"`
	OutputSchema json.RawMessage `json:"output_schema,omitempty"`
	Annotations  Annotations     `json:"annotations,omitzero"`
	// Removed are the texts that characters were removed from which a reader does
	// not see and a model does, as JSON Pointers into this struct. See package visible.
	Removed []string `json:"removed,omitempty"`
	// Digest is that of the whole definition as the server gave it: name,
	// title, description, schemas and annotations. See [Digest].
	Digest string `json:"digest"`
}

// Annotations are what a server says of its tool. They are hints of a
// stranger: good for suggesting a class to people, never for deciding.
type Annotations struct {
	ReadOnly    *bool `json:"read_only,omitempty"`
	Destructive *bool `json:"destructive,omitempty"`
	Idempotent  *bool `json:"idempotent,omitempty"`
	OpenWorld   *bool `json:"open_world,omitempty"`
}

// Discovery is what a server says of itself and its tools.
type Discovery struct {
	Name         string    `json:"name,omitempty"` // The server's own, untrusted like all of its texts.
	Version      string    `json:"version,omitempty"`
	Protocol     string    `json:"protocol"`               // The negotiated version, such as 2025-11-25.
	Stateless    bool      `json:"stateless,omitempty"`    // Of the generation without sessions, from 2026-07-28.
	Instructions string    `json:"instructions,omitempty"` // Kept for people; no model is shown them.
	Tools        []Tool    `json:"tools"`                  // In the server's order.
	Skipped      []Skipped `json:"skipped,omitempty"`
}

// Skipped is a tool that can't be used, and why.
type Skipped struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Digest returns the digest of a tool's definition as a server gave it: the
// sha256, in hexadecimal, of the canonical JSON of its name, title,
// description, schemas and annotations. Other members, icons say, do not count.
func Digest(raw json.RawMessage) (string, error) {
	var d struct {
		Name         json.RawMessage `json:"name,omitempty"`
		Title        json.RawMessage `json:"title,omitempty"`
		Description  json.RawMessage `json:"description,omitempty"`
		InputSchema  json.RawMessage `json:"inputSchema,omitempty"`  //nolint:tagliatelle // The protocol's name.
		OutputSchema json.RawMessage `json:"outputSchema,omitempty"` //nolint:tagliatelle // The protocol's name.
		Annotations  json.RawMessage `json:"annotations,omitempty"`
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return "", fmt.Errorf("reading a tool's definition: %w", err)
	}
	counted, err := json.Marshal(d)
	if err != nil {
		return "", fmt.Errorf("writing a tool's definition: %w", err)
	}
	digest, err := tool.Digest(counted)
	if err != nil {
		return "", fmt.Errorf("digesting a tool's definition: %w", err)
	}
	return digest, nil
}

// ChangedError is the cause of a [tool.Conflict] of a call whose tool its
// server no longer defines as it was pinned. It is found with [errors.As].
type ChangedError struct {
	Tool   string // Its name at the server.
	Pinned string // The digest that was expected; may be empty.
	Found  string // The digest at present; empty when there is no such tool.
}

// Error implements the error interface.
func (e *ChangedError) Error() string {
	if e.Found == "" {
		return fmt.Sprintf("the tool %q is gone", e.Tool)
	}
	return fmt.Sprintf("the definition of the tool %q has the digest %.12s, not %.12s", e.Tool, e.Found, e.Pinned)
}
