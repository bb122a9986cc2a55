package api_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/audit"
	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolsession"
)

// collaborative is the definition of a published tool that several people submit to.
func collaborative(slug string) string {
	return `{"kind":"tool","slug":"` + slug + `","name":"Vote","description":"Counts a vote.",
		"implementation_type":"internal","version":"1.0.0","publish":true,"collaborative":true,"aggregate":"group:input.choice",
		"input_schema":{"type":"object","additionalProperties":false,"properties":{"choice":{"type":"string"},"day":{"type":"string"}}}}`
}

// seedToolSession makes a session of the bundle's tenant.
func seedToolSession(t *testing.T, b *bundle) toolsession.Session {
	t.Helper()
	b.apply(t, collaborative("voteTool"))
	head, err := b.Store.FindTool(t.Context(), b.tenant, tool.Ref{Slug: "voteTool"})
	require.NoError(t, err)
	made, err := b.Store.CreateToolSession(t.Context(), toolsession.Session{
		ID: uuid.Must(uuid.NewV7()).String(), Tenant: b.tenant, Title: "Theirs",
		VersionIdentity: tool.VersionIdentity{ToolID: head.ID, Slug: head.Slug, Version: "1.0.0"},
	})
	require.NoError(t, err)
	return made
}

// Sessions are made, listed, linked and ended; a link is in one answer alone, and takes its own permission.
func TestToolSessions(t *testing.T) {
	t.Parallel()

	b := setup(t, func(c *api.Config) { c.PublicURL = "https://tools.example.com/" })
	b.apply(t, collaborative("vote"), echo("say"))
	create := func(body string) answer { return b.do(t, http.MethodPost, "/v1/tool-sessions", body) }
	for name, c := range map[string]struct {
		body   string
		status int
		says   string
	}{
		"not collaborative": {`{"tool":"say"}`, 422, "collaborative"},
		"unknown":           {`{"tool":"none"}`, 404, "none"},
		"unknown input":     {`{"tool":"vote","config":{"x":1}}`, 422, "/config/x"},
		"no object":         {`{"tool":"vote","config":[1]}`, 422, "/config"},
		"an empty entity":   {`{"tool":"vote","entity_ids":[""]}`, 422, "/entity_ids"},
	} {
		got := create(c.body)
		require.Equal(t, c.status, got.status, "%s: %s", name, got.body)
		require.Contains(t, string(got.body), c.says, name)
	}
	got := create(`{"tool":"vote","title":"Lunch","config":{"day":"friday"},"entity_ids":["team-7"]}`)
	made := as[v1.ToolSession](t, got, http.StatusCreated)
	require.Equal(t, "group:input.choice", made.Aggregate)
	require.Equal(t, "1.0.0", made.Version)
	path := "/v1/tool-sessions/" + made.ID
	require.Equal(t, path, got.header.Get("Location"))
	found := as[v1.Page[v1.ToolSession]](t, b.do(t, http.MethodGet, "/v1/tool-sessions?tool=vote&status=active", ""),
		http.StatusOK)
	require.Len(t, found.Items, 1)
	found = as[v1.Page[v1.ToolSession]](t, b.do(t, http.MethodGet, "/v1/tool-sessions?status=cancelled", ""),
		http.StatusOK)
	require.Empty(t, found.Items)

	require.Equal(t, http.StatusForbidden, b.do(t, http.MethodPost, path+"/link", "{}").status, "the switch is off")
	b.publishing(t, true)
	worker, _ := b.principal(t, "runs.read", "runs.write")
	require.Equal(t, http.StatusForbidden, b.do(t, http.MethodPost, path+"/link", "{}", worker).status)
	linked := as[v1.LinkedToolSession](t, b.do(t, http.MethodPost, path+"/link", `{"expires_in_seconds":3600}`), http.StatusOK)
	require.Equal(t, "https://tools.example.com"+toolsession.Path+linked.Token, linked.URL)
	require.True(t, linked.Linked)
	token, ok := toolsession.ReadToken(linked.Token)
	require.True(t, ok)
	_, err := b.Store.OpenToolSession(t.Context(), b.tenant, token.ID, token.Hash())
	require.NoError(t, err)
	for _, at := range []string{path, "/v1/tool-sessions"} {
		require.NotContains(t, string(b.do(t, http.MethodGet, at, "").body), linked.Token)
	}
	require.NotContains(t, b.log.String(), linked.Token)
	unlinked := as[v1.ToolSession](t, b.do(t, http.MethodDelete, path+"/link", ""), http.StatusOK)
	require.False(t, unlinked.Linked)

	refused := b.do(t, http.MethodPost, path+"/submissions", `{"input":{"choice":"soup","day":"monday"}}`)
	require.Equal(t, http.StatusUnprocessableEntity, refused.status)
	require.Contains(t, string(refused.body), "fixed")
	joined := as[v1.ToolSessionAggregate](t, b.do(t, http.MethodGet, path+"/aggregate", ""), http.StatusOK)
	require.Zero(t, joined.Submissions)
	ended := as[v1.ToolSession](t, b.do(t, http.MethodPost, path+"/complete", ""), http.StatusOK)
	require.Equal(t, toolsession.Completed, ended.Status)
	require.Equal(t, http.StatusConflict, b.do(t, http.MethodPost, path+"/cancel", "").status)
	require.Equal(t, http.StatusConflict, b.do(t, http.MethodPost, path+"/link", "{}").status)
	entries, err := b.Store.ListAudit(t.Context(), b.tenant, audit.Query{Limit: 20})
	require.NoError(t, err)
	var done []string
	for _, e := range entries {
		require.NotContains(t, string(e.After), linked.Token)
		done = append(done, string(e.Action))
	}
	require.Contains(t, done, "tool_session.created")
	require.Contains(t, done, "tool_session.changed")
}
