package runs_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// ended is a bench with a run of two turns that completed: a call, then an answer.
func ended(t *testing.T) (*bench, agent.Run) {
	t.Helper()
	b := setup(t)
	b.publishAgent(t, "desk", agent.Definition{Name: "Desk"})
	run, err := b.Start(t.Context(), b.ask())
	require.NoError(t, err)
	b.store.change(run.ID, func(r *agent.Run) { r.Status, r.AgentVersion = agent.RunCompleted, "1.0.0" })
	b.store.transcripts = map[string][]agent.Message{run.ID: {
		{ID: ledger.FirstMessageID(run.ID), Role: agent.RoleUser},
		{ID: "m1", Role: agent.RoleAssistant, Turn: 1, Calls: []agent.Call{{ID: "c1"}}},
		{ID: "t1", ParentID: "m1", Role: agent.RoleTool, Turn: 1},
		{ID: "m2", Role: agent.RoleAssistant, Turn: 2},
	}}
	return b, run
}

func ids(messages []agent.Message) (out []string) {
	for _, m := range messages {
		out = append(out, m.ID)
	}
	return out
}

func TestContinue(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		after  int
		parent string
		kept   int
	}{"the end": {0, "m2", 4}, "its last turn": {2, "m2", 4}, "a turn before": {1, "m1", 3}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b, old := ended(t)
			run, err := b.Continue(t.Context(), runs.Continuation{
				Principal: b.principal, RunID: old.ID, Input: json.RawMessage(`"and then?"`), AfterTurn: test.after,
			})
			require.NoError(t, err)
			require.NotEqual(t, old.ID, run.ID)
			require.Equal(t, "1.0.0", run.AgentVersion, "the version of the run that is continued")
			require.Equal(t, old.ID, run.Continues.RunID)
			require.Equal(t, max(test.after, 2*min(1, 1-test.after)), run.Continues.Turn)
			first := b.store.first[run.ID]
			require.Equal(t, test.parent, first.ParentID)
			require.Equal(t, []tool.Content{tool.Text("and then?")}, first.Content)
			require.Equal(t, ids(b.store.transcripts[old.ID])[:test.kept], ids(b.store.before[run.ID]))
			started := b.temporal.workflows[run.WorkflowID]
			input, err := json.Marshal(started.input)
			require.NoError(t, err)
			var in wire.AgentRunInput
			require.NoError(t, json.Unmarshal(input, &in))
			require.Equal(t, first.ID, in.Head)
		})
	}
}

func TestContinueRefusals(t *testing.T) {
	t.Parallel()

	input := json.RawMessage(`"more"`)
	for name, test := range map[string]struct {
		edit func(*bench, *agent.Run, *runs.Continuation)
		kind tool.Kind
		text string
	}{
		"a run that goes on, in another version": {func(b *bench, r *agent.Run, c *runs.Continuation) {
			c.Constraint = "2.0.0"
			b.store.change(r.ID, func(r *agent.Run) { r.Status = agent.RunRunning })
		}, tool.Conflict, "keeps its version"},
		"a call": {func(b *bench, r *agent.Run, _ *runs.Continuation) {
			b.store.change(r.ID, func(r *agent.Run) { r.Kind = agent.RunKindToolCall })
		}, tool.Conflict, "not an agent's"},
		"no such run": {func(_ *bench, _ *agent.Run, c *runs.Continuation) {
			c.RunID = "none"
		}, tool.NotFound, ""},
		"no such turn": {func(_ *bench, _ *agent.Run, c *runs.Continuation) {
			c.AfterTurn = 3
		}, tool.Invalid, "it has 2"},
		"no input": {func(_ *bench, _ *agent.Run, c *runs.Continuation) {
			c.Input = nil
		}, tool.Invalid, "input is empty"},
		"an open call": {func(b *bench, r *agent.Run, c *runs.Continuation) {
			messages := b.store.transcripts[r.ID]
			b.store.transcripts[r.ID] = append(messages[:2:2], messages[3:]...)
			c.AfterTurn = 1
		}, tool.Conflict, "calls without an answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b, old := ended(t)
			c := runs.Continuation{Principal: b.principal, RunID: old.ID, Input: input}
			test.edit(b, &old, &c)
			_, err := b.Continue(t.Context(), c)
			requireKind(t, err, test.kind, test.text)
			require.Len(t, b.store.runs, 1)
		})
	}
}

// A run that goes on gets what is said into its inbox; no other run begins.
func TestSay(t *testing.T) {
	t.Parallel()

	b, run := ended(t)
	b.store.change(run.ID, func(r *agent.Run) { r.Status = agent.RunRunning })
	got, err := b.Continue(t.Context(), runs.Continuation{
		Principal: b.principal, RunID: run.ID, Input: json.RawMessage(`"and then?"`),
	})
	require.NoError(t, err)
	require.Equal(t, run.ID, got.ID)
	require.Len(t, b.store.runs, 1)
	require.Equal(t, []agent.InboxItem{{
		Tenant: b.principal.Tenant, RunID: run.ID, Kind: agent.InboxMessage, By: b.principal.Subject,
		Content: []tool.Content{tool.Text("and then?")},
	}}, b.store.inbox)
}

func TestRerun(t *testing.T) {
	t.Parallel()

	b, old := ended(t)
	again, err := b.Rerun(t.Context(), runs.Rerun{Principal: b.principal, RunID: old.ID})
	require.NoError(t, err)
	require.JSONEq(t, string(old.Input), string(again.Input))
	require.Empty(t, b.store.before[again.ID])

	// What the run took over is taken over again, and nothing that it said.
	continued, err := b.Continue(t.Context(), runs.Continuation{
		Principal: b.principal, RunID: old.ID, Input: json.RawMessage(`"and then?"`),
	})
	require.NoError(t, err)
	first := *b.store.first[continued.ID]
	b.store.transcripts[continued.ID] = append(b.store.before[continued.ID], first,
		agent.Message{ID: "m3", Role: agent.RoleAssistant, Turn: 1})
	again, err = b.Rerun(t.Context(), runs.Rerun{Principal: b.principal, RunID: continued.ID})
	require.NoError(t, err)
	require.Equal(t, ids(b.store.before[continued.ID]), ids(b.store.before[again.ID]))
	require.Equal(t, continued.Continues, again.Continues)
}

// What a run was begun with stays untrusted when it is repeated; what it read itself is not taken over.
func TestRerunStaysTainted(t *testing.T) {
	t.Parallel()

	b, old := ended(t)
	for turn, tainted := range map[int]bool{0: true, 2: false} {
		taint := tool.Taint{Source: tool.ByLink, RunID: old.ID, Turn: turn}
		b.store.runs[b.store.index(old.Tenant, old.ID)].Taint = &taint
		again, err := b.Rerun(t.Context(), runs.Rerun{Principal: b.principal, RunID: old.ID})
		require.NoError(t, err)
		require.Equal(t, tainted, again.Taint != nil, turn)
		if tainted {
			require.Equal(t, taint, *again.Taint)
		}
	}
}
