package registry_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/tool"
)

// library is a registry whose first tenant has the pipeline "handbook" until it
// is gone.
type library struct {
	bench

	gone bool
}

func newLibrary(t *testing.T) *library {
	t.Helper()
	l := &library{bench: setup(t)}
	l.registry = registry.New(l.store, registry.Options{
		Resolver: l.resolver,
		Pipelines: func(_ context.Context, tenant tool.TenantID, slugOrID string) error {
			if tenant == l.ada.Tenant && slugOrID == "handbook" && !l.gone {
				return nil
			}
			return &tool.Error{Kind: tool.NotFound, Msg: "pipeline not found"}
		},
	})
	return l
}

func searchingIn(implementation tool.Implementation, config string) func(*definition.ToolSpec) {
	return func(s *definition.ToolSpec) { s.Implementation, s.Config = implementation, json.RawMessage(config) }
}

// A tool searches a pipeline of its own tenant: asked when it is made, changed,
// applied and published (S3-18, S3-21).
func TestPipelinesAreTheTenants(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		impl   tool.Implementation
		config string
		path   string
	}{
		"by id":   {tool.RAGRetrieval, `{"pipeline_id": "handbook"}`, "/implementation_config/pipeline_id"},
		"by slug": {tool.RAGRetrieval, `{"pipeline": "handbook"}`, "/implementation_config/pipeline"},
		"by built-in": {
			tool.Internal, `{"builtin": "retrieval_pipeline", "pipeline_id": "handbook"}`, "/implementation_config/pipeline_id",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			l := newLibrary(t)
			searching := searchingIn(tt.impl, tt.config)
			refused := func(err error) {
				registrytest.RequireRefused(t, err, tool.NotFound, tt.path, `pipeline "handbook" not found`)
			}
			_, _, err := l.registry.Create(t.Context(), l.bob, spec("searchDocs", searching))
			refused(err)
			_, _, err = l.registry.Create(t.Context(), l.bob, spec("searchDocs"))
			require.NoError(t, err)
			_, _, err = l.registry.Update(t.Context(), l.bob, tool.Ref{Slug: "searchDocs"}, spec("searchDocs", searching))
			refused(err)
			wanted := spec("searchDocs", searching)
			_, err = l.registry.Apply(t.Context(), l.bob, definition.Definition{Tool: &wanted})
			refused(err)

			_, _, err = l.registry.Create(t.Context(), l.ada, spec("searchDocs", searching))
			require.NoError(t, err)
			l.gone = true
			_, _, err = l.registry.Publish(t.Context(), l.ada, tool.Ref{Slug: "searchDocs"})
			refused(err)
			l.gone = false
			_, _, err = l.registry.Publish(t.Context(), l.ada, tool.Ref{Slug: "searchDocs"})
			require.NoError(t, err)
			l.gone = true
			_, _, err = l.registry.Publish(t.Context(), l.ada, tool.Ref{Slug: "searchDocs", Constraint: "1.0.0"})
			refused(err)
		})
	}
}

func TestQueryIsAString(t *testing.T) {
	t.Parallel()

	l := newLibrary(t)
	_, _, err := l.registry.Create(t.Context(), l.ada, spec("searchDocs",
		searchingIn(tool.RAGRetrieval, `{"pipeline_id": "handbook"}`), func(s *definition.ToolSpec) {
			s.InputSchema = json.RawMessage(`{"type":"object","properties":{"query":{"type":"integer"}}}`)
		}))
	registrytest.RequireRefused(t, err, tool.Invalid, "/input_schema/properties/query/type", "expected a string")
}

func TestPlatformToolsNameNoPipeline(t *testing.T) {
	t.Parallel()

	l := newLibrary(t)
	platform := registry.New(l.store.Platform(), registry.Options{
		Pipelines: func(context.Context, tool.TenantID, string) error { return nil },
	})
	_, err := platform.SyncBuiltins(t.Context(), []registry.BuiltinSpec{
		{Key: "searchAll", Version: "1.0.0", Definition: tool.Definition{
			Implementation: tool.RAGRetrieval, Config: json.RawMessage(`{"pipeline_id": "handbook"}`),
		}},
	})
	require.ErrorContains(t, err, "pipelines belong to tenants")
}

// A tool whose queries would be embedded, though nothing of it may leave, is saved
// and applied with a warning: each of its calls is refused.
func TestToolsThatWouldEmbedAreWarnedOf(t *testing.T) {
	t.Parallel()

	l := newLibrary(t)
	l.registry = registry.New(l.store, registry.Options{Resolver: l.resolver, Advice: registry.Advice{
		Embeds: func(_ context.Context, tenant tool.TenantID, pipeline, mode string) (bool, error) {
			if tenant != l.ada.Tenant || pipeline != "handbook" {
				return false, &tool.Error{Kind: tool.NotFound, Msg: "pipeline not found"}
			}
			return mode != "full_text", nil
		},
	}})
	const config = `{"pipeline_id": "handbook"}`
	class := func(e tool.Egress) func(*definition.ToolSpec) {
		return func(s *definition.ToolSpec) { s.EgressClass = e }
	}
	for name, tt := range map[string]struct {
		edits []func(*definition.ToolSpec)
		warns bool
	}{
		"without a class": {[]func(*definition.ToolSpec){searchingIn(tool.RAGRetrieval, config)}, true},
		"with none": {
			[]func(*definition.ToolSpec){searchingIn(tool.RAGRetrieval, config), class(tool.EgressNone)},
			true,
		},
		"with read_only": {
			[]func(*definition.ToolSpec){searchingIn(tool.RAGRetrieval, config), class(tool.EgressReadOnly)}, false,
		},
		"by words": {
			[]func(*definition.ToolSpec){searchingIn(tool.RAGRetrieval, `{"pipeline_id": "handbook", "mode": "full_text"}`)}, false,
		},
		"a pipeline to come": {[]func(*definition.ToolSpec){searchingIn(tool.RAGRetrieval, `{"pipeline_id": "later"}`)}, false},
		"of another type":    {nil, false},
	} {
		s := spec("searchHandbook", tt.edits...)
		change, err := l.registry.Check(t.Context(), l.ada, definition.Definition{Tool: &s})
		require.NoError(t, err, name)
		warned := slices.ContainsFunc(change.Warnings, func(w string) bool {
			return strings.Contains(w, "set egress_class to read_only, or mode to full_text")
		})
		require.Equal(t, tt.warns, warned, "%s: %v", name, change.Warnings)
	}
}
