package ragcall_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/ragcall"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// shelf has pipelines by their slugs.
type shelf struct {
	retrieval.SearchStore

	pipelines map[string]retrieval.Pipeline
}

func (s shelf) FindPipeline(_ context.Context, tenant tool.TenantID, slug string) (retrieval.Pipeline, error) {
	if p, ok := s.pipelines[slug]; ok && tenant == acme {
		return p, nil
	}
	return retrieval.Pipeline{}, &tool.Error{Kind: tool.NotFound, Msg: "pipeline not found"}
}

// Calls use the credential of the pipeline's model, which the tool's configuration does not name.
func TestCredentialOfThePipeline(t *testing.T) {
	t.Parallel()

	named := &retrieval.EmbeddingConfig{CredentialsRef: "embedder"}
	engine := retrieval.NewEngine(shelf{pipelines: map[string]retrieval.Pipeline{
		"words": {}, "open": {Embedding: &retrieval.EmbeddingConfig{}}, "named": {Embedding: named},
		"next": {NextEmbedding: named},
	}}, nil)
	secret := ragcall.Type(engine).Secret
	for slug, want := range map[string]bool{"words": false, "open": false, "named": true, "next": true} {
		got, err := secret(t.Context(), wait.Aim{Tenant: acme, Config: json.RawMessage(`{"pipeline_id":"` + slug + `"}`)})
		require.NoError(t, err)
		require.Equal(t, want, got, slug)
	}
	_, err := secret(t.Context(), wait.Aim{Tenant: stranger, Config: json.RawMessage(`{"pipeline_id":"words"}`)})
	require.Error(t, err)
	_, err = secret(t.Context(), wait.Aim{Tenant: acme, Config: json.RawMessage(`[]`)})
	require.Error(t, err)
	unknown, err := ragcall.Type(&library{}).Secret(t.Context(), wait.Aim{Tenant: acme})
	require.NoError(t, err)
	require.True(t, unknown)
	require.Nil(t, ragcall.Type(nil).Secret)
}
