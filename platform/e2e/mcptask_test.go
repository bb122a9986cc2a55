package e2e_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// rpc is an answer of JSON-RPC.
type rpc struct {
	Result struct {
		Task struct {
			ID string `json:"taskId"` //nolint:tagliatelle // The protocol's name.
		} `json:"task"`
		ID           string `json:"taskId"` //nolint:tagliatelle // The protocol's name.
		Status       string `json:"status"`
		Message      string `json:"statusMessage"` //nolint:tagliatelle // The protocol's name.
		PollInterval int    `json:"pollInterval"`  //nolint:tagliatelle // The protocol's name.
		Tasks        []struct {
			ID string `json:"taskId"` //nolint:tagliatelle // The protocol's name.
		} `json:"tasks"`
		Structured   json.RawMessage `json:"structuredContent"` //nolint:tagliatelle // The protocol's name.
		Meta         map[string]any  `json:"_meta"`             //nolint:tagliatelle // The protocol's name.
		Capabilities map[string]any  `json:"capabilities"`
		Tools        []struct {
			Execution map[string]string `json:"execution"`
		} `json:"tools"`
	} `json:"result"`
	Error *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// tasker is a client of revision 2025-11-25 that knows tasks, which the library's client does not.
type tasker struct {
	c       *mcpDesk
	key     string
	session string
}

// tasker opens a session.
func (c *mcpDesk) tasker(key string) (*tasker, rpc) {
	c.t.Helper()
	t := &tasker{c: c, key: key}
	hello := t.ask("initialize",
		`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
	require.NotEmpty(c.t, t.session)
	return t, hello
}

// ask sends a request.
func (t *tasker) ask(method, params string) (out rpc) {
	t.c.t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
	address := t.c.served.URL + "/mcp"
	req, err := http.NewRequestWithContext(t.c.t.Context(), http.MethodPost, address, strings.NewReader(body))
	require.NoError(t.c.t, err)
	req.Header.Set("Authorization", "Bearer "+t.key)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if t.session != "" {
		req.Header.Set("Mcp-Session-Id", t.session)
		req.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(t.c.t, err)
	defer func() { require.NoError(t.c.t, resp.Body.Close()) }()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t.c.t, err)
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		t.session = id
	}
	for line := range strings.Lines(string(raw)) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if ok && strings.Contains(data, `"id":1`) {
			raw = []byte(data)
		}
	}
	require.NoError(t.c.t, json.Unmarshal(raw, &out), string(raw))
	return out
}

func of(id string) string { return `{"taskId":"` + id + `"}` }

// A call as a task is answered at once, is there for its key alone, outlives the server, and gives its result as
// often as it is asked for.
func TestMCPTasks(t *testing.T) {
	t.Parallel()

	g := newGate()
	c := newMCPDesk(t, g.functions(t))
	c.publish("look", lookTool(), tool.Policy{})
	client, hello := c.tasker(c.key)
	require.Contains(t, hello.Result.Capabilities, "tasks")
	require.Equal(t, "optional", client.ask("tools/list", "{}").Result.Tools[0].Execution["taskSupport"])

	const call = `{"name":"look","arguments":{"name":"a"},"task":{"ttl":60000}}`
	begun := client.ask("tools/call", call)
	require.Nil(t, begun.Error)
	id := begun.Result.Task.ID
	require.Equal(t, id, begun.Result.Meta["toolcrib/run-id"])
	<-g.begun
	state := client.ask("tasks/get", of(id))
	require.Equal(t, "working", state.Result.Status)
	require.Positive(t, state.Result.PollInterval)

	// Another key's task is one that does not exist, by every method.
	stranger, _ := c.tasker(c.db.Key(t, c.principal.Tenant, "*"))
	for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
		refused := stranger.ask(method, of(id))
		require.NotNil(t, refused.Error, method)
		require.Equal(t, -32602, refused.Error.Code)
		require.Contains(t, refused.Error.Message, "task not found")
	}
	require.Empty(t, stranger.ask("tasks/list", "{}").Result.Tasks)
	listed := client.ask("tasks/list", "{}").Result.Tasks
	require.Len(t, listed, 1)
	require.Equal(t, id, listed[0].ID)

	close(g.goOn)
	c.serve() // The server is another one now.
	client, _ = c.tasker(c.key)
	for range 2 {
		result := client.ask("tasks/result", of(id))
		require.Nil(t, result.Error)
		require.JSONEq(t, `{"name":"found a"}`, string(result.Result.Structured))
		require.Equal(t, map[string]any{"taskId": id}, result.Result.Meta["io.modelcontextprotocol/related-task"])
	}
	require.Equal(t, "completed", client.ask("tasks/get", of(id)).Result.Status)
	over := client.ask("tasks/cancel", of(id))
	require.NotNil(t, over.Error)
	require.Equal(t, -32602, over.Error.Code)
	require.Contains(t, over.Error.Message, "has ended")
	require.Equal(t, 1, g.times())
	require.Equal(t, -32601, client.ask("tasks/none", of(id)).Error.Code)
	require.Equal(t, -32602, client.ask("tools/call", `{"name":"none","task":{}}`).Error.Code)
}

// The result of a task is waited for from the moment that there is one, whether or not a worker has begun its call.
func TestMCPTasksAreWaitedForBeforeTheyBegin(t *testing.T) {
	t.Parallel()

	g := newGate()
	c := newMCPDesk(t, g.functions(t))
	c.publish("look", lookTool(), tool.Policy{})
	client, _ := c.tasker(c.key)
	close(g.goOn)
	for range 5 {
		id := client.ask("tools/call", `{"name":"look","arguments":{"name":"a"},"task":{}}`).Result.Task.ID
		result := client.ask("tasks/result", of(id))
		require.Nil(t, result.Error)
		require.JSONEq(t, `{"name":"found a"}`, string(result.Result.Structured))
	}
}

// A task is cancelled as its call, and waits for people as its call does.
func TestMCPTasksAreCancelledAndWait(t *testing.T) {
	t.Parallel()

	g := newGate()
	c := newMCPDesk(t, g.functions(t))
	c.publish("look", lookTool(), tool.Policy{})
	c.publish("guarded", lookTool(), tool.Policy{RequiresApproval: true})
	(&office{site: c.site}).key("boss", wait.DecidePermission)
	client, _ := c.tasker(c.key)
	id := client.ask("tools/call", `{"name":"look","arguments":{"name":"a"},"task":{}}`).Result.Task.ID
	<-g.begun
	gone := client.ask("tasks/cancel", of(id))
	require.Nil(t, gone.Error)
	require.Equal(t, "cancelled", gone.Result.Status)
	require.Equal(t, "cancelled", client.ask("tasks/get", of(id)).Result.Status)
	<-g.left
	client.ask("tasks/result", of(id))
	require.Equal(t, "cancelled", client.ask("tasks/get", of(id)).Result.Status)

	id = client.ask("tools/call", `{"name":"guarded","arguments":{"name":"a"},"task":{}}`).Result.Task.ID
	require.Eventually(t, func() bool {
		state := client.ask("tasks/get", of(id)).Result
		return state.Status == "input_required" && strings.Contains(state.Message, "approval")
	}, time.Minute, 100*time.Millisecond)
	require.Nil(t, client.ask("tasks/cancel", of(id)).Error)
	again := client.ask("tasks/cancel", of(id))
	require.NotNil(t, again.Error)
	require.Contains(t, again.Error.Message, "has ended: it is cancelled")
}
