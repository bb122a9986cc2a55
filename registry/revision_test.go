package registry_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/tool"
)

// Whoever knows an older revision changes nothing, in any way.
func TestChangesAtARevision(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first, _, err := b.registry.Create(t.Context(), b.ada, spec("search"))
	require.NoError(t, err)
	ref := tool.Ref{ID: first.ID}
	second, _, err := b.registry.At(first.Revision).Update(t.Context(), b.ada, ref, spec("search"))
	require.NoError(t, err)
	require.Greater(t, second.Revision, first.Revision)

	stale := b.registry.At(first.Revision)
	for name, change := range map[string]func() error{
		"update":    func() error { _, _, err := stale.Update(t.Context(), b.ada, ref, spec("search")); return err },
		"publish":   func() error { _, _, err := stale.Publish(t.Context(), b.ada, ref); return err },
		"version":   func() error { _, _, err := stale.Version(t.Context(), b.ada, ref, "2.0.0"); return err },
		"disable":   func() error { _, err := stale.Disable(t.Context(), b.ada, ref); return err },
		"enable":    func() error { _, err := stale.Enable(t.Context(), b.ada, ref); return err },
		"deprecate": func() error { _, err := stale.Deprecate(t.Context(), b.ada, ref); return err },
	} {
		err := change()
		require.Equal(t, tool.Conflict, tool.KindOf(err), name)
		require.ErrorIs(t, err, definition.ErrChanged, name)
	}
	_, _, err = b.registry.At(0).Publish(t.Context(), b.ada, ref)
	require.NoError(t, err, "zero is any")
}

// The same for agents.
func TestAgentChangesAtARevision(t *testing.T) {
	t.Parallel()
	b := setup(t)
	want := definition.AgentSpec{Slug: "desk"}
	want.Model = "scripted/desk"
	first, _, err := b.registry.CreateAgent(t.Context(), b.ada, want)
	require.NoError(t, err)
	_, _, err = b.registry.At(first.Revision).UpdateAgent(t.Context(), b.ada, "desk", want)
	require.NoError(t, err)

	stale := b.registry.At(first.Revision)
	for name, change := range map[string]func() error{
		"update":  func() error { _, _, err := stale.UpdateAgent(t.Context(), b.ada, "desk", want); return err },
		"publish": func() error { _, _, err := stale.PublishAgent(t.Context(), b.ada, "desk"); return err },
		"version": func() error { _, _, err := stale.VersionAgent(t.Context(), b.ada, "desk", "2.0.0"); return err },
		"disable": func() error { _, err := stale.DisableAgent(t.Context(), b.ada, "desk"); return err },
		"enable":  func() error { _, err := stale.EnableAgent(t.Context(), b.ada, "desk"); return err },
	} {
		require.ErrorIs(t, change(), definition.ErrChanged, name)
	}
}
