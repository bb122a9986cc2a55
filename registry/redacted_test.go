package registry_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/tool"
)

// What is shown in place of a secret does not become the secret.
func TestRedactedValuesAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, _, err := b.registry.Create(t.Context(), b.ada, spec("search", func(s *definition.ToolSpec) {
		s.Implementation, s.Config = tool.Custom, json.RawMessage(`{"list":[{"a/b":"[redacted]"}]}`)
	}))
	e := tool.AsError(err)
	require.Equal(t, tool.Invalid, e.Kind)
	require.Equal(t, "/implementation_config/list/0/a~1b", e.Path)

	_, _, err = b.registry.CreateAgent(t.Context(), b.ada, definition.AgentSpec{Slug: "desk"})
	require.NoError(t, err)
	want := definition.AgentSpec{Slug: "desk"}
	want.ModelOptions = json.RawMessage(`{"api_key":"[redacted]"}`)
	_, _, err = b.registry.UpdateAgent(t.Context(), b.ada, "desk", want)
	require.Equal(t, "/model_options/api_key", tool.AsError(err).Path)

	_, _, err = b.registry.Create(t.Context(), b.ada, spec("plainText", func(s *definition.ToolSpec) {
		s.Implementation, s.Config = tool.Custom, json.RawMessage(`{"note":"values shown as [redacted] are hidden"}`)
	}))
	require.NoError(t, err, "a text may speak of it")
}
