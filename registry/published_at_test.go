package registry_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/tool"
)

// The time of the first publication stays, whatever is published or edited
// afterwards; each version has the time of its own.
func TestPublishedAtIsSetOnce(t *testing.T) {
	t.Parallel()

	b := setup(t)
	now := noon
	r := registry.New(b.store, registry.Options{Resolver: b.resolver, Clock: func() time.Time { return now }})
	ref := tool.Ref{Slug: "findOrder"}
	draft, _, err := r.Create(t.Context(), b.ada, spec("findOrder"))
	require.NoError(t, err)
	require.Nil(t, draft.PublishedAt)
	now = now.Add(time.Hour)
	head, v, err := r.Publish(t.Context(), b.ada, ref)
	require.NoError(t, err)
	first := now
	require.Equal(t, first, *head.PublishedAt)
	require.Equal(t, first, *v.PublishedAt)

	now = now.Add(time.Hour)
	head, v, err = r.Publish(t.Context(), b.ada, ref)
	require.NoError(t, err)
	require.Equal(t, first, *head.PublishedAt, "the same again")
	require.Equal(t, first, *v.PublishedAt)
	edited, _, err := r.Update(t.Context(), b.ada, ref,
		spec("findOrder", version("1.0.1"), func(s *definition.ToolSpec) { s.Description = "Finds it." }))
	require.NoError(t, err)
	require.Equal(t, first, *edited.PublishedAt, "an edit")
	head, v, err = r.Publish(t.Context(), b.ada, ref)
	require.NoError(t, err)
	require.Equal(t, "1.0.1", v.Number)
	require.Equal(t, first, *head.PublishedAt, "another version")
	require.Equal(t, now, *v.PublishedAt)

	change, err := r.Apply(t.Context(), b.ada, definition.Definition{Tool: new(spec("sendMail", publish))})
	require.NoError(t, err)
	require.True(t, change.Published)
	applied, err := r.Get(t.Context(), b.ada, tool.Ref{Slug: "sendMail"})
	require.NoError(t, err)
	require.Equal(t, now, *applied.PublishedAt, "published by applying")
}
