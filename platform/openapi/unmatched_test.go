package openapi_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/platform/openapi"
	"github.com/toolcrib/toolcrib/tool"
)

// Options that name what the document does not have are refused, with what was
// probably meant.
func TestUnmatchedOptionsAreRefused(t *testing.T) {
	t.Parallel()
	for path, c := range map[string]struct {
		opts openapi.Options
		says string
	}{
		"/only/operations/0": {
			openapi.Options{Only: openapi.Selection{Operations: []string{"listOrder"}}}, "did you mean listOrders?",
		},
		"/only/methods/1": {openapi.Options{Only: openapi.Selection{Methods: []string{"get", "GETT"}}}, "did you mean GET?"},
		"/only/match/0":   {openapi.Options{Only: openapi.Selection{Match: []string{"GET /ordres*"}}}, "GET /ordres*"},
		"/only/tags/0":    {openapi.Options{Only: openapi.Selection{Tags: []string{"orders"}}}, `the tag "orders"`},
		"/except/paths/0": {
			openapi.Options{Except: openapi.Selection{Paths: []string{"/invoices"}}}, "the document has /orders",
		},
		"/idempotent/0":   {openapi.Options{Idempotent: []string{"PUT /orders"}}, "matches no operation"},
		"/reads/0":        {openapi.Options{Reads: []string{"createOrders"}}, "did you mean createOrder?"},
		"/reads":          {openapi.Options{Reads: []string{"deleteOrder"}}, "only POST can"},
		"/except/match/1": {openapi.Options{Except: openapi.Selection{Match: []string{"get*", "fetch*"}}}, "fetch*"},
		"/only/operations/1": {
			openapi.Options{Only: openapi.Selection{Operations: []string{"getOrder", "x"}}}, "the document has createOrder",
		},
	} {
		_, err := openapi.Map(t.Context(), []byte(shop), c.opts)
		require.Equal(t, tool.Invalid, tool.KindOf(err), path)
		require.Equal(t, path, tool.AsError(err).Path)
		require.ErrorContains(t, err, c.says)
	}
}

// A credential for a scheme that the document does not have is noted.
func TestUnusedCredentialsAreNoted(t *testing.T) {
	t.Parallel()
	r := mapped(t, []byte(shop), openapi.Options{Credentials: map[string]string{"Key": "orders"}})
	require.Len(t, r.Notes, 1)
	require.Contains(t, r.Notes[0].Reason, `"Key": its credential is not used; did you mean key?`)
}

// Reads declares that a POST only reads, of new tools and of known ones.
func TestReadsOption(t *testing.T) {
	t.Parallel()
	check := func(o openapi.Operation) {
		t.Helper()
		require.True(t, httpcall.DeclaresReads(o.Spec.Config))
		require.Equal(t, tool.EgressReadOnly, o.Spec.EgressClass)
		require.False(t, o.Spec.RequiresApproval)
		require.True(t, o.Spec.Execution.Pure)
		require.Equal(t, tool.ReadConcurrency, o.Spec.Execution.MaxConcurrency)
	}
	opts := openapi.Options{Reads: []string{"POST /orders"}}
	first, _ := imported(t, shop, opts, nil)
	check(first["createOrder"])
	plain := stored(mapped(t, []byte(shop), openapi.Options{}))
	again, _ := imported(t, shop, opts, plain)
	check(again["createOrder"])
	require.Equal(t, tool.EgressWrite, again["deleteOrder"].Spec.EgressClass)
}

// Names in Latin letters with diacritics are written without them, and names in
// other scripts are distinguished by their descriptions.
func TestNamesOfOtherAlphabets(t *testing.T) {
	t.Parallel()
	r := mapped(t, smallDocument(`{"operationId":"größenListe","parameters":[
		{"name":"größe","in":"query","schema":{"type":"string"}},
		{"name":"grüße","in":"query","description":"Who greets.","schema":{"type":"string"}},
		{"name":"東京","in":"query","schema":{"type":"string"}},
		{"name":"ordinary","in":"query","schema":{"type":"string"}}],"responses":{}}`, `{}`), openapi.Options{})
	require.Equal(t, "listGrossenListe", r.Operations[0].Spec.Slug)
	var input struct {
		Properties map[string]struct{ Description string } `json:"properties"`
	}
	require.NoError(t, json.Unmarshal(r.Operations[0].Spec.InputSchema, &input))
	require.Equal(t, "größe", input.Properties["grosse"].Description)
	require.Equal(t, "grüße: Who greets.", input.Properties["grusse"].Description)
	require.Equal(t, "東京", input.Properties["value"].Description)
	require.Empty(t, input.Properties["ordinary"].Description)
}
