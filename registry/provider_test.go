package registry_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/executors/external"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/tool"
)

func searching(s *definition.ToolSpec) {
	s.Implementation = tool.Provider
	s.Config = json.RawMessage(
		`{"provider": "anthropic", "tool": {"type": "web_search_20250305", "name": "web_search", "max_uses": 3}}`,
	)
}

// A provider's tool is a definition like any other, and can be published.
func TestProviderToolsArePublished(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.registry = registry.New(b.store, registry.Options{
		Resolver: b.resolver, Types: registrytest.Types(external.Provider()),
	})
	_, _, err := b.registry.Create(t.Context(), b.ada, spec("searchWeb", searching))
	require.NoError(t, err)
	got, v, err := b.registry.Publish(t.Context(), b.ada, tool.Ref{Slug: "searchWeb"})
	require.NoError(t, err)
	require.Equal(t, tool.Published, got.Status)
	require.Equal(t, tool.Provider, v.Snapshot.ImplementationType())

	for config, path := range map[string]string{
		`{}`: "/implementation_config/provider",
		`{"provider": "anthropic", "tool": {"type": "function"}}`: "/implementation_config/tool/type",
	} {
		_, _, err = b.registry.Create(
			t.Context(), b.ada, spec("other", searching, func(s *definition.ToolSpec) { s.Config = json.RawMessage(config) }),
		)
		registrytest.RequireRefused(t, err, tool.Invalid, path, "")
	}
}

// What would have to be asked for at every call is never passed to a model: a
// draft is warned, and not published.
func TestProviderToolsThatWouldAsk(t *testing.T) {
	t.Parallel()

	for path, edit := range map[string]func(*definition.ToolSpec){
		"/egress_class":      func(s *definition.ToolSpec) { s.EgressClass = tool.EgressWrite },
		"/requires_approval": func(s *definition.ToolSpec) { s.RequiresApproval = true },
		"/permission_policy": func(s *definition.ToolSpec) { s.PermissionPolicy = tool.PermissionAlwaysAsk },
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			b.registry = registry.New(b.store, registry.Options{
				Resolver: b.resolver, Types: registrytest.Types(external.Provider()),
			})
			_, warnings, err := b.registry.Create(t.Context(), b.ada, spec("searchWeb", searching, edit))
			require.NoError(t, err)
			require.Contains(t, warnings[len(warnings)-1], "no approval can be asked for")
			_, _, err = b.registry.Publish(t.Context(), b.ada, tool.Ref{Slug: "searchWeb"})
			registrytest.RequireRefused(t, err, tool.Invalid, path, "no approval can be asked for")
		})
	}
}

// An agent has tools of its own model's provider only.
func TestProviderToolsFitTheModel(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.registry = registry.New(b.store, registry.Options{
		Resolver: b.resolver, Types: registrytest.Types(external.Provider()),
	})
	_, _, err := b.registry.Create(t.Context(), b.ada, spec("searchWeb", searching))
	require.NoError(t, err)
	_, _, err = b.registry.Publish(t.Context(), b.ada, tool.Ref{Slug: "searchWeb"})
	require.NoError(t, err)
	create := func(slug, model string) error {
		s := definition.AgentSpec{
			Slug: slug,
			Definition: agent.Definition{
				Name: slug, Instructions: "Search.", Model: model, Tools: []tool.Ref{{Slug: "searchWeb"}},
			},
		}
		_, _, err := b.registry.CreateAgent(t.Context(), b.ada, s)
		require.NoError(t, err)
		_, _, err = b.registry.PublishAgent(t.Context(), b.ada, slug)
		return err
	}
	require.NoError(t, create("fits", "anthropic/claude"))
	registrytest.RequireRefused(t, create("doesNot", "openai/gpt"), tool.Invalid, "/tools",
		`"searchWeb" is run by the model provider "anthropic", and the model "openai/gpt" is of another`)
}
