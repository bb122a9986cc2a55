package mcpserver

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolset"
	"github.com/toolcrib/toolcrib/wait"
)

// oneTask is a record of one call, and what cancels it.
type oneTask struct {
	Record
	Runs

	run    agent.Run
	cancel func(r *oneTask) error
	asked  store.RunQuery
}

func (r *oneTask) FindRun(context.Context, tool.TenantID, string) (agent.Run, error) {
	return r.run, nil
}

func (r *oneTask) FindCallEnd(context.Context, tool.TenantID, string) (agent.CallEnd, error) {
	return agent.CallEnd{Status: r.run.Status}, nil
}

func (r *oneTask) ListRuns(_ context.Context, _ tool.TenantID, q store.RunQuery) ([]agent.Run, error) {
	r.asked = q
	return []agent.Run{r.run}, nil
}

func (r *oneTask) ListApprovals(context.Context, wait.Query) ([]wait.Approval, error) {
	return nil, nil
}

func (r *oneTask) ListCalls(context.Context, wait.CallQuery) ([]wait.Call, error) { return nil, nil }

func (r *oneTask) Cancel(context.Context, tool.TenantID, string) (agent.Run, error) {
	return r.run, r.cancel(r)
}

// desk returns a server of one task that runs, and its caller.
func desk(cancel func(r *oneTask) error) (*Server, *Caller, *oneTask) {
	r := &oneTask{run: agent.Run{
		ID: uuid.NewString(), Kind: agent.RunKindToolCall, Status: agent.RunRunning,
		Principal: tool.Principal{Subject: "key:a"},
	}, cancel: cancel}
	return &Server{cfg: Config{Record: r, Runs: r}}, &Caller{Principal: r.run.Principal}, r
}

// A cancelled task stays cancelled, however its call ends. The answer to a request to cancel says what is so.
func TestCancelledTasksStayCancelled(t *testing.T) {
	t.Parallel()

	conflict := &tool.Error{Kind: tool.Conflict, Msg: "try again in a moment"}
	for name, c := range map[string]struct {
		cancel func(r *oneTask) error
		status taskStatus // Empty for an error.
		says   string
	}{
		"it is recorded": {func(r *oneTask) error { r.run.CancelExecution = "e"; return nil }, taskCancelled, ""},
		"it is not":      {func(*oneTask) error { return nil }, taskWorking, ""},
		"too early":      {func(*oneTask) error { return conflict }, "", "try again"},
		"it has ended": {
			func(r *oneTask) error { r.run.Status = agent.RunCompleted; return conflict }, "",
			"has ended: it is completed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, caller, r := desk(c.cancel)
			answer, err := s.cancelTask(t.Context(), caller, r.run)
			if c.status == "" {
				require.ErrorContains(t, err, c.says)
				return
			}
			require.NoError(t, err)
			own, ok := answer.(taskResult)
			require.True(t, ok)
			shown, ok := own.answer.(task)
			require.True(t, ok)
			require.Equal(t, c.status, shown.Status)
			if c.status == taskCancelled {
				r.run.Status = agent.RunCompleted
				shown, err = s.taskOf(t.Context(), caller, r.run)
				require.NoError(t, err)
				require.Equal(t, taskCancelled, shown.Status)
				_, err = s.cancelTask(t.Context(), caller, r.run)
				require.ErrorContains(t, err, "has ended: it is cancelled")
			}
		})
	}
}

// Tasks are looked for by their key, so that no cursor names another's.
func TestTasksAreListedByTheirKey(t *testing.T) {
	t.Parallel()

	s, caller, r := desk(nil)
	_, err := s.listTasks(t.Context(), caller, "")
	require.NoError(t, err)
	require.Equal(t, "key:a", r.asked.Subject)
	require.True(t, r.asked.Top)
}

// A toolset has no prompts.
func TestToolsetsHaveNoPrompts(t *testing.T) {
	t.Parallel()

	s := &Server{}
	caller := &Caller{Offer: &toolset.Offer{}}
	list, err := s.listPrompts(t.Context(), caller, &mcp.ListPromptsRequest{})
	require.NoError(t, err)
	shown, ok := list.(*mcp.ListPromptsResult)
	require.True(t, ok)
	require.Empty(t, shown.Prompts)
	for _, name := range []string{"summarize", "agent/clerk"} {
		_, err := s.getPrompt(t.Context(), caller, &mcp.GetPromptRequest{Params: &mcp.GetPromptParams{Name: name}})
		var e *jsonrpc.Error
		require.ErrorAs(t, err, &e)
		require.Contains(t, e.Message, "unknown prompt")
	}
}
