package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

// ToolOptions are the options of a tool for the APIs of model providers: how it is declared to them.
// Providers that speak another API than an option is for ignore it.
type ToolOptions struct {
	OpenAI    OpenAIToolOptions    `json:"openai"`    // Chat Completions and Responses.
	Anthropic AnthropicToolOptions `json:"anthropic"` // Messages.
}

// OpenAIToolOptions are options of a function in OpenAI's APIs.
type OpenAIToolOptions struct {
	// Strict makes the function strict, or keeps it from being so. Nil leaves it to strict_tools of the
	// agent's model options.
	Strict *bool `json:"strict,omitempty"`
}

// AnthropicToolOptions are options of a tool in Anthropic's API.
type AnthropicToolOptions struct {
	// CacheControl caches the declarations up to and with this tool's.
	CacheControl *CacheControl `json:"cache_control,omitempty"`
	// EagerInputStreaming streams the arguments of calls before they are complete.
	EagerInputStreaming *bool `json:"eager_input_streaming,omitempty"`
}

// CacheControl is a mark up to which a provider caches a request.
type CacheControl struct {
	Type string `json:"type"`          // "ephemeral".
	TTL  string `json:"ttl,omitempty"` // "5m", the default, or "1h".
}

// ReadToolOptions parses the provider_options of a tool; empty ones are none. It fails with [tool.Invalid]
// and the JSON Pointer of the fault for an option that its API does not have.
func ReadToolOptions(raw json.RawMessage) (*ToolOptions, error) {
	if len(bytes.TrimSpace(raw)) == 0 || string(bytes.TrimSpace(raw)) == "null" {
		return nil, nil
	}
	var out ToolOptions
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(&out)
	if typeErr, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		path := ""
		if typeErr.Field != "" {
			path = "/" + strings.ReplaceAll(typeErr.Field, ".", "/")
		}
		return nil, toolOptionFault(path, "a "+typeErr.Value+" does not fit here")
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, toolOptionFault("", strings.TrimPrefix(err.Error(), "json: ")+
			": known are openai (strict) and anthropic (cache_control, eager_input_streaming)")
	}
	if c := out.Anthropic.CacheControl; c != nil {
		switch {
		case c.Type != "ephemeral":
			return nil, toolOptionFault("/anthropic/cache_control/type", "expected ephemeral")
		case !slices.Contains([]string{"", "5m", "1h"}, c.TTL):
			return nil, toolOptionFault("/anthropic/cache_control/ttl", "expected 5m or 1h")
		}
	}
	return &out, nil
}

func toolOptionFault(path, msg string) *tool.Error {
	return &tool.Error{Kind: tool.Invalid, Op: "agent.ReadToolOptions", Path: path, Msg: "provider_options: " + msg}
}
