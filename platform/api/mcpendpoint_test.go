package api_test

import (
	"bufio"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/audit"
	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// said is an answer to a message of an MCP client.
type said struct {
	answer
	t *testing.T
}

// message returns the first message of the answer, which may be a stream.
func (s said) message() (m struct {
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
},
) {
	s.t.Helper()
	raw := string(s.body)
	if _, data, ok := strings.Cut(raw, "data: "); ok {
		raw, _, _ = strings.Cut(data, "\n")
	}
	require.NoError(s.t, json.Unmarshal([]byte(raw), &m), string(s.body))
	return m
}

// mcpHeader is what every request of an MCP client has.
func mcpHeader(more map[string]string) map[string]string {
	out := map[string]string{"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
	maps.Copy(out, more)
	return out
}

// speak sends a message to the MCP server.
func (b *bundle) speak(t *testing.T, body string, header map[string]string, key ...string) said {
	t.Helper()
	return said{b.send(t, http.MethodPost, "/mcp", body, mcpHeader(header), key...), t}
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
	`"capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`

// opened opens a session and returns its headers.
func (b *bundle) opened(t *testing.T, key ...string) map[string]string {
	t.Helper()
	got := b.speak(t, hello, nil, key...)
	require.Equal(t, http.StatusOK, got.status, string(got.body))
	id := got.header.Get("Mcp-Session-Id")
	require.NotEmpty(t, id)
	return map[string]string{"Mcp-Session-Id": id, "Mcp-Protocol-Version": "2025-11-25"}
}

// alone is the message of a client without sessions.
func alone(method, params string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + `"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{}}}}`
}

// Whatever a client sends, the answer is a refusal that says what is wrong, and the server goes on.
//
//nolint:tparallel // They share a session.
func TestMCPHostileClients(t *testing.T) {
	t.Parallel()

	b := setup(t, func(c *api.Config) {
		c.MaxBodyBytes = 64 << 10
		c.AllowedOrigins = []string{"https://app.example.com"}
	})
	b.apply(t, echo("say"))
	reader := b.Key(t, b.tenant, "tools.read")
	caller := b.Key(t, b.tenant, "runs.write")
	open := b.opened(t)
	with := func(more ...string) map[string]string {
		out := map[string]string{}
		maps.Copy(out, open)
		for i := 0; i < len(more); i += 2 {
			out[more[i]] = more[i+1]
		}
		return out
	}
	const list = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	call := func(name, arguments, meta string) string {
		return `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"` + name + `","arguments":` + arguments +
			`,"_meta":` + meta + `}}`
	}
	version := func(v string, more ...string) map[string]string {
		out := map[string]string{"Mcp-Protocol-Version": v}
		for i := 0; i < len(more); i += 2 {
			out[more[i]] = more[i+1]
		}
		return out
	}
	b.answersAll(t, map[string]mcpSituation{
		"no key":      {body: hello, key: []string{""}, status: 401, says: "an API key is required"},
		"a wrong key": {body: hello, key: []string{"tck_wrong"}, status: 401, says: "not valid"},
		"a page elsewhere": {
			body: hello, header: map[string]string{"Origin": "https://evil.example"},
			status: 403, says: "evil.example",
		},
		"a null origin": {
			body: hello, header: map[string]string{"Origin": "null"},
			status: 403, says: "may not call",
		},
		"an allowed page": {
			body: hello, header: map[string]string{"Origin": "https://app.example.com"},
			status: 200,
		},
		"no JSON":       {body: `{"jsonrpc":`, header: with(), status: 400},
		"not a message": {body: `{"hello":true}`, header: with(), status: 400},
		"a batch": {
			body: "\n [" + list + "]", header: with(),
			status: 400, code: -32600, says: "batches",
		},
		"too large": {
			body: call("say", `{"say":"`+strings.Repeat("x", 70<<10)+`"}`, "{}"), header: with(),
			status: 413, says: "more than 65536 bytes",
		},
		"another media": {body: list, header: with("Content-Type", "text/plain"), status: 415},
		"no stream":     {body: list, header: with("Accept", "application/json"), status: 400, says: "Accept"},
		"an old version": {
			body: list, header: with("Mcp-Protocol-Version", "2019-01-01"),
			status: 400, says: "nsupported",
		},
		"a future version": {
			body: alone("tools/list", ""), header: version("2031-01-01", "Mcp-Method", "tools/list"),
			status: 400,
		},
		"two versions": {
			body: alone("tools/list", ""), header: version("2026-07-29", "Mcp-Method", "tools/list"),
			status: 400,
		},
		"another method": {
			body: alone("tools/list", ""), header: version("2026-07-28", "Mcp-Method", "tools/call"),
			status: 400, says: "Mcp-Method",
		},
		"no session": {
			body: list, header: with("Mcp-Session-Id", "AAAA"),
			status: 404, code: -32001, says: "initialize",
		},
		"a stream of none": {method: http.MethodGet, header: with("Mcp-Session-Id", "AAAA"), status: 404},
		"an end of none":   {method: http.MethodDelete, header: with("Mcp-Session-Id", "AAAA"), status: 404},
		"before the hello": {body: list, status: 200, says: "initialization"},
		"another verb": {
			method: http.MethodPut, body: list, header: with(),
			status: 405, says: "GET, POST and DELETE",
		},
		"only the head":  {method: http.MethodHead, header: with(), status: 405},
		"unknown method": {body: `{"jsonrpc":"2.0","id":2,"method":"tools/steal"}`, header: with(), status: 400},
		"a second hello": {body: hello, header: with(), status: 200, says: "duplicate"},
		"an unknown tool": {
			body: call("steal", "{}", "{}"), header: with(),
			status: 200, code: -32602, says: "unknown tool",
		},
		"a long name": {
			body: call(strings.Repeat("n", 5000), "{}", "{}"), header: with(),
			status: 200, code: -32602, says: "nnn…",
		},
		"a wrong call id": {
			body: call("say", "{}", `{"toolcrib/call-id":"a b"}`), header: with(),
			status: 200, code: -32602, says: "call-id",
		},
		"a call id, number": {
			body: call("say", "{}", `{"toolcrib/call-id":7}`), header: with(),
			status: 200, code: -32602, says: "call-id",
		},
		"arguments, a list": {body: call("say", "[1]", "{}"), header: with(), status: 200},
		"may not call": {
			body: call("say", "{}", "{}"), key: []string{reader}, status: 200, says: "runs.write",
			header: b.opened(t, reader),
		},
		"may not list": {
			body: list, key: []string{caller},
			status: 200, says: "tools.read", header: b.opened(t, caller),
		},
		"a wrong cursor": {
			body: `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"%%"}}`, header: with(), status: 200,
			code: -32602, says: "malformed cursor",
		},
		"files": {
			body: `{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}`, header: with(),
			status: 200, says: "not found",
		},
		"an answer to nothing": {body: `{"jsonrpc":"2.0","id":77,"result":{}}`, header: with(), status: 202},
		"a cancel of nothing": {
			body:   `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`,
			header: with(), status: 202,
		},
	})
	got := b.speak(t, list, with())
	require.Contains(t, string(got.message().Result), `"name":"say"`, "the session has survived all of it")
}

// A client without a key learns where the server describes itself.
func TestMCPChallengesAndDescribesItself(t *testing.T) {
	t.Parallel()

	b := setup(t)
	got := b.speak(t, hello, nil, "")
	require.Equal(t, v1.ProblemsPath+"/"+v1.Unauthenticated, got.problem(t).Type)
	require.Equal(t, `Bearer resource_metadata="`+b.url+`/.well-known/oauth-protected-resource/mcp"`,
		got.header.Get("WWW-Authenticate"))
	got = b.speak(t, hello, nil, "tck_wrong")
	require.Contains(t, got.header.Get("WWW-Authenticate"), `error="invalid_token"`)
	for _, path := range []string{"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"} {
		described := b.do(t, http.MethodGet, path, "", "")
		require.Equal(t, http.StatusOK, described.status)
		require.JSONEq(t, `{"resource":"`+b.url+`/mcp","resource_name":"Toolcrib","bearer_methods_supported":["header"],
			"scopes_supported":["tools.read","runs.write"]}`, string(described.body))
	}
	public := setup(t, func(c *api.Config) { c.PublicURL = "https://tools.example.com" })
	require.Contains(t, public.speak(t, hello, nil, "").header.Get("WWW-Authenticate"),
		`"https://tools.example.com/.well-known/oauth-protected-resource/mcp"`)
}

// A page whose name was pointed at this machine reaches nothing; a program behind a proxy does.
func TestMCPDNSRebinding(t *testing.T) {
	t.Parallel()

	b := setup(t, func(c *api.Config) { c.PublicURL = "https://tools.example.com" })
	for _, c := range []struct {
		host, origin string
		status       int
	}{
		{"evil.example:8080", "http://evil.example:8080", http.StatusForbidden},
		{"evil.example", "https://tools.example.com", http.StatusForbidden},
		{"tools.example.com", "https://tools.example.com", http.StatusOK},
		{"localhost:8080", "http://localhost:8080", http.StatusOK},
		{"[::1]:8080", "http://[::1]:8080", http.StatusOK},
		{"behind.example", "", http.StatusOK},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.url+"/mcp", strings.NewReader(hello))
		require.NoError(t, err)
		req.Host = c.host
		req.Header.Set("Authorization", "Bearer "+b.key)
		for name, value := range mcpHeader(nil) {
			req.Header.Set(name, value)
		}
		if c.origin != "" {
			req.Header.Set("Origin", c.origin)
		}
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, c.status, resp.StatusCode, "%+v", c)
	}
}

// A stream of a session stays open by comments, and ends when its key is revoked.
func TestMCPStreamEndsWithItsKey(t *testing.T) {
	t.Parallel()

	b := setup(t, func(c *api.Config) { c.Streams.Heartbeat = 20 * time.Millisecond })
	created := b.do(t, http.MethodPost, "/v1/keys", `{"name":"mcp","permissions":["tools.read"]}`)
	var key v1.CreatedKey
	created.into(t, &key)
	events := b.followMCP(t, key.Secret)
	lines := bufio.NewScanner(events)
	for lines.Scan() {
		if lines.Text() == ": alive" {
			break
		}
	}
	require.Equal(t, ": alive", lines.Text())
	require.Equal(t, http.StatusOK, b.do(t, http.MethodPost, "/v1/keys/"+key.ID+"/revoke", "").status)
	_, err := io.Copy(io.Discard, events)
	require.NoError(t, err, "it ends, as streams do")
}

// Requests of MCP clients are those of their tenant, and streams too.
func TestMCPCountsForTheTenant(t *testing.T) {
	t.Parallel()

	b := setup(t, func(c *api.Config) { c.Streams.PerTenant = 1 })
	b.followMCP(t, b.key)
	more := b.send(t, http.MethodGet, "/mcp", "", mcpHeader(b.opened(t)))
	require.Equal(t, http.StatusTooManyRequests, more.status)
}

// followMCP opens a session with a key, and the stream of its events.
func (b *bundle) followMCP(t *testing.T, key string) io.Reader {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.url+"/mcp", nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+key)
	for name, value := range mcpHeader(b.opened(t, key)) {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, resp.Body.Close()) })
	require.Equal(t, http.StatusOK, resp.StatusCode)
	return resp.Body
}

// A call that was denied to an MCP client is in the audit log, under its key.
func TestMCPRefusalsAreAudited(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.apply(t, echo("say"))
	reader := b.Key(t, b.tenant, "tools.read")
	got := b.send(t, http.MethodPost, "/mcp",
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"say","arguments":{}}}`,
		mcpHeader(b.opened(t, reader)), reader)
	require.NotContains(t, string(got.body), `"isError":false`)
	refused, err := b.Store.ListAudit(t.Context(), b.tenant, audit.Query{Outcome: audit.Refused, Limit: 10})
	require.NoError(t, err)
	require.Len(t, refused, 1)
	require.Equal(t, audit.Action("run.started"), refused[0].Action)
	require.Equal(t, "say", refused[0].Object.Name)
	require.Equal(t, audit.Key, refused[0].Actor.Kind)
}

// A session takes the methods that are served alone: what the library has beyond them may wait for ever.
func TestMCPServesItsMethodsAlone(t *testing.T) {
	t.Parallel()

	b := setup(t)
	open := b.opened(t)
	for method, params := range map[string]string{
		"subscriptions/listen": `{"notifications":{"toolsListChanged":true}}`,
		"logging/setLevel":     `{"level":"info"}`,
		"resources/subscribe":  `{"uri":"a://b"}`, "resources/unsubscribe": `{"uri":"a://b"}`,
	} {
		got := b.speak(t, `{"jsonrpc":"2.0","id":2,"method":"`+method+`","params":`+params+`}`, open).message()
		require.NotNil(t, got.Error, method)
		require.Equal(t, -32601, got.Error.Code, method)
	}
	for _, method := range []string{"ping", "tools/list", "resources/list", "resources/templates/list", "prompts/list"} {
		got := b.speak(t, `{"jsonrpc":"2.0","id":2,"method":"`+method+`"}`, open).message()
		require.Nil(t, got.Error, method)
	}
}

// Where a tenant has as many requests waiting as it may have, what ends one of them is still taken.
func TestMCPMessagesThatDoNotWait(t *testing.T) {
	t.Parallel()

	b := setup(t, func(c *api.Config) { c.MaxTenantRequests = 1 })
	open := b.opened(t)
	end := b.hold(t, b.key)
	refused := b.speak(t, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, open)
	require.Equal(t, http.StatusTooManyRequests, refused.status)
	require.NotEmpty(t, refused.header.Get("Retry-After"))
	for _, message := range []string{
		`{"jsonrpc":"2.0","id":77,"result":{"action":"accept"}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`,
	} {
		require.Equal(t, http.StatusAccepted, b.speak(t, message, open).status, message)
	}
	require.Equal(t, http.StatusNoContent, b.send(t, http.MethodDelete, "/mcp", "", mcpHeader(open)).status)
	end()
}
