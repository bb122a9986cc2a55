package builtins_test

import (
	"encoding/json"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/builtins"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/tool"
)

func TestSpecs(t *testing.T) {
	t.Parallel()

	gate, err := egress.New(egress.Config{})
	require.NoError(t, err)
	t.Cleanup(gate.Close)
	c := builtins.New(builtins.Config{Gate: gate})
	var keys []string
	for _, s := range c.Specs() {
		keys = append(keys, s.Key)
		require.True(t, tool.ValidSlug(s.Key))
		require.Equal(t, tool.Internal, s.Definition.Implementation)
		require.True(t, s.Policy.EgressClass.Valid())
		require.NotEqual(t, tool.EgressWrite, s.Policy.EgressClass, "a built-in for everyone changes nothing outside")
		require.NotEmpty(t, s.Definition.Description)
		for _, raw := range []json.RawMessage{s.Definition.InputSchema, s.Definition.OutputSchema} {
			var schema jsonschema.Schema
			require.NoError(t, json.Unmarshal(raw, &schema), s.Key)
			_, err := schema.Resolve(nil)
			require.NoError(t, err, s.Key)
		}
		_, ok := c.Lookup(s.Key)
		require.True(t, ok)
	}
	require.Equal(t, []string{"datetime_utils", "http_request"}, keys)
	_, ok := c.Lookup("absent")
	require.False(t, ok)
	require.Len(t, builtins.New(builtins.Config{}).Specs(), 1, "without a way out, none that calls out")
}
