package storetest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

func testRuns(t *testing.T, d *Database) {
	t.Helper()
	t.Run("CreateKeepsEverything", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		want := agent.Run{
			ID: NewID(
				t,
			),
			Tenant:       f.Tenant,
			Kind:         agent.RunKindAgent,
			AgentID:      f.Agent.ID,
			Agent:        "support",
			AgentVersion: "1.0.0",
			Mode:         tool.Debug,
			Principal:    f.Principal,
			Input:        json.RawMessage(`{"b":9007199254740993, "a":"\u00e9"}`),
			WorkflowID:   "t/x",
		}
		created, err := f.Store.CreateRun(t.Context(), want, agent.Message{
			ID: NewID(t), Content: []tool.Content{tool.Text("hi")},
		})
		require.NoError(t, err)
		require.NotEmpty(t, created.HeadMessageID)
		want.Status, want.HeadMessageID, want.CreatedAt = agent.RunPending, created.HeadMessageID, created.CreatedAt
		require.Equal(t, want, created)
		_, err = f.Store.CreateRun(t.Context(), want, agent.Message{})
		RequireKind(t, tool.Conflict, err)
		transcript, err := f.Store.Transcript(t.Context(), f.Tenant, want.ID)
		require.NoError(t, err)
		require.Len(t, transcript, 1)
		require.Equal(t, agent.RoleUser, transcript[0].Role)
	})

	t.Run("ARunKnowsWhoAskedForIt", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		e := f.Entry(t)
		ticket := f.Admit(t, e, false, false)
		below := f.Run
		for depth := 1; depth <= agent.MaxDepth+2; depth++ {
			above := below
			created, err := f.Store.CreateRun(t.Context(), agent.Run{
				ID:         NewID(t),
				Tenant:     f.Tenant,
				Kind:       agent.RunKindAgent,
				AgentID:    f.Agent.ID,
				Agent:      "support",
				Principal:  f.Principal,
				WorkflowID: "t/" + NewID(t),
				Depth:      depth,
				Parent:     &agent.Parent{RunID: above.ID, InvocationID: ticket.InvocationID, Detached: depth == 2},
			}, agent.Message{})
			require.NoError(t, err)
			below, err = f.Store.FindRun(t.Context(), f.Tenant, created.ID)
			require.NoError(t, err)
			require.Equal(t, &agent.Parent{RunID: above.ID, InvocationID: ticket.InvocationID, Detached: depth == 2},
				below.Parent)
			require.Equal(t, depth, below.Depth)
			line, err := f.Store.Ancestors(t.Context(), f.Tenant, below.ID)
			require.NoError(t, err)
			require.Len(t, line, min(depth+1, agent.MaxDepth+2), "one above the deepest is enough to refuse it")
			require.Equal(t, agent.Ancestor{RunID: below.ID, AgentID: f.Agent.ID, Agent: "support", Detached: depth == 2},
				line[0])
			require.Equal(t, above.ID, line[1].RunID)
			children, err := f.Store.ListRuns(t.Context(), f.Tenant, store.RunQuery{Parent: above.ID})
			require.NoError(t, err)
			require.Len(t, children, 1)
			require.Equal(t, below.ID, children[0].ID)
		}
		_, err := f.Store.CreateRun(t.Context(), agent.Run{
			ID: NewID(t), Tenant: f.Tenant, Kind: agent.RunKindAgent, AgentID: f.Agent.ID, WorkflowID: "w", Depth: 1,
			Parent: &agent.Parent{RunID: NewID(t), InvocationID: NewID(t)},
		}, agent.Message{})
		RequireKind(t, tool.NotFound, err)
		_, err = f.Store.Ancestors(t.Context(), f.Tenant, NewID(t))
		RequireKind(t, tool.NotFound, err)
		require.NoError(
			t,
			f.Store.FinishRun(t.Context(), agent.RunEnd{
				Tenant: f.Tenant, RunID: below.ID, Status: agent.RunCompleted, Calls: 7,
			}),
		)
		ended, err := f.Store.FindRun(t.Context(), f.Tenant, below.ID)
		require.NoError(t, err)
		require.Equal(t, 7, ended.Calls)
	})

	t.Run("ACallThatIsOverAsksForNoRun", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		e := f.Entry(t)
		ticket := f.Admit(t, e, true, false)
		_, err := f.Store.Settle(t.Context(), Completed(e, ticket.Fence))
		require.NoError(t, err)
		late := agent.Run{
			ID: NewID(t), Tenant: f.Tenant, Kind: agent.RunKindAgent, AgentID: f.Agent.ID, Principal: f.Principal,
			WorkflowID: "t/late", Depth: 1,
			Parent: &agent.Parent{RunID: f.Run.ID, InvocationID: ticket.InvocationID},
		}
		_, err = f.Store.CreateRun(t.Context(), late, agent.Message{})
		RequireKind(t, tool.NotFound, err)
		_, err = f.Store.FindRun(t.Context(), f.Tenant, late.ID)
		RequireKind(t, tool.NotFound, err)
	})

	t.Run("BeginIsIdempotent", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		require.Equal(t, agent.RunRunning, f.Run.Status)
		require.NotNil(t, f.Run.StartedAt)
		again := f.Run
		again.Plan = &agent.Plan{Agent: "another"}
		stored, err := f.Store.BeginRun(t.Context(), again)
		require.NoError(t, err)
		require.Equal(t, f.Run.Plan, stored.Plan, "the plan stored first stays")
		require.Equal(t, []tool.EventType{agent.EventRunStarted, agent.EventTurn}, f.EventTypes(t, f.Run.ID))
		_, err = f.Store.BeginRun(t.Context(), agent.Run{ID: NewID(t), Tenant: f.Tenant, Kind: agent.RunKindAgent})
		RequireKind(t, tool.NotFound, err)
	})

	t.Run("HostRunsAreRecordedOnce", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		host := agent.Run{
			ID: NewID(t), Tenant: f.Tenant, Kind: agent.RunKindHost, WorkflowID: "orders-7", FirstRunID: "f",
			Principal: f.Principal,
		}
		first, err := f.Store.BeginRun(t.Context(), host)
		require.NoError(t, err)
		require.Equal(t, agent.RunHosted, first.Status)
		require.Equal(t, host.ID, first.ID)
		host.ID = NewID(t)
		second, err := f.Store.BeginRun(t.Context(), host)
		require.NoError(t, err)
		require.Equal(t, first, second)
		host.FirstRunID = "g"
		third, err := f.Store.BeginRun(t.Context(), host)
		require.NoError(t, err)
		require.Equal(t, host.ID, third.ID)
		require.Equal(t, []tool.EventType{agent.EventRunStarted}, f.EventTypes(t, first.ID))
	})

	t.Run("ALatePlanIsKept", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		created, err := f.Store.CreateRun(
			t.Context(), agent.Run{Tenant: f.Tenant, Kind: agent.RunKindAgent, WorkflowID: "t/late"}, agent.Message{},
		)
		require.NoError(t, err)
		for _, run := range []agent.Run{
			created,
			{ID: NewID(t), Tenant: f.Tenant, Kind: agent.RunKindToolCall, WorkflowID: "t/late-call", FirstRunID: "f"},
			{ID: NewID(t), Tenant: f.Tenant, Kind: agent.RunKindHost, WorkflowID: "late-host", FirstRunID: "f"},
		} {
			begun, err := f.Store.BeginRun(t.Context(), run)
			require.NoError(t, err)
			require.Nil(t, begun.Plan)
			run.Plan = f.Run.Plan
			planned, err := f.Store.BeginRun(t.Context(), run)
			require.NoError(t, err)
			require.Equal(t, f.Run.Plan, planned.Plan, run.Kind)
			require.Equal(t, begun.StartedAt, planned.StartedAt)
			require.Equal(t, []tool.EventType{agent.EventRunStarted}, f.EventTypes(t, run.ID))
			run.Plan = &agent.Plan{Agent: "another"}
			again, err := f.Store.BeginRun(t.Context(), run)
			require.NoError(t, err)
			require.Equal(t, planned, again, "the plan stored first stays")

			require.NoError(
				t, f.Store.FinishRun(t.Context(), agent.RunEnd{Tenant: f.Tenant, RunID: run.ID, Status: agent.RunFailed}),
			)
			ended, err := f.Store.BeginRun(t.Context(), run)
			require.NoError(t, err)
			require.Equal(t, agent.RunFailed, ended.Status)
		}
	})

	t.Run("ToolCallRunsMayBeRecordedBefore", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		run, err := f.Store.CreateRun(
			t.Context(),
			agent.Run{Tenant: f.Tenant, Kind: agent.RunKindToolCall, WorkflowID: "t/call"},
			agent.Message{},
		)
		require.NoError(t, err)
		run.FirstRunID = "f"
		begun, err := f.Store.BeginRun(t.Context(), run)
		require.NoError(t, err)
		require.Equal(t, run.ID, begun.ID)
		require.Equal(t, agent.RunRunning, begun.Status)
		run.ID = NewID(t)
		again, err := f.Store.BeginRun(t.Context(), run)
		require.NoError(t, err)
		require.Equal(t, begun.ID, again.ID)
	})

	t.Run("FinishesOnce", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		require.NoError(t, f.Store.FinishRun(t.Context(), agent.RunEnd{
			Tenant: f.Tenant, RunID: f.Run.ID, Status: agent.RunFailed, Output: "out", Kind: tool.Timeout, Msg: "too long",
			Turns: 4,
		}))
		require.NoError(
			t,
			f.Store.FinishRun(t.Context(), agent.RunEnd{
				Tenant: f.Tenant, RunID: f.Run.ID, Status: agent.RunCompleted, Output: "other",
			}),
		)
		run, err := f.Store.FindRun(t.Context(), f.Tenant, f.Run.ID)
		require.NoError(t, err)
		require.Equal(t, agent.RunFailed, run.Status)
		require.Equal(t, "out", run.Output)
		require.Equal(t, tool.Timeout, run.ErrorKind)
		require.Equal(t, "too long", run.Error)
		require.Equal(t, 4, run.Turns)
		require.NotNil(t, run.CompletedAt)
		require.Equal(t, []tool.EventType{agent.EventRunStarted, agent.EventTurn, agent.EventRunFailed},
			f.EventTypes(t, f.Run.ID))
		RequireKind(
			t, tool.Invalid,
			f.Store.FinishRun(t.Context(), agent.RunEnd{Tenant: f.Tenant, RunID: f.Run.ID, Status: agent.RunRunning}),
		)
		RequireKind(
			t, tool.NotFound,
			f.Store.FinishRun(t.Context(), agent.RunEnd{Tenant: f.Tenant, RunID: NewID(t), Status: agent.RunFailed}),
		)
	})

	t.Run("AResetRunEndsAgain", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		finish := func(end agent.RunEnd) agent.Run {
			end.Tenant, end.RunID = f.Tenant, f.Run.ID
			require.NoError(t, f.Store.FinishRun(t.Context(), end))
			run, err := f.Store.FindRun(t.Context(), f.Tenant, f.Run.ID)
			require.NoError(t, err)
			return run
		}
		types := []tool.EventType{agent.EventRunStarted, agent.EventTurn}
		first := finish(agent.RunEnd{
			Status: agent.RunFailed, Output: "out", Kind: tool.Timeout, Msg: "too long", Turns: 4, Execution: "one",
		})
		types = append(types, agent.EventRunFailed)
		for _, execution := range []string{"one", ""} {
			again := finish(agent.RunEnd{Status: agent.RunCompleted, Output: "other", Execution: execution})
			require.Equal(t, first, again, "the end of one execution stands, and nobody else's counts")
		}
		require.Equal(t, types, f.EventTypes(t, f.Run.ID))

		for range 2 {
			second := finish(agent.RunEnd{Status: agent.RunCompleted, Output: "done", Turns: 2, Execution: "two"})
			require.Equal(t, agent.RunCompleted, second.Status)
			require.Equal(t, "done", second.Output)
			require.Empty(t, second.ErrorKind)
			require.Empty(t, second.Error)
			require.Equal(t, 2, second.Turns)
			require.True(t, second.CompletedAt.After(*first.CompletedAt))
		}
		require.Equal(t, append(types, agent.EventRunCompleted), f.EventTypes(t, f.Run.ID))
	})

	t.Run("AnEndOfThePlatformGivesWay", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		for _, execution := range []string{"", "one", ""} {
			require.NoError(t, f.Store.FinishRun(t.Context(), agent.RunEnd{
				Tenant: f.Tenant, RunID: f.Run.ID, Status: agent.RunFailed, Msg: "given up " + execution, Execution: execution,
			}))
		}
		run, err := f.Store.FindRun(t.Context(), f.Tenant, f.Run.ID)
		require.NoError(t, err)
		require.Equal(t, "given up one", run.Error)
		require.Equal(t, "one", run.EndedBy)
		types := []tool.EventType{agent.EventRunStarted, agent.EventTurn, agent.EventRunFailed}
		require.Equal(t, types, f.EventTypes(t, f.Run.ID), "the execution confirmed the end")
	})

	t.Run("FinishTakesTheHeadsWords", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		require.NoError(t, f.Store.FinishRun(t.Context(), agent.RunEnd{
			Tenant: f.Tenant, RunID: f.Run.ID, Status: agent.RunCompleted, HeadMessageID: f.Turn.Message.ID,
		}))
		run, err := f.Store.FindRun(t.Context(), f.Tenant, f.Run.ID)
		require.NoError(t, err)
		require.Equal(t, "Let me look.", run.Output)
	})
}

func testTurns(t *testing.T, d *Database) {
	t.Helper()
	t.Run("StoredOncePerKey", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		again := f.Turn
		again.Message.ID, again.Message.Content = NewID(t), []tool.Content{tool.Text("another answer")}
		stored, err := f.Store.SaveTurn(t.Context(), again)
		require.NoError(t, err)
		require.Equal(t, f.Turn, stored)
		run, err := f.Store.FindRun(t.Context(), f.Tenant, f.Run.ID)
		require.NoError(t, err)
		require.Equal(t, f.Turn.Message.ID, run.HeadMessageID)
		require.Equal(t, 1, run.Turns)
		require.Equal(t, []tool.EventType{agent.EventRunStarted, agent.EventTurn}, f.EventTypes(t, f.Run.ID))
	})

	t.Run("OpensWithWhatIsStored", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		open, err := f.Store.OpenTurn(t.Context(), f.Tenant, f.Run.ID, f.Run.HeadMessageID, f.Turn.Key)
		require.NoError(t, err)
		require.Equal(t, f.Turn, *open.Stored)
		require.Equal(t, f.Run.Plan, open.Run.Plan)
		require.Len(t, open.Transcript, 1, "from the head that was named, not the run's")
		open, err = f.Store.OpenTurn(t.Context(), f.Tenant, f.Run.ID, f.Turn.Message.ID, "new")
		require.NoError(t, err)
		require.Nil(t, open.Stored)
		require.Len(t, open.Transcript, 2)
		_, err = f.Store.OpenTurn(t.Context(), f.Tenant, f.Run.ID, "", "new")
		RequireKind(t, tool.NotFound, err)
		_, err = f.Store.OpenTurn(t.Context(), f.Tenant, f.Run.ID, NewID(t), "new")
		RequireKind(t, tool.NotFound, err)
	})

	t.Run("SettlesRefusedCalls", func(t *testing.T) { testRefusedCalls(t, d) })

	t.Run("ForksWithoutLoss", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		fork, err := f.Store.SaveTurn(t.Context(), agent.Turn{
			Tenant: f.Tenant, RunID: f.Run.ID, Key: uuid.NewString(),
			Message: agent.Message{ParentID: f.Run.HeadMessageID, Turn: 1, Content: []tool.Content{tool.Text("fork")}},
		})
		require.NoError(t, err)
		transcript, err := f.Store.Transcript(t.Context(), f.Tenant, f.Run.ID)
		require.NoError(t, err)
		require.Equal(t, []string{f.Run.HeadMessageID, fork.Message.ID}, MessageIDs(transcript),
			"the head follows the last turn")
		open, err := f.Store.OpenTurn(t.Context(), f.Tenant, f.Run.ID, f.Turn.Message.ID, "x")
		require.NoError(t, err)
		require.Equal(t, []string{f.Run.HeadMessageID, f.Turn.Message.ID}, MessageIDs(open.Transcript))
	})

	t.Run("BeginsWhereItBegan", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		first := f.Run.HeadMessageID
		require.Equal(t, ledger.FirstMessageID(f.Run.ID), first)
		for asked, want := range map[string]string{
			"": first, first: first, NewID(t): first, f.Turn.Message.ID: f.Turn.Message.ID,
		} {
			head, err := f.Store.FindHead(t.Context(), f.Tenant, f.Run.ID, asked)
			require.NoError(t, err)
			require.Equal(t, want, head, "asked for %q", asked)
		}
		_, err := f.Store.FindHead(t.Context(), f.Tenant, NewID(t), first)
		RequireKind(t, tool.NotFound, err)
	})

	t.Run("KeepsItsHeadFromLateTurns", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		now := time.Now()
		save := func(at time.Time, parent string, turn int) string {
			t.Helper()
			key := uuid.NewString()
			saved, err := f.Store.SaveTurn(t.Context(), agent.Turn{
				Tenant: f.Tenant, RunID: f.Run.ID, Key: key,
				Message: agent.Message{ID: ledger.TurnMessageID(at, f.Run.ID, key), ParentID: parent, Turn: turn},
			})
			require.NoError(t, err)
			return saved.Message.ID
		}
		requireHead := func(want string, turns int, why string) {
			t.Helper()
			run, err := f.Store.FindRun(t.Context(), f.Tenant, f.Run.ID)
			require.NoError(t, err)
			require.Equal(t, want, run.HeadMessageID, why)
			require.Equal(t, turns, run.Turns, why)
		}
		second := save(now.Add(-time.Hour), f.Turn.Message.ID, 2)
		requireHead(second, 2, "a turn that answers the head is the next, whatever clocks say")
		fork := save(now.Add(2*time.Second), f.Run.HeadMessageID, 1)
		requireHead(fork, 1, "a turn that was scheduled later forks")
		save(now.Add(time.Second), second, 3)
		requireHead(fork, 1, "a turn that was scheduled before the fork is late")
		requireHead(save(now, fork, 2), 2, "the fork goes on")
	})

	t.Run("RefusesAForeignParent", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		other := f.NewRun(t)
		_, err := f.Store.SaveTurn(t.Context(), agent.Turn{
			Tenant: f.Tenant, RunID: other.ID, Key: "k", Message: agent.Message{ParentID: f.Turn.Message.ID, Turn: 1},
		})
		RequireKind(t, tool.NotFound, err)
	})
}

func testRefusedCalls(t *testing.T, d *Database) {
	t.Helper()
	t.Parallel()
	f := NewFixture(t, d)
	turn, err := f.Store.SaveTurn(t.Context(), agent.Turn{
		Tenant: f.Tenant, RunID: f.Run.ID, Key: uuid.NewString(),
		Message: agent.Message{ParentID: f.Turn.Message.ID, Turn: 2},
		Calls: []agent.PreparedCall{
			{CallIdentity: tool.CallIdentity{InvocationID: NewID(t), CallID: "a"}, Name: f.Tool.Slug, Slug: f.Tool.Slug},
			{
				CallIdentity: tool.CallIdentity{InvocationID: NewID(t), CallID: "b"},
				Name:         "madeUp\x00",
				Arguments:    json.RawMessage(`"{broken"`),
				Refused:      &agent.Refusal{Kind: tool.NotFound, Msg: "no such tool"},
			},
			{
				CallIdentity: tool.CallIdentity{InvocationID: NewID(t), CallID: "c"}, Name: f.Tool.Slug, Slug: f.Tool.Slug,
				Refused: &agent.Refusal{Kind: tool.Invalid, Msg: "/q: want string"},
			},
		},
	})
	require.NoError(t, err)
	require.Equal(
		t, []tool.EventType{agent.EventRunStarted, agent.EventTurn, agent.EventTurn, tool.EventFailed, tool.EventFailed},
		f.EventTypes(t, f.Run.ID),
	)

	unknown, err := f.Store.FindInvocation(t.Context(), f.Tenant, turn.Calls[1].InvocationID)
	require.NoError(t, err)
	require.Equal(t, tool.StatusFailed, unknown.Status)
	require.Equal(t, tool.NotFound, unknown.ErrorKind)
	require.Equal(t, "madeUp\ufffd", unknown.Slug)
	require.Empty(t, unknown.ToolID)
	require.JSONEq(t, `"{broken"`, string(unknown.Input))
	invalid, err := f.Store.FindInvocation(t.Context(), f.Tenant, turn.Calls[2].InvocationID)
	require.NoError(t, err)
	require.Equal(t, f.Tool.ID, invalid.ToolID)
	require.Equal(t, "1.0.0", invalid.Version)
	require.Equal(t, f.Principal.Subject, invalid.Principal.Subject)
	require.Equal(t, 2, invalid.Position)

	transcript, err := f.Store.Transcript(t.Context(), f.Tenant, f.Run.ID)
	require.NoError(t, err)
	require.Len(t, transcript, 5)
	for i, m := range transcript[3:] {
		require.Equal(t, agent.RoleTool, m.Role)
		require.Equal(t, i+1, m.Position)
		require.True(t, m.IsError)
	}
	require.Equal(t, []tool.Content{tool.Text("invalid: /q: want string")}, transcript[4].Content)
}

// MessageIDs returns the ids of messages.
func MessageIDs(messages []agent.Message) []string {
	ids := make([]string, len(messages))
	for i, m := range messages {
		ids[i] = m.ID
	}
	return ids
}
