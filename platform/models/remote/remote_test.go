package remote_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/models/remote"
)

// Every name gets one that is allowed and its own, and finds its way back.
func TestNames(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("x", 65)
	ours := []string{"getOrder", "get.order", "get/order", "größe", long, long + "y", strings.Repeat("ü", 200), "a"}
	req := &agent.ModelRequest{Messages: []agent.Message{{Calls: []agent.Call{{Name: "from the transcript"}, {Name: ""}}}}}
	for _, name := range ours {
		req.Tools = append(req.Tools, agent.ToolSpec{Name: name})
	}
	names := remote.NewNames(req)
	seen := make(map[string]bool)
	for _, name := range append(ours, "from the transcript", "") {
		wire := names.Wire(name)
		require.Regexp(t, `^[a-zA-Z0-9_-]{1,64}$`, wire)
		require.False(t, seen[wire], wire)
		seen[wire] = true
		require.Equal(t, name, names.Ours(wire))
		require.Equal(t, wire, remote.NewNames(req).Wire(name), "the same at every turn")
	}
	require.Equal(t, "getOrder", names.Wire("getOrder"))
	require.Equal(t, "made_up", names.Ours("made_up"))

	// A tool may be called what another would be made into.
	// What the provider calls a tool of its own, ours are not called; a call of
	// that name is one of the provider's tool.
	names = remote.NewNames(&agent.ModelRequest{
		Tools: []agent.ToolSpec{{Name: "web_search"}},
		ProviderTools: []agent.ProviderTool{
			{Name: "searchWeb", Tool: json.RawMessage(`{"type":"x","name":"web_search"}`)},
			{Name: "run", Tool: json.RawMessage(`{"type":"y"}`)},
		},
	})
	require.Equal(t, "searchWeb", names.Ours("web_search"))
	require.Regexp(t, "^web_search_[0-9a-f]{8}$", names.Wire("web_search"))
	require.Equal(t, "web_search", names.Ours(names.Wire("web_search")))

	taken := remote.NewNames(&agent.ModelRequest{Tools: []agent.ToolSpec{{Name: "get.order"}}}).Wire("get.order")
	names = remote.NewNames(&agent.ModelRequest{Tools: []agent.ToolSpec{{Name: "get.order"}, {Name: taken}}})
	require.Equal(t, taken, names.Wire(taken))
	require.NotEqual(t, taken, names.Wire("get.order"))
	require.Equal(t, "get.order", names.Ours(names.Wire("get.order")))
}

func TestProjectSchema(t *testing.T) {
	t.Parallel()

	tests := map[string]struct{ raw, want string }{
		"Object": {
			`{"type":"object","properties":{"n":{"type":"integer","minimum":9007199254740993}},"required":["n"],"additionalProperties":false}`,
			`{"type":"object","properties":{"n":{"type":"integer","minimum":9007199254740993}},"required":["n"],"additionalProperties":false}`,
		},
		"Anything":    {`true`, `{"type":"object","properties":{}}`},
		"Broken":      {`{`, `{"type":"object","properties":{}}`},
		"NoTypeAtAll": {`{"$schema":"x","$id":"y","properties":{"a":{}}}`, `{"type":"object","properties":{"a":{}}}`},
		"OneOf": {
			`{"oneOf":[{"properties":{"a":{},"b":{}},"required":["a","b"]},{"properties":{"a":{},"c":{}},"required":["c","a"]}],"not":{"required":["d"]}}`,
			`{"type":"object","properties":{"a":{},"b":{},"c":{}},"required":["a"]}`,
		},
		"AllOf": {
			`{"allOf":[{"properties":{"a":{}},"required":["a"]},{"properties":{"b":{}},"required":["b"]},true],"required":["z"]}`,
			`{"type":"object","properties":{"a":{},"b":{}},"required":["z","a","b"]}`,
		},
		"Reference": {
			`{"$ref":"#/$defs/a~1b","$defs":{"a/b":{"properties":{"n":{"$ref":"#/$defs/n"}},"required":["n"]},"n":{"type":"number"}}}`,
			`{"type":"object","properties":{"n":{"$ref":"#/$defs/n"}},"required":["n"],"$defs":{"a/b":{"properties":{"n":{"$ref":"#/$defs/n"}},"required":["n"]},"n":{"type":"number"}}}`,
		},
		"WhatFormsRead": {
			`{"type":"object","x-toolcrib-field":{"order":["b","a"]},"properties":{"a":{"type":"string","x-toolcrib-field":{"display":"textarea"}},"b":{"type":"number"}}}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"number"}}}`,
		},
		"ReferenceToItself": {`{"$ref":"#","properties":{"a":{}}}`, `{"type":"object","properties":{"a":{}}}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := json.Marshal(remote.ProjectSchema(json.RawMessage(tt.raw)))
			require.NoError(t, err)
			require.JSONEq(t, tt.want, string(got))
			if strings.Contains(tt.want, "9007199254740993") {
				require.Contains(t, string(got), "9007199254740993", "numbers lose nothing")
			}
		})
	}
}

// A schema that refers to itself over and over costs no more than its size.
func TestProjectSchemaIsBounded(t *testing.T) {
	t.Parallel()

	branch := `{"$ref":"#"},`
	raw := `{"properties":{"a":{}},"anyOf":[` + strings.TrimSuffix(strings.Repeat(branch, 1000), ",") + `]}`
	got, err := json.Marshal(remote.ProjectSchema(json.RawMessage(raw)))
	require.NoError(t, err)
	require.JSONEq(t, `{"type":"object","properties":{"a":{}}}`, string(got))
}

func TestArguments(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		``: `{}`, ` `: `{}`, `{"a":1}`: `{"a":1}`, `[1]`: `[1]`, `"x"`: `"x"`, `{'a'`: `"{'a'"`, "\xff": `"\ufffd"`,
	} {
		require.Equal(t, want, string(remote.ReadArguments(text)), text)
	}
	for raw, want := range map[string]string{
		`{ "a" : 9007199254740993 }`: `{"a":9007199254740993}`, `[1]`: `{"malformed_arguments":"[1]"}`,
		`"{'a'"`: `{"malformed_arguments":"{'a'"}`, ``: `{"malformed_arguments":""}`, `{`: `{"malformed_arguments":"{"}`,
	} {
		require.JSONEq(t, want, string(remote.WriteArguments(json.RawMessage(raw))), raw)
	}
}
