package registry_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/tool"
)

// A built-in that tenants opt into is off until one switches it on, and an operator's later
// decision is kept.
func TestOptInBuiltins(t *testing.T) {
	t.Parallel()

	b := setup(t)
	spec := registry.BuiltinSpec{Key: "manageTools", Version: "1.0.0", OptIn: true, Definition: tool.Definition{
		Description: "Changes tools.", Implementation: tool.Internal,
		InputSchema: json.RawMessage(`{"type":"object","properties":{"action":{"type":"string"}}}`),
	}}
	changes, err := b.platform.SyncBuiltins(t.Context(), []registry.BuiltinSpec{spec})
	require.NoError(t, err)
	require.Equal(t, definition.Created, changes[0].Action)
	require.True(t, changes[0].Published)
	on := func(p tool.Principal) bool {
		found, overrides, err := b.registry.OverridesOf(t.Context(), p, tool.Ref{Slug: "manageTools"})
		require.NoError(t, err)
		enabled, _ := overrides.Enabled(found.Global())
		return enabled
	}
	require.False(t, on(b.ada))
	yes := true
	_, err = b.registry.Override(t.Context(), b.ada, tool.Ref{Slug: "manageTools"}, tool.Override{Enabled: &yes})
	require.NoError(t, err)
	require.True(t, on(b.ada))
	require.False(t, on(b.bob), "of another tenant")

	_, err = b.platform.OverrideForAll(t.Context(), tool.Ref{Slug: "manageTools"}, tool.Override{Enabled: &yes})
	require.NoError(t, err)
	spec.Version, spec.Definition.Description = "1.0.1", "Changes tools of the tenant."
	changes, err = b.platform.SyncBuiltins(t.Context(), []registry.BuiltinSpec{spec})
	require.NoError(t, err)
	require.Equal(t, definition.Updated, changes[0].Action)
	require.True(t, on(b.bob), "the platform decided since")
}
