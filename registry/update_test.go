package registry_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/tool"
)

// An edit replaces every part of a draft: what it leaves out is what it is for
// a new tool. No way of saying so publishes it.
func TestUpdateReplacesEveryPart(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ref := tool.Ref{Slug: "findOrder"}
	made, _, err := b.registry.Create(t.Context(), b.ada, spec("findOrder"))
	require.NoError(t, err)

	want := definition.ToolSpec{Slug: "findOrder", Version: "1.1.0", Definition: tool.Definition{
		Name: "Find", Implementation: tool.HTTP, Config: json.RawMessage(`{"url":"https://example.com/orders"}`),
		InputSchema:  json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`),
		OutputSchema: json.RawMessage(`{"type":"object","properties":{"total":{"type":"number"}}}`),
		Execution:    tool.Execution{Pure: true, TimeoutSeconds: 7},
	}, Policy: tool.Policy{EgressClass: tool.EgressReadOnly, PermissionPolicy: tool.PermissionAuto}}
	_, _, err = b.registry.Update(t.Context(), b.ada, ref, want)
	require.NoError(t, err)
	got, err := b.registry.Get(t.Context(), b.ada, ref)
	require.NoError(t, err)
	require.Equal(t, want.Definition, got.Definition)
	require.Equal(t, want.Policy, got.Policy)
	require.Equal(t, "1.1.0", got.Version)
	require.Equal(t, []any{made.ID, made.Slug, tool.Draft, true}, []any{got.ID, got.Slug, got.Status, got.Active})

	inactive := false
	linked := definition.ToolSpec{ArtifactID: "a-1", ArtifactVersion: "3", Status: tool.Disabled, Active: &inactive}
	_, _, err = b.registry.Update(t.Context(), b.ada, ref, linked)
	require.NoError(t, err)
	got, err = b.registry.Get(t.Context(), b.ada, ref)
	require.NoError(t, err)
	require.Equal(t, []string{"a-1", "3"}, []string{got.ArtifactID, got.ArtifactVersion})
	require.Equal(t, tool.Artifact, got.Implementation)
	require.Equal(t, tool.Disabled, got.Status)
	require.False(t, got.Active)
	require.Zero(t, got.Execution.TimeoutSeconds, "what is left out is what it is for a new tool")
	_, _, err = b.registry.Update(t.Context(), b.ada, ref,
		spec("findOrder", func(s *definition.ToolSpec) { s.Status = tool.Draft }))
	require.NoError(t, err)
	got, err = b.registry.Get(t.Context(), b.ada, ref)
	require.NoError(t, err)
	require.Empty(t, got.ArtifactID+got.ArtifactVersion, "the link is taken off")
	require.Equal(t, tool.Draft, got.Status)

	for name, edit := range map[string]func(*definition.ToolSpec){
		"status": func(s *definition.ToolSpec) { s.Status = tool.Published }, "publish": publish,
	} {
		_, _, err = b.registry.Update(t.Context(), b.ada, ref, spec("findOrder", edit))
		registrytest.RequireRefused(t, err, tool.Conflict, "/status", "then publish it")
		after, err := b.registry.Get(t.Context(), b.ada, ref)
		require.NoError(t, err)
		require.Equal(t, got, after, "%s: what is refused changes nothing", name)
	}
	require.Nil(t, got.PublishedAt)
	versions, err := b.registry.Versions(t.Context(), b.ada, ref)
	require.NoError(t, err)
	require.Empty(t, versions)
}
