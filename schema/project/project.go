package project

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/schema/field"
	"github.com/toolcrib/toolcrib/tool"
)

// Dialect is the JSON Schema of a provider's API.
type Dialect string

// Dialects.
const (
	// OpenAI is that of functions in Chat Completions: any schema with an object at its top.
	OpenAI Dialect = "openai"
	// OpenAIStrict is that of functions with "strict": closed objects, all properties required.
	// A schema that it cannot say without loss is refused.
	OpenAIStrict Dialect = "openai_strict"
	// Anthropic is that of the Messages API: any schema with an object at its top.
	Anthropic Dialect = "anthropic"
	// Gemini is that of Google's models, a subset of OpenAPI 3.0 without references.
	Gemini Dialect = "gemini"
)

// Dialects lists every dialect.
func Dialects() []Dialect { return []Dialect{OpenAI, OpenAIStrict, Anthropic, Gemini} }

// Loss is a part of a schema that a projection leaves out.
type Loss struct {
	Path    string // JSON Pointer into the schema: of the subschema that has the keyword.
	Keyword string
}

// String returns "keyword" or "keyword at /path".
func (l Loss) String() string {
	if l.Path == "" {
		return l.Keyword
	}
	return l.Keyword + " at " + tool.Clip(l.Path, 120)
}

// Projection is a schema in a dialect. Its top is an object with properties.
type Projection struct {
	Schema json.RawMessage
	Losses []Loss // In the order of their paths.
}

// Members returns the members of the schema, each as JSON: an SDK's encoder would turn numbers
// that do not fit a float into strings.
func (p Projection) Members() map[string]any {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(p.Schema, &members) // It was encoded from an object.
	out := make(map[string]any, len(members))
	for name, raw := range members {
		out[name] = raw
	}
	return out
}

// maxNodes bounds the subschemas of a projection: references that are written out may
// multiply.
const maxNodes = 4096

// Input returns a tool's input schema in a dialect. An empty schema accepts any object. It
// fails with tool.Invalid for what is no JSON Schema of an object, and where the dialect
// cannot say it; then the message has the reason.
func Input(raw json.RawMessage, d Dialect) (Projection, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("true")
	}
	dec := json.NewDecoder(bytes.NewReader(field.Bare(raw)))
	dec.UseNumber()
	var root any
	if err := dec.Decode(&root); err != nil {
		return Projection{}, invalid("it is not JSON")
	}
	top, ok := root.(map[string]any)
	if !ok && root != true {
		return Projection{}, invalid("it accepts no object")
	}
	if kinds := typesOf(top["type"]); len(kinds) > 0 && !slices.Contains(kinds, "object") {
		return Projection{}, invalid("it accepts no object")
	}
	p := &projector{root: top, nodes: maxNodes}
	out := p.top(top)
	var err error
	switch d {
	case OpenAI, Anthropic:
	case OpenAIStrict:
		out, err = p.strictTop(out)
	case Gemini:
		out, err = p.geminiTop(out)
	}
	if err != nil {
		return Projection{}, err
	}
	slices.SortStableFunc(p.losses, func(a, b Loss) int { return strings.Compare(a.Path, b.Path) })
	return Projection{Schema: encode(out), Losses: p.losses}, nil
}

// projector is the state of one projection.
type projector struct {
	root   map[string]any
	losses []Loss
	nodes  int // Subschemas that may still be written.
}

func (p *projector) lose(path, keyword string) {
	if l := (Loss{path, keyword}); !slices.Contains(p.losses, l) {
		p.losses = append(p.losses, l)
	}
}

func invalid(msg string) *tool.Error {
	return &tool.Error{Kind: tool.Invalid, Op: "project.Input", Msg: "input schema: " + msg}
}

func inexpressible(path, keyword string) *tool.Error {
	return invalid(fmt.Sprintf("the dialect cannot say %s", Loss{path, keyword}))
}

func encode(v any) json.RawMessage {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // It was decoded from JSON.
	return bytes.TrimSpace(out.Bytes())
}

// typesOf returns the types that the value of "type" lists.
func typesOf(v any) []string {
	if one, ok := v.(string); ok {
		return []string{one}
	}
	return texts(v)
}

func texts(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, item := range list {
		if text, ok := item.(string); ok {
			out = append(out, text)
		}
	}
	return out
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
