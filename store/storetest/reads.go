package storetest

import (
	"context"
	"encoding/base32"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

func testReads(t *testing.T, d *Database) {
	t.Helper()
	t.Run("InvocationPages", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		var ids []string // Newest first.
		for range 3 {
			e := f.Lone(t)
			f.Admit(t, e, true, true)
			ids = append([]string{e.InvocationID}, ids...)
		}
		done, err := f.Store.Settle(t.Context(), failed(f.Entry(t), false))
		require.NoError(t, err)
		list := func(q store.InvocationQuery) []string {
			found, err := f.Store.ListInvocations(t.Context(), f.Tenant, q)
			require.NoError(t, err)
			got := make([]string, len(found))
			for i, item := range found {
				got[i] = item.InvocationID
			}
			return got
		}
		require.Equal(t, append(ids, done.InvocationID), list(store.InvocationQuery{}))
		require.Equal(t, ids[:2], list(store.InvocationQuery{Limit: 2}))
		require.Equal(t, ids[2:], list(store.InvocationQuery{Status: tool.StatusRunning, Before: ids[1]}))
		require.Equal(
			t, []string{done.InvocationID},
			list(store.InvocationQuery{Status: tool.StatusFailed, Tool: f.Tool.Slug, RunID: f.Run.ID, AgentID: f.Agent.ID}),
		)
		require.Empty(t, list(store.InvocationQuery{RunID: f.NewRun(t).ID}))
		require.Empty(t, list(store.InvocationQuery{Tool: "other"}))
		require.Equal(t, ids[1:2], list(store.InvocationQuery{
			Status: tool.StatusRunning, Tool: f.Tool.Slug, RunID: f.Run.ID, AgentID: f.Agent.ID, Before: ids[0], Limit: 1,
			Since: time.Now().Add(-time.Hour), Until: time.Now().Add(time.Hour),
		}))
		running := store.InvocationQuery{Status: tool.StatusRunning}
		for _, change := range []func(q *store.InvocationQuery){
			func(q *store.InvocationQuery) { q.RunID = f.NewRun(t).ID },
			func(q *store.InvocationQuery) { q.AgentID = NewID(t) },
			func(q *store.InvocationQuery) { q.Parent = NewID(t) },
			func(q *store.InvocationQuery) { q.Tool = "other" },
			func(q *store.InvocationQuery) { q.Kind = tool.Timeout },
			func(q *store.InvocationQuery) { q.Since = time.Now().Add(time.Hour) },
			func(q *store.InvocationQuery) { q.Until = time.Now().Add(-time.Hour) },
			func(q *store.InvocationQuery) { q.Status = tool.StatusPending },
		} {
			none := running
			change(&none)
			require.Empty(t, list(none), "%+v", none)
		}
		require.Empty(t, list(store.InvocationQuery{Since: time.Now().Add(time.Hour)}))
		require.Empty(t, list(store.InvocationQuery{Until: time.Now().Add(-time.Hour)}))
		for _, status := range tool.InvocationStatuses() {
			if !status.Final() || status == tool.StatusFailed {
				continue
			}
			e := f.Lone(t)
			end := Completed(e, f.Admit(t, e, true, true).Fence)
			if end.Status = status; status != tool.StatusCompleted {
				end.Result, end.Kind, end.Msg = nil, tool.Cancelled, "it ended"
			}
			_, err := f.Store.Settle(t.Context(), end)
			require.NoError(t, err)
			require.Equal(t, []string{e.InvocationID}, list(store.InvocationQuery{Status: status}), status)
		}
		require.Equal(t, ids, list(running))
	})

	t.Run("RunPages", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		second := f.NewRun(t)
		runs, err := f.Store.ListRuns(t.Context(), f.Tenant, store.RunQuery{Limit: 1})
		require.NoError(t, err)
		require.Equal(t, []agent.Run{second}, runs)
		runs, err = f.Store.ListRuns(t.Context(), f.Tenant, store.RunQuery{
			Before: second.ID, Status: agent.RunRunning, Kind: agent.RunKindAgent, AgentID: f.Agent.ID,
		})
		require.NoError(t, err)
		require.Len(t, runs, 1)
		require.Equal(t, f.Run.ID, runs[0].ID)
		_, err = f.Store.ListRuns(t.Context(), f.Tenant, store.RunQuery{Before: "nonsense"})
		RequireKind(t, tool.NotFound, err)
	})

	t.Run("EventsOfACall", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		first, second := f.Lone(t), f.Lone(t)
		f.Admit(t, first, true, true)
		f.Admit(t, second, true, true)
		events, err := f.Store.CallEvents(t.Context(), f.Tenant, f.Run.ID, first.InvocationID)
		require.NoError(t, err)
		require.Len(t, events, 1)
		require.Equal(t, tool.EventStarted, events[0].Type)
		require.Equal(t, first.InvocationID, events[0].InvocationID)
		events, err = f.Store.CallEvents(t.Context(), f.Tenant, f.Run.ID, "seven")
		require.NoError(t, err)
		require.Empty(t, events)
	})

	t.Run("EventCursors", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		f.NewRun(t)
		events, err := f.Store.ListEvents(t.Context(), f.Tenant, f.Run.ID, 1, 10)
		require.NoError(t, err)
		require.Len(t, events, 1)
		require.Equal(t, agent.EventTurn, events[0].Type)

		var streamed []store.TenantEvent
		var cursor store.EventCursor
		for {
			page, err := f.Store.TenantEvents(t.Context(), f.Tenant, cursor, 1)
			require.NoError(t, err)
			if len(page) == 0 {
				break
			}
			streamed, cursor = append(streamed, page...), page[0].Cursor
		}
		require.Len(t, streamed, 3)
		require.Equal(t, f.Run.ID, streamed[0].RunID)
		require.Equal(t, agent.EventTurn, streamed[1].Type)
		require.Equal(t, agent.EventRunStarted, streamed[2].Type)

		horizon, err := f.Store.EventHorizon(t.Context(), f.Tenant)
		require.NoError(t, err)
		later := f.NewRun(t)
		page, err := f.Store.TenantEvents(t.Context(), f.Tenant, horizon, 10)
		require.NoError(t, err)
		require.NotEmpty(t, page, "what comes later is behind the horizon")
		for _, e := range page {
			require.Equal(t, later.ID, e.RunID)
		}
		_, err = f.Store.TenantEvents(t.Context(), f.Tenant, page[len(page)-1].Cursor+1, 10)
		RequireKind(t, tool.Conflict, err)
	})
}

func testKeys(t *testing.T, d *Database) {
	t.Helper()
	t.Run("Authenticate", func(t *testing.T) {
		t.Parallel()
		tenant := d.Tenant(t)
		created, text, err := d.Store.CreateKey(t.Context(), store.Key{
			Tenant: tenant, Name: "ci", Permissions: []string{"orders.read"}, Scopes: []string{"runs:write"},
			CreatedBy: "user:ada",
		})
		require.NoError(t, err)
		used, err := d.Store.Authenticate(t.Context(), text)
		require.NoError(t, err)
		require.Equal(t, created, used)
		require.Equal(t, tool.Principal{
			Tenant: tenant, Subject: "key:" + created.ID, Permissions: []string{"orders.read"}, Scopes: []string{"runs:write"},
		}, used.Principal())
		used, err = d.Store.Authenticate(t.Context(), text)
		require.NoError(t, err)
		require.NotNil(t, used.LastUsedAt)
		first := *used.LastUsedAt
		used, err = d.Store.Authenticate(t.Context(), text)
		require.NoError(t, err)
		require.Equal(t, first, *used.LastUsedAt, "noted once a minute")
	})

	t.Run("Refuses", func(t *testing.T) {
		t.Parallel()
		tenant := d.Tenant(t)
		past := time.Now().Add(-time.Minute)
		_, expired, err := d.Store.CreateKey(t.Context(), store.Key{Tenant: tenant, Name: "old", ExpiresAt: &past})
		require.NoError(t, err)
		revokedKey, revoked, err := d.Store.CreateKey(t.Context(), store.Key{Tenant: tenant, Name: "gone"})
		require.NoError(t, err)
		for range 2 {
			_, err = d.Store.RevokeKey(t.Context(), tenant, revokedKey.ID)
			require.NoError(t, err)
		}
		suspended := d.Tenant(t)
		stopped := d.Key(t, suspended)
		_, err = d.Platform.SetTenantStatus(t.Context(), suspended, store.TenantSuspended)
		require.NoError(t, err)
		good := d.Key(t, tenant)
		for name, text := range map[string]string{
			"empty": "", "prefix": "tck_", "garbage": "tck_!!", "short": good[:len(good)-4], "expired": expired,
			"revoked":   revoked,
			"suspended": stopped, "wrong secret": WithSecret(t, good),
		} {
			_, err := d.Store.Authenticate(t.Context(), text)
			RequireKind(t, tool.Denied, err)
			require.Equal(t, "the API key is not valid", tool.AsError(err).Msg, name)
		}
		keys, err := d.Store.ListKeys(t.Context(), tenant)
		require.NoError(t, err)
		require.Len(t, keys, 3)
	})

	t.Run("RevokedWithTheirMaker", func(t *testing.T) {
		t.Parallel()
		tenant := d.Tenant(t)
		made := func(by string) (store.Key, string) {
			k, text, err := d.Store.CreateKey(t.Context(), store.Key{Tenant: tenant, Name: "made", CreatedBy: by})
			require.NoError(t, err)
			return k, text
		}
		root, _ := made("user:ada")
		child, childText := made(root.Principal().Subject)
		_, grandchildText := made(child.Principal().Subject)
		_, siblingText := made("user:ada")
		_, err := d.Store.RevokeKey(t.Context(), tenant, root.ID)
		require.NoError(t, err)
		for _, text := range []string{childText, grandchildText} {
			_, err := d.Store.Authenticate(t.Context(), text)
			RequireKind(t, tool.Denied, err)
		}
		_, err = d.Store.Authenticate(t.Context(), siblingText)
		require.NoError(t, err)
		_, _, err = d.Store.CreateKey(t.Context(), store.Key{
			Tenant: tenant, Name: "late", CreatedBy: child.Principal().Subject,
		})
		RequireKind(t, tool.Denied, err)
	})

	t.Run("NoneEscapesARevocation", func(t *testing.T) {
		t.Parallel()
		tenant := d.Tenant(t)
		root, _, err := d.Store.CreateKey(t.Context(), store.Key{Tenant: tenant, Name: "root"})
		require.NoError(t, err)
		var wg sync.WaitGroup
		for range 8 { // Chains of keys that make keys until they may not.
			wg.Go(func() {
				for maker := root; ; {
					made, _, err := d.Store.CreateKey(t.Context(), store.Key{
						Tenant: tenant, Name: "made", CreatedBy: maker.Principal().Subject,
					})
					if err != nil {
						return
					}
					maker = made
				}
			})
		}
		_, err = d.Store.RevokeKey(t.Context(), tenant, root.ID)
		require.NoError(t, err)
		wg.Wait()
		keys, err := d.Store.ListKeys(t.Context(), tenant)
		require.NoError(t, err)
		for _, k := range keys {
			require.NotNil(t, k.RevokedAt)
		}
	})
}

func testPlatform(t *testing.T, d *Database) {
	t.Helper()
	t.Run("Tenants", func(t *testing.T) {
		t.Parallel()
		slug := "p-" + uuid.NewString()[:8]
		created, err := d.Platform.CreateTenant(t.Context(), store.Tenant{Slug: slug, Name: "Acme"})
		require.NoError(t, err)
		_, err = d.Platform.CreateTenant(t.Context(), store.Tenant{Slug: slug})
		RequireKind(t, tool.Conflict, err)
		_, err = d.Platform.CreateTenant(t.Context(), store.Tenant{Slug: "No Good"})
		RequireKind(t, tool.Invalid, err)
		for _, name := range []string{slug, string(created.ID)} {
			found, err := d.Platform.FindTenant(t.Context(), name)
			require.NoError(t, err)
			require.Equal(t, created, found)
		}
		_, err = d.Platform.FindTenant(t.Context(), "nobody")
		RequireKind(t, tool.NotFound, err)
		_, err = d.Platform.SetTenantStatus(t.Context(), tool.TenantID(NewID(t)), store.TenantActive)
		RequireKind(t, tool.NotFound, err)
		all, err := d.Platform.ListTenants(t.Context(), "", 0)
		require.NoError(t, err)
		require.Contains(t, all, created)
	})

	t.Run("GlobalToolsAreThePlatforms", func(t *testing.T) {
		t.Parallel()
		registry := d.Platform.Registry()
		tenant := d.Tenant(t)
		global, err := registry.CreateTool(t.Context(), tool.Tool{
			Slug: "fetchPage", Status: tool.Draft, Active: true, Version: "1.0.0",
		})
		require.NoError(t, err)
		require.True(t, global.Global())
		_, err = registry.CreateTool(t.Context(), tool.Tool{Slug: "fetchPage", Status: tool.Draft, Version: "1.0.0"})
		RequireKind(t, tool.Conflict, err)
		global.Description = "changed"
		global, err = registry.UpdateTool(t.Context(), global)
		require.NoError(t, err)
		seen, err := d.Store.FindTool(t.Context(), tenant, tool.Ref{ID: global.ID})
		require.NoError(t, err)
		require.Equal(t, global, seen)

		_, err = d.Store.UpdateTool(t.Context(), global)
		RequireKind(t, tool.NotFound, err) // A tenant's store acts for no tenant at all.
		taken := global
		taken.Tenant = tenant
		_, err = d.Store.UpdateTool(t.Context(), taken)
		RequireKind(t, tool.Denied, err)
		_, err = registry.FindTool(t.Context(), tenant, tool.Ref{ID: global.ID})
		RequireKind(t, tool.NotFound, err)
	})

	t.Run("ReadsNoTenantsData", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		_, err := d.Platform.Registry().FindTool(t.Context(), "", tool.Ref{ID: f.Tool.ID})
		RequireKind(t, tool.NotFound, err)
	})

	t.Run("Partitions", func(t *testing.T) {
		t.Parallel()
		for _, ensure := range []func(context.Context, int) (int, error){
			d.Store.EnsurePartitions, d.Platform.EnsurePartitions,
		} {
			require.Eventually(t, func() bool {
				_, err := ensure(t.Context(), 6)
				if tool.KindOf(err) == tool.Unavailable {
					return false // Another test keeps the table.
				}
				require.NoError(t, err)
				return true
			}, time.Minute, 50*time.Millisecond)
			made, err := ensure(t.Context(), 6)
			require.NoError(t, err)
			require.Zero(t, made)
		}
	})
}

var keyText = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// WithTenant returns an API key's text with another tenant put into it.
func WithTenant(tb testing.TB, text string, tenant tool.TenantID) string {
	tb.Helper()
	id := uuid.MustParse(string(tenant))
	return alter(tb, text, func(raw []byte) { copy(raw, id[:]) })
}

// WithSecret returns an API key's text with another secret put into it.
func WithSecret(tb testing.TB, text string) string {
	tb.Helper()
	return alter(tb, text, func(raw []byte) { raw[len(raw)-1] ^= 1 })
}

func alter(tb testing.TB, text string, change func(raw []byte)) string {
	tb.Helper()
	raw, err := keyText.DecodeString(text[len(store.KeyPrefix):])
	require.NoError(tb, err)
	change(raw)
	return store.KeyPrefix + keyText.EncodeToString(raw)
}
