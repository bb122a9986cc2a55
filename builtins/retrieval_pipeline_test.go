package builtins_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/builtins"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/tool"
)

// shelves is a searcher in which one tenant has pipelines.
type shelves struct {
	owner tool.TenantID
	asked retrieval.Query
}

func (s *shelves) Search(
	_ context.Context, tenant tool.TenantID, pipeline string, q retrieval.Query,
) (retrieval.Answer, error) {
	if tenant != s.owner {
		return retrieval.Answer{}, &tool.Error{Kind: tool.NotFound, Msg: "pipeline not found"}
	}
	s.asked = q
	return retrieval.Answer{
		Pipeline: retrieval.Pipeline{Slug: pipeline}, Mode: retrieval.FullText,
		Hits: []retrieval.Hit{{Chunk: retrieval.Chunk{ID: "c", Text: "Within thirty days."}, DocumentKey: "refunds"}},
	}, nil
}

// The platform's retrieval_pipeline searches the pipeline that a call names; a
// tenant's own searchDocuments the one that it is configured for. Both find
// nothing of another tenant's.
func TestRetrievalPipeline(t *testing.T) {
	t.Parallel()

	h := newHouse(t)
	searcher := &shelves{owner: h.ada.Tenant}
	c := builtins.New(builtins.Config{Searcher: searcher})
	res, err := h.call(t, c, h.ada, "retrieval_pipeline", `{"pipeline": "handbook", "query": "returns", "limit": 3}`)
	require.NoError(t, err)
	require.Contains(t, string(res.Structured), `"pipeline":"handbook"`)
	require.Equal(t, "[1] refunds\nWithin thirty days.", res.Content[0].Text)
	require.Equal(t, 3, searcher.asked.Limit)
	_, err = h.call(t, c, h.bob, "retrieval_pipeline", `{"pipeline": "handbook", "query": "returns"}`)
	require.Equal(t, tool.NotFound, tool.KindOf(err))
	_, err = h.call(t, c, h.ada, "retrieval_pipeline", `{"query": "returns"}`)
	require.Equal(t, tool.Invalid, tool.KindOf(err))

	_, err = h.apply(t, h.ada, definition.ToolSpec{Slug: "searchDocuments", Definition: tool.Definition{
		Config: json.RawMessage(`{"builtin": "retrieval_pipeline", "pipeline": "faq", "filter": {"team": "sales"}}`),
	}})
	require.NoError(t, err)
	own, err := h.registry.Get(t.Context(), h.ada, tool.Ref{Slug: "searchDocuments"})
	require.NoError(t, err)
	require.NotContains(t, string(own.InputSchema), `"pipeline"`, "it is configured")
	require.Contains(t, string(own.InputSchema), `"query"`)
	res, err = h.call(t, c, h.ada, "searchDocuments", `{"query": "returns"}`)
	require.NoError(t, err)
	require.Contains(t, string(res.Structured), `"pipeline":"faq"`)
	require.Len(t, searcher.asked.Filter, 1)

	_, err = h.apply(t, h.ada, definition.ToolSpec{Slug: "searchMore", Definition: tool.Definition{
		Config: json.RawMessage(`{"builtin": "retrieval_pipeline", "limit": 99}`),
	}})
	require.Error(t, err)
	require.Equal(t, "/implementation_config/limit", tool.AsError(err).Path)
}
