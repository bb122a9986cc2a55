package definition_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/tool"
)

// What models of a provider do not see of an input schema is told when it is applied.
func TestProjectionWarnings(t *testing.T) {
	t.Parallel()

	for raw, want := range map[string]string{
		`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`: "",
		`{"type":"object","properties":{"a":{"type":"string","not":{"const":"x"}}}}`: "/input_schema: Google's models do not " +
			"see: not at /properties/a; arguments are checked against it all the same",
		`{"type":"object","properties":{"a":{"type":"string"}},"if":{"required":["a"]}}`: "/input_schema: models do not see: if;",
		`{"type":"array"}`: "models are not offered the tool: input schema: it accepts no object",
	} {
		s := definition.ToolSpec{Slug: "getOrder", Definition: tool.Definition{
			Description: "Gets an order.", InputSchema: json.RawMessage(raw), Implementation: tool.HTTP,
		}}
		got := strings.Join(s.Warnings(), "\n")
		if want == "" {
			require.Empty(t, got)
			continue
		}
		require.Contains(t, got, want)
	}
}
