package builtins_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/builtins"
	"github.com/toolcrib/toolcrib/registry/manage"
	"github.com/toolcrib/toolcrib/tool"
)

// noTools answers the arguments of calls as warnings.
type noTools struct{ err error }

func (n noTools) Manage(_ context.Context, call *tool.Call) (manage.Answer, error) {
	return manage.Answer{Warnings: []string{string(call.Arguments)}}, n.err
}

// One flat schema has every action and field that requests may have.
func TestManageToolsSchemaIsFlat(t *testing.T) {
	t.Parallel()

	for _, s := range builtins.New(builtins.Config{Tools: noTools{}}).Specs() {
		if s.Key != manage.Builtin {
			continue
		}
		require.True(t, s.OptIn)
		require.NotNil(t, s.Definition.Interaction.Confirmation)
		require.NotEmpty(t, s.Definition.Interaction.Confirmation.Permission, "callers cannot confirm it themselves")
		var schema struct {
			OneOf      json.RawMessage `json:"oneOf"` //nolint:tagliatelle // A keyword of JSON Schema.
			Required   []string        `json:"required"`
			Properties map[string]struct {
				Enum []manage.Action `json:"enum"`
			} `json:"properties"`
		}
		require.NoError(t, json.Unmarshal(s.Definition.InputSchema, &schema))
		require.Empty(t, schema.OneOf)
		require.Equal(t, []string{"action"}, schema.Required)
		require.Equal(t, manage.Actions(), schema.Properties["action"].Enum)
		fields := []string{"action"}
		for _, action := range manage.Actions() {
			fields = append(fields, action.Fields()...)
		}
		for name := range schema.Properties {
			require.Contains(t, fields, name, "no action takes it")
		}
		for _, name := range fields {
			require.Contains(t, schema.Properties, name)
		}
		return
	}
	t.Fatal("manageTools is missing")
}

func TestListToolsOnlyReads(t *testing.T) {
	t.Parallel()

	b := newBench(t, nil)
	cfg := builtins.Config{Tools: noTools{}}
	for arguments, want := range map[string]string{
		`{}`:                        `{"action":"list"}`,
		`{"search":"a","limit":3}`:  `{"action":"list","limit":3,"search":"a"}`,
		`{"slug":"a","search":"b"}`: `{"action":"get","slug":"a"}`,
	} {
		out, _ := b.ok(t, cfg, "listTools", arguments)
		asked, _ := out["warnings"].([]any)
		require.Len(t, asked, 1)
		text, _ := asked[0].(string)
		require.JSONEq(t, want, text)
	}
}

func TestManageToolsRefusesInWords(t *testing.T) {
	t.Parallel()

	b := newBench(t, nil)
	err := &tool.Error{Kind: tool.Invalid, Path: "/slug", Msg: "expected a letter"}
	require.Equal(t, "/slug: expected a letter", b.no(t, builtins.Config{Tools: noTools{err}}, "manageTools", `{"action":"list"}`))
}
