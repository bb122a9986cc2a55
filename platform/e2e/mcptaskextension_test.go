package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// tasksDeclared and elicits are capabilities of clients.
const (
	tasksDeclared = `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	elicits       = `{"elicitation":{"form":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
)

// extensionAnswer is an answer to a client that knows the extension for tasks, which the library's client does not.
//
//nolint:tagliatelle // The protocol's names.
type extensionAnswer struct {
	Result struct {
		Type         string          `json:"resultType"`
		ID           string          `json:"taskId"`
		Status       string          `json:"status"`
		Message      string          `json:"statusMessage"`
		TTL          *int64          `json:"ttlMs"`
		PollInterval int             `json:"pollIntervalMs"`
		Structured   json.RawMessage `json:"structuredContent"`
		Result       *struct {
			IsError    bool            `json:"isError"`
			Structured json.RawMessage `json:"structuredContent"`
			Meta       map[string]any  `json:"_meta"`
		} `json:"result"`
		Error *struct {
			Code int `json:"code"`
		} `json:"error"`
		InputRequests map[string]struct {
			Method string         `json:"method"`
			Params map[string]any `json:"params"`
		} `json:"inputRequests"`
		State        string         `json:"requestState"`
		Meta         map[string]any `json:"_meta"`
		Capabilities struct {
			Extensions map[string]any `json:"extensions"`
			Tasks      any            `json:"tasks"`
		} `json:"capabilities"`
	} `json:"result"`
	Error *struct {
		Code    int            `json:"code"`
		Message string         `json:"message"`
		Data    map[string]any `json:"data"`
	} `json:"error"`
	status int
	raw    string
}

// alone is a client of revision 2026-07-28 with some capabilities.
type alone struct {
	c            *mcpDesk
	key          string
	capabilities string
	name         string // Of the header Mcp-Name; what the request is about when empty.
}

// ask sends a request about a tool or a task. params have its own members, each followed by a comma.
func (a alone) ask(method, about, params string) (out extensionAnswer) {
	t := a.c.t
	t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + `"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":` + a.capabilities + `}}}`
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.c.served.URL+"/mcp", strings.NewReader(body))
	require.NoError(t, err)
	for name, value := range map[string]string{
		"Authorization": "Bearer " + a.key, "Content-Type": "application/json",
		"Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method,
		"Mcp-Name": about,
	} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	if a.name != "" {
		req.Header.Set("Mcp-Name", a.name)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(t, err)
	defer func() { require.NoError(t, resp.Body.Close()) }()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	for line := range strings.Lines(string(raw)) {
		if data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: "); ok && strings.Contains(data, `"id":1`) {
			raw = []byte(data)
		}
	}
	require.NoError(t, json.Unmarshal(raw, &out), string(raw))
	out.status, out.raw = resp.StatusCode, string(raw)
	return out
}

// call calls a tool.
func (a alone) call(name, arguments string) extensionAnswer {
	return a.ask("tools/call", name, `"name":"`+name+`","arguments":`+arguments+`,`)
}

// task asks for, or changes, a task.
func (a alone) task(method, id string, more ...string) extensionAnswer {
	return a.ask(method, id, `"taskId":"`+id+`",`+strings.Join(more, ""))
}

// until polls a task until it has a status.
func (a alone) until(id, status string) (out extensionAnswer) {
	a.c.t.Helper()
	require.Eventually(a.c.t, func() bool {
		out = a.task("tasks/get", id)
		return out.Result.Status == status
	}, time.Minute, 50*time.Millisecond, "%s", out.raw)
	return out
}

// A call that takes long is a task for a client that takes tasks, and for no other. The task is there for its key
// alone, outlives the server, and has its result as often as it is asked for.
func TestMCPTaskExtension(t *testing.T) {
	t.Parallel()

	g := newGate()
	c := newMCPDesk(t, g.functions(t))
	c.publish("look", lookTool(), tool.Policy{})
	c.after = time.Millisecond
	c.serve()
	client, plain := alone{c: c, key: c.key, capabilities: tasksDeclared}, alone{c: c, key: c.key, capabilities: "{}"}

	found := client.ask("server/discover", "", "").Result.Capabilities
	require.Contains(t, found.Extensions, "io.modelcontextprotocol/tasks")
	require.Nil(t, found.Tasks)
	made := client.ask("tools/call", "look",
		`"name":"look","arguments":{"name":"a"},"task":{"ttl":1},`) // The member is one of the revision before.
	require.Nil(t, made.Error, made.raw)
	require.Equal(t, "task", made.Result.Type)
	require.Equal(t, "working", made.Result.Status)
	require.Positive(t, made.Result.PollInterval)
	require.Contains(t, made.raw, `"ttlMs":null`)
	require.Empty(t, made.Result.State)
	id := made.Result.ID
	require.Equal(t, id, made.Result.Meta["toolcrib/run-id"])
	<-g.begun
	state := client.task("tasks/get", id)
	require.Equal(t, "complete", state.Result.Type)
	require.Equal(t, "working", state.Result.Status)

	stranger := alone{c: c, key: c.db.Key(t, c.principal.Tenant, "*"), capabilities: tasksDeclared}
	foreign := alone{c: c, key: c.db.Key(t, c.newTenant(), "*"), capabilities: tasksDeclared}
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		for _, other := range []alone{stranger, foreign} {
			refused := other.task(method, id)
			require.NotNil(t, refused.Error, method)
			require.Equal(t, -32602, refused.Error.Code, refused.raw)
			require.Contains(t, refused.Error.Message, "task not found")
		}
		lacks := plain.task(method, id)
		require.NotNil(t, lacks.Error, method)
		require.Equal(t, -32021, lacks.Error.Code)
		require.Equal(t, http.StatusBadRequest, lacks.status)
		require.Contains(t, lacks.raw, `"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}`)
		mismatched := client
		mismatched.name = "another"
		refused := mismatched.task(method, id)
		require.NotNil(t, refused.Error, method)
		require.Equal(t, -32020, refused.Error.Code)
		require.Equal(t, http.StatusBadRequest, refused.status)
	}
	listens := plain.ask("subscriptions/listen", "", `"notifications":{"taskIds":["`+id+`"]},`)
	require.NotNil(t, listens.Error)
	require.Equal(t, -32021, listens.Error.Code)
	for _, method := range []string{"tasks/list", "tasks/result"} {
		require.Equal(t, -32601, client.task(method, id).Error.Code, "the extension has none of them")
	}

	c.serve() // The server is another one now.
	close(g.goOn)
	over := client.until(id, "completed")
	require.JSONEq(t, `{"name":"found a"}`, string(over.Result.Result.Structured))
	require.NotContains(t, over.raw, "related-task")
	require.Equal(t, over.raw, client.task("tasks/get", id).raw)
	for _, method := range []string{"tasks/cancel", "tasks/update"} {
		late := client.task(method, id)
		require.Nil(t, late.Error, late.raw)
		require.Equal(t, "complete", late.Result.Type)
		require.Empty(t, late.Result.ID)
	}
	require.Equal(t, "completed", client.task("tasks/get", id).Result.Status)
	require.Equal(t, 1, g.times())

	c.after = time.Hour
	c.serve()
	quick := client.call("look", `{"name":"b"}`)
	require.Equal(t, "complete", quick.Result.Type, quick.raw)
	require.JSONEq(t, `{"name":"found b"}`, string(quick.Result.Structured))
	c.after = time.Millisecond
	c.serve()
	whole := plain.call("look", `{"name":"c"}`)
	require.Equal(t, "complete", whole.Result.Type, "its client takes no tasks")
	require.Empty(t, whole.Result.ID)
}

// A task of the extension is cancelled as its call; a "no" is a result, a failure of the platform is none.
func TestMCPTaskExtensionEnds(t *testing.T) {
	t.Parallel()

	g := newGate()
	functions := g.functions(t)
	require.NoError(t, function.Define(functions, "refuse", "refuse", func(context.Context, noteIn) (noteOut, error) {
		g.begun <- struct{}{}
		<-g.goOn
		return noteOut{}, errors.New("no keys here")
	}))
	require.NoError(t, function.Define(functions, "panics", "panics", func(context.Context, noteIn) (noteOut, error) {
		g.begun <- struct{}{}
		<-g.goOn
		panic("as it is meant to")
	}, function.Pure()))
	c := newMCPDesk(t, functions)
	c.publish("look", lookTool(), tool.Policy{})
	c.publish("refuse", functionTool("refuse", tool.Execution{TimeoutSeconds: 60}), tool.Policy{})
	once := tool.Execution{Pure: true, MaxAttempts: 1, TimeoutSeconds: 60}
	c.publish("panics", functionTool("panics", once), tool.Policy{})
	c.after = time.Millisecond
	c.serve()
	client := alone{c: c, key: c.key, capabilities: tasksDeclared}

	id := client.call("look", `{"name":"a"}`).Result.ID
	<-g.begun
	gone := client.task("tasks/cancel", id)
	require.Nil(t, gone.Error, gone.raw)
	require.Equal(t, "complete", gone.Result.Type)
	require.Equal(t, "cancelled", client.task("tasks/get", id).Result.Status)
	<-g.left
	require.Equal(t, "complete", client.task("tasks/cancel", id).Result.Type, "once more")
	require.Equal(t, "cancelled", client.task("tasks/get", id).Result.Status)

	refused, panics := client.call("refuse", `{"name":"a"}`).Result.ID, client.call("panics", `{"name":"a"}`).Result.ID
	<-g.begun
	<-g.begun
	close(g.goOn)
	no := client.until(refused, "completed")
	require.True(t, no.Result.Result.IsError)
	failed := client.until(panics, "failed")
	require.Equal(t, -32603, failed.Result.Error.Code)
	require.Nil(t, failed.Result.Result)
	require.NotContains(t, failed.raw, "meant to")
}

// A task asks the person at its client what its call waits for, where the key may answer, and takes the answer.
func TestMCPTaskExtensionAsks(t *testing.T) {
	t.Parallel()

	c, _, secret := confirmDesk(t)
	c.publish("askSomeone", inputTool(), tool.Policy{})
	guarded := asksAlways
	guarded.RequiresApproval = true
	d := functionTool("read", tool.Execution{Pure: true})
	d.InputSchema = json.RawMessage(`{"type":"object"}`)
	c.publish("guarded", d, guarded)
	(&office{site: c.site}).key("boss", wait.DecidePermission)
	c.after = time.Hour // What waits is a task at once.
	c.serve()
	person := alone{c: c, key: secret, capabilities: elicits}

	made := person.call("read", `{"name":"a"}`)
	require.Equal(t, "task", made.Result.Type, made.raw)
	id := made.Result.ID
	asked := person.until(id, "input_required")
	require.Len(t, asked.Result.InputRequests, 1)
	key := onlyKey(asked)
	require.Equal(t, "elicitation/create", asked.Result.InputRequests[key].Method)
	require.Contains(t, asked.Result.InputRequests[key].Params["message"], "Confirm this call of read")
	for answers, code := range map[string]int{
		`"inputResponses":{"unknown":{"action":"accept","content":{"confirm":true}}},`: 0,
		`"inputResponses":{"` + key + `":{"action":"decline"}},`:                       0,
		`"inputResponses":{},`:                0,
		`"inputResponses":{"` + key + `":7},`: -32602,
		`"inputResponses":{"` + key + `":{"action":"accept","content":{"confirm":"y"}}},`: -32602,
		`"inputResponses":7,`: -32602,
	} {
		got := person.task("tasks/update", id, answers)
		if code != 0 {
			require.NotNil(t, got.Error, answers)
			require.Equal(t, code, got.Error.Code)
		} else {
			require.Nil(t, got.Error, got.raw)
			require.Equal(t, "complete", got.Result.Type)
		}
		require.Equal(t, asked.Result.InputRequests, person.task("tasks/get", id).Result.InputRequests, "nothing has changed")
	}
	taken := person.task("tasks/update", id,
		`"inputResponses":{"`+key+`":{"action":"accept","content":{"confirm":true}}},`)
	require.Nil(t, taken.Error, taken.raw)
	require.Empty(t, taken.Result.ID)
	over := person.until(id, "completed")
	require.False(t, over.Result.Result.IsError, over.raw)

	// What others decide is not asked.
	id = person.call("guarded", `{"name":"a"}`).Result.ID
	held := person.task("tasks/get", id)
	require.Equal(t, "working", held.Result.Status)
	require.Contains(t, held.Result.Message, "waits for an approval")
	require.Empty(t, held.Result.InputRequests)

	// What a tool asks is a form too, for keys that may answer.
	everything := alone{c: c, key: c.key, capabilities: elicits}
	id = everything.call("askSomeone", `{"title":"Hero","choose":{"options":[
		{"id":"bold","label":"Bold"},{"id":"calm","label":"Calm"}]}}`).Result.ID
	key = onlyKey(everything.until(id, "input_required"))
	taken = everything.task("tasks/update", id,
		`"inputResponses":{"`+key+`":{"action":"accept","content":{"choice":"calm"}}},`)
	require.Nil(t, taken.Error, taken.raw)
	over = everything.until(id, "completed")
	require.Contains(t, over.raw, "calm")

	// What a call asks at once is answered one by one.
	ask := func(id, title string) string {
		return `{"id":"` + id + `","nodes":[{"id":"` + id + `Asks","kind":"tool","tool":"askSomeone","arguments":{"title":"` +
			title + `","questions":[{"id":"name","label":"Name?"}]}}]}`
	}
	c.publish("askTwo", graphTool(`{"nodes":[{"id":"fan","kind":"parallel","branches":[`+
		ask("left", "Left")+`,`+ask("right", "Right")+`]}]}`, tool.Execution{}), tool.Policy{})
	made = everything.call("askTwo", "{}")
	require.Equal(t, "task", made.Result.Type, made.raw)
	id = made.Result.ID
	require.Eventually(t, func() bool {
		asked = everything.task("tasks/get", id)
		return len(asked.Result.InputRequests) == 2
	}, time.Minute, 50*time.Millisecond)
	answer := func(key string) extensionAnswer {
		return everything.task("tasks/update", id,
			`"inputResponses":{"`+key+`":{"action":"accept","content":{"name":"Ada"}}},`)
	}
	first := onlyKey(asked)
	require.Nil(t, answer(first).Error)
	left := everything.task("tasks/get", id)
	require.Equal(t, "input_required", left.Result.Status)
	require.Len(t, left.Result.InputRequests, 1)
	require.NotContains(t, left.Result.InputRequests, first)
	require.Nil(t, answer(onlyKey(left)).Error)
	over = everything.until(id, "completed")
	require.False(t, over.Result.Result.IsError, over.raw)
}

// onlyKey is the key of a question of a task.
func onlyKey(a extensionAnswer) string {
	for key := range a.Result.InputRequests {
		return key
	}
	return ""
}
