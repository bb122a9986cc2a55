package openapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/platform/openapi"
	"github.com/toolcrib/toolcrib/tool"
)

// shop is a document as it is imported first.
const shop = `
openapi: 3.0.3
info: {title: Shop, version: "1"}
servers: [{url: "https://shop.example.com"}]
security: [{key: []}]
components: {securitySchemes: {key: {type: apiKey, in: header, name: X-Api-Key}}}
paths:
  /orders:
    get: {operationId: listOrders, summary: List orders, responses: {"200": {description: They.}}}
    post: {operationId: createOrder, summary: Create an order, responses: {"200": {description: It.}}}
  /orders/{id}:
    get: {operationId: getOrder, summary: Get an order, parameters: [{name: id, in: path, required: true, schema: {type: string}}], responses: {"200": {description: It.}}}
    delete: {operationId: deleteOrder, summary: Delete an order, parameters: [{name: id, in: path, required: true, schema: {type: string}}], responses: {"204": {description: Gone.}}}
`

// stored returns the tools of a result as they would come back from a registry.
func stored(r *openapi.Result) []tool.Tool {
	var tools []tool.Tool
	for _, o := range r.Operations {
		if o.Spec != nil {
			tools = append(tools, tool.Tool{
				Slug: o.Spec.Slug, Tenant: "t", Definition: o.Spec.Definition, Policy: o.Spec.Policy, Revision: 7,
			})
		}
	}
	return tools
}

func imported(
	t *testing.T, document string, opts openapi.Options, known []tool.Tool,
) (map[string]openapi.Operation, []tool.Tool) {
	t.Helper()
	r, err := openapi.Map(t.Context(), []byte(document), opts)
	require.NoError(t, err)
	gone := r.Reconcile(known)
	out := make(map[string]openapi.Operation)
	for _, o := range r.Operations {
		require.NotNil(t, o.Spec, o.Reason)
		out[o.Spec.Slug] = o
	}
	return out, gone
}

func encode(t *testing.T, v any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return raw
}

func TestImportedAgainUnchanged(t *testing.T) {
	t.Parallel()
	known := stored(mapped(t, []byte(shop), openapi.Options{}))
	require.Len(t, known, 4)
	again, gone := imported(t, "# A comment.\n"+strings.Replace(shop, `version: "1"`, `version: "2"`, 1),
		openapi.Options{}, known)
	require.Empty(t, gone)
	for _, before := range known {
		o := again[before.Slug]
		require.Equal(t, before.Slug, o.Known)
		require.Equal(t, before.Definition, o.Spec.Definition,
			"what the document does not change keeps the note of its source")
		require.Equal(t, before.Policy, o.Spec.Policy)
		require.Equal(t, int64(7), o.Spec.Revision)
	}
}

// An operation keeps its tool when its id changes, and when its path does.
func TestToolsAreFoundAgain(t *testing.T) {
	t.Parallel()
	known := stored(mapped(t, []byte(shop), openapi.Options{}))
	changed := strings.NewReplacer("operationId: listOrders", "operationId: findOrders", "  /orders/{id}:",
		"  /v2/orders/{id}:", "operationId: createOrder", "operationId: getOrders").Replace(shop)
	again, gone := imported(t, changed, openapi.Options{}, known)
	require.Empty(t, gone)
	require.Equal(t, "findOrders", again["listOrders"].ID)
	require.Equal(t, "getOrders", again["createOrder"].ID)
	require.Equal(t, "/v2/orders/{id}", again["getOrder"].Path)
	require.Equal(t, "/v2/orders/{id}", again["deleteOrder"].Path)
	source := openapi.SourceOf(&tool.Tool{Definition: again["getOrder"].Spec.Definition})
	require.Equal(t, "/v2/orders/{id}", source.Path)
}

// What the document does not have any more is gone, what was not chosen is not.
func TestGone(t *testing.T) {
	t.Parallel()
	known := stored(mapped(t, []byte(shop), openapi.Options{}))
	without := shop[:strings.Index(shop, "    delete:")]
	again, gone := imported(t, without, openapi.Options{Only: openapi.Selection{Methods: []string{"post"}}}, known)
	require.Len(t, again, 1)
	require.Len(t, gone, 1)
	require.Equal(t, "deleteOrder", gone[0].Slug)

	other, gone := imported(t, shop, openapi.Options{Name: "Another shop"}, known)
	require.Empty(t, gone, "the tools are another document's")
	require.Empty(t, other["listOrders"].Known)
}

// People's decisions about a tool stay; a credential that was named before
// need not be named again.
func TestDecisionsStay(t *testing.T) {
	t.Parallel()
	known := stored(mapped(t, []byte(shop), openapi.Options{Credentials: map[string]string{"key": "shop-key"}}))
	for i := range known {
		known[i].PermissionPolicy, known[i].RequiredPermission = tool.PermissionAlwaysAsk, "orders"
		known[i].Execution.TimeoutSeconds, known[i].Icon = 5, "cart"
		known[i].Interaction.Aliases = []string{"orders"}
		known[i].Interaction.Annotations = json.RawMessage(strings.Replace(string(known[i].Interaction.Annotations), "{",
			`{"team":"sales",`, 1))
	}
	again, _ := imported(t, strings.Replace(shop, "List orders", "List all orders", 1),
		openapi.Options{Idempotent: []string{"DELETE /orders/{id}"}}, known)
	list := again["listOrders"].Spec
	require.Equal(t, "List all orders", list.Name)
	require.Equal(t, tool.PermissionAlwaysAsk, list.PermissionPolicy)
	require.Equal(t, "orders", list.RequiredPermission)
	require.InDelta(t, 5, list.Execution.TimeoutSeconds, 0)
	require.Equal(t, "cart", list.Icon)
	require.Equal(t, []string{"orders"}, list.Interaction.Aliases)
	require.Contains(t, string(list.Interaction.Annotations), `"team":"sales"`)
	require.True(t, again["deleteOrder"].Spec.Execution.Idempotent)
	require.False(t, again["createOrder"].Spec.Execution.Idempotent)
	var c httpcall.Config
	require.NoError(t, json.Unmarshal(list.Config, &c))
	require.Equal(t, &httpcall.Auth{Type: "header", Header: "X-Api-Key", CredentialsRef: "shop-key"}, c.Auth)
	o := again["listOrders"]
	require.Empty(t, o.Needs())
}

// A tool whose operation began to write is raised to it.
func TestEgressIsRaised(t *testing.T) {
	t.Parallel()
	known := stored(mapped(t, []byte(shop), openapi.Options{}))
	again, _ := imported(
		t, strings.Replace(shop, "    get: {operationId: listOrders", "    put: {operationId: listOrders", 1),
		openapi.Options{}, known,
	)
	s := again["listOrders"].Spec
	require.Equal(t, tool.EgressWrite, s.EgressClass)
	require.True(t, s.RequiresApproval)
	require.False(t, s.Execution.Pure)
}

// The declaration that a POST only reads stays, and with it the egress class,
// while the operation is a POST.
func TestReadsStays(t *testing.T) {
	t.Parallel()
	known := stored(mapped(t, []byte(shop), openapi.Options{}))
	for i := range known {
		if known[i].Slug != "createOrder" {
			continue
		}
		var c httpcall.Config
		require.NoError(t, json.Unmarshal(known[i].Config, &c))
		c.Reads = true
		known[i].Config = encode(t, c)
		known[i].EgressClass, known[i].RequiresApproval, known[i].Execution.Pure = tool.EgressReadOnly, false, true
	}
	again, _ := imported(t, strings.Replace(shop, "Create an order", "Search orders", 1), openapi.Options{}, known)
	s := again["createOrder"].Spec
	require.Equal(t, "Search orders", s.Name)
	require.True(t, httpcall.DeclaresReads(s.Config), string(s.Config))
	require.Equal(t, tool.EgressReadOnly, s.EgressClass)
	require.False(t, s.RequiresApproval)
	require.True(t, s.Execution.Pure)

	for _, changed := range []string{
		strings.Replace(shop, "    post:", "    put:", 1),
		strings.Replace(shop, "  /orders:\n", "  /orders/purge:\n", 1),
		strings.Replace(shop, "https://shop", "https://shop2", 1),
	} {
		again, _ = imported(t, changed, openapi.Options{}, known)
		o := again["createOrder"]
		require.False(t, httpcall.DeclaresReads(o.Spec.Config))
		require.Equal(t, tool.EgressWrite, o.Spec.EgressClass)
		require.True(t, o.Spec.RequiresApproval)
		require.False(t, o.Spec.Execution.Pure)
		require.Contains(t, strings.Join(o.Warnings, "\n"), "declare it again")
	}
}

func TestSelection(t *testing.T) {
	t.Parallel()
	raw := document(t, "cloud.json")
	for name, c := range map[string]struct {
		opts openapi.Options
		want int
	}{
		"tag":       {openapi.Options{Only: openapi.Selection{Tags: []string{"records"}}}, 6},
		"two tags":  {openapi.Options{Only: openapi.Selection{Tags: []string{"records", "session"}}}, 7},
		"method":    {openapi.Options{Only: openapi.Selection{Tags: []string{"records"}, Methods: []string{"get"}}}, 2},
		"operation": {openapi.Options{Only: openapi.Selection{Operations: []string{"session.get"}}}, 1},
		"path":      {openapi.Options{Only: openapi.Selection{Paths: []string{"/projects/{project}/records"}}}, 6},
		"except": {
			openapi.Options{
				Only: openapi.Selection{Tags: []string{"records"}}, Except: openapi.Selection{Methods: []string{"DELETE", "HEAD"}},
			},
			4,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := mapped(t, raw, c.opts)
			require.Len(t, r.Operations, c.want)
			require.Positive(t, r.Unselected)
		})
	}
}

// Slugs are a verb and a noun where the document lets them be.
func TestSlugs(t *testing.T) {
	t.Parallel()
	for operation, want := range map[string]string{
		`{"operationId":"repos/list-for-org"}`: "listReposForOrg",
		`{"operationId":"customersCreate"}`:    "listCustomers",
		`{"operationId":"get_user_by_id"}`:     "getUserById",
		`{"operationId":"GETUser"}`:            "getUser",
		`{"operationId":"Überblick"}`:          "listUberblick",
		`{"operationId":"!!!"}`:                "listA",
		`{"operationId":"2fa.enable"}`:         "list2faEnable",
		`{}`:                                   "listA",
	} {
		r := mapped(t, smallDocument(operation, `{}`), openapi.Options{})
		require.NotNil(t, r.Operations[0].Spec, r.Operations[0].Reason)
		require.Equal(t, want, r.Operations[0].Spec.Slug, operation)
	}
	for method, ids := range map[string]map[string]string{
		http.MethodDelete: {
			"tags_delete": "deleteTags", "tag": "deleteTag", "tag_item": "deleteTagItem", "getTag": "deleteTag",
			"repos/remove-label": "removeReposLabel",
			"checkRuns":          "deleteCheckRuns", "unstarRepo": "unstarRepo", "releaseLock": "releaseLock",
			"orderCreate": "deleteOrder",
		},
		http.MethodPost: {
			"tag_create": "createTag", "checkRuns/create": "createCheckRuns", "chat.delete": "deleteChat",
			"searchOrders":     "searchOrders",
			"chat.postMessage": "postChatMessage", "balancers.insert": "insertBalancers", "billing": "createBilling",
		},
		http.MethodGet: {
			"tag_get": "getTag", "checkRuns/listForRef": "listCheckRunsForRef", "deleteLog": "listLog",
			"exportReport": "exportReport",
			"releaseNotes": "listReleaseNotes",
		},
		http.MethodPut:   {"tags.replaceAll": "replaceTagsAll", "getTag": "replaceTag", "markAsRead": "markAsRead"},
		http.MethodPatch: {"tag": "tag", "customer": "updateCustomer", "list_patch": "patchList"},
	} {
		for id, want := range ids {
			raw := strings.Replace(string(smallDocument(`{"operationId":"`+id+`"}`, `{}`)), `"get"`,
				`"`+strings.ToLower(method)+`"`, 1)
			r := mapped(t, []byte(raw), openapi.Options{})
			require.NotNil(t, r.Operations[0].Spec, r.Operations[0].Reason)
			require.Equal(t, want, r.Operations[0].Spec.Slug, "%s %s", method, id)
		}
	}
	long := mapped(t, smallDocument(`{"operationId":"get`+strings.Repeat("Thing", 40)+`"}`,
		`{}`), openapi.Options{Prefix: "shop"}).Operations[0].Spec.Slug
	require.True(t, tool.ValidSlug(long))
	require.True(t, strings.HasPrefix(long, "shopGetThing"))
}
