package registry_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/tool"
)

// A definition written by hand keeps which document the tool was made of, unless
// it says null.
func TestSourceStays(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, ref := t.Context(), tool.Ref{Slug: "getOrder"}
	made := spec("getOrder", func(s *definition.ToolSpec) {
		s.Interaction.Annotations = json.RawMessage(`{"source":{"kind":"openapi","name":"Orders"}}`)
	})
	_, _, err := b.registry.Create(ctx, b.ada, made)
	require.NoError(t, err)
	for _, c := range []struct{ written, want string }{
		{``, `{"source":{"kind":"openapi","name":"Orders"}}`},
		{`{"team":"sales"}`, `{"source":{"kind":"openapi","name":"Orders"},"team":"sales"}`},
		{`{"source":{"kind":"openapi","name":"Shop"}}`, `{"source":{"kind":"openapi","name":"Shop"}}`},
		{`{"source":null,"team":"sales"}`, `{"team":"sales"}`},
		{`{"team":"sales"}`, `{"team":"sales"}`},
	} {
		s := spec("getOrder", func(s *definition.ToolSpec) { s.Interaction.Annotations = json.RawMessage(c.written) })
		_, err := b.registry.Apply(ctx, b.ada, definition.Definition{Tool: &s})
		require.NoError(t, err)
		head, err := b.registry.Get(ctx, b.ada, ref)
		require.NoError(t, err)
		require.JSONEq(t, c.want, string(head.Interaction.Annotations), c.written)
		change, err := b.registry.Apply(ctx, b.ada, definition.Definition{Tool: &s})
		require.NoError(t, err)
		require.Equal(t, definition.Unchanged, change.Action)
	}
}
