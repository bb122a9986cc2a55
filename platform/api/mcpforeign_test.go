package api_test

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/mcpserver"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolset"
)

// otherMethods are those of tasks, which one revision has, and methods of the protocol that the server does not have.
var otherMethods = []string{
	"logging/setLevel", "resources/subscribe", "resources/unsubscribe", "tasks/get", "tasks/list", "tasks/result",
	"tasks/cancel",
}

// traceID is in each problem.
var traceID = regexp.MustCompile(`"trace_id":"[^"]*"`)

// mcpForeign are the parameters of each method; NAME is what another tenant has, or nothing is.
func mcpForeign(run string) map[string]struct{ params, theirs string } {
	const toolName, uri = `"name":"NAME","arguments":{}`, `"uri":"NAME"`
	resource := "toolcrib://runs/" + run
	return map[string]struct{ params, theirs string }{
		"initialize": {params: `"protocolVersion":"2025-11-25","capabilities":{},` +
			`"clientInfo":{"name":"test","version":"1"}`},
		"ping": {}, "server/discover": {}, "tools/list": {}, "resources/list": {}, "resources/templates/list": {},
		"subscriptions/listen": {params: `"notifications":{"resourceSubscriptions":["NAME"]}`, theirs: resource},

		"notifications/initialized": {}, "notifications/roots/list_changed": {},
		"notifications/cancelled": {`"requestId":"NAME"`, "1"},
		"notifications/progress":  {`"progressToken":"NAME","progress":1`, "1"},

		"tools/call":            {toolName, "theirTool"},
		"resources/read":        {uri, resource},
		"resources/subscribe":   {uri, resource},
		"resources/unsubscribe": {uri, resource},
		"prompts/list":          {},
		"prompts/get":           {`"name":"NAME"`, "theirTool"},
		"completion/complete": {
			`"ref":{"type":"ref/resource","uri":"NAME"},"argument":{"name":"id","value":""}`, resource,
		},
		"logging/setLevel": {params: `"level":"debug"`},
		"tasks/get":        {`"taskId":"NAME"`, run}, "tasks/list": {},
		"tasks/result": {`"taskId":"NAME"`, run}, "tasks/cancel": {`"taskId":"NAME"`, run},
	}
}

// absentName is a name like another that nothing has.
func absentName(name string) string {
	if name == "" {
		return ""
	}
	last := "0"
	if strings.HasSuffix(name, last) {
		last = "1"
	}
	return name[:len(name)-1] + last
}

// mcpBody is the message of a client, with a session or without one.
func mcpBody(method, params string, alone bool) string {
	if alone {
		const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
			`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},` +
			`"io.modelcontextprotocol/clientCapabilities":{}}`
		params = strings.TrimPrefix(params+","+meta, ",")
	}
	id := `"id":7,`
	if strings.HasPrefix(method, "notifications/") {
		id = ""
	}
	return `{"jsonrpc":"2.0",` + id + `"method":"` + method + `","params":{` + params + `}}`
}

// Every method of the MCP server, at every address and with every session, answers what is another tenant's as
// it answers what does not exist, and shows nothing of it. A method without a case fails.
func TestForeignTenantOverMCP(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.apply(t, echo("theirTool"))
	_, err := b.Store.CreateToolset(t.Context(), toolset.Toolset{Tenant: b.tenant, Slug: "theirs"})
	require.NoError(t, err)
	var owner v1.CreatedKey
	b.do(t, http.MethodPost, "/v1/keys", `{"name":"theirs","permissions":["*"]}`).into(t, &owner)
	run, err := b.Store.CreateRun(t.Context(), agent.Run{
		Tenant: b.tenant, Kind: agent.RunKindToolCall, Mode: tool.Production, WorkflowID: "w",
		Principal: tool.Principal{Tenant: b.tenant, Subject: "key:" + owner.ID},
	}, agent.Message{})
	require.NoError(t, err)
	theirSession := b.opened(t, owner.Secret)
	strangers := map[string]string{
		"another tenant": b.Key(t, b.Tenant(t), "*"), "another key of the tenant": b.Key(t, b.tenant, "*"),
	}
	cases := mcpForeign(run.ID)
	tried := slices.Concat(mcpserver.Methods(), otherMethods)
	require.ElementsMatch(t, tried, slices.Collect(maps.Keys(cases)), "each method has a case, and no other has")

	send := func(method, path, name, key string, header map[string]string) answer {
		c := cases[method]
		alone := header["Mcp-Session-Id"] == ""
		if alone {
			header = map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name}
			if method != "tools/call" && method != "resources/read" && method != "prompts/get" {
				delete(header, "Mcp-Name")
			}
		}
		body := mcpBody(method, strings.ReplaceAll(c.params, "NAME", name), alone)
		return b.send(t, http.MethodPost, path, body, mcpHeader(header), key)
	}
	same := func(what string, theirs, none answer, theirName, noName string) {
		require.Equal(t, none.status, theirs.status, "%s: %s", what, theirs.body)
		require.Equal(t, none.header.Get("Content-Type"), theirs.header.Get("Content-Type"), what)
		plain := func(a answer, name string) string {
			text := string(a.body)
			if name != "" {
				text = strings.ReplaceAll(text, name, "X")
			}
			return traceID.ReplaceAllString(text, "")
		}
		require.Equal(t, plain(none, noName), plain(theirs, theirName), what)
	}
	for who, key := range strangers {
		foreign := who == "another tenant"
		own := b.opened(t, key)
		for method, c := range cases {
			what := who + ", " + method
			none := absentName(c.theirs)
			if foreign || method == "resources/read" { // Tools are of all keys of the tenant.
				same(what, send(method, "/mcp", c.theirs, key, nil), send(method, "/mcp", none, key, nil), c.theirs, none)
				if method != "subscriptions/listen" && method != "initialize" {
					same(what+" in a session", send(method, "/mcp", c.theirs, key, own), send(method, "/mcp", none, key, own),
						c.theirs, none)
				}
			}
			if foreign {
				require.NotContains(t, string(send(method, "/mcp", none, key, nil).body), "theirTool", what)
				at, nowhere := "/mcp/theirs", "/mcp/theirz"
				got := send(method, at, c.theirs, key, nil)
				require.Equal(t, http.StatusNotFound, got.status, what)
				same(what+" of a toolset", got, send(method, nowhere, c.theirs, key, nil), "theirs", "theirz")
			}
			session, absent := maps.Clone(theirSession), maps.Clone(theirSession)
			absent["Mcp-Session-Id"] = absentName(session["Mcp-Session-Id"])
			got := send(method, "/mcp", c.theirs, key, session)
			same(what+" in their session", got, send(method, "/mcp", c.theirs, key, absent), session["Mcp-Session-Id"],
				absent["Mcp-Session-Id"])
			if method != "initialize" { // Which may open another session.
				require.Equal(t, http.StatusNotFound, got.status, what)
			}
		}
		for _, verb := range []string{http.MethodGet, http.MethodDelete} {
			absent := maps.Clone(theirSession)
			absent["Mcp-Session-Id"] = absentName(absent["Mcp-Session-Id"])
			got := b.send(t, verb, "/mcp", "", mcpHeader(theirSession), key)
			require.Equal(t, http.StatusNotFound, got.status, verb)
			same(who+", "+verb, got, b.send(t, verb, "/mcp", "", mcpHeader(absent), key), theirSession["Mcp-Session-Id"],
				absent["Mcp-Session-Id"])
		}
	}

	// What others were refused, the owner has: the session goes on, and the run is found.
	require.Contains(t, string(send("tools/list", "/mcp", "", owner.Secret, theirSession).body), "theirTool")
	read := send("resources/read", "/mcp", cases["resources/read"].theirs, owner.Secret, theirSession)
	require.Contains(t, string(read.body), "The call is")
}
