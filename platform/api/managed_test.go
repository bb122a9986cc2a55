package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// Profiles and toolsets are applied with the tools that they name, and applying them again changes
// nothing.
func TestApplyProfilesAndToolsets(t *testing.T) {
	t.Parallel()
	b := setup(t)
	definitions := []string{
		`{"kind":"toolset","slug":"support","tools":["say@^1"]}`, `{"kind":"profile","name":"careful","requires_approval":true}`,
		echo("say"),
	}
	for _, item := range b.apply(t, definitions...).Items {
		require.Equal(t, v1.Created, item.Action, item.Slug)
		require.NotEmpty(t, item.ID)
	}
	for _, item := range b.apply(t, definitions...).Items {
		require.Equal(t, v1.Unchanged, item.Action, item.Slug)
	}
	definitions[0] = `{"kind":"toolset","slug":"support","name":"Support","tools":["say"]}`
	require.Equal(t, v1.Updated, b.apply(t, definitions...).Items[0].Action)
	var shown v1.Toolset
	b.do(t, http.MethodGet, "/v1/toolsets/support", "").into(t, &shown)
	require.Equal(t, "Support", shown.Name)

	reader := b.Key(t, b.tenant, "tools.write")
	var out v1.Applied
	b.do(t, http.MethodPost, "/v1/apply", batch(t, false, `{"kind":"profile","name":"other"}`), reader).into(t, &out)
	require.Equal(t, tool.Denied, out.Items[0].Error.Code)
	b.do(t, http.MethodPost, "/v1/apply", batch(t, false, `{"kind":"toolset","slug":"x","tools":["nothing"]}`)).into(t, &out)
	require.Equal(t, "/tools/0", out.Items[0].Error.Path)
}

// A summary has neither schemas nor configuration.
func TestToolSummaries(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(t, echo("say"))
	got := b.do(t, http.MethodGet, "/v1/tool-summaries", "")
	require.Equal(t, http.StatusOK, got.status)
	require.NotContains(t, string(got.body), "schema")
	require.NotContains(t, string(got.body), "implementation_config")
	var page v1.Page[tool.Meta]
	got.into(t, &page)
	require.Len(t, page.Items, 1)
	require.Equal(t, "say", page.Items[0].Slug)
	require.Equal(t, tool.Published, page.Items[0].Status)
}

// The older shape of a run's calls is there for each run, and another tenant's run is not found.
func TestToolRuns(t *testing.T) {
	t.Parallel()
	b := setup(t)
	none := "/v1/runs/01975c2e-7d1a-7c3e-9f00-0000000000c1/tool-runs"
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodGet, none, "").status)
}

// Findings are part of what publishing answers, and refuse it where strict is asked for.
func TestPublishFindings(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(t, `{"kind":"tool","slug":"cancelOrder","description":"Cancels.","implementation_type":"internal"}`)
	refused := b.do(t, http.MethodPost, "/v1/tools/cancelOrder/publish?strict=true", "").problem(t)
	require.Equal(t, tool.Conflict, refused.Code)
	require.Contains(t, refused.Detail, "description-short")
	var published v1.Published
	b.do(t, http.MethodPost, "/v1/tools/cancelOrder/publish", "").into(t, &published)
	require.NotEmpty(t, published.Findings)
	require.Equal(t, "description-short", published.Findings[0].Code)
}
