package api_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/access"
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/audit"
	"github.com/toolcrib/toolcrib/budget"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/profile"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/artifact"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/mcpserver"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolset"
	"github.com/toolcrib/toolcrib/usage"
	"github.com/toolcrib/toolcrib/wait"
)

// operation is an endpoint as the API describes it.
type operation struct {
	method, path string
	security     []map[string][]string
}

func operations(t *testing.T, b *bundle) []operation {
	t.Helper()
	var doc struct {
		OpenAPI string                                `json:"openapi"`
		Paths   map[string]map[string]json.RawMessage `json:"paths"`
	}
	b.do(t, http.MethodGet, "/openapi.json", "", "").into(t, &doc)
	require.Equal(t, "3.1.0", doc.OpenAPI)
	var all []operation
	for path, methods := range doc.Paths {
		for method, raw := range methods {
			var op struct {
				Security []map[string][]string `json:"security"`
			}
			require.NoError(t, json.Unmarshal(raw, &op))
			all = append(all, operation{strings.ToUpper(method), path, op.Security})
		}
	}
	require.Greater(t, len(all), 25)
	return all
}

// open are the endpoints that require no key: what they return belongs to no
// tenant.
var open = []string{
	"/healthz", "/readyz", "/v1/problems", "/v1/problems/{name}", "/v1/meta", "/v1/session",
}

// fill puts an id in the place of a path's first name, and a version in the
// place of another.
func fill(path, id string) string {
	names := regexp.MustCompile(`\{[a-z]+\}`)
	if first := names.FindString(path); first != "" {
		path = strings.Replace(path, first, id, 1)
	}
	return names.ReplaceAllString(path, "1.0.0")
}

// Without a key every endpoint but the open ones is closed.
func TestEveryEndpointWantsAKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, op := range operations(t, b) {
		if slices.Contains(open, op.path) {
			continue
		}
		require.NotEmpty(t, op.security, op.path)
		path := fill(op.path, "x")
		require.Equal(t, http.StatusUnauthorized, b.do(t, op.method, path, "", "").status, op.method+" "+op.path)
		if strings.HasPrefix(op.path, "/v1/me") { // Whatever a key permits, it learns that.
			continue
		}
		none := b.Key(t, b.tenant, "nothing")
		require.Equal(t, http.StatusForbidden, b.do(t, op.method, path, "", none).status, op.method+" "+op.path)
	}
}

// The record of calls requires the permission to see runs: no other permission
// opens it.
func TestInvocationsWantTheirPermission(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ids := seedForeign(t, b)
	others := slices.DeleteFunc(slices.Clone(api.Permissions()), func(p string) bool { return p == api.RunsRead })
	require.NotEmpty(t, others)
	reader, rest := b.Key(t, b.tenant, api.RunsRead), b.Key(t, b.tenant, others...)
	for _, path := range []string{"/v1/invocations", "/v1/invocations/" + ids["invocations"][0]} {
		require.Equal(t, http.StatusOK, b.do(t, http.MethodGet, path, "", reader).status, path)
		require.Equal(t, http.StatusForbidden, b.do(t, http.MethodGet, path, "", rest).status, path)
	}
}

// What belongs to another tenant is answered, by every endpoint that takes the
// name of something, with the very body of what does not exist.
func TestForeignTenant(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ids := seedForeign(t, b)
	ids["approvals"] = []string{b.asks(t, "user:theirs").ID}
	ids["pending-tool-calls"] = []string{b.offers(t, b.outside(t, "pickSeat")).ID}
	ids["input-requests"] = []string{b.asksPerson(t).ID}
	granted, err := b.Store.AddGrant(t.Context(), wait.Grant{
		Tenant: b.tenant, Tool: "pickSeat", Uses: 1, CreatedBy: "user:theirs",
	}, time.Hour)
	require.NoError(t, err)
	ids["approval-grants"] = []string{granted.ID}
	ids["webhooks"] = []string{seedWebhook(t, b).ID}
	price, err := b.Store.SetPrice(t.Context(), usage.Price{
		Tenant: b.tenant, Model: "acme/theirs", Tokens: &usage.Rates{Input: 1, Output: 1},
	})
	require.NoError(t, err)
	ids["prices"] = []string{price.ID}
	_, err = b.Store.SetBudget(t.Context(), budget.Budget{Tenant: b.tenant, Name: "theirs", Period: budget.Day})
	require.NoError(t, err)
	ids["budgets"] = []string{"theirs"}
	ids["profiles"], ids["assignments"] = seedProfile(t, b)
	_, err = b.Store.CreateToolset(t.Context(), toolset.Toolset{Tenant: b.tenant, Slug: "theirs"})
	require.NoError(t, err)
	ids["toolsets"] = []string{"theirs"}
	ids["views"] = []string{seedView(t, b).ID}
	ids["tool-sessions"] = []string{seedToolSession(t, b).ID}
	ids["embed-origins"] = []string{allowOrigin(t, b, shop).ID}
	_, err = b.Store.CreateRole(t.Context(), store.Role{
		Role: access.Role{Name: "theirs", Permissions: []string{api.RunsRead}}, Tenant: b.tenant,
	})
	require.NoError(t, err)
	ids["roles"] = []string{"theirs"}
	entries, err := b.Store.ListAudit(t.Context(), b.tenant, audit.Query{Limit: 1})
	require.NoError(t, err)
	ids["audit"] = []string{entries[0].ID}
	ids["spaces"] = []string{seedSpace(t, b).ID}
	seeded := seedSchedule(t, b)
	ids["schedules"] = []string{seeded.ID, seeded.Name}
	ids["files"] = []string{seedFile(t, b).ID}
	_, hello := b.stream(t, topics("runs"), nil).until(v1.EventHello, "")
	ids["stream"] = []string{hello.Connection}
	ids["sessions"] = []string{seedBrowser(t, b)}
	ids["me"] = ids["sessions"]
	stranger := b.Key(t, b.Tenant(t), "*")
	bodies := map[string]string{
		"POST /v1/tools/{tool}/call":                "{}",
		"POST /v1/tools/{tool}/rename":              `{"slug":"takenOver"}`,
		"POST /v1/tools/{tool}/test":                "{}",
		"POST /v1/tools/{tool}/test/stream":         "{}",
		"PUT /v1/tools/{tool}":                      `{"implementation_type":"internal"}`,
		"POST /v1/stream/{connection}/topics":       `{"topics":[]}`,
		"PUT /v1/tools/{tool}/override":             `{"enabled":false}`,
		"PUT /v1/tools/{tool}/publish-gate":         `{"replay":1}`,
		"POST /v1/tools/{tool}/replays":             `{"calls":1}`,
		"POST /v1/tools/{tool}/canary":              `{"share":10,"until_calls":10}`,
		"PUT /v1/agents/{agent}":                    "{}",
		"PUT /v1/mcp/servers/{server}":              `{"server_url":"https://example.com/mcp"}`,
		"POST /v1/mcp/servers/{server}/approve":     `{"tools":[{"name":"x"}]}`,
		"PUT /v1/mcp/servers/{server}/trust":        `{"trusted":true}`,
		"PUT /v1/credentials/{credential}":          "{}",
		"PUT /v1/toolsets/{toolset}":                `{"slug":"x"}`,
		"PUT /v1/schedules/{schedule}":              "{}",
		"POST /v1/schedules/{schedule}/backfill":    `{"from":"2026-01-01T00:00:00Z","until":"2026-01-02T00:00:00Z"}`,
		"PUT /v1/webhooks/{webhook}":                "{}",
		"PUT /v1/profiles/{profile}":                "{}",
		"POST /v1/webhooks/{webhook}/rotate":        "{}",
		"PUT /v1/spaces/{space}":                    "{}",
		"PUT /v1/roles/{role}":                      "{}",
		"POST /v1/spaces/{space}/members":           `{"member":"person:user:eve"}`,
		"POST /v1/spaces/{space}/messages":          `{"text":"x"}`,
		"PUT /v1/tenants/{tenant}/masking":          `{"mask_sensitive":false}`,
		"PUT /v1/tenants/{tenant}/taint":            `{"taint":"deny"}`,
		"PUT /v1/tenants/{tenant}/publishing":       `{"mcp_apps_publish_enabled":false}`,
		"POST /v1/views/{view}/rotate":              "{}",
		"PATCH /v1/pipelines/{pipeline}":            "{}",
		"POST /v1/approvals/{approval}/approve":     "{}",
		"POST /v1/approvals/{approval}/reject":      "{}",
		"POST /v1/runs/{id}/messages":               `{"input":"x"}`,
		"POST /v1/runs/{id}/tool-results":           `{"call_id":"call_1","result":1}`,
		"POST /v1/pending-tool-calls/{call}/result": `{"result":1}`,
		"POST /v1/pending-tool-calls/{call}/token":  "{}",
		"POST /v1/input-requests/{view}/link":       "{}",
		"POST /v1/input-requests/{view}/files":      "x",
		"POST /v1/runs/{id}/rerun":                  "{}",
		"POST /v1/pipelines/{pipeline}/search":      `{"query":"x"}`,
		"POST /v1/pipelines/{pipeline}/documents":   `{"key":"x","text":"x"}`,
		"POST /v1/pipelines/{pipeline}/reembed":     `{"embedding":{"url":"https://example.com/v1","model":"x","dimensions":3}}`,
		"POST /v1/artifacts/{artifact}/versions":    `{"source":"."}`,
		"POST /v1/tool-sessions/{session}/link":     "{}",

		"POST /v1/tool-sessions/{session}/submissions": `{"input":{}}`,
	}
	tried := 0
	for _, op := range operations(t, b) {
		if !strings.Contains(op.path, "{") || slices.Contains(open, op.path) {
			continue
		}
		named := ids[noun(op.path)]
		require.NotEmpty(t, named, "%s: seedForeign makes none of these", op.path)
		for _, id := range named {
			absent := id[:len(id)-3] + "fff"
			if strings.HasSuffix(id, "fff") {
				absent = id[:len(id)-3] + "000"
			}
			query := ""
			if op.path == "/v1/input-requests/{view}/files" {
				query = "?field=photo"
			}
			if op.path == "/v1/agents/{agent}/notes" {
				query = "?kind=goal&key=a"
			}
			if strings.HasSuffix(op.path, "/version") {
				query = "?new_version=9.0.0"
			}
			what := op.method + " " + op.path
			foreign := b.do(t, op.method, fill(op.path, id)+query, bodies[what], stranger)
			none := b.do(t, op.method, fill(op.path, absent)+query, bodies[what], stranger)
			require.Equal(t, http.StatusNotFound, none.status, what)
			require.Equal(t, http.StatusNotFound, foreign.status, what)
			requireSameProblem(t, none, foreign, absent, id)
			tried++
		}
	}
	require.Greater(t, tried, 40)

	for _, c := range []struct{ method, path, body, id string }{
		{http.MethodPost, "/v1/runs", `{"agent":"ID","input":"x"}`, ids["agents"][0]},
		{http.MethodPost, "/v1/runs", `{"agent":"ID","input":"x"}`, ids["agents"][1]},
		{http.MethodGet, "/v1/runs?agent=ID", "", ids["agents"][0]},
		{http.MethodGet, "/v1/invocations?run=ID", "", ids["runs"][0]},
		{http.MethodGet, "/v1/invocations?agent=ID", "", ids["agents"][0]},
	} {
		absent := c.id[:len(c.id)-3] + "fff"
		ask := func(id string) answer {
			return b.do(t, c.method, strings.ReplaceAll(c.path, "ID", id), strings.ReplaceAll(c.body, "ID", id), stranger)
		}
		require.Equal(t, http.StatusNotFound, ask(c.id).status, c.path)
		requireSameProblem(t, ask(absent), ask(c.id), absent, c.id)
	}

	for _, list := range []string{
		"tools", "tools/builtins/templates", "agents", "runs", "invocations", "keys", "tenants", "credentials", "artifacts",
	} {
		body := string(b.do(t, http.MethodGet, "/v1/"+list, "", stranger).body)
		for _, id := range slices.Concat(ids["tools"], ids["agents"], ids["runs"], ids["invocations"], ids["keys"],
			ids["tenants"], ids["credentials"], ids["artifacts"]) {
			require.NotContains(t, body, id, list)
		}
	}
}

// noun returns what a path's name is the name of.
func noun(path string) string {
	return strings.Split(path, "/")[2]
}

// seedForeign makes one of everything in the bundle's tenant, and returns the
// names by which it is found.
func seedForeign(t *testing.T, b *bundle) map[string][]string {
	t.Helper()
	applied := b.apply(t, echo("theirTool"), desk("theirAgent", `["theirTool"]`))
	principal := tool.Principal{Tenant: b.tenant, Subject: "test"}
	run, err := b.Store.CreateRun(t.Context(), agent.Run{
		Tenant:     b.tenant,
		Kind:       agent.RunKindAgent,
		AgentID:    applied.Items[1].ID,
		Agent:      "theirAgent",
		Mode:       tool.Production,
		WorkflowID: "w",
	}, agent.Message{Content: []tool.Content{tool.Text("hello")}})
	require.NoError(t, err)
	invocation := uuid.Must(uuid.NewV7()).String()
	_, err = b.Store.Settle(t.Context(), ledger.Settlement{
		Entry: ledger.Entry{
			CallIdentity: tool.CallIdentity{
				InvocationID: invocation,
				Principal:    principal,
				RunID:        run.ID,
				CallID:       "c",
				Mode:         tool.Production,
			}, VersionIdentity: tool.VersionIdentity{Slug: "theirTool"},
		},
		Status: tool.StatusFailed, Kind: tool.NotFound, Msg: "refused",
	})
	require.NoError(t, err)
	credential := b.Credential(t, b.tenant, "their-credential")
	key, _, err := b.Store.CreateKey(t.Context(), store.Key{Tenant: b.tenant, Name: "theirs"})
	require.NoError(t, err)
	require.Contains(t, api.Permissions(), api.RunsRead)
	own, err := b.Store.FindTenant(t.Context(), b.tenant)
	require.NoError(t, err)
	uploaded, err := b.Store.CreateArtifact(t.Context(), artifact.Artifact{
		Tenant: b.tenant, Slug: "theirArtifact", Language: "jq", Status: definition.ArtifactActive,
	})
	require.NoError(t, err)
	uploaded, _, err = b.Store.AddArtifactVersion(t.Context(), uploaded, artifact.Version{Number: "1.0.0"},
		[]byte("."))
	require.NoError(t, err)
	server, err := b.Store.CreateServer(t.Context(), mcpserver.Server{
		Tenant: b.tenant, Slug: "their-files", Status: definition.ServerActive,
	})
	require.NoError(t, err)
	pipeline, err := b.Store.CreatePipeline(t.Context(), retrieval.Pipeline{
		Tenant: b.tenant, Slug: "theirPipeline", Name: "theirs", Search: retrieval.FullText,
		Language: retrieval.DefaultLanguage,
	})
	require.NoError(t, err)
	return map[string][]string{
		"pipelines": {pipeline.Slug, pipeline.ID},
		"mcp":       {server.Slug, server.ID}, "artifacts": {uploaded.Slug, uploaded.ID},
		"tools": {"theirTool", applied.Items[0].ID}, "agents": {"theirAgent", applied.Items[1].ID},
		"runs": {run.ID}, "invocations": {invocation}, "keys": {key.ID},
		"credentials": {credential.Ref, credential.ID},
		"tenants":     {own.Slug, string(own.ID)},
	}
}

// requireSameProblem requires two problems to be equal but for the name that
// was asked for and the trace id.
func requireSameProblem(t *testing.T, want, got answer, wantName, gotName string) {
	t.Helper()
	var a, b v1.Problem
	want.into(t, &a)
	got.into(t, &b)
	a.TraceID, b.TraceID = "", ""
	a.Detail = strings.ReplaceAll(a.Detail, wantName, "X")
	b.Detail = strings.ReplaceAll(b.Detail, gotName, "X")
	require.Equal(t, a, b)
	require.Equal(t, want.header.Get("Content-Type"), got.header.Get("Content-Type"))
}

// seedBrowser signs a browser in with the key of the bundle, and returns the id of its session.
func seedBrowser(t *testing.T, b *bundle) string {
	t.Helper()
	b.signInAs(t, b.key, firefox)
	found, err := b.Store.ListWebSessions(t.Context(), b.tenant, store.SessionQuery{Limit: 1})
	require.NoError(t, err)
	return found[0].ID
}

// seedProfile makes a profile and an assignment with it, and returns their names and ids.
func seedProfile(t *testing.T, b *bundle) (profiles, assignments []string) {
	t.Helper()
	made, err := b.Store.CreateProfile(t.Context(), profile.Profile{
		Tenant: b.tenant, Profile: tool.Profile{Name: "theirs"},
	})
	require.NoError(t, err)
	page, err := b.Store.ListTools(t.Context(), b.tenant, registry.ToolQuery{Limit: 1})
	require.NoError(t, err)
	a, err := b.Store.SetAssignment(t.Context(), profile.Assignment{
		Tenant: b.tenant, ToolID: page[0].ID, ProfileID: made.ID,
	})
	require.NoError(t, err)
	return []string{made.Name}, []string{a.ID}
}
