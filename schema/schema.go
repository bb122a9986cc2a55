package schema

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/toolcrib/toolcrib/tool"
)

// baseURL is the base of schemas without an $id. Nothing is loaded from it.
const baseURL = "toolcrib:///schema.json"

// Schema is a compiled JSON Schema. It is immutable and safe for concurrent use.
type Schema struct {
	root *rule
	doc  any // The decoded source, for messages.
}

// compile checks and compiles raw.
func compile(raw json.RawMessage) (s *Schema, err error) {
	defer func() {
		if r := recover(); r != nil { // The library panics on some malformed input.
			s, err = nil, invalidSchema("", fmt.Sprintf("it cannot be compiled: %v", r))
		}
	}()
	if len(strings.TrimSpace(string(raw))) == 0 {
		raw = json.RawMessage(`{"type":"object"}`)
	}
	doc, err := decodeSchema(raw)
	if err != nil {
		return nil, err
	}
	positions, err := checkDocument(doc)
	if err != nil {
		return nil, err
	}

	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	c.LoadURL = func(url string) (io.ReadCloser, error) { return nil, &remoteError{url} }
	if err := c.AddResource(baseURL, strings.NewReader(string(raw))); err != nil {
		return nil, invalidSchema("", "it is not JSON")
	}
	root, err := c.Compile(baseURL)
	if err != nil {
		return nil, explainCompileError(err)
	}
	graph, err := checkGraph(root, positions)
	if err != nil {
		return nil, err
	}
	return &Schema{root: newRule(root, graph), doc: doc}, nil
}

// Validate validates raw. An empty raw is the empty object. It fails with tool.Invalid, whose
// Path is the JSON Pointer of the first offending value and whose message lists, for the first
// few, the path, the expectation and the kind of the value, never the value; also when the
// validation exceeds the work budget for its size. When ctx ends first it fails with the error
// of ctx.
func (s *Schema) Validate(ctx context.Context, raw json.RawMessage) error {
	v, err := decodeValue(raw)
	if err != nil {
		return err
	}
	return s.judge(newWork(ctx.Err, len(raw)), v)
}

// ValidateDefault is [Schema.Validate] for a value that is part of a definition,
// while that is parsed: the budget of work is the only bound.
func (s *Schema) ValidateDefault(raw json.RawMessage) error {
	v, err := decodeValue(raw)
	if err != nil {
		return err
	}
	return s.judge(newWork(func() error { return nil }, len(raw)), v)
}

// remoteError is the error for a reference to a remote schema.
type remoteError struct{ url string }

func (e *remoteError) Error() string { return "refusing to load " + e.url }

func explainCompileError(err error) error {
	if re, ok := errors.AsType[*remoteError](err); ok {
		return invalidSchema(
			"", fmt.Sprintf("it refers to %q: only references within the schema are allowed", tool.Clip(re.url, 80)),
		)
	}
	if ve, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		for len(ve.Causes) > 0 {
			ve = ve.Causes[0]
		}
		return invalidSchema(unescapeLocation(ve.InstanceLocation), "malformed: "+tool.Clip(ve.Message, 160))
	}
	text := err.Error()
	if _, after, found := strings.Cut(text, "compilation failed: "); found {
		text = after
	}
	return invalidSchema("", tool.Clip(strings.ReplaceAll(text, baseURL, ""), 200))
}

func invalidSchema(path, msg string) *tool.Error {
	at := ""
	if path != "" {
		at = " at " + tool.Clip(path, 120)
	}
	return &tool.Error{Kind: tool.Invalid, Op: "schema.Check", Msg: "schema" + at + ": " + msg, Path: path}
}
