package remote

import (
	"encoding/json"
	"fmt"

	"github.com/toolcrib/toolcrib/tool"
)

// Tool is a tool as defined by its server. Texts are cleaned and bounded, including those in
// the schemas; the schemas are not compiled yet.
type Tool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title,omitempty"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"input_schema,omitempty"`
	OutputSchema json.RawMessage `json:"output_schema,omitempty"`
	Annotations  Annotations     `json:"annotations,omitzero"`
	UI           *UI             `json:"ui,omitempty"` // Nil where the server declares nothing.
	// Removed lists the texts from which invisible characters were removed, as JSON
	// Pointers into this struct. See package visible.
	Removed []string `json:"removed,omitempty"`
	// Digest is the digest of the server's whole definition: name, title, description,
	// schemas, annotations and app. See [Digest].
	Digest string `json:"digest"`
}

// Annotations are a server's hints about its tool. They are untrusted: they may suggest a
// class to people, but never decide.
type Annotations struct {
	ReadOnly    *bool `json:"read_only,omitempty"`
	Destructive *bool `json:"destructive,omitempty"`
	Idempotent  *bool `json:"idempotent,omitempty"`
	OpenWorld   *bool `json:"open_world,omitempty"`
}

// Discovery is what a server reports about itself and its tools.
type Discovery struct {
	Name         string    `json:"name,omitempty"` // The server's own, untrusted like all of its texts.
	Version      string    `json:"version,omitempty"`
	Protocol     string    `json:"protocol"`               // The negotiated version, such as 2025-11-25.
	Stateless    bool      `json:"stateless,omitempty"`    // Of the generation without sessions, from 2026-07-28.
	Instructions string    `json:"instructions,omitempty"` // For people; hidden from models.
	Tools        []Tool    `json:"tools"`                  // In the server's order.
	Skipped      []Skipped `json:"skipped,omitempty"`
}

// Skipped is a tool that cannot be used, with the reason.
type Skipped struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Digest returns the digest of a server's definition of a tool: the sha256, in hexadecimal,
// of the canonical JSON of its name, title, description, schemas, annotations, and what it
// declares of an app, if anything. Other members, such as icons, are ignored.
func Digest(raw json.RawMessage) (string, error) {
	var d struct {
		Name         json.RawMessage `json:"name,omitempty"`
		Title        json.RawMessage `json:"title,omitempty"`
		Description  json.RawMessage `json:"description,omitempty"`
		InputSchema  json.RawMessage `json:"inputSchema,omitempty"`  //nolint:tagliatelle // The protocol's name.
		OutputSchema json.RawMessage `json:"outputSchema,omitempty"` //nolint:tagliatelle // The protocol's name.
		Annotations  json.RawMessage `json:"annotations,omitempty"`
		Meta         *appDeclared    `json:"_meta,omitempty"` //nolint:tagliatelle // The protocol's name.
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return "", fmt.Errorf("reading a tool's definition: %w", err)
	}
	if d.Meta != nil && len(d.Meta.UI) == 0 && len(d.Meta.ResourceURI) == 0 {
		d.Meta = nil
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

// appDeclared is what a definition declares of an app.
type appDeclared struct {
	UI          json.RawMessage `json:"ui,omitempty"`
	ResourceURI json.RawMessage `json:"ui/resourceUri,omitempty"` //nolint:tagliatelle // The protocol's name.
}

// ChangedError is the cause of a [tool.Conflict] when a server has changed the definition of
// a tool since it was pinned.
type ChangedError struct {
	Tool   string // Its name on the server.
	Pinned string // The digest that was expected; may be empty.
	Found  string // The digest at present; empty when there is no such tool.
}

// Error implements the error interface.
func (e *ChangedError) Error() string {
	if e.Found == "" {
		return fmt.Sprintf("the tool %q no longer exists", e.Tool)
	}
	return fmt.Sprintf("the definition of the tool %q has the digest %.12s, not %.12s", e.Tool, e.Found, e.Pinned)
}
