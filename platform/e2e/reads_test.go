package e2e_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// A POST that the operator declared to read runs under egress class read_only,
// without an approval. The same request undeclared, and another method whose
// stored configuration claims to read, send nothing.
func TestDeclaredPostRuns(t *testing.T) {
	t.Parallel()

	c := newCanary(t)
	var method string
	c.answer = func(_ int, w http.ResponseWriter, r *http.Request) {
		method = r.Method
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"found":1}`))
	}
	s := newSite(t)
	operator := s.principal
	operator.Permissions = []string{registry.ToolsWrite, registry.DeclareReads}
	r := registry.New(s.Store, registry.Options{Types: registrytest.Types(httpcall.Type(nil, nil))})
	define := func(config map[string]any) tool.Definition {
		raw, err := json.Marshal(config)
		require.NoError(t, err)
		return tool.Definition{
			Name: "Search", Description: "Searches.", Implementation: tool.HTTP, Config: raw,
			InputSchema: json.RawMessage(`{"type":"object","properties":{"q":{"type":"string"}}}`),
		}
	}
	spec := definition.ToolSpec{
		Slug: "search", Publish: true, Policy: tool.Policy{EgressClass: tool.EgressReadOnly},
		Definition: define(map[string]any{"method": "POST", "url": c.URL, "reads": true}),
	}
	_, err := r.Apply(t.Context(), operator, definition.Definition{Tool: &spec})
	require.NoError(t, err)
	readOnly := tool.Policy{EgressClass: tool.EgressReadOnly}
	s.publish("undeclared", define(map[string]any{"method": "POST", "url": c.URL}), readOnly)
	s.publish("deletes", define(map[string]any{"method": "DELETE", "url": c.URL, "reads": true}), readOnly)
	s.start(worker.Config{Allow: allow(c)})

	_, id, result, err := s.toolCall("search", `{"q":"boots"}`)
	require.NoError(t, err)
	require.JSONEq(t, `{"found":1}`, string(result.Structured))
	require.Equal(t, http.MethodPost, method)
	require.Equal(t, tool.ApprovalNotRequired, s.invocations(id)[0].ApprovalStatus)

	_, _, _, err = s.toolCall("undeclared", `{"q":"boots"}`)
	require.Equal(t, tool.Denied, tool.KindOf(failure.Decode(err)), "%v", err)
	_, _, _, err = s.toolCall("deletes", `{"q":"boots"}`)
	require.Equal(t, tool.Invalid, tool.KindOf(failure.Decode(err)), "%v", err)
	requests, _ := c.count()
	require.Equal(t, 1, requests)
}
