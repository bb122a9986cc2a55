package remote

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/nearest"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
	"github.com/toolcrib/toolcrib/tool"
)

// Options reads the model options of an agent. A provider reads each option that
// it supports by name, in any order, and then gets the first error with Err: an
// option that was not read is unknown.
type Options struct {
	provider string
	members  map[string]json.RawMessage
	known    []string
	err      error
}

// ReadOptions returns a reader of raw, which is a JSON object or empty.
func ReadOptions(provider string, raw json.RawMessage) *Options {
	o := &Options{provider: provider}
	if len(bytes.TrimSpace(raw)) > 0 && (json.Unmarshal(raw, &o.members) != nil) {
		o.fail("", "they are not a JSON object")
	}
	return o
}

// Err returns the first error in the options, as [tool.Invalid] with the JSON
// Pointer of the option below the agent's definition.
func (o *Options) Err() error {
	for _, name := range slices.Sorted(maps.Keys(o.members)) {
		if !slices.Contains(o.known, name) {
			o.fail(name, "unknown option; "+suggestion(name, o.known))
		}
	}
	return o.err
}

func (o *Options) fail(name, msg string) {
	if o.err != nil {
		return
	}
	path := "/model_options"
	if name != "" {
		path += "/" + jsonpointer.Escape(name)
		msg = fmt.Sprintf("%q: %s", name, msg)
	}
	o.err = &tool.Error{
		Kind: tool.Invalid, Op: "models." + o.provider, Path: path,
		Msg: fmt.Sprintf("model options of the provider %q: %s", o.provider, msg),
	}
}

// take reads an option into v and reports whether it is set. A null is not.
func (o *Options) take(name string, v any, want string) bool {
	o.known = append(o.known, name)
	raw, ok := o.members[name]
	if !ok || string(bytes.TrimSpace(raw)) == "null" {
		return false
	}
	if json.Unmarshal(raw, v) != nil {
		o.fail(name, "it is not "+want)
		return false
	}
	return true
}

// Float reads a number between low and high, or returns nil.
func (o *Options) Float(name string, low, high float64) *float64 {
	var v float64
	want := fmt.Sprintf("a number from %g to %g", low, high)
	if !o.take(name, &v, want) {
		return nil
	}
	if v < low || v > high {
		o.fail(name, "it is not "+want)
	}
	return &v
}

// Int reads a whole number of at least low, or returns nil.
func (o *Options) Int(name string, low int64) *int64 {
	var v int64
	want := fmt.Sprintf("a whole number of at least %d", low)
	if !o.take(name, &v, want) {
		return nil
	}
	if v < low {
		o.fail(name, "it is not "+want)
	}
	return &v
}

// Bool reads true or false, or returns nil.
func (o *Options) Bool(name string) *bool {
	var v bool
	if !o.take(name, &v, "true or false") {
		return nil
	}
	return &v
}

// Word reads a text that is one of words, or any if there are none. It returns
// an empty text for an option that is not set.
func (o *Options) Word(name string, words ...string) string {
	var v string
	if !o.take(name, &v, "a text") {
		return ""
	}
	if v == "" || len(words) > 0 && !slices.Contains(words, v) {
		o.fail(name, "it is not one of "+strings.Join(words, ", "))
	}
	return v
}

// Texts reads a text or a list of at most limit texts, none of them empty.
func (o *Options) Texts(name string, limit int) []string {
	want := fmt.Sprintf("a text, or a list of at most %d texts", limit)
	var raw json.RawMessage
	if !o.take(name, &raw, want) {
		return nil
	}
	var one string
	var all []string
	if json.Unmarshal(raw, &one) == nil {
		all = []string{one}
	} else if json.Unmarshal(raw, &all) != nil {
		o.fail(name, "it is not "+want)
	}
	if len(all) > limit || slices.Contains(all, "") {
		o.fail(name, "it is not "+want)
	}
	return all
}

// Choice is which tools a model must call. The zero Choice lets the model decide.
type Choice struct {
	Mode string // "auto", "none", "required", or empty.
	Tool string // The one to call, by our name; Mode is empty then.
}

// Choice reads tool_choice: "auto", "none", "required" or {"tool": "<name>"},
// the name being one of tools.
func (o *Options) Choice(tools []string) Choice {
	const name = "tool_choice"
	const want = `"auto", "none", "required" or {"tool": "<name>"}`
	var raw json.RawMessage
	if !o.take(name, &raw, want) {
		return Choice{}
	}
	var c Choice
	var named struct {
		Tool string `json:"tool"`
	}
	switch {
	case json.Unmarshal(raw, &c.Mode) == nil:
		if c.Mode != "auto" && c.Mode != "none" && c.Mode != "required" {
			o.fail(name, "it is not "+want)
		}
	case json.Unmarshal(raw, &named) == nil && named.Tool != "":
		if c.Tool = named.Tool; !slices.Contains(tools, c.Tool) {
			o.fail(name, fmt.Sprintf("the agent has no tool %q", c.Tool))
		}
	default:
		o.fail(name, "it is not "+want)
	}
	return c
}

// APIOption is the model option that names the API of a provider that has more
// than one.
const APIOption = "api"

// OpenAI's APIs, as [APIOption] names them.
const (
	ChatCompletions = "chat_completions"
	Responses       = "responses"
)

// API reads [APIOption], which is empty if it is not set.
func (o *Options) API() string { return o.Word(APIOption, ChatCompletions, Responses) }

// ToolNames lists the names of tools, for [Options.Choice].
func ToolNames(tools []ProjectedTool) []string {
	out := make([]string, len(tools))
	for i, t := range tools {
		out[i] = t.Name
	}
	return out
}

// suggestion names the most similar option, or lists all options.
func suggestion(name string, known []string) string {
	if meant := nearest.Name(name, known); meant != "" {
		return fmt.Sprintf("did you mean %q?", meant)
	}
	return "the options are " + strings.Join(slices.Sorted(slices.Values(known)), ", ")
}
