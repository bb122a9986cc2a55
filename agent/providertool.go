package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

// ProviderTool is a tool that the provider of a model runs on its own infrastructure, such as code
// execution or a web search. It is passed to the model unchanged. The platform never runs it, and
// refuses calls of it as a function.
type ProviderTool struct {
	Name     string          // Its slug.
	Provider string          // The model provider, as in an agent's model.
	Tool     json.RawMessage // In the format of the provider's API: an object with a type.
}

// MaxProviderTool bounds the description of a provider's tool, in bytes.
const MaxProviderTool = 16 << 10

// maxProviderName bounds the name of a model provider.
const maxProviderName = 64

// callable are the types of tool that a provider's caller must run.
var callable = []string{"function", "custom"}

// ReadProviderTool parses the configuration of a tool of implementation type provider:
// {"provider": "anthropic", "tool": {"type": "web_search_20250305", …}}. It fails with
// [tool.Invalid] and the JSON Pointer of the fault.
func ReadProviderTool(name string, config json.RawMessage) (ProviderTool, error) {
	var c struct {
		Type     tool.Implementation `json:"type"`
		Provider string              `json:"provider"`
		Tool     json.RawMessage     `json:"tool"`
	}
	dec := json.NewDecoder(bytes.NewReader(config))
	dec.DisallowUnknownFields()
	err := dec.Decode(&c)
	if typeErr, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && typeErr.Field != "" {
		return ProviderTool{}, providerFault("/"+strings.ReplaceAll(typeErr.Field, ".", "/"),
			"a "+typeErr.Value+" does not fit here")
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return ProviderTool{}, providerFault("", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return ProviderTool{}, providerFault("", "more than one JSON value")
	}
	switch {
	case c.Type != "" && c.Type != tool.Provider:
		return ProviderTool{}, providerFault("/type", fmt.Sprintf("%.40q is not provider", c.Type))
	case c.Provider == "":
		return ProviderTool{}, providerFault(
			"/provider",
			`want the model provider that runs the tool: what stands before the slash in an agent's model, such as "anthropic"`,
		)
	case len(c.Provider) > maxProviderName || strings.ContainsAny(c.Provider, "/ \t\r\n"):
		return ProviderTool{}, providerFault(
			"/provider",
			fmt.Sprintf("%.40q is not a name of a model provider: want the part before the slash in an agent's model",
				c.Provider),
		)
	}
	if err := checkProviderTool(c.Tool); err != nil {
		return ProviderTool{}, err
	}
	return ProviderTool{Name: name, Provider: c.Provider, Tool: c.Tool}, nil
}

func checkProviderTool(raw json.RawMessage) error {
	const want = `want the tool as the provider's API describes it, such as {"type": "web_search_20250305", "name": "web_search"}`
	if len(raw) > MaxProviderTool {
		return providerFault("/tool", fmt.Sprintf("it has %d bytes: at most %d", len(raw), MaxProviderTool))
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || members == nil {
		return providerFault("/tool", want)
	}
	var kind string
	if json.Unmarshal(members["type"], &kind) != nil || kind == "" {
		return providerFault("/tool/type", want)
	}
	if slices.Contains(callable, kind) {
		return providerFault(
			"/tool/type",
			fmt.Sprintf("a provider runs no tool of type %s by itself: use the implementation type that runs it", kind),
		)
	}
	return nil
}

func providerFault(path, msg string) *tool.Error {
	return &tool.Error{Kind: tool.Invalid, Op: "agent.ReadProviderTool", Path: path, Msg: msg}
}

// Type returns the tool's type in the provider's API.
func (t ProviderTool) Type() string { return t.member("type") }

// CalledAs returns the tool's name in the provider's answers; empty if its description has none.
func (t ProviderTool) CalledAs() string { return t.member("name") }

func (t ProviderTool) member(name string) string {
	var members map[string]json.RawMessage
	var text string
	if json.Unmarshal(t.Tool, &members) != nil || json.Unmarshal(members[name], &text) != nil {
		return ""
	}
	return text
}

// Fits fails with [tool.Invalid] for a model, "provider/name", of another provider than the tool's.
func (t ProviderTool) Fits(model string) error {
	if provider, _, _ := strings.Cut(model, "/"); provider != t.Provider {
		return &tool.Error{
			Kind: tool.Invalid, Op: "agent.Fits",
			Msg: fmt.Sprintf(
				"tool %q is run by the model provider %q, and the model %q is of another: take the tool away, or choose a "+
					"model of %s",
				t.Name, t.Provider, model, t.Provider,
			),
		}
	}
	return nil
}

// providerBlock is the media type of a [ProviderBlock].
const providerBlock = "application/vnd.toolcrib.provider-block+json"

// ProviderBlock returns a block of an assistant message with the raw output of a provider's own tool.
// It is sent back to models of the same provider only.
func ProviderBlock(provider string, raw json.RawMessage) tool.Content {
	return tool.Content{Type: tool.ContentJSON, JSON: raw, MIMEType: providerBlock, Name: provider}
}

// BlockProvider returns the provider of c if it is a [ProviderBlock].
func BlockProvider(c tool.Content) (provider string, ok bool) {
	return c.Name, c.Type == tool.ContentJSON && c.MIMEType == providerBlock
}
