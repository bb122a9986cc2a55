package storetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/space"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// deliver delivers the only wake of the fixture's tenant.
func (f *Fixture) deliver(t *testing.T) *space.Wake {
	t.Helper()
	keys := f.wakes(t)
	require.Len(t, keys, 1)
	begin, err := f.Store.DeliverWake(t.Context(), keys[0], renderTexts)
	require.NoError(t, err)
	return begin
}

func (f *Fixture) suspend(t *testing.T, status store.TenantStatus) {
	t.Helper()
	_, err := f.Platform.SetTenantStatus(t.Context(), f.Tenant, status)
	require.NoError(t, err)
}

// testWakesLeft is about wakes that a run did not take up, and those of suspended tenants.
func testWakesLeft(t *testing.T, d *Database) {
	t.Helper()
	for _, status := range []agent.RunStatus{agent.RunFailed, agent.RunCancelled, agent.RunCompleted} {
		t.Run(fmt.Sprintf("wake the agent again where a run is %s before it took them up", status), func(t *testing.T) {
			t.Parallel()
			f := NewFixture(t, d)
			sp := f.Space(t, "launch")
			f.Entered(t, sp)
			f.Post(t, sp, "taken")
			require.Nil(t, f.deliver(t))
			require.Len(t, f.take(t), 1)
			f.Post(t, sp, "one")
			require.Nil(t, f.deliver(t))
			f.Post(t, sp, "two")
			require.Nil(t, f.deliver(t))
			require.Empty(t, f.wakes(t))
			f.Post(t, sp, "three")
			end := agent.RunEnd{Tenant: f.Tenant, RunID: f.Run.ID, Status: status, Execution: "x"}
			require.NoError(t, f.Store.FinishRun(t.Context(), end))
			begin := f.deliver(t)
			require.NotNil(t, begin, "the run is over")
			require.Equal(t, "one|two|three|", renderTexts(*begin))
			require.Equal(t, f.Principal, begin.Principal)
			var left int
			require.NoError(t, f.Conn(t).QueryRow(t.Context(),
				`select r.inbox + (select count(*) from inbox_items i where i.run_id = r.id and i.message_id is null)
				from runs r where r.id = $1`, f.Run.ID).Scan(&left))
			require.Zero(t, left, "the run that continues it is not given them too")
			_, err := f.Store.AcceptWokenRun(t.Context(), f.wokenRun(t, *begin), *begin)
			require.NoError(t, err)
			end.Execution = "y" // A later execution of the same run.
			require.NoError(t, f.Store.FinishRun(t.Context(), end))
			require.Empty(t, f.wakes(t), "they are put back once")
		})
	}
	t.Run("leave in the inbox what did not come from a space", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		f.Entered(t, f.Space(t, "launch"))
		added, err := f.Store.AddToInbox(t.Context(), agent.InboxItem{
			Tenant: f.Tenant, RunID: f.Run.ID, Kind: agent.InboxMessage, Content: []tool.Content{tool.Text("hello")},
		})
		require.NoError(t, err)
		require.True(t, added)
		require.NoError(t, f.Store.FinishRun(t.Context(), agent.RunEnd{
			Tenant: f.Tenant, RunID: f.Run.ID, Status: agent.RunFailed,
		}))
		require.Empty(t, f.wakes(t))
		var left int
		require.NoError(t, f.Conn(t).QueryRow(t.Context(), "select inbox from runs where id = $1", f.Run.ID).Scan(&left))
		require.Equal(t, 1, left)
	})
	t.Run("do not wake an agent that has left the space", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		sp := f.Space(t, "launch")
		f.Entered(t, sp)
		f.Post(t, sp, "hello")
		require.Nil(t, f.deliver(t))
		_, err := f.Conn(t).Exec(t.Context(), "delete from space_members where tenant_id = $1 and kind = 'agent'", f.Tenant)
		require.NoError(t, err)
		require.NoError(t, f.Store.FinishRun(t.Context(), agent.RunEnd{
			Tenant: f.Tenant, RunID: f.Run.ID, Status: agent.RunFailed,
		}))
		require.Empty(t, f.wakes(t))
	})
	t.Run("are lost to no run that ends while they are delivered", func(t *testing.T) {
		t.Parallel()
		for range 10 {
			f := NewFixture(t, d)
			sp := f.Space(t, "launch")
			f.Entered(t, sp)
			f.Post(t, sp, "one")
			require.Nil(t, f.deliver(t))
			f.Post(t, sp, "two")
			key := f.wakes(t)[0]
			var both sync.WaitGroup
			began := time.Now()
			both.Go(func() {
				_, err := f.Store.DeliverWake(t.Context(), key, renderTexts)
				require.NoError(t, err)
			})
			both.Go(func() {
				require.NoError(t, f.Store.FinishRun(t.Context(), agent.RunEnd{
					Tenant: f.Tenant, RunID: f.Run.ID, Status: agent.RunFailed,
				}))
			})
			both.Wait()
			require.Less(t, time.Since(began), time.Second, "they wait for each other in one order")
			begin := f.deliver(t)
			require.NotNil(t, begin)
			require.Equal(t, "one|two|", renderTexts(*begin))
		}
	})
	t.Run("wait while their tenant is suspended", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		f.Post(t, f.Space(t, "launch"), "hello")
		begin := f.deliver(t)
		require.NotNil(t, begin)
		f.suspend(t, store.TenantSuspended)
		_, err := f.Conn(t).Exec(t.Context(), "update space_wakes set due_at = now() where tenant_id = $1", f.Tenant)
		require.NoError(t, err)
		require.Empty(t, f.woken(t))
		require.Nil(t, f.deliver(t), "one that was claimed before")
		_, err = f.Store.AcceptWokenRun(t.Context(), f.wokenRun(t, *begin), *begin)
		require.ErrorIs(t, err, space.ErrWakeOver)
		f.suspend(t, store.TenantActive)
		begin = f.deliver(t)
		require.NotNil(t, begin)
		require.Equal(t, "hello|", renderTexts(*begin))
		_, err = f.Store.AcceptWokenRun(t.Context(), f.wokenRun(t, *begin), *begin)
		require.NoError(t, err)
	})
}
