package schema_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/schema/jsonvalue/jsonvaluetest"
	"github.com/toolcrib/toolcrib/tool"
)

// Arguments that a model or an MCP client wrote obey one rule, as they are, in
// a code fence and as JSON text, and no repair gets around it.
func TestArgumentsOfModelsObeyTheRule(t *testing.T) {
	t.Parallel()

	s, err := schema.New(0).Compile(json.RawMessage(`{"type":"object","required":["to"],"properties":{"to":{"type":"string"},"n":{"type":"number"}}}`))
	require.NoError(t, err)
	for _, c := range jsonvaluetest.Cases() {
		text, err := json.Marshal(c.Raw) // Invalid UTF-8 does not survive it.
		require.NoError(t, err)
		spellings := []string{c.Raw, "```json\n" + c.Raw + "\n```", c.Raw + "}", string(text)}
		if c.Name == "invalid UTF-8" {
			spellings = spellings[:3]
		}
		for _, raw := range spellings {
			got, _, err := s.Prepare(t.Context(), json.RawMessage(raw))
			if c.Canonical == "" {
				require.Equal(t, tool.Invalid, tool.KindOf(err), "%s: %s became %s", c.Name, raw, got)
				require.Contains(t, tool.AsError(err).Msg, c.Msg, c.Name)
				require.Empty(t, got)
				continue
			}
			require.NoError(t, err, "%s: %s", c.Name, raw)
			require.Equal(t, c.Canonical, string(got), c.Name)
		}
	}
}
