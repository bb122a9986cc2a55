package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// A renamed tool answers to its former slug, in calls and explanations, until
// its last day.
func TestRenameTool(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(t, echo("findOrders"))
	got := b.do(t, http.MethodPost, "/v1/tools/findOrders/rename", `{"slug":"searchOrders","keep_until":"2099-06-30"}`)
	require.Equal(t, http.StatusOK, got.status, string(got.body))
	var renamed v1.SavedTool
	got.into(t, &renamed)
	require.Equal(t, "searchOrders", renamed.Slug)
	require.Equal(t, tool.RiskLow, renamed.Risk)

	var e v1.Explanation
	b.do(t, http.MethodGet, "/v1/tools/findOrders/explain", "").into(t, &e)
	require.Equal(t, "searchOrders", e.Slug)
	require.Equal(t, "1.0.0", e.Version)
	p := b.do(t, http.MethodGet, "/v1/tools/findOrders", "").problem(t)
	require.Equal(t, tool.NotFound, p.Code)
	require.Contains(t, p.Detail, `tool "findOrders" is called "searchOrders" now`)

	for name, c := range map[string]struct {
		body string
		code tool.Kind
		path string
	}{
		"a bad day": {`{"slug":"seekOrders","keep_until":"soon"}`, tool.Invalid, "/keep_until"},
		"kept and ended": {
			`{"slug":"seekOrders","keep_until":"2099-06-30","drop_former":true}`, tool.Invalid, "/keep_until",
		},
		"a bad slug":      {`{"slug":"seek orders"}`, tool.Invalid, "/slug"},
		"no slug":         {`{}`, tool.Invalid, ""},
		"unknown members": {`{"slug":"seekOrders","until":"2099-06-30"}`, tool.Invalid, "/until"},
	} {
		p := b.do(t, http.MethodPost, "/v1/tools/searchOrders/rename", c.body).problem(t)
		require.Equal(t, c.code, p.Code, "%s: %s", name, p.Detail)
		require.Equal(t, c.path, p.Path, "%s: %s", name, p.Detail)
	}
}

// Tools of another system are taken over with what they leave out filled in, and
// one that is malformed fails alone (S3-73 … S3-76).
func TestImportTools(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const rows = `"definitions":[
		{"slug":"get_weather","is_active":true,"config_schema":{"implementation":{"url":"https://example.com/"}},"description":"Weather.",
		 "created_at":"2020-01-01T00:00:00Z"},
		{"slug":"old_tool","is_active":false,"implementation_type":"internal","description":"Old."},
		{"slug":"not a slug"},
		{"kind":"agent","slug":"desk"}]`
	for _, dry := range []bool{true, false} {
		body := `{"dry_run":true,` + rows + `}`
		if !dry {
			body = `{` + rows + `}`
		}
		got := b.do(t, http.MethodPost, "/v1/tools/import", body)
		require.Equal(t, http.StatusOK, got.status, string(got.body))
		var out v1.Applied
		got.into(t, &out)
		require.Equal(t, dry, out.DryRun)
		require.Equal(t, 2, out.Failed)
		require.Equal(t, v1.Created, out.Items[0].Action, "%v", out.Items[0].Error)
		require.True(t, out.Items[0].Published, "%v", out.Items[0].Warnings)
		require.Equal(t, "1.0.0", out.Items[0].Version)
		require.Equal(t, v1.Created, out.Items[1].Action)
		require.False(t, out.Items[1].Published)
		require.Equal(t, "/slug", out.Items[2].Error.Path)
		require.Equal(t, "/kind", out.Items[3].Error.Path)
	}
	var weather, old v1.Tool
	b.do(t, http.MethodGet, "/v1/tools/get_weather", "").into(t, &weather)
	require.Equal(t, tool.Published, weather.Status)
	require.Equal(t, tool.HTTP, weather.Implementation)
	b.do(t, http.MethodGet, "/v1/tools/old_tool", "").into(t, &old)
	require.Equal(t, tool.Disabled, old.Status)
}

// A tool that runs an artifact says of which version (S3-9).
func TestToolsShowTheirArtifactVersion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := b.do(
		t,
		http.MethodPost,
		"/v1/tools/import",
		`{"definitions":[{"slug":"runCode","artifact_id":"a1","artifact_version":"^1.2","is_active":false,"description":"Runs."}]}`,
	)
	require.Equal(t, http.StatusOK, got.status, string(got.body))
	var shown v1.Tool
	b.do(t, http.MethodGet, "/v1/tools/runCode", "").into(t, &shown)
	require.Equal(t, "a1", shown.ArtifactID)
	require.Equal(t, "^1.2", shown.ArtifactVersion)
}

// Internal tools are for agents and workflows: API keys neither find nor call
// them, except for operators, who see them as they are (Z10, S0-15).
func TestInternalToolsAreAbsentForKeys(t *testing.T) {
	t.Parallel()
	b := setup(t)
	hidden := strings.Replace(echo("publishView"), `"kind":"tool"`, `"kind":"tool","visibility":"internal"`, 1)
	b.apply(t, echo("findOrders"), hidden, desk("clerk", `["publishView","findOrders"]`))
	caller := b.Key(t, b.tenant, "tools.read", "runs.write")

	list := func(query string, key ...string) (slugs []string) {
		var page v1.Page[v1.Tool]
		b.do(t, http.MethodGet, "/v1/tools"+query, "", key...).into(t, &page)
		for _, x := range page.Items {
			slugs = append(slugs, x.Slug)
		}
		return slugs
	}
	require.Equal(t, []string{"findOrders"}, list("?callable=production"), "also for a key that may do all")
	require.Equal(t, []string{"findOrders"}, list("", caller))
	require.Equal(t, []string{"findOrders", "publishView"}, list(""), "operators manage them")
	require.Equal(t, tool.NotFound, b.do(t, http.MethodGet, "/v1/tools/publishView", "", caller).problem(t).Code)
	for _, key := range []string{b.key, caller} {
		got := b.do(t, http.MethodPost, "/v1/tools/publishView/call", `{"arguments":{}}`, key)
		absent := b.do(t, http.MethodPost, "/v1/tools/absentView/call", `{"arguments":{}}`, key)
		require.Equal(t, tool.NotFound, got.problem(t).Code)
		require.Equal(t, absent.status, got.status)
	}
	var e v1.Explanation
	b.do(t, http.MethodGet, "/v1/tools/publishView/explain", "").into(t, &e)
	require.Equal(t, "1.0.0", e.Version)
	i := slices.IndexFunc(e.Steps, func(s v1.Step) bool { return s.Rule == "visibility" })
	require.Contains(t, e.Steps[i].Saw, "internal")
}
