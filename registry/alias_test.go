package registry_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/tool"
)

func interaction(i tool.Interaction) func(*definition.ToolSpec) {
	return func(s *definition.ToolSpec) { s.Interaction = i }
}

func TestFurtherNamesAreChecked(t *testing.T) {
	t.Parallel()

	many := make([]string, 33)
	for i := range many {
		many[i] = fmt.Sprintf("name%d", i)
	}
	for name, c := range map[string]struct {
		i          tool.Interaction
		path, text string
	}{
		"twice":        {tool.Interaction{Aliases: []string{"a", "a"}}, "/interaction/aliases/1", "given twice"},
		"its own slug": {tool.Interaction{Aliases: []string{"addDir"}}, "/interaction/aliases/0", "own slug"},
		"too many":     {tool.Interaction{Aliases: many}, "/interaction/aliases", "at most 32"},
		"no name": {
			tool.Interaction{FormerNames: map[string]string{"no name": "2027-01-01"}},
			"/interaction/former_names/no name",
			"what a slug may be",
		},
		"alias and former": {
			tool.Interaction{Aliases: []string{"a"}, FormerNames: map[string]string{"a": "2027-01-01"}},
			"/interaction/former_names/a", "both",
		},
		"no date": {
			tool.Interaction{FormerNames: map[string]string{"a": "soon"}}, "/interaction/former_names/a", "2027-06-30",
		},
		"no such day": {
			tool.Interaction{FormerNames: map[string]string{"a": "2027-02-30"}}, "/interaction/former_names/a", "2027-06-30",
		},
		"bad middleware": {
			tool.Interaction{Middleware: []string{"ok", "not ok"}}, "/interaction/middleware/1", "what a slug may be",
		},
		"much middleware": {tool.Interaction{Middleware: many}, "/interaction/middleware", "at most 16"},
		"bad audience":    {tool.Interaction{Audience: "robots"}, "/interaction/audience", "model or user"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			_, _, err := b.registry.Create(t.Context(), b.ada, spec("addDir", interaction(c.i)))
			registrytest.RequireRefused(t, err, tool.Invalid, c.path, c.text)
		})
	}
}

// A name that would lead elsewhere is refused when it is to count: at publish,
// by whatever way.
func TestPublishRefusesNamesOfOthers(t *testing.T) {
	t.Parallel()

	b := setup(t)
	names := interaction(tool.Interaction{
		Aliases: []string{"mount"}, FormerNames: map[string]string{"add-dir": "2099-01-01"},
	})
	_, _, err := b.registry.Create(t.Context(), b.ada, spec("addDir", names))
	require.NoError(t, err)
	_, _, err = b.registry.Create(t.Context(), b.ada, spec("mount"))
	require.NoError(t, err)
	_, _, err = b.registry.Publish(t.Context(), b.ada, tool.Ref{Slug: "addDir"})
	registrytest.RequireRefused(t, err, tool.Conflict, "/interaction/aliases", `"mount" is the slug of the tenant tool`)
	_, _, err = b.registry.Version(t.Context(), b.ada, tool.Ref{Slug: "addDir"}, "1.0.0")
	require.NoError(t, err, "what is not published has no further names")
	_, _, err = b.registry.Publish(t.Context(), b.ada, tool.Ref{Slug: "addDir", Constraint: "1.0.0"})
	registrytest.RequireRefused(t, err, tool.Conflict, "/interaction/aliases", "mount")
	s := spec("addDir", names, publish)
	_, err = b.registry.Check(t.Context(), b.ada, definition.Definition{Tool: &s})
	registrytest.RequireRefused(t, err, tool.Conflict, "/interaction/aliases", "mount")

	s = spec("attachDir", interaction(tool.Interaction{Aliases: []string{"add-dir"}}), publish)
	_, err = b.registry.Apply(t.Context(), b.ada, definition.Definition{Tool: &s})
	require.NoError(t, err)
	s = spec("addFolder", interaction(tool.Interaction{Aliases: []string{"add-dir"}}), publish)
	_, err = b.registry.Apply(t.Context(), b.ada, definition.Definition{Tool: &s})
	require.Equal(t, tool.Conflict, tool.KindOf(err), "the first that has it keeps it")
	_, err = b.registry.Apply(t.Context(), b.bob, definition.Definition{Tool: &s})
	require.NoError(t, err, "in another tenant it is free")
}

// A tool whose middleware no worker has stays a draft, where the registry
// knows what workers have.
func TestPublishRefusesUnknownMiddleware(t *testing.T) {
	t.Parallel()

	b := setup(t)
	knowing := registry.New(b.store, registry.Options{Middleware: func(name string) bool { return name == "audit" }})
	for names, refused := range map[string]bool{"audit": false, "approve": true} {
		s := spec(names+"Orders", interaction(tool.Interaction{Middleware: []string{"audit", names}}))
		_, _, err := knowing.Create(t.Context(), b.ada, s)
		require.NoError(t, err)
		_, _, err = knowing.Publish(t.Context(), b.ada, tool.Ref{Slug: s.Slug})
		if !refused {
			require.NoError(t, err)
			continue
		}
		registrytest.RequireRefused(t, err, tool.Conflict, "/interaction/middleware/1", `no worker here has the middleware "approve"`)
		_, _, err = b.registry.Publish(t.Context(), b.ada, tool.Ref{Slug: s.Slug})
		require.NoError(t, err, "a nil Middleware leaves the check to the workers")
	}
}
