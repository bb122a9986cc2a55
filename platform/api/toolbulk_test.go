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

func (b *bundle) bulk(t *testing.T, in v1.BulkTools, key ...string) v1.BulkResult {
	t.Helper()
	raw, err := json.Marshal(in)
	require.NoError(t, err)
	got := b.do(t, http.MethodPost, "/v1/tools/bulk", string(raw), key...)
	require.Equal(t, http.StatusOK, got.status, string(got.body))
	var out v1.BulkResult
	got.into(t, &out)
	return out
}

func (b *bundle) statusOf(t *testing.T, slug string) tool.Status {
	t.Helper()
	got := b.do(t, http.MethodGet, "/v1/tools/"+slug, "")
	if got.status == http.StatusNotFound {
		return ""
	}
	var shown v1.Tool
	got.into(t, &shown)
	return shown.Status
}

const taggedDocument = `
openapi: 3.0.3
info: {title: Tagged, version: "1"}
servers: [{url: "https://tagged.example"}]
paths:
  /a: {get: {operationId: getA, tags: [first, both], responses: {}}}
  /b: {get: {operationId: getB, tags: [second, both], responses: {}}}
  /c: {delete: {operationId: deleteC, tags: [second], responses: {}}}
`

// Many tools are published, disabled and deleted, chosen by name, tag and source.
// One that fails leaves the others as they were changed.
func TestBulkTools(t *testing.T) {
	t.Parallel()
	b := setup(t)
	write := false
	b.importOpenAPI(t, v1.ImportOpenAPI{Document: inString(t, taggedDocument), DryRun: &write})
	b.apply(t, echo("ownTool"))

	plan := b.bulk(t, v1.BulkTools{Action: v1.BulkPublish, Source: "Tagged", Status: tool.Draft, DryRun: true})
	require.Equal(t, v1.BulkCounts{Changed: 3}, plan.Counts)
	require.Equal(t, tool.Draft, b.statusOf(t, "getA"))

	done := b.bulk(t, v1.BulkTools{Action: v1.BulkPublish, Tag: "both"})
	require.Equal(t, v1.BulkCounts{Changed: 2}, done.Counts)
	require.Equal(t, "1.0.0", done.Items[0].Version)
	require.Equal(t, tool.Published, done.Items[0].Status)
	require.Equal(t, tool.Published, b.statusOf(t, "getA"))
	require.Equal(t, tool.Draft, b.statusOf(t, "deleteC"), "it has another tag")
	require.Equal(t, v1.BulkCounts{Unchanged: 2}, b.bulk(t, v1.BulkTools{Action: v1.BulkPublish, Tag: "both"}).Counts)

	// What is published is not deleted: the others are.
	partly := b.bulk(t, v1.BulkTools{Action: v1.BulkDelete, Tools: []string{"getA", "deleteC", "missingTool", "deleteC"}})
	require.Equal(t, v1.BulkCounts{Changed: 1, Failed: 2}, partly.Counts)
	byTool := make(map[string]v1.BulkItem)
	for _, item := range partly.Items {
		byTool[item.Tool] = item
	}
	require.Equal(t, tool.NotFound, byTool["missingTool"].Error.Code)
	require.Equal(t, tool.Conflict, byTool["getA"].Error.Code)
	require.Contains(t, byTool["getA"].Error.Detail, "disable it before it is deleted")
	require.Equal(t, v1.BulkChanged, byTool["deleteC"].Outcome)
	require.Empty(t, b.statusOf(t, "deleteC"))

	require.Equal(t, v1.BulkCounts{Changed: 2}, b.bulk(t, v1.BulkTools{Action: v1.BulkDisable, Source: "Tagged"}).Counts)
	require.Equal(t, tool.Disabled, b.statusOf(t, "getB"))
	require.Equal(t, v1.BulkCounts{Unchanged: 2}, b.bulk(t, v1.BulkTools{Action: v1.BulkDisable, Source: "Tagged"}).Counts)
	require.Equal(
		t, v1.BulkCounts{Changed: 1},
		b.bulk(t, v1.BulkTools{Action: v1.BulkEnable, Tools: []string{"getB"}, Source: "Tagged"}).Counts,
	)
	require.Equal(t, tool.Published, b.statusOf(t, "getB"))
	require.Equal(
		t, v1.BulkCounts{Changed: 1},
		b.bulk(t, v1.BulkTools{Action: v1.BulkDelete, Source: "Tagged", Status: tool.Disabled}).Counts,
	)
	require.Empty(t, b.statusOf(t, "getA"))
	require.NotEmpty(t, b.statusOf(t, "ownTool"))

	// The slug of a deleted tool is free, and the document's import makes it anew.
	again := b.importOpenAPI(t, v1.ImportOpenAPI{Document: inString(t, taggedDocument), DryRun: &write, Publish: true})
	require.Equal(t, 2, again.Counts.Created)
	require.Equal(t, 1, again.Counts.Unchanged)
	require.Equal(t, 2, again.Counts.Published)
	require.Equal(t, tool.Published, b.statusOf(t, "getA"))
}

// A bulk change needs the permission of the changes it makes, reaches only the
// tenant's own tools, and is never of all tools by accident.
func TestBulkToolsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(t, echo("ownTool"))
	reader := b.Key(t, b.tenant, "tools.read")
	body := `{"action":"disable","tools":["ownTool"]}`
	require.Equal(t, http.StatusForbidden, b.do(t, http.MethodPost, "/v1/tools/bulk", body, reader).status)
	require.Equal(t, http.StatusForbidden, b.do(t, http.MethodDelete, "/v1/tools/ownTool", "", reader).status)
	for body, want := range map[string]string{
		`{"action":"delete"}`:                      "all tools would be selected",
		`{"action":"explode","tools":["a"]}`:       "action",
		`{"action":"publish","tools":["a"],"x":1}`: "x",
	} {
		got := b.do(t, http.MethodPost, "/v1/tools/bulk", body)
		require.Equal(t, http.StatusUnprocessableEntity, got.status, string(got.body))
		require.Contains(t, string(got.body), want)
	}
	stranger := b.Key(t, b.Tenant(t), "*")
	theirs := b.bulk(t, v1.BulkTools{Action: v1.BulkDisable, Tools: []string{"ownTool"}}, stranger)
	require.Equal(t, v1.BulkCounts{Failed: 1}, theirs.Counts)
	require.Equal(t, tool.NotFound, theirs.Items[0].Error.Code)
	require.Empty(t, b.bulk(t, v1.BulkTools{Action: v1.BulkDelete, Tag: "echo", Source: "x"}, stranger).Items)
	require.Equal(t, tool.Published, b.statusOf(t, "ownTool"))
	global := b.bulk(t, v1.BulkTools{Action: v1.BulkDisable, Tools: []string{"datetime_utils"}})
	require.Equal(t, v1.BulkCounts{Failed: 1}, global.Counts)
}

// A tool is deleted once it is not published, and under the condition that its
// reader gave.
func TestDeleteTool(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(t, echo("ownTool"))
	tag := b.do(t, http.MethodGet, "/v1/tools/ownTool", "").header.Get("Etag")
	require.Equal(t, http.StatusOK, b.do(t, http.MethodPost, "/v1/tools/ownTool/publish", `{}`).status)
	got := b.do(t, http.MethodDelete, "/v1/tools/ownTool", "")
	require.Equal(t, http.StatusConflict, got.status, string(got.body))
	require.Equal(t, http.StatusOK, b.do(t, http.MethodPost, "/v1/tools/ownTool/disable", `{}`).status)
	require.Equal(
		t, http.StatusPreconditionFailed,
		b.send(t, http.MethodDelete, "/v1/tools/ownTool", "", map[string]string{"If-Match": tag}).status,
	)
	got = b.do(t, http.MethodDelete, "/v1/tools/ownTool", "")
	require.Equal(t, http.StatusOK, got.status, string(got.body))
	require.Contains(t, string(got.body), `"slug":"ownTool"`)
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodDelete, "/v1/tools/ownTool", "").status)
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodGet, "/v1/tools/ownTool/versions", "").status)
}

// An import as a stream reports its progress, and ends with the answer of the
// import.
func TestStreamImportOpenAPI(t *testing.T) {
	t.Parallel()
	b := setup(t)
	write := false
	raw, err := json.Marshal(v1.ImportOpenAPI{Document: inString(t, taggedDocument), DryRun: &write})
	require.NoError(t, err)
	got := b.do(t, http.MethodPost, "/v1/tools/import/openapi/stream", string(raw))
	require.Equal(t, http.StatusOK, got.status, string(got.body))
	require.Equal(t, v1.StreamType, got.header.Get("Content-Type"))
	var result v1.ImportedOpenAPI
	var last v1.ImportProgress
	for block := range strings.SplitSeq(string(got.body), "\n\n") {
		event, data, _ := strings.Cut(strings.TrimPrefix(block, "event: "), "\ndata: ")
		switch event {
		case v1.EventImportProgress:
			require.NoError(t, json.Unmarshal([]byte(data), &last))
		case v1.EventImportResult:
			require.NoError(t, json.Unmarshal([]byte(data), &result))
		}
	}
	require.Equal(t, v1.ImportProgress{Done: 3, Total: 3, Tool: "deleteC"}, last)
	require.Equal(t, 3, result.Counts.Created)
	require.Equal(t, tool.Draft, b.statusOf(t, "getA"))

	got = b.do(t, http.MethodPost, "/v1/tools/import/openapi/stream", `{"document":"nonsense"}`)
	require.Equal(t, http.StatusUnprocessableEntity, got.status, string(got.body))
	reader := b.Key(t, b.tenant, "tools.read")
	require.Equal(
		t, http.StatusForbidden, b.do(t, http.MethodPost, "/v1/tools/import/openapi/stream", string(raw), reader).status,
	)
}
