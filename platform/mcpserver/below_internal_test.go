package mcpserver

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/input"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// tree is the record of a run with runs below it, in which nothing else happens.
type tree struct {
	Record
	mu        sync.Mutex
	approvals []wait.Approval
	calls     []wait.Call
	asked     int
}

func (r *tree) ReadStream(context.Context, tool.TenantID, string, int64, int) (store.StreamPage, error) {
	return store.StreamPage{}, nil
}

func (r *tree) ListApprovals(_ context.Context, q wait.Query) ([]wait.Approval, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked++
	if q.RunID != "top" || q.Status != wait.Pending {
		return nil, nil
	}
	return r.approvals, nil
}

func (r *tree) ListCalls(_ context.Context, q wait.CallQuery) ([]wait.Call, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if q.RunID != "top" || q.Of != tool.Input {
		return nil, nil
	}
	return r.calls, nil
}

func (r *tree) set(approvals []wait.Approval, calls []wait.Call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.approvals, r.calls = approvals, calls
}

// Subscribe is that of a run without subscribers: its changes are not awaited.
func (*tree) Subscribe(context.Context, tool.TenantID, string) (func() <-chan struct{}, func()) {
	return func() <-chan struct{} { return nil }, func() {}
}

// A call learns what a run below it waits for, although its own run has no event of that, and when it waits no more.
func TestRunsBelowACallHoldItUp(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		r := &tree{}
		s := &Server{cfg: Config{Record: r, Wakes: r}}
		w := waiting{call: runs.Call{RunID: "top"}, called: called{nests: true}}
		held := make(chan *hold)
		go s.follow(ctx, &Caller{}, w, held)

		own := wait.Approval{ID: "own", RunID: "top", Round: 1}
		r.set([]wait.Approval{
			own, {ID: "a1", RunID: "child", RootRunID: "top", Tool: "refund", Version: "1.0.0", Round: 1},
		}, nil)
		got := <-held
		require.Equal(t, "a1", got.asked.ApprovalID, "that of the call itself comes with its events")
		require.Contains(t, got.waitsFor(""), "refund@1.0.0 has not run yet")

		r.set(nil, []wait.Call{{
			ID: "p1", CallIdentity: tool.CallIdentity{RunID: "child"}, VersionIdentity: tool.VersionIdentity{Slug: "ask"},
			RequiresResponse: true,
		}})
		got = <-held
		require.Nil(t, got.asked)
		require.Equal(t, agent.CallOffered{
			Kind: input.Kind, Tool: "ask", PendingID: "p1", RequiresResponse: true,
		}, *got.input)
		r.set(nil, nil)
		require.Nil(t, <-held)
	})
}

// A call that cannot start runs asks for nothing.
func TestCallsWithoutRunsBelowAskForNone(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		r := &tree{approvals: []wait.Approval{{ID: "a1", RunID: "child"}}}
		s := &Server{cfg: Config{Record: r, Wakes: r}}
		over := make(chan struct{})
		go func() {
			defer close(over)
			s.follow(ctx, &Caller{}, waiting{call: runs.Call{RunID: "top"}}, make(chan *hold))
		}()
		synctest.Wait()
		stop()
		<-over
		require.Zero(t, r.asked)
	})
	require.True(t, nests(tool.AgentCall))
	require.False(t, nests(tool.HTTP))
}
