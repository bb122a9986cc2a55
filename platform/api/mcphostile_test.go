package api_test

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What a client of either generation makes up, beyond TestMCPHostileClients, is refused in the words of the
// protocol, and the server goes on.
//
//nolint:tparallel // They share a session.
func TestMCPHostileMessages(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.apply(t, echo("say"))
	open := b.opened(t)
	stranger := b.Key(t, b.Tenant(t), "*")
	with := func(more ...string) map[string]string {
		out := map[string]string{}
		maps.Copy(out, open)
		for i := 0; i < len(more); i += 2 {
			out[more[i]] = more[i+1]
		}
		return out
	}
	apart := func(more ...string) map[string]string {
		out := map[string]string{"Mcp-Protocol-Version": "2026-07-28"}
		for i := 0; i < len(more); i += 2 {
			out[more[i]] = more[i+1]
		}
		return out
	}
	const list = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	as := func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/list"}` }
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	b.answersAll(t, map[string]mcpSituation{
		// What a message is.
		"an id of half a megabyte": {
			body: as(`"` + strings.Repeat("x", 1<<19) + `"`), header: with(),
			status: 200, says: `"name":"say"`,
		},
		"an id that is an object": {
			body: as(`{"a":1}`), header: with(),
			status: 400, says: "invalid ID type",
		},
		"an id that is a list": {
			body: as(`[1]`), header: with(),
			status: 400, says: "invalid ID type",
		},
		"an id that is true": {
			body: as(`true`), header: with(),
			status: 400, says: "invalid ID type",
		},
		"an id that is null": {
			body: as(`null`), header: with(),
			status: 400, says: "missing id",
		},
		"an id of many digits": {
			body: as(strings.Repeat("9", 400)), header: with(),
			status: 400, says: "malformed payload",
		},
		"deep JSON": {
			body: `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":` + deep + `}}`, header: with(),
			status: 400, code: -32700,
		},
		"deep arguments": {
			body:   `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"say","arguments":` + deep + `}}`,
			header: with(),
			status: 400, code: -32700,
		},
		"invalid UTF-8": {
			body:   "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"s\xff\xfey\"}}",
			header: with(),
			status: 200, code: -32602, says: "unknown tool",
		},
		"a NUL in the body": {
			body: "{\"jsonrpc\":\"2.0\",\x00\"id\":2,\"method\":\"tools/list\"}", header: with(),
			status: 400, code: -32700,
		},
		"two messages": {
			body: list + list, header: with(),
			status: 400, code: -32700, says: "one message",
		},
		"nothing": {
			body: " ", header: with(),
			status: 400, code: -32700, says: "one message",
		},
		"a text": {
			body: `"tools/list"`, header: with(),
			status: 400,
		},
		"an empty batch": {
			body: `[]`, header: with(),
			status: 400, code: -32600, says: "batches",
		},
		"an older JSON-RPC": {
			body: `{"jsonrpc":"1.0","id":2,"method":"tools/list"}`, header: with(),
			status: 400, says: "version",
		},
		"a method that is a number": {
			body: `{"jsonrpc":"2.0","id":2,"method":7}`, header: with(),
			status: 400,
		},
		"parameters that are a list": {
			body: `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":[1]}`, header: with(),
			status: 200, code: -32602, says: "invalid params",
		},
		"a request and an answer at once": {
			body: `{"jsonrpc":"2.0","id":2,"method":"tools/list","result":{}}`, header: with(),
			status: 200, says: `"name":"say"`,
		},
		"a notification that is unknown": {
			body: `{"jsonrpc":"2.0","method":"notifications/evil","params":{}}`, header: with(),
			status: 400, says: "unsupported",
		},
		"an answer with an error to nothing": {
			body: `{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"no"}}`, header: with(),
			status: 202,
		},
		"gzip": {
			body: packed(t, list), header: with("Content-Encoding", "gzip"),
			status: 400, code: -32700, says: "one message",
		},
		// Names and parameters.
		"a name with control characters": {
			body: `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"say\u0000\u001b[31m"}}`, header: with(),
			status: 200, code: -32602, says: "unknown tool",
		},
		"a name that climbs": {
			body: `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"../../v1/keys"}}`, header: with(),
			status: 200, code: -32602, says: "unknown tool",
		},
		"a name that is a number": {
			body: `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":7}}`, header: with(),
			status: 200, code: -32602, says: "invalid params",
		},
		"no name": {
			body: `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{}}`, header: with(),
			status: 200, code: -32602, says: "unknown tool",
		},
		"a method of tasks as a tool": {
			body:   `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"tasks/get","arguments":{"taskId":"x"}}}`,
			header: with(),
			status: 200, code: -32602, says: "unknown tool",
		},
		"a progress token that is an object": {
			body:   `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"none","_meta":{"progressToken":{}}}}`,
			header: with(),
			status: 200, code: -32602, says: "unknown tool",
		},
		"a long cursor": {
			body:   `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"` + strings.Repeat("A", 100_000) + `"}}`,
			header: with(),
			status: 200, code: -32602, says: "malformed cursor",
		},
		"a cursor with SQL": {
			body: `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"' or 1=1 --"}}`, header: with(),
			status: 200, code: -32602, says: "malformed cursor",
		},
		"a task of nothing": {
			body: `{"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"taskId":"' or 1=1 --"}}`, header: with(),
			status: 200, code: -32602, says: "task not found",
		},
		"a task's id that is a list": {
			body: `{"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"taskId":["a"]}}`, header: with(),
			status: 200, code: -32602, says: "malformed",
		},
		"tasks behind another's cursor": {
			body: `{"jsonrpc":"2.0","id":2,"method":"tasks/list","params":{"cursor":"made up"}}`, header: with(),
			status: 200, code: -32602, says: "cursor",
		},
		"a prompt that climbs": {
			body: `{"jsonrpc":"2.0","id":2,"method":"prompts/get","params":{"name":"agent/../../x"}}`, header: with(),
			status: 200, code: -32602, says: "unknown prompt",
		},
		"a resource that climbs": {
			body:   `{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"toolcrib://runs/../../keys"}}`,
			header: with(),
			status: 200, code: -32602, says: "not found",
		},
		"completion of nothing": {
			body: `{"jsonrpc":"2.0","id":2,"method":"completion/complete","params":{"ref":{"type":"ref/evil","name":"x"},` +
				`"argument":{"name":"a","value":"b"}}}`, header: with(),
			status: 200, code: -32602, says: "invalid params",
		},
		// Sessions.
		"a session's id of many bytes": {
			body: list, header: with("Mcp-Session-Id", strings.Repeat("x", 100_000)),
			status: 431, says: "headers_too_large",
		},
		"a stolen session": {
			body: list, header: with(), key: []string{stranger},
			status: 404, code: -32001,
		},
		"a stream of a stolen session": {
			method: http.MethodGet, header: with(), key: []string{stranger},
			status: 404, code: -32001,
		},
		"an end of a stolen session": {
			method: http.MethodDelete, header: with(), key: []string{stranger},
			status: 404, code: -32001,
		},
		"a cancellation in a stolen session": {
			body:   `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`,
			header: with(), key: []string{stranger},
			status: 404, code: -32001,
		},
		"a stream without a session": {
			method: http.MethodGet, header: with("Mcp-Session-Id", ""),
			status: 400, says: "Mcp-Session-Id",
		},
		"a hello of no revision": {
			body:   `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":7}}`,
			status: 200, says: "initialize",
		},
		"a hello without parameters": {
			body:   `{"jsonrpc":"2.0","id":1,"method":"initialize"}`,
			status: 400, says: "params",
		},
		"a hello of the future": {
			body:   strings.Replace(hello, "2025-11-25", "2099-01-01", 1),
			status: 200, says: `"protocolVersion":"2025-11-25"`,
		},
		// Requests that stand alone.
		"no method in the headers": {
			body: alone("tools/list", ""), header: apart(),
			status: 400, code: -32020, says: "Mcp-Method",
		},
		"no name in the headers": {
			body: alone("tools/call", `"name":"say",`), header: apart("Mcp-Method", "tools/call"),
			status: 400, code: -32020, says: "Mcp-Name",
		},
		"another name in the headers": {
			body: alone("tools/call", `"name":"say",`), header: apart("Mcp-Method", "tools/call", "Mcp-Name", "other"),
			status: 400, code: -32020, says: "Mcp-Name",
		},
		"a method in capitals in the headers": {
			body: alone("tools/list", ""), header: apart("Mcp-Method", "TOOLS/LIST"),
			status: 400, code: -32020, says: "Mcp-Method",
		},
		"a message without what it stands on": {
			body: list, header: apart("Mcp-Method", "tools/list"),
			status: 400, code: -32602, says: "protocolVersion",
		},
		"capabilities of another type": {
			body: strings.Replace(alone("tools/call", `"name":"none",`), `"io.modelcontextprotocol/clientCapabilities":{}`,
				`"io.modelcontextprotocol/clientCapabilities":7`, 1),
			header: apart("Mcp-Method", "tools/call", "Mcp-Name", "none"),
			status: 400, code: -32602, says: "clientCapabilities",
		},
		"a state that was made up": {
			body:   alone("tools/call", `"name":"say","requestState":"e30",`),
			header: apart("Mcp-Method", "tools/call", "Mcp-Name", "say"),
			status: 400, code: -32602, says: "requestState",
		},
		"a stream, alone": {
			method: http.MethodGet, header: apart(),
			status: 405,
		},
		"an end, alone": {
			method: http.MethodDelete, header: apart(),
			status: 405,
		},
		"listens to nothing": {
			body: alone("subscriptions/listen", ""), header: apart("Mcp-Method", "subscriptions/listen"),
			status: 400, code: -32602, says: "notifications",
		},
		"a task without the extension": {
			body: alone("tasks/get", `"taskId":"x",`), header: apart("Mcp-Method", "tasks/get", "Mcp-Name", "x"),
			status: 400, code: -32021, says: "requiredCapabilities",
		},
		"a task without its name in the headers": {
			body: alone("tasks/get", `"taskId":"x",`), header: apart("Mcp-Method", "tasks/get"),
			status: 400, code: -32020, says: "Mcp-Name",
		},
		"a session alone": {
			body: alone("initialize", ""), header: apart("Mcp-Method", "initialize"),
			status: 404, code: -32601, says: "initialize",
		},
	})
	got := b.speak(t, list, with())
	require.Contains(t, string(got.message().Result), `"name":"say"`, "the session has survived all of it")
}

// mcpSituation is what a client sends, and what it gets.
type mcpSituation struct {
	method string // POST when empty.
	body   string
	header map[string]string
	key    []string
	status int
	code   int    // Of the protocol's error; zero for none.
	says   string // In the answer.
}

// answersAll sends what each situation has.
func (b *bundle) answersAll(t *testing.T, situations map[string]mcpSituation) {
	t.Helper()

	for name, c := range situations {
		t.Run(name, func(t *testing.T) {
			got := said{b.send(t, cmp.Or(c.method, http.MethodPost), "/mcp", c.body, mcpHeader(c.header), c.key...), t}
			require.Equal(t, c.status, got.status, string(got.body))
			require.Contains(t, string(got.body), c.says)
			if c.code != 0 {
				m := got.message()
				require.NotNil(t, m.Error, string(got.body))
				require.Equal(t, c.code, m.Error.Code)
			}
			require.NotContains(t, b.log.String(), "panicked")
		})
	}
}

// packed compresses a text.
func packed(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.String()
}

// Requests of one session with one id, at the same time, get an answer each, or are refused.
func TestMCPRequestsWithOneID(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.apply(t, echo("say"))
	open := b.opened(t)
	var all sync.WaitGroup
	answers := make(chan said, 20)
	for range cap(answers) {
		all.Go(func() { answers <- b.speak(t, `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`, open) })
	}
	all.Wait()
	close(answers)
	served := 0
	for a := range answers {
		require.Less(t, a.status, http.StatusInternalServerError, string(a.body))
		if a.status == http.StatusOK && a.message().Error == nil {
			served++
			require.Contains(t, string(a.message().Result), `"name":"say"`)
		}
	}
	require.Positive(t, served)
	last := b.speak(t, `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`, open)
	require.Contains(t, string(last.message().Result), `"name":"say"`)
}

// A body that never comes holds its own connection, up to the time of the server, and no other.
func TestMCPSlowBody(t *testing.T) {
	t.Parallel()

	b := setup(t)
	server := httptest.NewUnstartedServer(b.server)
	server.Config.ReadTimeout = time.Second
	server.Start()
	t.Cleanup(server.Close)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(server.URL, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_, err = fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"+
		"Content-Length: 1000\r\n\r\n{\"jsonrpc\":", b.key)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, b.speak(t, hello, nil).status, "others are served")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusBadRequest, resp.StatusCode)
	var refused struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&refused))
	require.Contains(t, refused.Error.Message, "could not be read")
}

// A cursor of another tenant's list tells nothing of it.
func TestMCPForeignCursor(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.apply(t, echo("say"))
	theirs := b.Key(t, b.Tenant(t), "*")
	definitions := make([]string, 101)
	for i := range definitions {
		definitions[i] = echo(fmt.Sprintf("secret%03d", i))
	}
	applied := b.do(t, http.MethodPost, "/v1/apply", batch(t, false, definitions...), theirs)
	require.Equal(t, http.StatusOK, applied.status, string(applied.body))
	var page struct {
		Next string `json:"nextCursor"` //nolint:tagliatelle // The protocol's name.
	}
	const list = `{"jsonrpc":"2.0","id":2,"method":"tools/list"`
	first := b.speak(t, list+"}", b.opened(t, theirs), theirs)
	require.NoError(t, json.Unmarshal(first.message().Result, &page))
	require.NotEmpty(t, page.Next)
	got := b.speak(t, list+`,"params":{"cursor":"`+page.Next+`"}}`, b.opened(t))
	require.Equal(t, http.StatusOK, got.status)
	require.NotContains(t, string(got.body), "secret")
}
