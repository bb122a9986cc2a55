package e2e_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/space"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// leaver is a model whose first run enters the space, and then waits in its second turn until it is
// let. Every other turn is its last. It keeps what each question ends with.
type leaver struct {
	inTurn, let chan struct{}
	last        agent.ModelResponse
	err         error

	mu    sync.Mutex
	asked []string
}

func (m *leaver) Generate(ctx context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
	m.mu.Lock()
	first := len(m.asked) == 0
	second := len(m.asked) == 1
	m.asked = append(m.asked, req.Messages[len(req.Messages)-1].Content[0].Text)
	m.mu.Unlock()
	switch {
	case first:
		return &agent.ModelResponse{Calls: calls("enter_space", enterLaunch)}, nil
	case !second:
		return &agent.ModelResponse{Text: "done"}, nil
	}
	close(m.inTurn)
	select {
	case <-m.let:
		return &m.last, m.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// What comes while a run is in a turn after which it takes no other wakes its agent again: nothing
// that was said in a space is lost, however the run ends.
func TestMessageInTheLastTurnOfARun(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		last     agent.ModelResponse
		err      error
		maxTurns int
		cancel   bool
		status   agent.RunStatus
		sameRun  bool
	}{
		"the run is cancelled": {cancel: true, status: agent.RunCancelled},
		"the run fails": {
			err:    &tool.Error{Kind: tool.Invalid, Op: "model", Msg: "refused"},
			status: agent.RunFailed,
		},
		"the run answers in its last turn": {
			last: agent.ModelResponse{Text: "done"}, maxTurns: 2, status: agent.RunCompleted,
		},
		"the run skips in its last turn": {
			last: agent.ModelResponse{Calls: calls("skip", `{}`)}, maxTurns: 2, status: agent.RunCompleted,
		},
		"the run reaches its limit of turns": {
			last: agent.ModelResponse{Calls: calls("get_plans", `{}`)}, maxTurns: 2, status: agent.RunFailed,
		},
		"the run skips, and may take another turn": {
			last: agent.ModelResponse{Calls: calls("skip", `{}`)}, status: agent.RunCompleted, sameRun: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHall(t)
			a := h.publishAgentAs("desk", agent.Definition{
				Name: "desk", Model: "desk/x", Spaces: []string{agent.AllSpaces}, Limits: agent.Limits{MaxTurns: c.maxTurns},
			})
			h.join(space.Member{Kind: space.Agent, Name: "desk"})
			model := &leaver{inTurn: make(chan struct{}), let: make(chan struct{}), last: c.last, err: c.err}
			h.start(worker.Config{Models: map[string]agent.Model{"desk": model}})
			run, w := h.run(a, "go")
			<-model.inTurn
			h.post("are you there?")
			h.wake()
			h.eventually("the run gets the message", func() bool { return len(h.inbox(run.ID)) == 1 })
			if c.cancel {
				_, err := h.runs.Cancel(t.Context(), h.principal.Tenant, run.ID)
				require.NoError(t, err)
			}
			close(model.let)
			_, _ = h.wait(w)
			require.Equal(t, c.status, h.output(t, run.ID).Status)
			h.eventually("the agent is asked", func() bool {
				model.mu.Lock()
				defer model.mu.Unlock()
				return len(model.asked) == 3
			})
			require.Contains(t, model.asked[2], "are you there?")
			all, err := h.ListRuns(t.Context(), h.principal.Tenant, store.RunQuery{AgentID: a.ID})
			require.NoError(t, err)
			require.Len(t, all, map[bool]int{true: 1, false: 2}[c.sameRun])
		})
	}
}

// inbox returns the ids of what no turn of a run has taken up.
func (h *hall) inbox(run string) (ids []string) {
	h.t.Helper()
	rows, err := h.db.Conn(h.t).Query(h.t.Context(),
		"select id::text from inbox_items where run_id = $1 and message_id is null", run)
	require.NoError(h.t, err)
	defer rows.Close()
	for rows.Next() {
		var id string
		require.NoError(h.t, rows.Scan(&id))
		ids = append(ids, id)
	}
	return ids
}
