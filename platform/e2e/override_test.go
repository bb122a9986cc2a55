package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// What a tenant's override changes of a tool is what models and MCP clients are shown and what their calls use, on
// either driver. A run that is under way goes on with the override that it began with; the next run has the edited one.
func TestAnOverrideIsWhatCallersGet(t *testing.T) {
	t.Parallel()

	for _, lane := range []tool.Lane{tool.LaneAuto, tool.LaneVisible} {
		t.Run(string(lane), func(t *testing.T) {
			t.Parallel()

			c := &mcpDesk{site: newSite(t)}
			c.key = c.db.Key(t, c.principal.Tenant, "*")
			d := functionTool("read", tool.Execution{Pure: true, Lane: lane})
			d.InputSchema = json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`)
			published := c.publish("read", d, tool.Policy{})
			a := c.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "read")})
			override := func(description, name string) {
				_, err := c.SetOverride(context.WithoutCancel(t.Context()), tool.Override{
					Tenant: c.principal.Tenant, ToolID: published.ID, ChangedBy: "user:ada", Adaptation: tool.Adaptation{
						Description: description, Defaults: map[string]json.RawMessage{"name": json.RawMessage(`"` + name + `"`)},
					},
				})
				require.NoError(t, err)
			}
			override("Reads our notes.", "x")

			var mu sync.Mutex
			var shown []string
			edit := true
			model := agent.ModelFunc(func(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
				mu.Lock()
				defer mu.Unlock()
				shown = append(shown, req.Tools[0].Description)
				if req.Turn == 2 && edit {
					override("Edited.", "y")
					edit = false
				}
				if req.Turn == 3 {
					return &agent.ModelResponse{Text: "done"}, nil
				}
				return &agent.ModelResponse{Calls: []agent.Call{
					{ID: fmt.Sprint("c", req.Turn), Name: "read", Arguments: json.RawMessage("{}")},
				}}, nil
			})
			c.start(worker.Config{Functions: readers(t), Models: map[string]agent.Model{"test": model}})
			c.serve()

			session := c.connect(withSessions, nil)
			listed, err := session.ListTools(t.Context(), nil)
			require.NoError(t, err)
			require.Equal(t, "Reads our notes.", listed.Tools[0].Description)
			schema, err := json.Marshal(listed.Tools[0].InputSchema)
			require.NoError(t, err)
			require.JSONEq(t, `{"type":"object","properties":{"name":{"type":"string","default":"x"}}}`, string(schema))
			answer := c.callMCP(session, &mcp.CallToolParams{Name: "read", Arguments: map[string]any{}})
			require.False(t, answer.IsError)
			require.Contains(t, shownText(t, answer), "old x")

			run, w := c.run(a, "go")
			_, err = c.wait(w)
			require.NoError(t, err)
			for _, call := range c.invocations(run.ID) {
				require.Equal(t, tool.StatusCompleted, call.Status, call.Error)
				require.JSONEq(t, `{"name":"x"}`, string(call.Input))
				require.Contains(t, string(call.Receipt), "override_default")
			}
			run, w = c.run(a, "again")
			_, err = c.wait(w)
			require.NoError(t, err)
			require.Len(t, c.invocations(run.ID), 2)
			for _, call := range c.invocations(run.ID) {
				require.JSONEq(t, `{"name":"y"}`, string(call.Input))
			}
			require.Equal(t, []string{
				"Reads our notes.", "Reads our notes.", "Reads our notes.", "Edited.", "Edited.", "Edited.",
			}, shown)
		})
	}
}

// An agent with groups has the tenant's own tools beside those that it names, in every run, and without those that the
// principal of the run may not use.
func TestAnAgentTakesToolsByGroups(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	for slug, p := range map[string]tool.Policy{
		"read": {}, "other": {}, "secret": {RequiredPermission: "not.held"},
	} {
		s.publish(slug, functionTool("read", tool.Execution{Pure: true}), p)
	}
	a := s.publishAgent(agent.Definition{
		Name: "Desk", Model: "test/x", Tools: refs(t, "read"), ToolGroups: []string{agent.UserFacing},
	})
	var shown []string
	model := agent.ModelFunc(func(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
		if req.Turn > 1 {
			return &agent.ModelResponse{Text: "done"}, nil
		}
		for _, of := range req.Tools {
			shown = append(shown, of.Name)
		}
		return &agent.ModelResponse{Calls: []agent.Call{call("c1", "other", noteIn{Name: "x"})}}, nil
	})
	s.start(worker.Config{Functions: readers(t), Models: map[string]agent.Model{"test": model}})
	run, w := s.run(a, "go")
	_, err := s.wait(w)
	require.NoError(t, err)
	require.Equal(t, []string{"other", "read"}, shown)
	require.Equal(t, tool.StatusCompleted, s.invocations(run.ID)[0].Status)
}
