package e2e_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
	"github.com/toolcrib/toolcrib/worker"
)

// nestedDesk is a desk with tools that call another one, which needs an approval: the agent of a call, a step, a node,
// and the agent of a node. It returns the key of a person who may confirm their own calls, and who decides.
func nestedDesk(t *testing.T) (c *mcpDesk, o *office, secret string) {
	t.Helper()
	c = &mcpDesk{site: newSite(t)}
	c.key = c.db.Key(t, c.principal.Tenant, "*")
	o = &office{site: c.site}
	o.approver = o.key("boss", wait.DecidePermission)
	change := functionTool("read", tool.Execution{Pure: true})
	change.InputSchema = json.RawMessage(`{"type":"object"}`)
	guarded := asksAlways
	guarded.RequiresApproval = true
	c.publish("change", change, guarded)
	c.publish("askSomeone", inputTool(), tool.Policy{})
	c.agentOf("clerk", "change")
	c.agentOf("host", "askSomeone")
	c.publish("askClerk", delegation("clerk", tool.Execution{}), tool.Policy{})
	c.publish("askHost", delegation("host", tool.Execution{}), tool.Policy{})
	c.publish("confirmed", delegation("clerk", tool.Execution{}), asksAlways)
	x := tool.Execution{TimeoutSeconds: 600}
	c.publish("steps", composition(
		`{"steps":[{"id":"one","tool":"change","arguments":{"name":"a"}}],"output":{"$from":"/steps/one/result/name"}}`, x,
	), tool.Policy{})
	c.publish("drawn", graphTool(
		`{"nodes":[{"id":"one","kind":"tool","tool":"change","arguments":{"name":"a"}}],
			"output":{"$from":"/nodes/one/result/name"}}`, x,
	), tool.Policy{})
	c.publish("drawnAgent", graphTool(
		`{"nodes":[{"id":"one","kind":"agent","agent":"clerk","message":"go"}],"output":{"$from":"/nodes/one/text"}}`, x,
	), tool.Policy{})
	c.start(worker.Config{Functions: readers(t), Models: map[string]agent.Model{"test": nestedModel()}})
	c.serve()
	_, secret, err := c.CreateKey(t.Context(), store.Key{
		Tenant: c.principal.Tenant, Name: "person", CreatedBy: "operator", Permissions: []string{
			"tools.read", "runs.write", "approvals.read", wait.ConfirmPermission, wait.SubmitPermission,
		},
	})
	require.NoError(t, err)
	return c, o, secret
}

// nestedModel calls the one tool that its agent has, and answers with what the tool returned.
func nestedModel() agent.Model {
	return agent.ModelFunc(func(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
		if req.Turn > 1 {
			var said strings.Builder
			said.WriteString("got")
			for _, c := range req.Messages[len(req.Messages)-1].Content {
				said.WriteString(" " + c.Text + string(c.JSON))
			}
			return &agent.ModelResponse{Text: said.String()}, nil
		}
		arguments := map[string]any{"name": "a"}
		if req.Tools[0].Name == "askSomeone" {
			arguments = map[string]any{"title": "Hero", "choose": map[string]any{"options": []any{
				map[string]any{"id": "bold", "label": "Bold"}, map[string]any{"id": "calm", "label": "Calm"},
			}}}
		}
		return &agent.ModelResponse{Calls: []agent.Call{call("call_1", req.Tools[0].Name, arguments)}}, nil
	})
}

// heldUpCalls are arguments of the tools of a desk whose calls are held up by an approval of a call of theirs.
var heldUpCalls = map[string]any{
	"askClerk": map[string]any{"prompt": "go"}, "steps": map[string]any{"name": "a"}, "drawn": map[string]any{},
	"drawnAgent": map[string]any{},
}

// heldUpBy returns the approval that a call is held up by: one of a call of the tool, which others decide.
func (c *mcpDesk) heldUpBy(result *mcp.CallToolResult, slug string) wait.Approval {
	c.t.Helper()
	require.True(c.t, result.IsError)
	id, ok := result.Meta["toolcrib/approval-id"].(string)
	require.True(c.t, ok, shownText(c.t, result))
	require.Contains(c.t, shownText(c.t, result), slug+"@1.0.0 has not run yet: it waits for an approval")
	require.Contains(c.t, shownText(c.t, result), "toolcrib approvals approve "+id)
	found, err := c.FindApproval(c.t.Context(), c.principal.Tenant, id)
	require.NoError(c.t, err)
	require.Equal(c.t, wait.Pending, found.Status)
	require.Equal(c.t, slug, found.Tool)
	require.False(c.t, found.Own)
	return found
}

// What a call makes in turn is confirmed by no client, though its person may confirm calls of their own: others decide
// it. The answer of the call names the approval, whether the client asks people or not, and the same call goes on to
// its end when it is given.
func TestMCPNestedApproval(t *testing.T) {
	t.Parallel()

	c, o, secret := nestedDesk(t)
	for slug, arguments := range heldUpCalls {
		for _, revision := range []string{withSessions, withoutSessions} {
			t.Run(slug+"/"+revision, func(t *testing.T) {
				t.Parallel()

				id := "nested-" + newID(t)
				params := func() *mcp.CallToolParams {
					return &mcp.CallToolParams{Name: slug, Arguments: arguments, Meta: mcp.Meta{"toolcrib/call-id": id}}
				}
				p := says("accept", map[string]any{"confirm": true})
				asking, plain := c.connect(revision, p.client(), secret), c.connect(revision, nil, secret)
				asked := c.heldUpBy(c.callMCP(asking, params()), "change")
				require.Equal(t, asked.ID, c.heldUpBy(c.callMCP(plain, params()), "change").ID, "it is one call")
				require.Empty(t, p.asked)

				require.NoError(t, o.tell(o.decide(wait.Verdict{ID: asked.ID, Approve: true, Seen: asked.Binding})))
				for _, session := range []*mcp.ClientSession{asking, plain} {
					result := c.callMCP(session, params())
					require.False(t, result.IsError, shownText(t, result))
					shown, err := json.Marshal(result)
					require.NoError(t, err)
					require.Contains(t, string(shown), "old a")
				}
				require.Empty(t, p.asked)
			})
		}
	}
}

// A person confirms the call that they make, and with that nothing of what it calls in turn. What its agent asks a
// person is theirs to answer, and the call goes on with the answer.
func TestMCPElicitsForNestedCalls(t *testing.T) {
	t.Parallel()

	c, o, secret := nestedDesk(t)
	for _, revision := range []string{withSessions, withoutSessions} {
		confirm := func() *mcp.CallToolParams {
			return &mcp.CallToolParams{
				Name: "confirmed", Arguments: map[string]any{"prompt": "go"},
				Meta: mcp.Meta{"toolcrib/call-id": "confirmed-" + revision},
			}
		}
		p := says("accept", map[string]any{"confirm": true})
		session := c.connect(revision, p.client(), secret)
		asked := c.heldUpBy(c.callMCP(session, confirm()), "change")
		require.Contains(t, (<-p.asked).Message, "Confirm this call of confirmed@1.0.0?")
		require.Empty(t, p.asked)
		require.NoError(t, o.tell(o.decide(wait.Verdict{ID: asked.ID, Approve: true, Seen: asked.Binding})))
		result := c.callMCP(session, confirm())
		require.False(t, result.IsError, shownText(t, result))
		require.Contains(t, shownText(t, result), "old a")

		p = says("accept", map[string]any{"choice": "calm"})
		result = c.callMCP(c.connect(revision, p.client(), secret), &mcp.CallToolParams{
			Name: "askHost", Arguments: map[string]any{"prompt": "go"},
		})
		require.False(t, result.IsError, shownText(t, result))
		require.Contains(t, shownText(t, result), `"choice":"calm"`)
		require.Equal(t, "Hero", (<-p.asked).Message)

		held := c.callMCP(c.connect(revision, nil, secret), &mcp.CallToolParams{
			Name: "askHost", Arguments: map[string]any{"prompt": "go"},
		})
		require.True(t, held.IsError)
		require.Contains(t, shownText(t, held), c.served.URL+"/i/")
		require.NotEmpty(t, held.Meta["toolcrib/input-id"])
	}
}

// A task says which approval of a call below it holds it up, which is no question, and asks what its agent asks.
func TestMCPTaskExtensionOfNestedCalls(t *testing.T) {
	t.Parallel()

	c, o, secret := nestedDesk(t)
	c.after = time.Millisecond
	c.serve()
	person := alone{c: c, key: secret, capabilities: elicits}
	id := person.call("askClerk", `{"prompt":"go"}`).Result.ID
	var held extensionAnswer
	require.Eventually(t, func() bool {
		held = person.task("tasks/get", id)
		return strings.Contains(held.Result.Message, "waits for an approval")
	}, time.Minute, 50*time.Millisecond)
	require.Equal(t, "working", held.Result.Status)
	require.Empty(t, held.Result.InputRequests)
	asked := o.waiting(1)[0]
	require.Contains(t, held.Result.Message, asked.ID)
	require.NoError(t, o.tell(o.decide(wait.Verdict{ID: asked.ID, Approve: true, Seen: asked.Binding})))
	require.Contains(t, person.until(id, "completed").raw, "old a")

	id = person.call("askHost", `{"prompt":"go"}`).Result.ID
	key := onlyKey(person.until(id, "input_required"))
	taken := person.task("tasks/update", id,
		`"inputResponses":{"`+key+`":{"action":"accept","content":{"choice":"calm"}}},`)
	require.Nil(t, taken.Error, taken.raw)
	require.Contains(t, person.until(id, "completed").raw, "calm")
}
