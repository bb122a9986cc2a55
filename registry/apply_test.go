package registry_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/tool"
)

func (b bench) apply(t *testing.T, s definition.ToolSpec) (definition.Change, error) {
	t.Helper()

	would, checkErr := b.registry.Check(t.Context(), b.ada, definition.Definition{Tool: &s})
	did, err := b.registry.Apply(t.Context(), b.ada, definition.Definition{Tool: &s})
	require.Equal(t, tool.KindOf(checkErr), tool.KindOf(err), "a check foretells")
	if err == nil && would.ID != did.ID {
		would.ID = did.ID // A new one gets its id when it is made.
	}
	require.Equal(t, would, did)
	return did, err
}

func TestApplyTool(t *testing.T) {
	t.Parallel()

	b := setup(t)
	change, err := b.apply(t, spec("findOrder"))
	require.NoError(t, err)
	require.Equal(t, definition.Created, change.Action)
	require.False(t, change.Published)
	require.Equal(t, "1.0.0", change.Version)

	change, err = b.apply(t, spec("findOrder"))
	require.NoError(t, err)
	require.Equal(t, definition.Unchanged, change.Action)

	change, err = b.apply(t, spec("findOrder", publish))
	require.NoError(t, err)
	require.Equal(t, definition.Updated, change.Action)
	require.True(t, change.Published)

	before, err := b.registry.Get(t.Context(), b.ada, tool.Ref{Slug: "findOrder"})
	require.NoError(t, err)
	change, err = b.apply(t, spec("findOrder", publish, version("1.0.0")))
	require.NoError(t, err)
	require.Equal(t, definition.Unchanged, change.Action)
	after, err := b.registry.Get(t.Context(), b.ada, tool.Ref{Slug: "findOrder"})
	require.NoError(t, err)
	require.Equal(t, before.Revision, after.Revision, "nothing is written")

	// Without a number the change finds its own; with one it is judged.
	wider := input(`{"type":"object","properties":{"id":{"type":"string"},"n":{"type":"integer"}}}`)
	_, err = b.apply(t, spec("findOrder", publish, wider, version("1.0.0")))
	registrytest.RequireRefused(t, err, tool.Conflict, "/version", "at least 1.1.0")
	change, err = b.apply(t, spec("findOrder", publish, wider))
	require.NoError(t, err)
	require.Equal(t, "1.1.0", change.Version)
	change, err = b.apply(t, spec("findOrder", publish, input(`{"type":"object","properties":{"n":{"type":"integer"}}}`)))
	require.NoError(t, err)
	require.Equal(t, "2.0.0", change.Version)

	// A change of authority needs no new version.
	change, err = b.apply(
		t,
		spec("findOrder", publish, input(`{"type":"object","properties":{"n":{"type":"integer"}}}`),
			func(s *definition.ToolSpec) { s.RequiredPermission = "orders.read" }),
	)
	require.NoError(t, err)
	require.Equal(t, definition.Updated, change.Action)
	require.Equal(t, "2.0.0", change.Version)
	require.False(t, change.Published)

	// What an operator has stopped, an old definition does not start again.
	_, err = b.registry.Disable(t.Context(), b.ada, tool.Ref{Slug: "findOrder"})
	require.NoError(t, err)
	_, err = b.apply(t, spec("findOrder", publish))
	registrytest.RequireRefused(t, err, tool.Conflict, "/status", "enable it")
}

// A definition that is refused leaves nothing behind.
func TestApplyWritesAllOrNothing(t *testing.T) {
	t.Parallel()

	b := setup(t)
	_, err := b.apply(t, spec("findOrder", publish, searching))
	registrytest.RequireRefused(t, err, tool.Conflict, "/implementation_type", "nothing here runs")
	_, err = b.registry.Get(t.Context(), b.ada, tool.Ref{Slug: "findOrder"})
	require.Equal(t, tool.NotFound, tool.KindOf(err))
}

func TestApplyAgent(t *testing.T) {
	t.Parallel()

	b := setup(t)
	_, err := b.apply(t, spec("findOrder", publish))
	require.NoError(t, err)
	desk := definition.AgentSpec{Slug: "desk", Publish: true, Definition: agent.Definition{
		Instructions: "Help.", Model: "scripted/desk", Tools: []tool.Ref{{Slug: "findOrder"}},
	}}
	apply := func() (definition.Change, error) {
		return b.registry.Apply(t.Context(), b.ada, definition.Definition{Agent: &desk})
	}
	would, err := b.registry.Check(t.Context(), b.ada, definition.Definition{Agent: &desk})
	require.NoError(t, err)
	require.Equal(t, definition.Created, would.Action)
	change, err := apply()
	require.NoError(t, err)
	require.Equal(t, definition.Created, change.Action)
	require.True(t, change.Published)
	change, err = apply()
	require.NoError(t, err)
	require.Equal(t, definition.Unchanged, change.Action)
	desk.Instructions = "Help briefly."
	change, err = apply()
	require.NoError(t, err)
	require.Equal(t, "1.0.1", change.Version)
	desk.Tools = []tool.Ref{{Slug: "missingTool"}}
	_, err = apply()
	registrytest.RequireRefused(t, err, tool.NotFound, "/tools", "missingTool")
	a, err := b.registry.GetAgent(t.Context(), b.ada, "desk")
	require.NoError(t, err)
	require.Equal(t, "findOrder", a.Tools[0].Slug)
}

func TestSyncBuiltins(t *testing.T) {
	t.Parallel()

	b := setup(t)
	builtin := registry.BuiltinSpec{Key: "datetime_utils", Version: "1.0.0", Definition: spec("datetime_utils").Definition}
	changes, err := b.platform.SyncBuiltins(t.Context(), []registry.BuiltinSpec{builtin})
	require.NoError(t, err)
	require.Equal(t, definition.Created, changes[0].Action)
	changes, err = b.platform.SyncBuiltins(t.Context(), []registry.BuiltinSpec{builtin})
	require.NoError(t, err)
	require.Equal(t, definition.Unchanged, changes[0].Action)

	got, err := b.registry.Get(t.Context(), b.ada, tool.Ref{Slug: "datetime_utils"})
	require.NoError(t, err)
	require.True(t, got.Global())
	require.Equal(t, tool.BucketBuiltIn, got.Bucket())
	_, err = b.registry.Disable(t.Context(), b.ada, tool.Ref{Slug: "datetime_utils"})
	require.Equal(t, tool.Denied, tool.KindOf(err))

	builtin.Definition.Description = "Other words."
	_, err = b.platform.SyncBuiltins(t.Context(), []registry.BuiltinSpec{builtin})
	require.Equal(t, tool.Conflict, tool.KindOf(err))
	builtin.Version = "1.0.1"
	changes, err = b.platform.SyncBuiltins(t.Context(), []registry.BuiltinSpec{builtin})
	require.NoError(t, err)
	require.True(t, changes[0].Published)

	change, err := b.apply(t, spec("datetime_utils", publish))
	require.NoError(t, err)
	require.Equal(t, definition.Created, change.Action)
	require.Contains(t, change.Warnings[0], "hides the platform's tool")
	_, err = b.registry.SyncBuiltins(t.Context(), []registry.BuiltinSpec{
		builtin, {Key: "other", Definition: builtin.Definition},
	})
	require.Error(t, err, "only a store opened for the platform writes global tools")
}

// TestBuiltinsAreNotCloned proves that a tenant can't make a tool of its own of
// a built-in, which would outlive the operator's disabling the platform's.
func TestBuiltinsAreNotCloned(t *testing.T) {
	t.Parallel()

	b := setup(t)
	builtin := registry.BuiltinSpec{Key: "http_request", Version: "1.0.0", Definition: spec("http_request").Definition}
	_, err := b.platform.SyncBuiltins(t.Context(), []registry.BuiltinSpec{builtin})
	require.NoError(t, err)
	_, _, err = b.registry.Create(t.Context(), b.ada, spec("plain"))
	require.NoError(t, err)
	for _, slug := range []string{"http_request", "fetch", "plain"} {
		for name, write := range map[string]func(definition.ToolSpec) error{
			"create": func(s definition.ToolSpec) error { _, _, err := b.registry.Create(t.Context(), b.ada, s); return err },
			"update": func(s definition.ToolSpec) error {
				_, _, err := b.registry.Update(t.Context(), b.ada, tool.Ref{Slug: "plain"}, s)
				return err
			},
			"apply": func(s definition.ToolSpec) error { s.Publish = true; _, err := b.apply(t, s); return err },
			"import": func(s definition.ToolSpec) error {
				got, err := b.registry.Import(t.Context(), b.ada, []definition.ToolSpec{s})
				require.NoError(t, err)
				require.NotNil(t, got[0].Err)
				return got[0].Err
			},
		} {
			s := spec(slug, func(s *definition.ToolSpec) { s.BuiltinKey = "http_request" })
			if name == "update" {
				s.Slug = ""
			}
			registrytest.RequireRefused(t, write(s), tool.Invalid, "/builtin_key", "only the platform's own tools")
		}
	}
	own, err := b.registry.List(t.Context(), b.ada, registry.ToolQuery{Limit: 10})
	require.NoError(t, err)
	for _, x := range own {
		require.True(t, x.Global() || x.BuiltinKey == "", x.Slug)
	}
}

func TestImport(t *testing.T) {
	t.Parallel()

	b := setup(t)
	off, on := false, true
	tools := []definition.ToolSpec{
		{
			Slug: "get_weather", Active: &on,
			Definition: tool.Definition{Config: json.RawMessage(`{"url":"https://example.com"}`)},
		},
		{Slug: "old_tool", Active: &off, Definition: tool.Definition{Implementation: tool.Internal}},
		{Slug: "systemTool", System: true},
		{Slug: "artifactTool", ArtifactID: "a1"},
		{Slug: "codeTool", Definition: spec("", searching).Definition},
		{Slug: "not a slug"},
	}
	checked, err := b.registry.CheckImport(t.Context(), b.ada, tools)
	require.NoError(t, err)
	_, err = b.registry.Get(t.Context(), b.ada, tool.Ref{Slug: "get_weather"})
	require.Equal(t, tool.NotFound, tool.KindOf(err), "a check writes nothing")
	got, err := b.registry.Import(t.Context(), b.ada, tools)
	require.NoError(t, err)
	require.Len(t, got, len(tools))
	for i := range got {
		require.Equal(t, got[i].Action, checked[i].Action, tools[i].Slug)
		require.Equal(t, got[i].Warnings, checked[i].Warnings, tools[i].Slug)
		require.Equal(t, got[i].Err == nil, checked[i].Err == nil, tools[i].Slug)
	}
	want := []struct {
		status tool.Status
		impl   tool.Implementation
	}{
		{tool.Published, tool.HTTP},
		{tool.Disabled, tool.Internal},
		{tool.Published, tool.Internal},
		{tool.Draft, tool.Artifact},
		{tool.Draft, tool.Provider},
	}
	for i, w := range want {
		require.Nil(t, got[i].Err, "%s: %v", tools[i].Slug, got[i].Err)
		stored, err := b.registry.Get(t.Context(), b.ada, tool.Ref{Slug: tools[i].Slug})
		require.NoError(t, err)
		require.Equal(t, w.status, stored.Status, stored.Slug)
		require.Equal(t, w.impl, stored.Implementation, stored.Slug)
		require.Equal(t, "1.0.0", stored.Version)
	}
	require.Contains(t, got[4].Warnings[len(got[4].Warnings)-1],
		"imported as a draft: nothing here runs tools of type provider")
	require.Equal(t, tool.Invalid, got[5].Err.Kind)

	again, err := b.registry.Import(t.Context(), b.ada, tools[:2])
	require.NoError(t, err)
	require.Equal(t, definition.Unchanged, again[0].Action)
	require.Equal(t, definition.Unchanged, again[1].Action)
}
