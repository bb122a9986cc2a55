package e2e_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/budget"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/usage"
	"github.com/toolcrib/toolcrib/worker"
)

// A call beyond a budget is not made, in either lane: the model reads which budget refused it and
// when it resets, and answers without it.
func TestBudgetRefusesACall(t *testing.T) {
	t.Parallel()

	for name, lane := range map[string]tool.Lane{"InPlace": tool.LaneAuto, "Visible": tool.LaneVisible} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			functions := function.NewRegistry()
			made := make(chan string, 10)
			note := func(_ context.Context, in noteIn) (noteOut, error) {
				made <- in.Name
				return noteOut(in), nil
			}
			require.NoError(t, function.Define(functions, "note", "note", note, function.Pure()))
			s.publish("note", functionTool("note", tool.Execution{Pure: true, Lane: lane}), tool.Policy{})
			a := s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "note")})
			head, err := s.FindTool(t.Context(), s.principal.Tenant, tool.Ref{Slug: "note"})
			require.NoError(t, err)
			_, err = s.SetPrice(t.Context(), usage.Price{Tenant: s.principal.Tenant, ToolID: head.ID, Call: 10})
			require.NoError(t, err)
			_, err = s.SetBudget(t.Context(), budget.Budget{
				Tenant: s.principal.Tenant, Name: "desk", AgentID: a.ID, Period: budget.Day, Limit: 25,
			})
			require.NoError(t, err)

			s.start(worker.Config{Functions: functions, Models: map[string]agent.Model{"test": play(
				[]agent.Call{call("c1", "note", noteIn{"A"})},
				[]agent.Call{call("c2", "note", noteIn{"B"}), call("c3", "note", noteIn{"C"})},
			)}})
			run, w := s.run(a, "go")
			_, err = s.wait(w)
			require.NoError(t, err)
			require.Len(t, made, 2)
			statuses := map[tool.InvocationStatus]int{}
			for _, call := range s.invocations(run.ID) {
				statuses[call.Status]++
				if call.Status == tool.StatusFailed {
					require.Equal(t, tool.Denied, call.ErrorKind)
				}
			}
			require.Equal(t, map[tool.InvocationStatus]int{tool.StatusCompleted: 2, tool.StatusFailed: 1}, statuses)
			messages, err := s.Transcript(t.Context(), s.principal.Tenant, run.ID)
			require.NoError(t, err)
			var refused []string
			for _, m := range messages {
				if m.IsError {
					refused = append(refused, m.Content[0].Text)
				}
			}
			require.Len(t, refused, 1)
			require.Contains(t, refused[0],
				`denied: the budget "desk" of agent "desk" has too little left for this call this day; it resets at 2`)
			listed, err := s.ListBudgets(t.Context(), s.principal.Tenant, budget.Key{}, 10)
			require.NoError(t, err)
			require.Equal(t, []usage.Micros{20, 0}, []usage.Micros{listed[0].Spent, listed[0].Reserved})
		})
	}
}

// A turn beyond a budget is not asked for: the run fails, and says why.
func TestBudgetRefusesATurn(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	s.publish("read", functionTool("read", tool.Execution{Pure: true}), tool.Policy{})
	a := s.publishAgent(agent.Definition{
		Name: "Desk", Model: "one/a", ModelOptions: []byte(`{"max_tokens":20}`), Tools: refs(t, "read"),
	})
	_, err := s.SetPrice(t.Context(), usage.Price{
		Tenant: s.principal.Tenant, Model: "one/a", Tokens: &usage.Rates{Output: 1_000_000},
	})
	require.NoError(t, err)
	_, err = s.SetBudget(t.Context(), budget.Budget{
		Tenant: s.principal.Tenant, Name: "each", Period: budget.Run, Limit: 21,
	})
	require.NoError(t, err)
	functions := function.NewRegistry()
	read := func(_ context.Context, in noteIn) (noteOut, error) { return noteOut(in), nil }
	require.NoError(t, function.Define(functions, "read", "read", read, function.Pure()))
	f := &fallible{}
	s.start(worker.Config{Functions: functions, Models: f.models()})
	run, w := s.run(a, "go")
	_, err = s.wait(w)
	require.Error(t, err)
	ended, err := s.FindRun(t.Context(), s.principal.Tenant, run.ID)
	require.NoError(t, err)
	require.Equal(t, agent.RunFailed, ended.Status)
	require.Equal(t, tool.Denied, ended.ErrorKind)
	require.Contains(t, ended.Error, `the budget "each" of the run has too little left for this turn of the model`)
	require.Len(t, f.asked, 1, "the first turn spent 2 of 21, and the second may take 20")
	listed, err := s.ListBudgets(t.Context(), s.principal.Tenant, budget.Key{}, 10)
	require.NoError(t, err)
	require.Equal(t, []usage.Micros{2, 0}, []usage.Micros{listed[0].Spent, listed[0].Reserved})
}
