package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/audit"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// A toolset is made, read, replaced and deleted, under its conditions.
func TestToolsets(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.apply(t, echo("say"), echo("sing"))
	got := b.do(t, http.MethodPost, "/v1/toolsets", `{"slug":"support","tools":[{"tool":"say","version":"^1"}]}`)
	require.Equal(t, http.StatusCreated, got.status, string(got.body))
	require.Equal(t, "/v1/toolsets/support", got.header.Get("Location"))
	var made v1.Toolset
	got.into(t, &made)
	require.Equal(t, "/mcp/support", made.Path)
	require.Equal(t, "say", made.Tools[0].Tool)
	require.Equal(t, "^1", made.Tools[0].Version)
	require.NotEmpty(t, made.Tools[0].ID)
	require.Empty(t, made.Servers)

	require.Equal(t, http.StatusConflict, b.do(t, http.MethodPost, "/v1/toolsets", `{"slug":"support"}`).status)
	for name, c := range map[string]struct{ body, path string }{
		"slug":             {`{"slug":"Support"}`, "/slug"},
		"tool":             {`{"slug":"x","tools":[{"tool":"say"},{"tool":"none"}]}`, "/tools/1/tool"},
		"a tool twice":     {`{"slug":"x","tools":[{"tool":"say"},{"tool":"` + made.Tools[0].ID + `"}]}`, "/tools/1/tool"},
		"version":          {`{"slug":"x","tools":[{"tool":"say","version":"new"}]}`, "/tools/0/version"},
		"server":           {`{"slug":"x","servers":["none"]}`, "/servers/0"},
		"catalog":          {`{"slug":"x","catalog":"none"}`, "/catalog"},
		"an unknown field": {`{"slug":"x","tool":"say"}`, "tool"},
	} {
		problem := b.do(t, http.MethodPost, "/v1/toolsets", c.body).problem(t)
		require.Contains(t, []int{http.StatusNotFound, http.StatusUnprocessableEntity}, problem.Status, name)
		require.Contains(t, problem.Detail+problem.Path+problemPaths(problem), strings.TrimPrefix(c.path, "/"), name)
	}

	read := b.do(t, http.MethodGet, "/v1/toolsets/support", "")
	tag := read.header.Get("Etag")
	require.Equal(t, got.header.Get("Etag"), tag)
	require.Equal(t, http.StatusNotModified,
		b.send(t, http.MethodGet, "/v1/toolsets/support", "", map[string]string{"If-None-Match": tag}).status)
	const both = `{"slug":"support","name":"Desk","tools":[{"tool":"say"},{"tool":"sing"}]}`
	put := func(body string, header map[string]string) answer {
		return b.send(t, http.MethodPut, "/v1/toolsets/support", body, header)
	}
	require.Equal(t, http.StatusUnprocessableEntity, put(`{"slug":"other"}`, nil).status, "a slug stays")
	require.Equal(t, http.StatusOK, put(both, map[string]string{"If-Match": tag}).status)
	require.Equal(t, http.StatusPreconditionFailed, put(both, map[string]string{"If-Match": tag}).status)
	require.Equal(t, http.StatusConflict, put(strings.Replace(both, `{`, `{"revision":1,`, 1), nil).status)
	var list v1.Page[v1.Toolset]
	b.do(t, http.MethodGet, "/v1/toolsets", "").into(t, &list)
	require.Len(t, list.Items, 1)
	require.Len(t, list.Items[0].Tools, 2)

	reader := b.Key(t, b.tenant, "tools.read", "tools.write")
	require.Equal(t, http.StatusForbidden, b.do(t, http.MethodPost, "/v1/toolsets", `{"slug":"mine"}`, reader).status)
	require.Equal(t, http.StatusForbidden, b.do(t, http.MethodDelete, "/v1/toolsets/support", "", reader).status)
	require.Equal(t, http.StatusOK, b.do(t, http.MethodGet, "/v1/toolsets/support", "", reader).status)
	refused, err := b.Store.ListAudit(t.Context(), b.tenant, audit.Query{Outcome: audit.Refused, Limit: 10})
	require.NoError(t, err)
	require.Len(t, refused, 2)

	key := b.boundKey(t, "support", "tools.read")
	require.Equal(t, "support", key.Toolset)
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodPost, "/v1/keys",
		`{"name":"x","permissions":["tools.read"],"toolset":"none"}`).status)
	var gone v1.DeletedToolset
	b.do(t, http.MethodDelete, "/v1/toolsets/support", "").into(t, &gone)
	require.Equal(t, v1.DeletedToolset{Toolset: "support", RevokedKeys: 1}, gone)
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodGet, "/v1/toolsets/support", "").status)
	var after v1.Key
	b.do(t, http.MethodGet, "/v1/keys/"+key.ID, "").into(t, &after)
	require.NotNil(t, after.RevokedAt)
}

// problemPaths returns the places that a problem names.
func problemPaths(p v1.Problem) string {
	raw, _ := json.Marshal(p)
	return string(raw)
}

// boundKey makes a key for a toolset.
func (b *bundle) boundKey(t *testing.T, slug string, permissions ...string) v1.CreatedKey {
	t.Helper()
	body, err := json.Marshal(v1.NewKey{Name: "for " + slug, Permissions: permissions, Toolset: slug})
	require.NoError(t, err)
	got := b.do(t, http.MethodPost, "/v1/keys", string(body))
	require.Equal(t, http.StatusCreated, got.status, string(got.body))
	var key v1.CreatedKey
	got.into(t, &key)
	return key
}

// toolsets makes the tools say, sing and hum, and the toolsets voice (say, and sing at a version that there is
// not yet) and choir (hum).
func (b *bundle) toolsets(t *testing.T) {
	t.Helper()
	b.apply(t, echo("say"), echo("sing"), echo("hum"))
	for _, body := range []string{
		`{"slug":"voice","instructions":"Speak up.","tools":[{"tool":"say"},{"tool":"sing","version":"^7"}]}`,
		`{"slug":"choir","tools":[{"tool":"hum"}]}`,
	} {
		require.Equal(t, http.StatusCreated, b.do(t, http.MethodPost, "/v1/toolsets", body).status)
	}
}

// at sends a message that stands alone to the address of a toolset.
func (b *bundle) at(t *testing.T, slug, method, name, params string, key ...string) said {
	t.Helper()
	return said{b.send(t, http.MethodPost, "/mcp/"+slug, alone(method, params), mcpHeader(map[string]string{
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name,
	}), key...), t}
}

// A key that was made for a toolset opens nothing but its address: no operation of the API, no other toolset,
// not the address of all tools.
func TestAKeyForAToolsetWorksThereAlone(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.toolsets(t)
	bound, free := b.boundKey(t, "voice", "*").Secret, b.Key(t, b.tenant, "tools.read")
	tried := 0
	for _, op := range operations(t, b) {
		if len(op.security) == 0 {
			continue
		}
		got := b.do(t, op.method, fill(op.path, "x"), "{}", bound)
		require.Equal(t, http.StatusForbidden, got.status, "%s %s", op.method, op.path)
		require.Contains(t, string(got.body), "/mcp/voice alone", op.path)
		tried++
	}
	require.Greater(t, tried, 100)
	require.Equal(t, http.StatusForbidden, b.speak(t, hello, nil, bound).status)

	require.Contains(t, string(b.at(t, "voice", "tools/list", "", "", bound).body), `"name":"say"`)
	other, none := b.at(t, "choir", "tools/list", "", "", bound), b.at(t, "chorr", "tools/list", "", "", bound)
	require.Equal(t, http.StatusNotFound, other.status)
	requireSameProblem(t, none.answer, other.answer, "chorr", "choir")
	for _, slug := range []string{"voice", "choir"} {
		require.Equal(t, http.StatusOK, b.at(t, slug, "tools/list", "", "", free).status, "any toolset of its tenant")
	}
	stranger := b.Key(t, b.Tenant(t), "*")
	foreign, none := b.at(t, "voice", "tools/list", "", "", stranger), b.at(t, "voise", "tools/list", "", "", stranger)
	require.Equal(t, http.StatusNotFound, foreign.status)
	requireSameProblem(t, none.answer, foreign.answer, "voise", "voice")
}

// Clients are shown what their toolset says, and where it describes itself.
func TestAToolsetDescribesItself(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.toolsets(t)
	for _, got := range []said{
		b.at(t, "voice", "server/discover", "", ""),
		{b.send(t, http.MethodPost, "/mcp/voice", hello, mcpHeader(nil)), t},
	} {
		var result struct {
			Instructions string `json:"instructions"`
		}
		require.NoError(t, json.Unmarshal(got.message().Result, &result))
		require.True(t, strings.HasPrefix(result.Instructions, "Speak up.\n\nEvery call is recorded"), result.Instructions)
	}
	got := b.at(t, "voice", "tools/list", "", "", "")
	require.Equal(t, `Bearer resource_metadata="`+b.url+`/.well-known/oauth-protected-resource/mcp/voice"`,
		got.header.Get("WWW-Authenticate"))
	for _, slug := range []string{"voice", "nothing"} { // It says nothing about what there is.
		described := b.do(t, http.MethodGet, "/.well-known/oauth-protected-resource/mcp/"+slug, "", "")
		require.Contains(t, string(described.body), `"resource":"`+b.url+`/mcp/`+slug+`"`)
	}
}
