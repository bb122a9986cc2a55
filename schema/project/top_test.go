package project_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/schema/project"
)

// The top of a schema becomes an object with properties; nothing else of it changes.
func TestProjectSchema(t *testing.T) {
	t.Parallel()

	tests := map[string]struct{ raw, want string }{
		"Object": {
			`{"type":"object","properties":{"n":{"type":"integer","minimum":9007199254740993}},"required":["n"],"additionalProperties":false}`,
			`{"type":"object","properties":{"n":{"type":"integer","minimum":9007199254740993}},"required":["n"],"additionalProperties":false}`,
		},
		"Anything":    {`true`, `{"type":"object","properties":{}}`},
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

			p, err := project.Input(json.RawMessage(tt.raw), project.OpenAI)
			require.NoError(t, err)
			got, err := json.Marshal(p.Members())
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
	p, err := project.Input(json.RawMessage(raw), project.Anthropic)
	require.NoError(t, err)
	got, err := json.Marshal(p.Members())
	require.NoError(t, err)
	require.JSONEq(t, `{"type":"object","properties":{"a":{}}}`, string(got))
}
