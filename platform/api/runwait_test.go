package api_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// The explanation of a run lists which calls waited and why, and which attempts
// of its model failed, with secrets redacted.
func TestRunsAreExplained(t *testing.T) {
	t.Parallel()

	b := setup(t)
	f := storetest.NewFixture(t, b.Database)
	key := b.Key(t, f.Tenant, "runs.read")
	turn := agent.Turn{
		Tenant: f.Tenant, RunID: f.Run.ID, Key: "second",
		Message: agent.Message{
			ParentID: f.Turn.Message.ID, Turn: 2, Role: agent.RoleAssistant, Content: []tool.Content{tool.Text("Both.")},
		},
	}
	for _, id := range []string{"c1", "c2", "c3"} {
		turn.Message.Calls = append(turn.Message.Calls, agent.Call{
			ID: id, Name: f.Tool.Slug, Arguments: json.RawMessage(`{"q":"a"}`),
		})
		turn.Calls = append(turn.Calls, agent.PreparedCall{
			CallIdentity: tool.CallIdentity{
				InvocationID: storetest.NewID(t),
				CallID:       id,
			},
			Name:      f.Tool.Slug,
			Slug:      f.Tool.Slug,
			Arguments: json.RawMessage(`{"q":"a"}`),
		})
	}
	stored, err := f.Store.SaveTurn(t.Context(), turn)
	require.NoError(t, err)
	f.Admit(t, f.EntryOf(f.Run, stored, "effect-c1"), true, true)
	retry := agent.ModelRetry{
		Turn: 3, Attempt: 1, MaxAttempts: 10, Model: "acme/large", Kind: tool.Unavailable, TurnID: "third",
		Cause:   "it broke off: Authorization: Bearer sk-0123456789abcdefghij",
		RetryAt: time.Now().Add(time.Minute).UTC().Truncate(time.Millisecond),
	}
	for range 2 { // An attempt that is recorded again is one event.
		require.NoError(t, f.Store.RecordModelRetry(t.Context(), f.Tenant, f.Run.ID, retry))
	}

	var run v1.Run
	b.do(t, http.MethodGet, "/v1/runs/"+f.Run.ID, "", key).into(t, &run)
	require.Empty(t, run.Waits, "it was not asked for")
	require.Empty(t, run.ModelRetries)
	b.do(t, http.MethodGet, "/v1/runs/"+f.Run.ID+"?explain=true", "", key).into(t, &run)
	require.Len(t, run.Waits, 1)
	require.Equal(
		t,
		[]any{2, 2, agent.WaitSequential},
		[]any{run.Waits[0].Turn, run.Waits[0].Calls, run.Waits[0].Reason},
	)
	require.Len(t, run.ModelRetries, 1)
	require.Equal(t, retry.RetryAt, run.ModelRetries[0].RetryAt)
	require.Contains(t, run.ModelRetries[0].Cause, "it broke off")
	require.NotContains(t, run.ModelRetries[0].Cause, "sk-0123456789abcdefghij")

	require.NoError(
		t, f.Store.FinishRun(t.Context(), agent.RunEnd{Tenant: f.Tenant, RunID: f.Run.ID, Status: agent.RunCompleted}),
	)
	retry.Attempt = 2
	require.NoError(t, f.Store.RecordModelRetry(t.Context(), f.Tenant, f.Run.ID, retry))
	retries, err := f.Store.ModelRetries(t.Context(), f.Tenant, f.Run.ID, 0)
	require.NoError(t, err)
	require.Len(t, retries, 1, "a run that has ended is not added to")
}

// A run has a follower while a stream of it is open, and none for a page of its
// events.
func TestStreamsAreFollowers(t *testing.T) {
	t.Parallel()

	b := setup(t)
	f := storetest.NewFixture(t, b.Database)
	b.tenant, b.key = f.Tenant, b.Key(t, f.Tenant, "*")
	followed := func(run agent.Run) bool {
		open, err := f.Store.OpenTurn(t.Context(), f.Tenant, run.ID, run.HeadMessageID, "next")
		require.NoError(t, err)
		return open.Followed
	}
	require.False(t, followed(f.Run))
	require.Equal(t, http.StatusOK, b.do(t, http.MethodGet, "/v1/runs/"+f.Run.ID+"/events", "").status)
	require.False(t, followed(f.Run))
	s := b.stream(t, "/v1/runs/"+f.Run.ID+"/events", nil)
	_, ok := s.next()
	require.True(t, ok)
	require.Eventually(t, func() bool { return followed(f.Run) }, time.Minute, 5*time.Millisecond)
	require.False(t, followed(f.NewRun(t)), "another run is not")

	asked, err := f.Store.AcceptRun(t.Context(), agent.Acceptance{
		Run: agent.Run{
			Tenant: f.Tenant, Kind: agent.RunKindAgent, AgentID: f.Agent.ID, Agent: f.Agent.Slug, Mode: tool.Production,
			Principal: f.Principal, WorkflowID: "w-followed", FollowFor: time.Minute,
		},
		First: &agent.Message{Content: []tool.Content{tool.Text("hi")}},
		Start: agent.Start{Workflow: "x", Input: []byte("{}")},
	})
	require.NoError(t, err)
	require.True(t, followed(asked), "who starts a run may say that it will be followed")
}
