package e2e_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/access"
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/audit"
	"github.com/toolcrib/toolcrib/builtins"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
	"github.com/toolcrib/toolcrib/worker"
)

// workshop is an office whose tenant has switched manageTools on.
type workshop struct{ *office }

func newWorkshop(t *testing.T) *workshop {
	t.Helper()
	w := &workshop{newOffice(t)}
	var specs []registry.BuiltinSpec
	for _, s := range builtins.Described(nil).Specs() {
		if s.OptIn {
			specs = append(specs, registry.BuiltinSpec{
				Key: s.Key, Version: s.Version, Definition: s.Definition, Policy: s.Policy, OptIn: true,
			})
		}
	}
	_, err := registry.New(w.db.Platform.Registry(), registry.Options{}).SyncBuiltins(t.Context(), specs)
	require.NoError(t, err)
	w.principal = w.key("toolsmith", access.ToolsRead, access.ToolsWrite)
	return w
}

// switchOn lets the tenant use the built-ins that it has to opt into.
func (w *workshop) switchOn() {
	w.t.Helper()
	yes := true
	for _, slug := range []string{"manageTools", "listTools"} {
		_, err := registry.New(w.Store, registry.Options{}).Override(w.t.Context(), w.principal, tool.Ref{Slug: slug},
			tool.Override{Enabled: &yes})
		require.NoError(w.t, err)
	}
}

// script is a model that makes a call in each turn, and keeps what it was answered.
func (w *workshop) script(answers *[]string, calls ...agent.Call) agent.Model {
	return agent.ModelFunc(func(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
		if last := req.Messages[len(req.Messages)-1]; last.Role == agent.RoleTool {
			for _, c := range last.Content {
				*answers = append(*answers, c.Text+string(c.JSON))
			}
		}
		if req.Turn > len(calls) {
			return &agent.ModelResponse{Text: "done"}, nil
		}
		return &agent.ModelResponse{Calls: calls[req.Turn-1 : req.Turn]}, nil
	})
}

// An agent makes and publishes a tool: reading needs nobody, a request that lacks a field is
// refused at once, and each change waits for a person who did not start the run.
func TestAgentsManageTools(t *testing.T) {
	t.Parallel()

	w := newWorkshop(t)
	w.switchOn()
	a := w.publishAgent(agent.Definition{Name: "Smith", Model: "test/x", Tools: refs(t, "manageTools", "listTools")})
	var answers []string
	model := w.script(
		&answers, calls(
			"listTools", `{"search":"echo"}`,
			"manageTools", `{"action":"list"}`,
			"manageTools", `{"action":"create","slug":"echoText"}`,
			"manageTools", `{"action":"create","slug":"echoText","description":"Echoes a text.","implementation_type":"internal",
				"input_schema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}`,
			"manageTools", `{"action":"publish","slug":"echoText","revision":1}`,
		)...,
	)
	w.start(worker.Config{Models: map[string]agent.Model{"test": model}})
	run, handle := w.run(a, "make a tool")

	asked := w.waiting(1)[0]
	require.Equal(t, "manageTools", asked.Tool)
	require.False(t, asked.Own)
	require.Equal(t, "Change tools: create echoText?", asked.Message)
	require.Len(t, w.invocations(run.ID), 4, "what reads, and what lacks a field, did not wait")
	_, err := w.FindTool(t.Context(), w.principal.Tenant, tool.Ref{Slug: "echoText"})
	require.Equal(t, tool.NotFound, tool.KindOf(err), "nothing is made before the approval")
	_, err = w.Decide(t.Context(), wait.Verdict{Principal: w.principal, ID: asked.ID, Approve: true})
	require.Equal(t, tool.Denied, tool.KindOf(err), "never by who started the run")
	require.NoError(t, w.tell(w.decide(wait.Verdict{ID: asked.ID, Approve: true, Seen: asked.Binding})))

	asked = w.waiting(1)[0]
	require.Contains(t, string(asked.Arguments), `"publish"`)
	require.NoError(t, w.tell(w.decide(wait.Verdict{ID: asked.ID, Approve: true, Seen: asked.Binding})))
	out, err := w.wait(handle)
	require.NoError(t, err)
	require.Equal(t, agent.RunCompleted, out.Status)

	made, err := w.FindTool(t.Context(), w.principal.Tenant, tool.Ref{Slug: "echoText"})
	require.NoError(t, err, answers)
	require.Equal(t, tool.Published, made.Status)
	require.Len(t, answers, 5)
	require.Contains(t, answers[2], "manageTools.create requires 'description'")
	require.Contains(t, answers[4], `"version":"1.0.0"`)

	entries, err := w.ListAudit(t.Context(), w.principal.Tenant, audit.Query{
		Action: "tool.created", Object: "echoText", Limit: 5,
	})
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.Equal(t, w.principal.Subject, entries[0].Actor.Subject)
	require.Equal(t, run.ID, entries[0].Actor.RequestID)
	require.Contains(t, entries[0].Reason, "by agent desk in run "+run.ID)
	require.Contains(t, entries[0].Reason, "approved by "+w.approver.Subject)
}

// Without a decision of the tenant, no agent has manageTools.
func TestManageToolsIsOffByDefault(t *testing.T) {
	t.Parallel()

	w := newWorkshop(t)
	a := w.publishAgent(agent.Definition{Name: "Smith", Model: "test/x", Tools: refs(t, "manageTools")})
	var answers []string
	w.start(worker.Config{Models: map[string]agent.Model{
		"test": w.script(&answers, agent.Call{ID: "c", Name: "manageTools", Arguments: json.RawMessage(`{"action":"list"}`)}),
	}})
	run, handle := w.run(a, "make a tool")
	_, err := w.wait(handle)
	require.NoError(t, err, "the agent works without it")
	require.Len(t, answers, 1)
	require.NotContains(t, answers[0], `"tools"`)
	require.Equal(t, tool.StatusFailed, w.invocations(run.ID)[0].Status)
}
