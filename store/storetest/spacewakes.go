package storetest

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/space"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// testSpaceWakes is about agents that are woken.
func testSpaceWakes(t *testing.T, d *Database) {
	t.Helper()
	t.Run("wake an agent once for what came together", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		sp := f.Space(t, "launch")
		f.Post(t, sp, "one")
		f.Post(t, sp, "two")
		keys := f.wakes(t)
		require.Len(t, keys, 1)
		begin, err := f.Store.DeliverWake(t.Context(), keys[0], renderTexts)
		require.NoError(t, err)
		require.NotNil(t, begin, "no run goes on")
		require.Equal(t, "one|two|", renderTexts(*begin))
		require.Equal(t, f.Principal, begin.Principal)
		f.Post(t, sp, "three")
		require.NoError(t, f.Store.EndWake(t.Context(), *begin, ""))
		next, err := f.Store.DeliverWake(t.Context(), keys[0], renderTexts)
		require.NoError(t, err)
		require.Equal(t, "three|", renderTexts(*next), "what came meanwhile")
		require.NotEqual(t, begin.RunID, next.RunID)
		require.NoError(t, f.Store.EndWake(t.Context(), *next, ""))
		gone, err := f.Store.DeliverWake(t.Context(), keys[0], renderTexts)
		require.NoError(t, err)
		require.Nil(t, gone)
	})
	t.Run("wake the run that goes on in the space", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		sp := f.Space(t, "launch")
		f.Entered(t, sp)
		f.Post(t, sp, "hello")
		begin, err := f.Store.DeliverWake(t.Context(), f.wakes(t)[0], renderTexts)
		require.NoError(t, err)
		require.Nil(t, begin)
		require.Empty(t, f.wakes(t))
		require.Equal(t, "hello|", f.take(t)[0].Content[0].Text)
	})
	t.Run("wake no run that acts for somebody else", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		sp := f.Space(t, "launch")
		f.Entered(t, sp)
		p := f.Principal
		p.Permissions = []string{"*"}
		_, err := f.Store.PostMessage(t.Context(), space.Post{SpaceID: sp.ID, From: Ada, Principal: p, Text: "x"})
		require.NoError(t, err)
		begin, err := f.Store.DeliverWake(t.Context(), f.wakes(t)[0], renderTexts)
		require.NoError(t, err)
		require.NotNil(t, begin)
		require.Equal(t, []string{"*"}, begin.Principal.Permissions)
	})
	t.Run("wake nobody beyond the limit of hops, and say so", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		sp := f.Space(t, "launch")
		other := f.newAgent(t, "writer")
		_, err := f.Store.AddSpaceMember(t.Context(), f.Tenant, sp.ID, space.Member{Kind: space.Agent, Name: other.Slug}, "x")
		require.NoError(t, err)
		say := func(hops int) space.Posted {
			posted, err := f.Store.PostMessage(t.Context(), space.Post{
				SpaceID: sp.ID, From: space.Member{Kind: space.Agent, Name: "support"}, Principal: f.Principal, RunID: f.Run.ID,
				Hops: hops, Text: "x",
			})
			require.NoError(t, err)
			return posted
		}
		require.Equal(t, 1, say(2).Woken, "only the other agent")
		beyond := say(3)
		require.Zero(t, beyond.Woken)
		require.Equal(t, space.HopLimit, beyond.Message.NotWoken)
		require.Equal(t, other.ID, f.wakes(t)[0].AgentID)
	})
	t.Run("count the hops of the runs above a nested run", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		sp := f.Space(t, "launch")
		f.Entered(t, sp)
		child, grandchild := f.NewRun(t), f.NewRun(t)
		for run, above := range map[string]string{child.ID: f.Run.ID, grandchild.ID: child.ID} {
			_, err := f.Conn(t).Exec(t.Context(), `update runs set parent_run_id = $1, parent_invocation_id = gen_random_uuid(),
				depth = 1 where id = $2`, above, run)
			require.NoError(t, err)
		}
		_, err := f.Conn(t).Exec(t.Context(), `update run_spaces set hops = 2 where run_id = $1`, f.Run.ID)
		require.NoError(t, err)
		_, err = f.Store.EnterSpace(t.Context(), f.Tenant, grandchild.ID, f.Agent.ID, sp.Slug)
		require.NoError(t, err)
		place, err := f.Store.RunSpace(t.Context(), f.Tenant, grandchild.ID)
		require.NoError(t, err)
		require.Equal(t, 2, place.Hops, "else agents that call agents wake each other without an end")
	})
	t.Run("tell an agent once what its run began with, though the server dies then", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		sp := f.Space(t, "launch")
		f.Post(t, sp, "one")
		key := f.wakes(t)[0]
		begin, err := f.Store.DeliverWake(t.Context(), key, renderTexts)
		require.NoError(t, err)
		a := f.wokenRun(t, *begin)
		f.Post(t, sp, "two")
		run, err := f.Store.AcceptWokenRun(t.Context(), a, *begin)
		require.NoError(t, err)
		_, err = f.Store.AcceptWokenRun(t.Context(), f.wokenRun(t, *begin), *begin)
		require.ErrorIs(t, err, space.ErrWakeOver)
		require.NoError(t, f.Store.EndWake(t.Context(), *begin, ""), "it ended with the run")
		again, err := f.Store.DeliverWake(t.Context(), key, func(w space.Wake) string {
			require.Equal(t, "two|", renderTexts(w), "and not what it began with")
			return renderTexts(w)
		})
		require.NoError(t, err)
		require.Nil(t, again, "the run goes on")
		var told int
		require.NoError(t, f.Conn(t).QueryRow(t.Context(), "select inbox from runs where id = $1", run.ID).Scan(&told))
		require.Equal(t, 1, told)
		require.Empty(t, f.wakes(t))
	})
	t.Run("begin no run for a key that was revoked, or has expired", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		sp := f.Space(t, "launch")
		_, text, err := f.Store.CreateKey(t.Context(), store.Key{
			Tenant: f.Tenant, Name: "ada", Permissions: []string{"spaces.post"},
		})
		require.NoError(t, err)
		key, err := f.Store.Authenticate(t.Context(), text)
		require.NoError(t, err)
		_, err = f.Store.PostMessage(t.Context(), space.Post{
			SpaceID: sp.ID, From: Ada, Principal: key.Principal(), Text: "x",
		})
		require.NoError(t, err)
		for _, over := range []string{"revoked_at = now()", "revoked_at = null, expires_at = now()"} {
			_, err = f.Conn(t).Exec(t.Context(), "update api_keys set "+over+" where tenant_id = $1", f.Tenant)
			require.NoError(t, err)
			begin, err := f.Store.DeliverWake(t.Context(), f.wakes(t)[0], renderTexts)
			require.NoError(t, err)
			_, err = f.Store.AcceptWokenRun(t.Context(), f.wokenRun(t, *begin), *begin)
			RequireKind(t, tool.Denied, err)
			require.ErrorContains(t, err, "post it again with another")
		}
		_, err = f.Conn(t).Exec(t.Context(), "update api_keys set expires_at = null where tenant_id = $1", f.Tenant)
		require.NoError(t, err)
		begin, err := f.Store.DeliverWake(t.Context(), f.wakes(t)[0], renderTexts)
		require.NoError(t, err)
		_, err = f.Store.AcceptWokenRun(t.Context(), f.wokenRun(t, *begin), *begin)
		require.NoError(t, err)
	})
	testWakesLeft(t, d)
	t.Run("are claimed by one process at a time", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		f.Post(t, f.Space(t, "launch"), "x")
		var mu sync.Mutex
		var keys []space.WakeKey
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				found := f.woken(t)
				mu.Lock()
				defer mu.Unlock()
				keys = append(keys, found...)
			})
		}
		wg.Wait()
		require.LessOrEqual(t, len(keys), 1) // Another fixture's test may have claimed it.
	})
	t.Run("say why an agent was not woken", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		sp := f.Space(t, "launch")
		f.Post(t, sp, "x")
		begin, err := f.Store.DeliverWake(t.Context(), f.wakes(t)[0], renderTexts)
		require.NoError(t, err)
		require.NoError(t, f.Store.EndWake(t.Context(), *begin, "agent support: no published version"))
		require.Equal(t, "agent support: no published version", f.message(t, sp).NotWoken)
		require.Empty(t, f.wakes(t))
	})
}
