package e2e_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// person answers what a client is asked, and keeps the questions.
type person struct {
	asked  chan *mcp.ElicitParams
	answer func(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error)
}

func newPerson(answer func(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error)) *person {
	return &person{asked: make(chan *mcp.ElicitParams, 20), answer: answer}
}

// says is a person who gives the same answer to each question.
func says(action string, content map[string]any) *person {
	return newPerson(func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: action, Content: content}, nil
	})
}

// client returns the options of a client that shows forms and pages to the person.
func (p *person) client() *mcp.ClientOptions {
	return &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{
			Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{},
		}},
		ElicitationHandler: func(ctx context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			p.asked <- req.Params
			return p.answer(ctx, req.Params)
		},
	}
}

// confirmDesk is a desk with a tool that asks for a confirmation of every call, and a key that may give it.
func confirmDesk(t *testing.T) (c *mcpDesk, key store.Key, secret string) {
	t.Helper()
	c = newMCPDesk(t, readers(t))
	d := functionTool("read", tool.Execution{Pure: true})
	d.InputSchema = json.RawMessage(`{"type":"object"}`)
	c.publish("read", d, asksAlways)
	key, secret, err := c.CreateKey(t.Context(), store.Key{
		Tenant: c.principal.Tenant, Name: "person", CreatedBy: "operator",
		Permissions: []string{"tools.read", "runs.write", "approvals.read", wait.ConfirmPermission},
	})
	require.NoError(t, err)
	return c, key, secret
}

// readCall is a call of the tool. The library writes into those that it sends, so each is one of its own.
func readCall() *mcp.CallToolParams {
	return &mcp.CallToolParams{Name: "read", Arguments: map[string]any{"name": "a"}}
}

// Who calls a tool confirms their own call in their client, or rejects it there.
func TestMCPElicitsConfirmations(t *testing.T) {
	t.Parallel()

	c, _, secret := confirmDesk(t)
	for _, revision := range []string{withSessions, withoutSessions} {
		yes := says("accept", map[string]any{"confirm": true})
		result := c.callMCP(c.connect(revision, yes.client(), secret), readCall())
		require.False(t, result.IsError, shownText(t, result))
		require.JSONEq(t, `{"name":"old a"}`, shownText(t, result))
		asked := <-yes.asked
		require.Equal(t, "form", asked.Mode)
		require.Contains(t, asked.Message, "Confirm this call of read@1.0.0?")
		require.Contains(t, asked.Message, `{"name":"a"}`)

		no := says("accept", map[string]any{"confirm": false, "reason": "not today"})
		result = c.callMCP(c.connect(revision, no.client(), secret), readCall())
		require.True(t, result.IsError)
		require.Contains(t, shownText(t, result), "not today")
		found, err := c.ListApprovals(t.Context(), wait.Query{Tenant: c.principal.Tenant, Status: wait.Pending, Limit: 10})
		require.NoError(t, err)
		require.Empty(t, found)
	}
}

// A client that declines, dismisses, fails or answers with what was not asked leaves the request as it was:
// the call waits, and its answer says where to decide.
func TestMCPElicitationWithoutAnAnswer(t *testing.T) {
	t.Parallel()

	c, _, secret := confirmDesk(t)
	for _, revision := range []string{withSessions, withoutSessions} {
		for note, p := range map[string]*person{
			"declined to answer":       says("decline", nil),
			"gave no answer":           says("cancel", nil),
			"gave no answer.":          says("shrug", map[string]any{"confirm": true}),
			"expected confirm as true": says("accept", nil),
		} {
			params := *readCall()
			params.Meta = mcp.Meta{"toolcrib/call-id": "once-" + newID(t)}
			session := c.connect(revision, p.client(), secret)
			result := c.callMCP(session, &params)
			require.True(t, result.IsError)
			require.Contains(t, shownText(t, result), strings.TrimSuffix(note, "."))
			id, ok := result.Meta["toolcrib/approval-id"].(string)
			require.True(t, ok)
			found, err := c.FindApproval(t.Context(), c.principal.Tenant, id)
			require.NoError(t, err)
			require.Equal(t, wait.Pending, found.Status)
			require.Empty(t, found.Decisions)

			// The same call asks again, and the person changes their mind.
			again := c.callMCP(c.connect(revision, says("accept", map[string]any{"confirm": true}).client(), secret), &params)
			require.False(t, again.IsError, shownText(t, again))
		}
	}
}

// A client that never answers gets the answer of a call that waits.
func TestMCPElicitationTimesOut(t *testing.T) {
	t.Parallel()

	c, _, secret := confirmDesk(t)
	c.elicit = 100 * time.Millisecond
	c.serve()
	over := make(chan struct{})
	defer close(over)
	silent := newPerson(func(ctx context.Context, _ *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		select {
		case <-ctx.Done(): // The server takes its question back.
		case <-over: // Or its answer was faster.
		}
		return nil, context.Canceled
	})
	result := c.callMCP(c.connect(withSessions, silent.client(), secret), readCall())
	require.True(t, result.IsError)
	require.Contains(t, shownText(t, result), "did not answer in time")
	require.Contains(t, shownText(t, result), "toolcrib approvals approve ")
}

// Nothing but one's own confirmation is asked for in a client: never a write, a call that needs an approval,
// or one of a key that may not confirm.
func TestMCPElicitationIsNoWayAroundApprovals(t *testing.T) {
	t.Parallel()

	c, _, secret := confirmDesk(t)
	(&office{site: c.site}).key("boss", wait.DecidePermission)
	d := functionTool("read", tool.Execution{Pure: true})
	d.InputSchema = json.RawMessage(`{"type":"object"}`)
	c.publish("change", d, tool.Policy{EgressClass: tool.EgressWrite})
	guarded := asksAlways
	guarded.RequiresApproval = true
	c.publish("guarded", d, guarded)
	program := c.db.Key(t, c.principal.Tenant, "tools.read", "runs.write", "approvals.read")
	blind := c.db.Key(t, c.principal.Tenant, "tools.read", "runs.write", wait.ConfirmPermission)
	everything := c.key
	for _, revision := range []string{withSessions, withoutSessions} {
		for _, call := range []struct{ slug, key string }{
			{"change", secret},
			{"guarded", secret},
			{"change", everything},
			{"guarded", everything},
			{"read", program},
			{"read", blind},
		} {
			p := says("accept", map[string]any{"confirm": true})
			result := c.callMCP(c.connect(revision, p.client(), call.key), &mcp.CallToolParams{
				Name: call.slug, Arguments: map[string]any{"name": "a"},
			})
			require.True(t, result.IsError)
			require.Contains(t, shownText(t, result), "waits for an approval")
			require.Empty(t, p.asked)
		}
		large := says("accept", map[string]any{"confirm": true})
		result := c.callMCP(c.connect(revision, large.client(), secret), &mcp.CallToolParams{
			Name: "read", Arguments: map[string]any{"name": strings.Repeat("a", 5000)},
		})
		require.Contains(t, shownText(t, result), "waits for an approval")
		require.Empty(t, large.asked, "a call that is not shown whole is not confirmed here")
	}
}

// A key that was revoked while its person was asked decides nothing.
func TestMCPElicitationOfARevokedKey(t *testing.T) {
	t.Parallel()

	c, key, secret := confirmDesk(t)
	answered := make(chan struct{})
	p := newPerson(func(ctx context.Context, _ *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		defer close(answered)
		_, err := c.RevokeKey(context.WithoutCancel(ctx), c.principal.Tenant, key.ID)
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"confirm": true}}, err
	})
	_, _ = c.connect(withSessions, p.client(), secret).CallTool(t.Context(), readCall())
	<-answered
	found, err := c.ListApprovals(t.Context(), wait.Query{Tenant: c.principal.Tenant, Limit: 10})
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.NotEqual(t, wait.Approved, found[0].Status)
	require.Empty(t, found[0].Decisions)
}

// While a client shows a question, another decides: the question is taken back, and the call goes on.
func TestMCPElicitationIsTakenBack(t *testing.T) {
	t.Parallel()

	c, _, secret := confirmDesk(t)
	boss := (&office{site: c.site}).key("boss", wait.DecidePermission)
	back := make(chan struct{})
	p := newPerson(func(ctx context.Context, _ *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		defer close(back)
		found, err := c.ListApprovals(ctx, wait.Query{Tenant: c.principal.Tenant, Status: wait.Pending, Limit: 10})
		if err != nil {
			return nil, err
		}
		_, err = c.service(c.temporal).Decide(ctx, runs.Decision{Principal: boss, ID: found[0].ID, Approve: true})
		if err != nil {
			return nil, err
		}
		<-ctx.Done()
		return nil, ctx.Err()
	})
	result := c.callMCP(c.connect(withSessions, p.client(), secret), readCall())
	require.False(t, result.IsError, shownText(t, result))
	<-back
}

// asking is the call of a client without sessions, with what it hands back.
func (c *mcpDesk) asking(secret, arguments, more string, callID ...string) (answer struct {
	Error  *struct{ Message string }
	Result struct {
		ResultType    string                     `json:"resultType"`    //nolint:tagliatelle // The protocol's name.
		InputRequests map[string]json.RawMessage `json:"inputRequests"` //nolint:tagliatelle // The protocol's name.
		RequestState  string                     `json:"requestState"`  //nolint:tagliatelle // The protocol's name.
		IsError       bool                       `json:"isError"`       //nolint:tagliatelle // The protocol's name.
		Content       []struct{ Text string }    `json:"content"`
	}
},
) {
	c.t.Helper()
	named := ""
	for _, id := range callID {
		named = `"toolcrib/call-id":"` + id + `",`
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":` + arguments + more +
		`,"_meta":{` + named + `"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}}}`
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.served.URL+"/mcp", strings.NewReader(body))
	require.NoError(c.t, err)
	for name, value := range map[string]string{
		"Authorization": "Bearer " + secret, "Content-Type": "application/json",
		"Mcp-Method": "tools/call", "Mcp-Name": "read",
		"Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": withoutSessions,
	} {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(c.t, err)
	defer func() { require.NoError(c.t, resp.Body.Close()) }()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(c.t, err)
	if _, data, ok := bytes.Cut(raw, []byte("data: ")); ok {
		raw, _, _ = bytes.Cut(data, []byte("\n"))
	}
	require.NoError(c.t, json.Unmarshal(raw, &answer), string(raw))
	return answer
}

// Whatever a client without sessions hands back, only its own answer to what it was shown decides.
func TestMCPHandsBackStates(t *testing.T) {
	t.Parallel()

	c, _, secret := confirmDesk(t)
	const a, yes = `{"name":"a"}`, `{"action":"accept","content":{"confirm":true}}`
	asked := c.asking(secret, a, "")
	require.Equal(t, "input_required", asked.Result.ResultType)
	require.Len(t, asked.Result.InputRequests, 1)
	var key string
	for key = range asked.Result.InputRequests {
		require.Contains(t, string(asked.Result.InputRequests[key]), `"method":"elicitation/create"`)
	}
	back := func(state, key, answer string) string {
		return `,"requestState":"` + state + `","inputResponses":{"` + key + `":` + answer + `}`
	}
	pending := func() (found []wait.Approval) {
		found, err := c.ListApprovals(t.Context(), wait.Query{Tenant: c.principal.Tenant, Status: wait.Pending, Limit: 50})
		require.NoError(t, err)
		return found
	}
	var state map[string]string
	raw, err := base64.RawURLEncoding.DecodeString(asked.Result.RequestState)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &state))
	changed := func(member, value string) string {
		other := map[string]string{"call": state["call"], "question": state["question"], "seen": state["seen"]}
		other[member] = value
		raw, err := json.Marshal(other)
		require.NoError(t, err)
		return base64.RawURLEncoding.EncodeToString(raw)
	}

	for _, bad := range []string{"%%", base64.RawURLEncoding.EncodeToString([]byte(`[]`)), changed("call", "first")} {
		refused := c.asking(secret, a, back(bad, key, yes))
		require.NotNil(t, refused.Error, bad)
		require.Contains(t, refused.Error.Message, "requestState")
	}
	for _, other := range []string{changed("seen", strings.Repeat("0", 64)), changed("question", "another.1")} {
		again := c.asking(secret, a, back(other, key, yes))
		require.Equal(t, "input_required", again.Result.ResultType, "it is asked what it was not shown")
	}
	other := c.asking(secret, a, back(asked.Result.RequestState, "other", yes))
	require.Equal(t, "input_required", other.Result.ResultType)
	conflict := c.asking(secret, `{"name":"b"}`, back(asked.Result.RequestState, key, yes))
	require.True(t, conflict.Result.IsError)
	require.Contains(t, conflict.Result.Content[0].Text, "was used for another call")
	require.Len(t, pending(), 1, "it is one call")
	require.Empty(t, pending()[0].Decisions)

	// To another key, the state names nothing: it is asked about a call of its own.
	person := c.db.Key(t, c.principal.Tenant, "*")
	theirs := c.asking(person, a, back(asked.Result.RequestState, key, yes))
	require.Equal(t, "input_required", theirs.Result.ResultType)
	require.Len(t, pending(), 2)

	done := c.asking(secret, a, back(asked.Result.RequestState, key, yes))
	require.False(t, done.Result.IsError)
	require.JSONEq(t, `{"name":"old a"}`, done.Result.Content[0].Text)
	require.Len(t, pending(), 1)

	// A client that named its call answers for that call, whether it names it again or not, and for no other.
	named := c.asking(secret, a, "", "order-1")
	require.Equal(t, "input_required", named.Result.ResultType)
	require.Len(t, pending(), 2)
	for key = range named.Result.InputRequests {
		refused := c.asking(secret, a, back(named.Result.RequestState, key, yes), "order-2")
		require.NotNil(t, refused.Error)
		require.Contains(t, refused.Error.Message, "requestState")
	}
	require.Len(t, pending(), 2)
	done = c.asking(secret, a, back(named.Result.RequestState, key, yes))
	require.False(t, done.Result.IsError)
	require.JSONEq(t, `{"name":"old a"}`, done.Result.Content[0].Text)
	require.Len(t, pending(), 1)
}

// inputDesk is a desk whose tool asks people for input.
func inputDesk(t *testing.T) *mcpDesk {
	t.Helper()
	c := newMCPDesk(t, readers(t))
	c.publish("askSomeone", inputTool(), tool.Policy{})
	return c
}

// What a tool asks a person is a form in the client of its caller, whose answer is the result.
func TestMCPElicitsInput(t *testing.T) {
	t.Parallel()

	c := inputDesk(t)
	for revision, choice := range map[string]string{
		"2025-06-18": "enumNames", withSessions: "oneOf", withoutSessions: "oneOf",
	} {
		p := says("accept", map[string]any{"choice": "calm"})
		result := c.callMCP(c.connect(revision, p.client()), &mcp.CallToolParams{
			Name: "askSomeone", Arguments: json.RawMessage(`{"title":"Hero","choose":{"options":[
				{"id":"bold","label":"Bold"},{"id":"calm","label":"Calm"}]}}`),
		})
		require.False(t, result.IsError, shownText(t, result))
		require.Contains(t, shownText(t, result), `"answer":{"choice":"calm"}`)
		asked := <-p.asked
		require.Equal(t, "Hero", asked.Message)
		form, err := json.Marshal(asked.RequestedSchema)
		require.NoError(t, err)
		require.Contains(t, string(form), choice)

		wide := says("accept", map[string]any{"city": "Oslo", "nights": 2.5, "why": ""})
		result = c.callMCP(c.connect(revision, wide.client()), &mcp.CallToolParams{
			Name: "askSomeone", Arguments: json.RawMessage(`{"title":"Trip","questions":[{"id":"city","label":"Where to?"},
				{"id":"nights","label":"How long?","type":"number"},{"id":"why","label":"Why?","optional":true}]}`),
		})
		require.Contains(t, shownText(t, result), `"answer":{"city":"Oslo","nights":2.5}`)
	}
}

// What no form of a client can hold is answered on its page, to which the person is sent.
func TestMCPElicitsOnAPage(t *testing.T) {
	t.Parallel()

	c := inputDesk(t)
	const files = `{"title":"Receipt","questions":[{"id":"why","label":"Why?"},
		{"id":"scan","label":"Scan","type":"file","optional":true}]}`
	for _, revision := range []string{withSessions, withoutSessions} {
		p := newPerson(func(ctx context.Context, asked *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, asked.URL,
				strings.NewReader(url.Values{"why": {"because"}}.Encode()))
			if err != nil {
				return nil, err
			}
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			resp, err := http.DefaultTransport.RoundTrip(req)
			if err != nil {
				return nil, err
			}
			return &mcp.ElicitResult{Action: "accept"}, resp.Body.Close()
		})
		result := c.callMCP(c.connect(revision, p.client()), &mcp.CallToolParams{
			Name: "askSomeone", Arguments: json.RawMessage(files),
		})
		require.False(t, result.IsError, shownText(t, result))
		require.Contains(t, shownText(t, result), `"answer":{"why":"because"}`)
		require.Equal(t, "url", (<-p.asked).Mode)
	}

	// A client that shows neither gets the link, a key that may not answer gets none.
	ask := &mcp.CallToolParams{Name: "askSomeone", Arguments: json.RawMessage(files)}
	held := c.callMCP(c.connect(withSessions, nil), ask)
	require.True(t, held.IsError)
	require.Contains(t, shownText(t, held), "asks a person")
	require.Contains(t, shownText(t, held), c.served.URL+"/i/")
	require.NotEmpty(t, held.Meta["toolcrib/input-id"])
	caller := c.db.Key(t, c.principal.Tenant, "tools.read", "runs.write")
	p := says("accept", map[string]any{"why": "because"})
	held = c.callMCP(c.connect(withSessions, p.client(), caller), &mcp.CallToolParams{
		Name: "askSomeone", Arguments: json.RawMessage(files),
	})
	require.True(t, held.IsError)
	require.NotContains(t, shownText(t, held), "/i/")
	require.Empty(t, p.asked)
}
