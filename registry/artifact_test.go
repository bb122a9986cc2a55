package registry_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/tool"
)

func artifactSpec(source string) definition.ToolSpec {
	return spec("quote", func(s *definition.ToolSpec) {
		s.Implementation, s.Config = tool.Artifact, json.RawMessage(`{"source":"`+source+`"}`)
		s.Publish = true
	})
}

// Artifacts are pure, whatever is said of them, and reach nothing.
func TestArtifactsArePure(t *testing.T) {
	t.Parallel()

	b := setup(t)
	_, err := b.registry.Apply(t.Context(), b.ada, definition.Definition{Tool: new(artifactSpec("1"))})
	require.NoError(t, err)
	stored, err := b.registry.Get(t.Context(), b.ada, tool.Ref{Slug: "quote"})
	require.NoError(t, err)
	require.True(t, stored.Execution.Pure)
	require.Equal(t, tool.EgressNone, stored.EgressClass)
	again, err := b.registry.Apply(t.Context(), b.ada, definition.Definition{Tool: new(artifactSpec("1"))})
	require.NoError(t, err)
	require.Equal(t, definition.Unchanged, again.Action)

	for _, class := range []tool.Egress{tool.EgressReadOnly, tool.EgressWrite} {
		s := artifactSpec("1")
		s.EgressClass = class
		_, err := b.registry.Apply(t.Context(), b.ada, definition.Definition{Tool: &s})
		require.Equal(t, tool.Invalid, tool.KindOf(err))
		require.Equal(t, "/egress_class", tool.AsError(err).Path)
		require.ErrorContains(t, err, "no network")
	}
	s := artifactSpec("1")
	s.Execution.Lane = tool.LaneFast
	_, err = b.registry.Apply(t.Context(), b.ada, definition.Definition{Tool: &s})
	require.Equal(t, "/execution/lane", tool.AsError(err).Path,
		"an untrusted program never runs in the task of a workflow")
}

// A program that does not compile is not published, and one that is published
// already is not compiled again.
func TestCompilesBeforePublishing(t *testing.T) {
	t.Parallel()

	b := setup(t)
	compiled := 0
	r := registry.New(b.store, registry.Options{
		Types: registrytest.Types(executors.Type{
			Traits: tool.Traits{Implementation: tool.Artifact},
			Compile: func(_ context.Context, tenant tool.TenantID, config json.RawMessage) error {
				compiled++
				if tenant != b.ada.Tenant || string(config) != `{"source":"1"}` {
					return &tool.Error{Kind: tool.Invalid, Path: "/source", Msg: "the module does not compile"}
				}
				return nil
			},
		}),
	})
	draft := artifactSpec("(")
	draft.Publish = false
	_, err := r.Apply(t.Context(), b.ada, definition.Definition{Tool: &draft})
	require.NoError(t, err, "a draft may be unfinished")
	require.Zero(t, compiled)
	for _, publish := range []func() error{
		func() error { _, _, err := r.Publish(t.Context(), b.ada, tool.Ref{Slug: "quote"}); return err },
		func() error {
			_, err := r.Check(t.Context(), b.ada, definition.Definition{Tool: new(artifactSpec("("))})
			return err
		},
	} {
		err := publish()
		require.Equal(t, tool.Invalid, tool.KindOf(err))
		require.Equal(t, "/implementation_config/source", tool.AsError(err).Path)
	}
	compiled = 0
	for range 2 {
		_, err = r.Apply(t.Context(), b.ada, definition.Definition{Tool: new(artifactSpec("1"))})
		require.NoError(t, err)
	}
	require.Equal(t, 1, compiled)
}
