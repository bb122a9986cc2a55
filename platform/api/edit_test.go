package api_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// Making a tool takes its type and configurations, and passes the registry's
// guardrails.
func TestCreateTool(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := b.do(
		t,
		http.MethodPost,
		"/v1/tools",
		`{"slug":"fetchOrder","name":"Fetch order","implementation_type":"http","scope":"tenant",
		"implementation_config":{"url":"https://example.com/","headers":{"X-Api-Key":{"from":"/key"}}},
		"execution_config":{"is_pure":true,"timeout_s":7}}`,
	)
	require.Equal(t, http.StatusCreated, got.status, string(got.body))
	require.Equal(t, "/v1/tools/fetchOrder", got.header.Get("Location"))
	var made v1.SavedTool
	got.into(t, &made)
	require.Equal(t, tool.Draft, made.Status)
	require.Equal(t, tool.HTTP, made.Implementation)
	require.InDelta(t, 7, made.Execution.TimeoutSeconds, 0)
	require.True(t, made.Execution.Pure)
	require.Contains(t, string(made.Config), `{"from":"/key"}`)
	require.NotEmpty(t, made.Warnings, "a model is not told when to use it")

	for name, c := range map[string]struct {
		body string
		code tool.Kind
		path string
	}{
		"published":    {`{"slug":"x","implementation_type":"internal","status":"published"}`, tool.Conflict, "/status"},
		"publish":      {`{"slug":"x","implementation_type":"internal","publish":true}`, tool.Conflict, "/status"},
		"global":       {`{"slug":"x","implementation_type":"internal","scope":"global"}`, tool.Invalid, "/scope"},
		"unknown type": {`{"slug":"x","implementation_type":"magic"}`, tool.Invalid, "/implementation_type"},
		"no type":      {`{"slug":"x"}`, tool.Invalid, "/implementation_type"},
		"no slug":      {`{"implementation_type":"internal"}`, tool.Invalid, "/slug"},
		"slug taken":   {`{"slug":"fetchOrder","implementation_type":"internal"}`, tool.Conflict, ""},
		"a bad risk": {
			`{"slug":"x","implementation_type":"internal","risk":{"level":"extreme"}}`, tool.Invalid, "/interaction/risk/level",
		},
		"a nameless kind": {
			`{"slug":"x","implementation_type":"internal","risk":{"data":[""]}}`, tool.Invalid, "/interaction/risk/data/0",
		},
		"a bad visibility": {
			`{"slug":"x","implementation_type":"internal","visibility":"hidden"}`, tool.Invalid, "/interaction/visibility",
		},
		"no pipeline": {
			`{"slug":"x","implementation_type":"rag_retrieval"}`, tool.Invalid, "/implementation_config/pipeline_id",
		},
		"misspelt": {
			`{"slug":"x","implementation_type":"internal","descriptionn":"d"}`, tool.Invalid, "/descriptionn",
		},
		"an agent":  {`{"kind":"agent","slug":"x"}`, tool.Invalid, "/kind"},
		"no object": {`["x"]`, tool.Invalid, ""},
		"a shown secret": {
			`{"slug":"x","implementation_type":"custom","implementation_config":{"token":"[redacted]"}}`, tool.Invalid,
			"/implementation_config/token",
		},
		"a built-in": {
			`{"slug":"x","implementation_type":"internal","builtin_key":"web_fetch"}`, tool.Invalid, "/builtin_key",
		},
		"a broken schema": {
			`{"slug":"x","implementation_type":"internal","input_schema":{"type":"strin"}}`, tool.Invalid, "/input_schema/type",
		},
	} {
		p := b.do(t, http.MethodPost, "/v1/tools", c.body).problem(t)
		require.Equal(t, c.code, p.Code, "%s: %s", name, p.Detail)
		require.Equal(t, c.path, p.Path, "%s: %s", name, p.Detail)
	}
	require.Contains(t, b.do(t, http.MethodPost, "/v1/tools", `{"slug":"x","descriptionn":"d"}`).problem(t).Detail,
		"did you mean description?")
	require.Len(t, toolsOf(t, b), 1)
}

// Replacing a draft publishes nothing, and what is published stays as it was.
func TestUpdateTool(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(t, echo("say"))
	put := func(body string) answer { return b.do(t, http.MethodPut, "/v1/tools/say", body) }

	var saved v1.SavedTool
	put(
		`{"name":"Say it","implementation_type":"internal","description":"Says.","input_schema":{"type":"object"},"status":"deprecated"}`,
	).into(t, &saved)
	require.Equal(t, "say", saved.Slug)
	require.Equal(t, "Say it", saved.Name)
	require.Equal(t, tool.Deprecated, saved.Status)

	require.Equal(t, "/status", put(`{"implementation_type":"internal","status":"published"}`).problem(t).Path)
	require.Equal(t, "/slug", put(`{"slug":"other","implementation_type":"internal"}`).problem(t).Path)
	require.Equal(t, tool.Conflict, put(`{"implementation_type":"internal","revision":1}`).problem(t).Code)
	put(`{"implementation_type":"artifact","artifact_id":"a-1","artifact_version":"3"}`).into(t, &saved)
	require.Equal(t, "a-1", saved.ArtifactID)
	require.Equal(t, tool.BucketArtifact, saved.ToolType)
	require.Equal(t, tool.Deprecated, saved.Status, "a status that is not named stays")

	var v v1.ToolVersion
	b.do(t, http.MethodGet, "/v1/tools/say/versions/1.0.0", "").into(t, &v)
	require.Equal(t, tool.Internal, v.Definition.Implementation)
	require.True(t, v.Published)
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodGet, "/v1/tools/say/versions/9.9.9", "").status)
	require.Equal(
		t, http.StatusNotFound, b.do(t, http.MethodPut, "/v1/tools/none", `{"implementation_type":"internal"}`).status,
	)
	require.Equal(
		t, http.StatusForbidden, b.do(t, http.MethodPut, "/v1/tools/say", `{}`, b.Key(t, b.tenant, "tools.read")).status,
	)
}

// A draft that is replaced is replaced in every part, and no way of saying so
// publishes it.
func TestUpdateToolReplacesEveryPart(t *testing.T) {
	t.Parallel()
	b := setup(t)
	put := func(body string) answer { return b.do(t, http.MethodPut, "/v1/tools/say", body) }
	read := func() (got v1.Tool) {
		b.do(t, http.MethodGet, "/v1/tools/say", "").into(t, &got)
		return got
	}
	b.do(t, http.MethodPost, "/v1/tools", `{"slug":"say","implementation_type":"internal","description":"Says."}`)

	require.Equal(t, http.StatusOK, put(`{"implementation_type":"http","version":"1.1.0","egress_class":"read_only",
		"input_schema":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]},
		"output_schema":{"type":"object","properties":{"total":{"type":"number"}}},
		"implementation_config":{"url":"https://example.com/orders"},"execution_config":{"is_pure":true,"timeout_s":7}}`).status)
	got := read()
	require.Equal(t, tool.HTTP, got.Implementation)
	require.Equal(t, "1.1.0", got.Version)
	require.Equal(t, tool.EgressReadOnly, got.EgressClass)
	require.Empty(t, got.Description, "what the body leaves out is what it is for a new tool")
	require.JSONEq(
		t,
		`{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`,
		string(got.InputSchema),
	)
	require.JSONEq(t, `{"type":"object","properties":{"total":{"type":"number"}}}`, string(got.OutputSchema))
	require.JSONEq(t, `{"url":"https://example.com/orders"}`, string(got.Config))
	require.InDelta(t, 7, got.Execution.TimeoutSeconds, 0)
	require.True(t, got.Execution.Pure)

	require.Equal(
		t, http.StatusOK,
		put(`{"implementation_type":"artifact","artifact_id":"a-1","artifact_version":"3","status":"disabled"}`).status,
	)
	got = read()
	require.Equal(t, tool.Artifact, got.Implementation)
	require.Equal(t, []string{"a-1", "3"}, []string{got.ArtifactID, got.ArtifactVersion})
	require.Equal(t, tool.Disabled, got.Status)
	require.Equal(t, http.StatusOK, put(`{"implementation_type":"internal","status":"draft"}`).status)
	got = read()
	require.Equal(t, tool.Internal, got.Implementation)
	require.Equal(t, tool.Draft, got.Status)
	require.Empty(t, got.ArtifactID, "the link is taken off")

	for _, body := range []string{
		`{"implementation_type":"internal","status":"published"}`, `{"implementation_type":"internal","publish":true}`,
	} {
		p := put(body).problem(t)
		require.Equal(t, tool.Conflict, p.Code, body)
		require.Equal(t, "/status", p.Path, body)
	}
	after := read()
	require.Equal(t, got, after, "what is refused changes nothing")
	require.Nil(t, after.PublishedAt)
	var versions v1.Page[v1.ToolVersion]
	b.do(t, http.MethodGet, "/v1/tools/say/versions", "").into(t, &versions)
	require.Empty(t, versions.Items)
	require.Equal(t, tool.Conflict, b.do(t, http.MethodPost, "/v1/tools/say/call", `{}`).problem(t).Code,
		"a draft is not called")
}

// The platform's own tools are listed under the name that some know them by,
// and a tenant's tools never are.
func TestBuiltinTemplates(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(t, echo("mine"))
	for _, global := range []tool.Tool{
		{Slug: "webFetch", BuiltinKey: "web_fetch", System: true}, {Slug: "clock", System: true}, {Slug: "shared"},
	} {
		global.Status, global.Active, global.Version, global.Implementation = tool.Published, true, "1.0.0", tool.Internal
		_, err := b.Platform.Registry().CreateTool(t.Context(), global)
		require.NoError(t, err)
	}
	var slugs []string
	query := "?limit=1"
	for {
		var page v1.Page[v1.Tool]
		b.do(t, http.MethodGet, "/v1/tools/builtins/templates"+query, "").into(t, &page)
		for _, item := range page.Items {
			slugs = append(slugs, item.Slug)
			require.Equal(t, "global", item.Scope)
			require.Equal(t, tool.BucketBuiltIn, item.ToolType)
		}
		if page.Next == "" {
			break
		}
		query = "?limit=1&cursor=" + page.Next
	}
	require.Equal(t, []string{"clock", "webFetch"}, slugs)
	require.Equal(
		t, http.StatusForbidden, b.do(t, http.MethodPut, "/v1/tools/clock", `{"implementation_type":"internal"}`).status,
	)
}

func TestAgentLifecycle(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(t, echo("say"))
	got := b.do(
		t, http.MethodPost, "/v1/agents",
		`{"slug":"desk","model":"scripted/desk","tools":["say"],"model_options":{"api_key":"planted"}}`,
	)
	require.Equal(t, http.StatusCreated, got.status, string(got.body))
	require.NotContains(t, string(got.body), "planted")
	var saved v1.SavedAgent
	got.into(t, &saved)
	require.Equal(t, tool.Draft, saved.Status)
	require.NotEmpty(t, saved.Warnings)
	require.Equal(
		t, "/status", b.do(t, http.MethodPost, "/v1/agents", `{"slug":"x","status":"published"}`).problem(t).Path,
	)
	require.Equal(t, "/kind", b.do(t, http.MethodPost, "/v1/agents", `{"kind":"tool","slug":"x"}`).problem(t).Path)

	b.do(
		t, http.MethodPut, "/v1/agents/desk",
		`{"name":"Desk","instructions":"Help.","model":"scripted/desk","tools":["say"]}`,
	).into(t, &saved)
	require.Equal(t, "desk", saved.Slug)
	post := func(action string) answer { return b.do(t, http.MethodPost, "/v1/agents/desk/"+action, "") }
	var v v1.AgentVersion
	post("version?new_version=1.1.0").into(t, &v)
	require.False(t, v.Published)
	require.Equal(t, "Help.", v.Definition.Instructions)
	require.Equal(t, tool.Conflict, post("version?new_version=1.0.0").problem(t).Code)
	require.Equal(t, http.StatusOK, post("publish").status)
	b.do(t, http.MethodGet, "/v1/agents/desk/versions/1.1.0", "").into(t, &v)
	require.True(t, v.Published)
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodGet, "/v1/agents/desk/versions/1.2.0", "").status)

	var is v1.Agent
	for action, status := range map[string]tool.Status{"disable": tool.Disabled} {
		post(action).into(t, &is)
		require.Equal(t, status, is.Status)
	}
	require.Equal(t, tool.Conflict, b.do(t, http.MethodPost, "/v1/runs", `{"agent":"desk","input":"x"}`).problem(t).Code)
	post("enable").into(t, &is)
	require.Equal(t, tool.Published, is.Status)
}

// Revoking a key revokes the keys that it created, and those that they created.
func TestRevokedKeysTakeTheirsAlong(t *testing.T) {
	t.Parallel()
	b := setup(t)
	maker := b.key
	var made [3]v1.CreatedKey
	for i := range made {
		got := b.do(t, http.MethodPost, "/v1/keys", `{"name":"made","permissions":["keys.read","keys.write"]}`, maker)
		require.Equal(t, http.StatusCreated, got.status, string(got.body))
		got.into(t, &made[i])
		require.Equal(t, "/v1/keys/"+made[i].ID, got.header.Get("Location"))
		maker = made[i].Secret
	}
	b.do(t, http.MethodPost, "/v1/keys/"+made[0].ID+"/revoke", "")
	for _, k := range made {
		require.Equal(t, http.StatusUnauthorized, b.do(t, http.MethodGet, "/v1/keys", "", k.Secret).status)
		var shown v1.Key
		b.do(t, http.MethodGet, "/v1/keys/"+k.ID, "").into(t, &shown)
		require.NotNil(t, shown.RevokedAt)
	}
	require.Equal(t, http.StatusOK, b.do(t, http.MethodGet, "/v1/keys", "").status)
}

func TestTenant(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var page v1.Page[v1.Tenant]
	b.do(t, http.MethodGet, "/v1/tenants", "").into(t, &page)
	require.Len(t, page.Items, 1)
	require.Equal(t, b.tenant, page.Items[0].ID)
	for _, name := range []string{page.Items[0].Slug, string(b.tenant)} {
		var own v1.Tenant
		b.do(t, http.MethodGet, "/v1/tenants/"+name, "").into(t, &own)
		require.Equal(t, page.Items[0], own)
	}
}

// Invocations are found by what they were of and how they ended.
func TestInvocationFilters(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ids := seedForeign(t, b) // One call, that was not found.
	for query, want := range map[string]int{
		"": 1, "kind=not_found": 1, "kind=denied": 0, "tool=theirTool": 1, "tool=other": 0, "status=failed": 1,
		"status=completed":      0,
		"run=" + ids["runs"][0]: 1, "until=2020-01-01T00:00:00Z": 0, "since=2020-01-01T00:00:00Z": 1,
	} {
		var page v1.Page[json.RawMessage]
		b.do(t, http.MethodGet, "/v1/invocations?"+query, "").into(t, &page)
		require.Len(t, page.Items, want, query)
	}
	require.Equal(t, "kind", b.do(t, http.MethodGet, "/v1/invocations?kind=odd", "").problem(t).Path)
}
