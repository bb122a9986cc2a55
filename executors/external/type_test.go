package external_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/external"
	"github.com/toolcrib/toolcrib/tool"
)

// A tool that asks a person has no other answers than those of its form.
func TestInputRefusesWhatItCannotHave(t *testing.T) {
	t.Parallel()

	check := external.Input().CheckDefinition
	require.NoError(t, check(&tool.Definition{}))
	for path, d := range map[string]tool.Definition{
		"/output_schema":              {OutputSchema: json.RawMessage(`{"type":"object"}`)},
		"/interaction/default_result": {Interaction: tool.Interaction{DefaultResult: json.RawMessage(`{}`)}},
		"/interaction/is_async":       {Interaction: tool.Interaction{Async: true}},
	} {
		e := tool.AsError(check(&d))
		require.Equal(t, tool.Invalid, e.Kind)
		require.Equal(t, path, e.Path)
		require.Contains(t, e.Msg, "leave ")
	}
	config := external.Input().CheckConfig
	require.NoError(t, config(json.RawMessage(`{"image_hosts":["cdn.example.com"]}`), nil))
	require.Equal(t, "/image_hosts/0", tool.AsError(config(json.RawMessage(`{"image_hosts":["x y"]}`), nil)).Path)
}
