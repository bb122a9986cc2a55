package api_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/input"
	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/view"
	"github.com/toolcrib/toolcrib/wait"
)

// seedView publishes a view of a tool.
func seedView(t *testing.T, b *bundle) view.View {
	t.Helper()
	b.apply(t, echo("shownTool"))
	head, err := b.Store.FindTool(t.Context(), b.tenant, tool.Ref{Slug: "shownTool"})
	require.NoError(t, err)
	_, err = b.Store.SetPublishing(t.Context(), b.tenant, true)
	require.NoError(t, err)
	made, err := b.Store.CreateView(t.Context(), view.View{
		ID: uuid.Must(uuid.NewV7()).String(), Tenant: b.tenant, Title: "Theirs", Kind: view.Tool,
		VersionIdentity: tool.VersionIdentity{ToolID: head.ID, Slug: head.Slug, Version: "1.0.0"},
	}, make([]byte, 32), time.Hour)
	require.NoError(t, err)
	return made
}

// publishing switches publishing on or off.
func (b *bundle) publishing(t *testing.T, on bool) {
	t.Helper()
	own, err := b.Store.FindTenant(t.Context(), b.tenant)
	require.NoError(t, err)
	body := `{"mcp_apps_publish_enabled":false}`
	if on {
		body = `{"mcp_apps_publish_enabled":true}`
	}
	got := b.do(t, http.MethodPut, "/v1/tenants/"+own.Slug+"/publishing", body)
	require.Equal(t, http.StatusOK, got.status, string(got.body))
	var changed v1.Tenant
	got.into(t, &changed)
	require.Equal(t, on, changed.PublishViews)
}

// Views are published while the tenant's switch is on, listed without their links, rotated and revoked.
func TestViews(t *testing.T) {
	t.Parallel()

	b := setup(t, func(c *api.Config) { c.PublicURL = "https://tools.example.com/" })
	b.apply(t, echo("say"))
	publish := func(body string) answer { return b.do(t, http.MethodPost, "/v1/views", body) }
	require.Equal(t, http.StatusForbidden, publish(`{"kind":"tool","tool":"say"}`).status, "the switch is off at first")
	b.publishing(t, true)
	for name, c := range map[string]struct {
		body   string
		status int
		says   string
	}{
		"a form":          {`{"kind":"form","tool":"say"}`, 422, "displays only"},
		"another kind":    {`{"kind":"input","tool":"say"}`, 422, "kind"},
		"no tool":         {`{"kind":"tool"}`, 422, "slug or id"},
		"an unknown tool": {`{"kind":"tool","tool":"none"}`, 404, "none"},
		"an unknown run":  {`{"kind":"result","run_id":"` + uuid.NewString() + `"}`, 404, "run not found"},
		"for a second":    {`{"kind":"tool","tool":"say","expires_in_seconds":1}`, 422, "expires_in_seconds"},
	} {
		got := publish(c.body)
		require.Equal(t, c.status, got.status, name)
		require.Contains(t, string(got.body), c.says, name)
	}
	got := publish(`{"kind":"tool","tool":"say","title":"What it says"}`)
	require.Equal(t, http.StatusCreated, got.status, string(got.body))
	var made v1.PublishedView
	got.into(t, &made)
	require.Equal(t, "https://tools.example.com"+view.Path+made.Token, made.URL)
	require.Equal(t, view.Live, made.Status)
	path := "/v1/views/" + made.ID
	require.Equal(t, path, got.header.Get("Location"))
	token, ok := view.ReadToken(made.Token)
	require.True(t, ok)
	_, err := b.Store.OpenView(t.Context(), b.tenant, token.ID, token.Hash())
	require.NoError(t, err)

	secret := strings.TrimPrefix(made.Token, "tcv_")
	for _, where := range []string{"/v1/views", path, "/v1/audit?object_kind=view"} {
		require.NotContains(t, string(b.do(t, http.MethodGet, where, "").body), secret, where)
	}
	got = b.do(t, http.MethodPost, path+"/rotate", `{"expires_in_seconds":60}`)
	require.Equal(t, http.StatusOK, got.status, string(got.body))
	var rotated v1.PublishedView
	got.into(t, &rotated)
	require.NotEqual(t, made.Token, rotated.Token)
	_, err = b.Store.OpenView(t.Context(), b.tenant, token.ID, token.Hash())
	require.Equal(t, tool.NotFound, tool.KindOf(err))

	require.Equal(t, http.StatusOK, b.do(t, http.MethodPost, "/v1/tools/say/disable", "").status)
	var shown v1.View
	b.do(t, http.MethodGet, path, "").into(t, &shown)
	require.Equal(t, view.Suspended, shown.Status)
	for range 2 {
		b.do(t, http.MethodDelete, path, "").into(t, &shown)
		require.Equal(t, view.Revoked, shown.Status)
	}
	require.Equal(t, http.StatusConflict, b.do(t, http.MethodPost, path+"/rotate", "{}").status)
	writer := b.Key(t, b.tenant, api.ViewsWrite)
	got = b.do(t, http.MethodPost, "/v1/views", `{"kind":"result","run_id":"`+uuid.NewString()+`"}`, writer)
	require.Equal(t, http.StatusForbidden, got.status, "a result takes the permission to see runs")
	require.Contains(t, string(got.body), api.RunsRead)
	reader := b.Key(t, b.tenant, api.ViewsRead)
	require.Equal(t, http.StatusOK, b.do(t, http.MethodGet, path, "", reader).status)
	require.Equal(t, http.StatusForbidden, b.do(t, http.MethodDelete, path, "", reader).status)
}

// toolNames are the names of a caller's tools, as its client lists them.
func (b *bundle) toolNames(t *testing.T, key string) []string {
	t.Helper()
	var list struct {
		Tools []struct {
			Name         string          `json:"name"`
			InputSchema  json.RawMessage `json:"inputSchema"`  //nolint:tagliatelle // The protocol's name.
			OutputSchema json.RawMessage `json:"outputSchema"` //nolint:tagliatelle // The protocol's name.
		} `json:"tools"`
	}
	m := b.speak(t, alone("tools/list", ""), standing("tools/list", ""), key).message()
	require.Nil(t, m.Error)
	require.NoError(t, json.Unmarshal(m.Result, &list))
	var names []string
	for _, shown := range list.Tools {
		names = append(names, shown.Name)
		if strings.Contains(shown.Name, "_view") {
			require.NotEmpty(t, shown.OutputSchema, "clients check what they get")
			require.Contains(t, string(shown.InputSchema), `"additionalProperties":false`)
		}
	}
	return names
}

// standing are the headers of a client without sessions.
func standing(method, name string) map[string]string {
	return map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name}
}

// An open gate shows exactly two tools more, and a closed one neither: the gate is the scope to call tools, and the
// tenant's switch. What is not shown cannot be called.
func TestMCPGateOfViews(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.apply(t, echo("say"))
	caller := b.Key(t, b.tenant, "tools.read", "runs.write", api.ViewsWrite)
	reader := b.Key(t, b.tenant, "tools.read", api.ViewsWrite)
	worker := b.Key(t, b.tenant, "tools.read", "runs.write")
	call := func(name, arguments, key string) said {
		body := alone("tools/call", `"name":"`+name+`","arguments":`+arguments+`,`)
		return b.speak(t, body, standing("tools/call", name), key)
	}
	closed := func(key string, own ...string) {
		t.Helper()
		require.Equal(t, own, b.toolNames(t, key))
		for _, name := range []string{"publish_view", "submit_view_response"} {
			m := call(name, "{}", key).message()
			require.True(t, m.Error != nil || strings.Contains(string(m.Result), "lacks the permission"), string(m.Result))
		}
	}
	closed(caller, "say")
	b.publishing(t, true)
	closed(reader, "say")
	closed(worker, "say")
	both := []string{"publish_view", "say", "submit_view_response"}
	require.Equal(t, both, slices.Sorted(slices.Values(b.toolNames(t, caller))))
	found := b.do(t, http.MethodGet, "/v1/tools?limit=100", "")
	require.NotContains(t, string(found.body), "publish_view", "they are in no registry")

	m := call("publish_view", `{"kind":"tool","tool":"say"}`, caller).message()
	require.Nil(t, m.Error)
	require.Contains(t, string(m.Result), view.Path+"tcv_")
	for arguments, says := range map[string]string{
		`{"kind":"form","tool":"say"}`:                           "displays only",
		`{"kind":"tool","tool":"say","durable":true}`:            "and no others",
		`{"kind":"result","run_id":"` + uuid.NewString() + `"}`:  "run not found",
		`{"kind":"tool","tool":"say","expires_in_seconds":-1}`:   "good for",
		`{"kind":"tool","tool":"say","expires_in_seconds":1e10}`: "",
	} {
		m := call("publish_view", arguments, caller).message()
		require.Nil(t, m.Error)
		require.Contains(t, string(m.Result), `"isError":true`, arguments)
		require.Contains(t, string(m.Result), says, arguments)
	}

	asked := b.asksPerson(t)
	link, err := input.Link(&asked, time.Now().Add(time.Hour))
	require.NoError(t, err)
	body := `{"token":"` + link + `","response":{"seat":"4A"}}`
	require.Contains(t, string(call("submit_view_response", body, caller).message().Result), wait.SubmitPermission)
	clerk := b.Key(t, b.tenant, "runs.write", api.ViewsWrite, wait.SubmitPermission)
	submit := func(body string) string { return string(call("submit_view_response", body, clerk).message().Result) }
	require.Contains(t, submit(strings.Replace(body, `"seat"`, `"row"`, 1)), "row")
	require.Contains(t, submit(body), `"repeated":false`)
	require.Contains(t, submit(body), `"repeated":true`)
	require.Contains(t, submit(strings.Replace(body, `"4A"`, `"4B"`, 1)), "another answer")

	b.publishing(t, false)
	closed(caller, "askTraveller", "say")
}
