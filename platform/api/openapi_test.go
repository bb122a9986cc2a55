package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

const shopDocument = `
openapi: 3.0.3
info: {title: Shop, version: "1"}
servers: [{url: "https://shop.example.com"}]
security: [{key: []}]
components: {securitySchemes: {key: {type: apiKey, in: header, name: X-Api-Key}}}
paths:
  /orders:
    get:
      operationId: listOrders
      summary: List orders
      parameters: [{name: state, in: query, schema: {type: string}}]
      responses: {"200": {description: They., content: {application/json: {schema: {type: array, items: {type: object}}}}}}
    trace: {responses: {}}
  /orders/{id}:
    delete: {operationId: deleteOrder, summary: Delete an order, parameters: [{name: id, in: path, required: true, schema: {type: string}}], responses: {"204": {description: Gone.}}}
`

func (b *bundle) importOpenAPI(t *testing.T, in v1.ImportOpenAPI, key ...string) v1.ImportedOpenAPI {
	t.Helper()
	raw, err := json.Marshal(in)
	require.NoError(t, err)
	got := b.do(t, http.MethodPost, "/v1/tools/import/openapi", string(raw), key...)
	require.Equal(t, http.StatusOK, got.status, string(got.body))
	var out v1.ImportedOpenAPI
	got.into(t, &out)
	return out
}

func inString(t *testing.T, document string) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(document)
	require.NoError(t, err)
	return raw
}

// A document becomes drafts when that is asked for, and changes nothing when it
// is imported again.
func TestImportOpenAPI(t *testing.T) {
	t.Parallel()
	b := setup(t)
	write := false
	in := v1.ImportOpenAPI{Document: inString(t, shopDocument)}

	plan := b.importOpenAPI(t, in)
	require.True(t, plan.DryRun)
	require.Equal(t, v1.ImportCounts{Mapped: 2, Skipped: 1, Created: 2}, plan.Counts)
	require.Equal(t, []v1.NeededCredential{{Scheme: "key", Holds: "an API key", Operations: 2}}, plan.Needs)
	require.Equal(t, []string{"https://shop.example.com"}, plan.Hosts)
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodGet, "/v1/tools/listOrders", "").status)

	in.DryRun, in.Credentials = &write, map[string]string{"key": "shop"}
	done := b.importOpenAPI(t, in)
	require.False(t, done.DryRun)
	require.Empty(t, done.Needs)
	require.Equal(t, 2, done.Counts.Created)
	var found v1.Tool
	b.do(t, http.MethodGet, "/v1/tools/deleteOrder", "").into(t, &found)
	require.EqualValues(t, "draft", found.Status)
	require.EqualValues(t, "write", found.EgressClass)
	require.True(t, found.RequiresApproval)
	stored, err := b.Store.FindTool(t.Context(), b.tenant, tool.Ref{Slug: "deleteOrder"})
	require.NoError(t, err)
	require.JSONEq(
		t,
		`{"method":"DELETE","url":"https://shop.example.com/orders/{id}","body":null,"auth":{"type":"header","header":"X-Api-Key","credentials_ref":"shop"}}`,
		string(stored.Config),
	)

	in.Credentials = nil
	again := b.importOpenAPI(t, in)
	require.Equal(t, 2, again.Counts.Unchanged, "%+v", again.Operations)
	require.Empty(t, again.Needs)
	require.Zero(t, again.Counts.Created+again.Counts.Updated+again.Counts.Failed)
}

// A changed document changes drafts, shows how, and says which number that
// asks for; what is published stays until it is published again.
func TestImportOpenAPIAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	write := false
	in := v1.ImportOpenAPI{Document: inString(t, shopDocument), DryRun: &write}
	b.importOpenAPI(t, in)
	got := b.do(t, http.MethodPost, "/v1/tools/listOrders/publish", `{}`)
	require.Equal(t, http.StatusOK, got.status, string(got.body))

	changed := strings.NewReplacer("name: state, in: query,", "name: state, in: query, required: true,", "  /orders/{id}:",
		"  /other/{id}:",
		"operationId: deleteOrder", "operationId: deleteOther").Replace(shopDocument)
	in.Document = inString(t, changed)
	in.DryRun = nil
	plan := b.importOpenAPI(t, in)
	require.Equal(t, v1.ImportCounts{Mapped: 2, Skipped: 1, Created: 1, Updated: 1, Gone: 1}, plan.Counts)
	require.Equal(t, "deleteOrder", plan.Gone[0].Tool)
	list := plan.Operations[0]
	require.Equal(t, v1.Updated, list.Action)
	require.Equal(t, "2.0.0", list.Version)
	require.Equal(t, "major", list.Diff.Bump)
	require.Equal(t, "2.0.0", list.Diff.Least)
	require.Equal(t, []v1.Change{{Path: "input/state", Bump: "major", Reason: "the property is required now"}},
		list.Diff.Changes)

	in.DryRun = &write
	b.importOpenAPI(t, in)
	var found v1.Tool
	b.do(t, http.MethodGet, "/v1/tools/listOrders", "").into(t, &found)
	require.Equal(t, "2.0.0", found.Version)
	require.EqualValues(t, "published", found.Status)
	var versions v1.Page[v1.ToolVersion]
	b.do(t, http.MethodGet, "/v1/tools/listOrders/versions", "").into(t, &versions)
	require.Len(t, versions.Items, 1)
	require.Equal(t, http.StatusOK, b.do(t, http.MethodGet, "/v1/tools/deleteOrder", "").status)
}

// A tool that the document did not bring is not changed by it, nor is another
// tenant's found again.
func TestImportOpenAPIForeign(t *testing.T) {
	t.Parallel()
	b := setup(t)
	write := false
	in := v1.ImportOpenAPI{Document: inString(t, shopDocument), DryRun: &write}
	b.apply(t, echo("listOrders"))
	got := b.importOpenAPI(t, in)
	require.Equal(t, 1, got.Counts.Failed)
	require.Equal(t, 1, got.Counts.Created)
	require.Equal(t, v1.Failed, got.Operations[0].Action)
	require.Equal(t, "/slug", got.Operations[0].Error.Path)
	var found v1.Tool
	b.do(t, http.MethodGet, "/v1/tools/listOrders", "").into(t, &found)
	require.EqualValues(t, "internal", found.Implementation)

	stranger := b.Key(t, b.Tenant(t), "*")
	theirs := b.importOpenAPI(t, in, stranger)
	require.Equal(t, 2, theirs.Counts.Created)
	require.Empty(t, theirs.Gone)

	in.Prefix = "shop"
	require.Equal(t, "shopListOrders", b.importOpenAPI(t, in).Operations[0].Tool)
}

func TestImportOpenAPIRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for body, want := range map[string]string{
		`{"document":{"swagger":"1.2"}}`: "Swagger 2.0",
		`{"document":"nonsense"}`:        "expected an object",
		`{"document":{"openapi":"3.0.3","info":{"title":"x"},"paths":{"/a":{"get":{}}}}}`: "document_url",
	} {
		got := b.do(t, http.MethodPost, "/v1/tools/import/openapi", body)
		require.Equal(t, http.StatusUnprocessableEntity, got.status, string(got.body))
		require.Contains(t, got.problem(t).Detail, want)
	}
	reader := b.Key(t, b.tenant, "tools.read")
	require.Equal(
		t, http.StatusForbidden, b.do(t, http.MethodPost, "/v1/tools/import/openapi", `{"document":"x"}`, reader).status,
	)
}
