package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

// A key without the permission cannot save, apply or publish a declaration that
// a POST only reads, over any endpoint. A key with it can, and the tool, its
// version and the explanation say which key declared it.
func TestDeclaringReads(t *testing.T) {
	t.Parallel()
	b := setup(t, func(cfg *api.Config) {
		cfg.Registry = registry.New(cfg.Store, registry.Options{
			Resolver: resolver.New(cfg.Store, resolver.Options{}),
			Types:    registrytest.Types(httpcall.Type(nil, nil)),
		})
	})
	const definition = `{"slug":"searchOrders","description":"Searches orders.","implementation_type":"http","egress_class":"read_only",
		"implementation_config":{"method":"POST","url":"https://example.com/search","reads":true},
		"input_schema":{"type":"object","properties":{"q":{"type":"string"}}}`
	writer := b.Key(t, b.tenant, api.ToolsWrite, api.ToolsRead)
	operator := b.Key(t, b.tenant, api.ToolsWrite, api.ToolsRead, api.ToolsDeclareReads)
	refused := func(p v1.Problem) {
		t.Helper()
		require.Equal(t, tool.Denied, p.Code)
		require.Equal(t, "/implementation_config/reads", p.Path)
		require.Contains(t, p.Detail, api.ToolsDeclareReads)
	}
	refused(b.do(t, http.MethodPost, "/v1/tools", definition+`}`, writer).problem(t))
	var applied v1.Applied
	b.do(t, http.MethodPost, "/v1/apply", `{"definitions":[`+definition+`,"publish":true}]}`, writer).into(t, &applied)
	require.Equal(t, 1, applied.Failed)
	refused(*applied.Items[0].Error)
	require.Equal(t, http.StatusCreated, b.do(t, http.MethodPost, "/v1/tools", definition+`}`, operator).status)
	refused(b.do(t, http.MethodPut, "/v1/tools/searchOrders", definition+`}`, writer).problem(t))
	refused(b.do(t, http.MethodPost, "/v1/tools/searchOrders/version?new_version=1.0.0", "", writer).problem(t))
	refused(b.do(t, http.MethodPost, "/v1/tools/searchOrders/publish", "", writer).problem(t))
	var published v1.Published
	b.do(t, http.MethodPost, "/v1/tools/searchOrders/publish", "", operator).into(t, &published)
	require.True(t, published.Version.Published)
	require.Equal(t, published.Version.CreatedBy, published.Version.ReadsDeclared.By)

	var explained v1.Explanation
	b.do(t, http.MethodGet, "/v1/tools/searchOrders/explain", "", writer).into(t, &explained)
	require.Equal(t, published.Tool.ReadsDeclared, explained.ReadsDeclared)
	require.Equal(t, published.Version.CreatedBy, explained.ReadsDeclared.By)
	require.False(t, explained.ReadsDeclared.At.IsZero())
}

// An operation that only a key with the permission may bring fails by itself: the
// others of the document are imported, and what stays as it is needs none.
func TestImportingReads(t *testing.T) {
	t.Parallel()
	b := setup(t)
	writer := b.Key(t, b.tenant, api.ToolsWrite, api.ToolsRead)
	operator := b.Key(t, b.tenant, api.ToolsWrite, api.ToolsRead, api.ToolsDeclareReads)
	const document = `{"openapi":"3.0.3","info":{"title":"Books","version":"1"},"servers":[{"url":"https://books.example"}],` +
		`"paths":{"/books":{"get":{"operationId":"listBooks","responses":{}},` +
		`"put":{"operationId":"putBooks","responses":{}}},` +
		`"/books/search":{"post":{"operationId":"searchBooks","responses":{}}}}}`
	run := func(body, key string) map[string]v1.ImportedOperation {
		t.Helper()
		var out v1.ImportedOpenAPI
		b.do(t, http.MethodPost, "/v1/tools/import/openapi", `{"document":`+document+`,"dry_run":false`+body+`}`, key).
			into(t, &out)
		found := make(map[string]v1.ImportedOperation)
		for _, o := range out.Operations {
			found[o.OperationID] = o
		}
		return found
	}
	found := run(`,"reads":["searchBooks"]`, writer)
	require.Equal(t, v1.Failed, found["searchBooks"].Action)
	require.Contains(t, found["searchBooks"].Error.Detail, api.ToolsDeclareReads)
	require.Equal(t, v1.Created, found["listBooks"].Action)
	require.Equal(t, v1.Created, found["putBooks"].Action)
	require.Equal(t, tool.EgressWrite, found["putBooks"].EgressClass)

	found = run(`,"reads":["searchBooks"]`, operator)
	require.Equal(t, v1.Created, found["searchBooks"].Action)
	require.Equal(t, tool.EgressReadOnly, found["searchBooks"].EgressClass)

	found = run("", writer)
	require.Equal(t, v1.Unchanged, found["searchBooks"].Action, "it declares what it declared")
}
