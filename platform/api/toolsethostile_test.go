package api_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever a client of a toolset tries, it reaches nothing beside it, and the server goes on.
//
//nolint:tparallel // They share a session.
func TestHostileClientsOfToolsets(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.toolsets(t)
	b.apply(t, strings.Replace(echo("hidden"), `"kind":"tool"`, `"kind":"tool","visibility":"internal"`, 1))
	bound, free := b.boundKey(t, "voice", "tools.read", "runs.write").Secret, b.Key(t, b.tenant, "*")
	choir := b.boundKey(t, "choir", "tools.read", "runs.write").Secret
	reader := b.boundKey(t, "voice", "tools.read").Secret
	stranger := b.Key(t, b.Tenant(t), "*")
	open := func(slug, key string) map[string]string {
		got := said{b.send(t, http.MethodPost, "/mcp"+slug, hello, mcpHeader(nil), key), t}
		require.Equal(t, http.StatusOK, got.status, string(got.body))
		return map[string]string{
			"Mcp-Session-Id": got.header.Get("Mcp-Session-Id"), "Mcp-Protocol-Version": "2025-11-25",
		}
	}
	session, others := open("/voice", bound), open("/choir", choir)
	freely, everywhere := open("/voice", free), open("", free)
	const list = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	call := func(name, arguments string) string {
		return `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"` + name + `","arguments":` + arguments + `}}`
	}
	read := func(uri string) string {
		return `{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"` + uri + `"}}`
	}
	for name, c := range map[string]struct { //nolint:paralleltest // They share a session.
		method, path, body string // POST and /mcp/voice when empty.
		header             map[string]string
		key                string
		status, code       int
		says               string
	}{
		// Keys where they do not belong.
		"a bound key at all tools": {
			path: "/mcp", body: hello, key: bound,
			status: 403, says: "/mcp/voice alone",
		},
		"a bound key at another toolset": {
			path: "/mcp/choir", body: hello, key: bound,
			status: 404, says: "no toolset",
		},
		"a bound key at no toolset": {
			path: "/mcp/none", body: hello, key: bound,
			status: 404, says: "no toolset",
		},
		"a bound key at the API": {
			method: "GET", path: "/v1/tools", key: bound,
			status: 403, says: "/mcp/voice alone",
		},
		"a bound key makes a key": {
			path: "/v1/keys", body: `{"name":"x","permissions":["tools.read"]}`, key: bound,
			status: 403,
		},
		"a bound key widens its toolset": {
			method: "PUT", path: "/v1/toolsets/voice", body: `{"slug":"voice"}`, key: bound,
			status: 403,
		},
		"another tenant's key": {body: hello, key: stranger, status: 404, says: "no toolset"},
		"no key":               {body: hello, key: "none", status: 401, says: "not valid"},
		"no key, and no toolset": {
			path: "/mcp/none", body: hello, key: "none",
			status: 401, says: "not valid",
		},
		"a bound key that may not call": {
			body: call("say", "{}"), key: reader, header: open("/voice", reader),
			status: 200, says: "runs.write",
		},
		// Addresses.
		"an upper-case address": {
			path: "/mcp/VOICE", body: hello, key: free,
			status: 404, says: "no toolset",
		},
		"an escaped address":     {path: "/mcp/%76oice", body: hello, key: free, status: 404},
		"an address with a NUL":  {path: "/mcp/voice%00", body: hello, key: free, status: 404},
		"an address below":       {path: "/mcp/voice/more", body: hello, key: free, status: 404},
		"an address with an end": {path: "/mcp/voice/", body: hello, key: free, status: 404},
		"an address that climbs": {
			path: "/mcp/voice/..%2f..%2fv1%2ftools", body: hello, key: bound,
			status: 404,
		},
		"a very long address": {
			path: "/mcp/" + strings.Repeat("v", 3000), body: hello, key: free,
			status: 404,
		},
		"an id for a slug": {
			path: "/mcp/01975c2e-7d1a-7c3e-9f00-0000000000e7", body: hello, key: free,
			status: 404,
		},
		"SQL for a slug": {path: "/mcp/voice'%20or%20'1'='1", body: hello, key: free, status: 404},
		"a catalog that is none": {
			path: "/mcp/voice?catalog=everything", body: hello, key: bound,
			status: 400, says: "expected auto",
		},
		"another page's script": {
			body: hello, key: bound, header: map[string]string{"Origin": "https://evil.example"},
			status: 403,
		},
		// Sessions where they were not opened.
		"a session of another toolset": {body: list, key: bound, header: others, status: 404, code: -32001},
		"a session, with another key":  {body: list, key: free, header: session, status: 404, code: -32001},
		"a session, at another toolset": {
			path: "/mcp/choir", body: list, key: free, header: freely,
			status: 404, code: -32001,
		},
		"a session, at all tools": {
			path: "/mcp", body: list, key: free, header: freely,
			status: 404, code: -32001,
		},
		"a session of all tools": {
			body: list, key: free, header: everywhere,
			status: 404, code: -32001,
		},
		"a stream of another's session": {method: "GET", key: free, header: session, status: 404},
		"an end of another's session":   {method: "DELETE", key: free, header: session, status: 404},
		// Tools that are not in it.
		"a tool of another toolset": {
			body: call("hum", "{}"), key: bound, header: session,
			status: 200, code: -32602, says: `unknown tool \"hum\"`,
		},
		"a tool at no allowed version": {
			body: call("sing", "{}"), key: bound, header: session,
			status: 200, code: -32602, says: `unknown tool \"sing\"`,
		},
		"a tool with a version of its own": {
			body: call("sing@1.0.0", "{}"), key: bound, header: session,
			status: 200, code: -32602, says: "unknown tool",
		},
		"an internal tool": {
			body: call("hidden", "{}"), key: bound, header: session,
			status: 200, code: -32602, says: "unknown tool",
		},
		"a finder that is not offered": {
			body: call("callTool", `{"name":"hum"}`), key: bound, header: session,
			status: 200, code: -32602, says: "unknown tool",
		},
		"found, a tool of another": {
			path: "/mcp/voice?catalog=search", body: call("callTool", `{"name":"hum"}`), key: bound, header: session,
			status: 200, says: `unknown tool \"hum\"`,
		},
		"found, a finder": {
			path: "/mcp/voice?catalog=search", body: call("callTool", `{"name":"callTool","arguments":{"name":"hum"}}`),
			key: bound, header: session,
			status: 200, says: "unknown tool",
		},
		"described, a tool of another": {
			path: "/mcp/voice?catalog=search", body: call("describeTool", `{"name":"hum"}`),
			key: bound, header: session,
			status: 200, says: `unknown tool \"hum\"`,
		},
		"searched, with a name of another": {
			path: "/mcp/voice?catalog=search", body: call("searchTools", `{"query":"hum"}`),
			key: bound, header: session,
			status: 200, says: `"found\":0`,
		},
		"another's list, by the cursor": {
			body: `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"aHVtCjAx"}}`,
			key:  bound, header: session,
			status: 200,
		},
		"a run of another": {
			body: read("toolcrib://runs/01975c2e-7d1a-7c3e-9f00-0000000000f1"), key: bound, header: session,
			status: 200, says: "not found",
		},
		"a toolset as a resource": {
			body: read("toolcrib://toolsets/choir"), key: bound, header: session,
			status: 200, says: "not found",
		},
	} {
		t.Run(name, func(t *testing.T) {
			method, path := c.method, c.path
			if method == "" {
				method = http.MethodPost
			}
			if path == "" {
				path = "/mcp/voice"
			}
			header := map[string]string{}
			maps.Copy(header, c.header)
			got := said{b.send(t, method, path, c.body, mcpHeader(header), c.key), t}
			require.Equal(t, c.status, got.status, string(got.body))
			require.Contains(t, string(got.body), c.says)
			if c.code != 0 {
				m := got.message()
				require.NotNil(t, m.Error, string(got.body))
				require.Equal(t, c.code, m.Error.Code)
			}
			require.NotContains(t, string(got.body), `"name":"hum"`)
			require.NotContains(t, b.log.String(), "panicked")
		})
	}
	got := said{b.send(t, http.MethodPost, "/mcp/voice", list, mcpHeader(session), bound), t}
	require.Contains(t, string(got.message().Result), `"name":"say"`, "the session has survived all of it")
}
