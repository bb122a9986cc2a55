package storetest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// together runs do in many goroutines that start at the same time.
func together(do func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range deciders {
		wg.Go(func() {
			<-start
			do(i)
		})
	}
	close(start)
	wg.Wait()
}

func testRacingDecisions(t *testing.T, d *Database) {
	t.Helper()
	t.Run("EndOnce", func(t *testing.T) {
		t.Parallel()
		for round := range 4 {
			f := guarded(t, d)
			r := f.Request(t, f.Entry(t))
			r.Needed = 1 + round%2*2
			a := f.Ask(t, r)
			var approvals, rejections atomic.Int32
			together(func(i int) {
				decided, err := f.Store.Decide(t.Context(), f.Verdict(a, fmt.Sprintf("user:%d", i), i%2 == 0))
				switch {
				case err != nil && tool.KindOf(err) != tool.Conflict:
					t.Error(err)
				case err != nil && !decided.Status.Final():
					t.Error("a conflict before the end")
				case err == nil && decided.Status == wait.Approved:
					approvals.Add(1)
				case err == nil && decided.Status == wait.Rejected:
					rejections.Add(1)
				}
			})
			require.Equal(t, int32(1), approvals.Load()+rejections.Load(), "one decision ends it")
			found := f.approval(t, a.ID)
			wantEvents := []tool.EventType{tool.EventNeedsApproval}
			if found.Status == wait.Approved {
				require.Equal(t, int32(1), approvals.Load())
				require.Len(t, found.Decisions, r.Needed)
				wantEvents = append(wantEvents, tool.EventApproved)
			} else {
				require.Equal(t, wait.Rejected, found.Status)
			}
			require.Equal(t, wantEvents, f.eventsAfterTurn(t))
		}
	})

	t.Run("AskOnce", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		e := f.Entry(t)
		together(func(i int) {
			if i%2 == 0 {
				if _, err := f.Store.Admit(t.Context(), ledger.AdmitRequest{Entry: e}); err != nil {
					t.Error(err)
				}
			}
			if _, err := f.Store.Ask(t.Context(), f.Request(t, e)); err != nil {
				t.Error(err)
			}
		})
		require.Equal(t, []tool.EventType{tool.EventNeedsApproval}, f.eventsAfterTurn(t))
		f.requireInvocation(t, e.InvocationID, tool.StatusPending, tool.ApprovalPending)
	})

	t.Run("AgainstTheEnds", func(t *testing.T) {
		t.Parallel()
		for range 4 {
			f := guarded(t, d)
			e := f.Entry(t)
			r := f.Request(t, e)
			a := f.Ask(t, r)
			together(func(i int) {
				var err error
				switch i % 5 {
				case 0:
					_, err = f.Store.Decide(t.Context(), f.Verdict(a, fmt.Sprintf("user:%d", i), i%2 == 0))
				case 1:
					_, err = f.Store.End(t.Context(), f.Tenant, a.ID, wait.Cancelled)
				case 2:
					err = f.Store.FinishRun(t.Context(), agent.RunEnd{
						Tenant: f.Tenant, RunID: f.Run.ID, Status: agent.RunCancelled, Execution: "x",
					})
				case 3:
					_, err = f.Store.Settle(t.Context(), ledger.Settlement{
						Entry: e, Status: tool.StatusCancelled, Kind: tool.Cancelled, Msg: "cancelled",
					})
				default:
					_, err = f.Store.Ask(t.Context(), r)
				}
				if err != nil && tool.KindOf(err) != tool.Conflict {
					t.Error(err)
				}
			})
			found := f.approval(t, a.ID)
			require.True(t, found.Status.Final())
			i := f.invocation(t, a.ID)
			require.Equal(t, tool.StatusCancelled, i.Status)
			want := map[wait.Status]tool.ApprovalStatus{
				wait.Approved: tool.ApprovalApproved, wait.Rejected: tool.ApprovalRejected, wait.Cancelled: tool.ApprovalExpired,
			}
			require.Equal(t, want[found.Status], i.ApprovalStatus)
			if found.Status == wait.Cancelled {
				require.Empty(t, found.Decisions)
			} else {
				require.Len(t, found.Decisions, 1)
			}
			f.EventTypes(t, f.Run.ID)
		}
	})

	t.Run("AskAgainstTheSettlement", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		for range 10 {
			e := f.Lone(t)
			together(func(i int) {
				var err error
				if i%2 == 0 {
					_, err = f.Store.Ask(t.Context(), f.Request(t, e))
				} else {
					_, err = f.Store.Settle(t.Context(), failed(e, false))
				}
				if err != nil && tool.KindOf(err) != tool.Conflict {
					t.Error(err)
				}
			})
			found, err := f.Store.FindApproval(t.Context(), f.Tenant, e.InvocationID)
			require.True(t, err != nil || found.Status == wait.Cancelled, "none is left that waits")
			require.Equal(t, tool.StatusFailed, f.invocation(t, e.InvocationID).Status)
		}
	})
}
