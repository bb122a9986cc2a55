package storetest

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/webhook"
)

// Webhook records an active webhook for ends of runs.
func (f *Fixture) Webhook(tb testing.TB, change func(*webhook.Webhook)) webhook.Webhook {
	tb.Helper()
	id := NewID(tb)
	w := webhook.Webhook{
		ID: id, Tenant: f.Tenant, URL: "https://example.com/hooks", Active: true, CreatedBy: "user:bob",
		Types:  []tool.EventType{agent.EventRunCancelled, agent.EventRunCompleted, agent.EventRunFailed},
		Secret: vault.Text{KeyVersion: 1, Ciphertext: []byte("sealed")},
	}
	if change != nil {
		change(&w)
	}
	made, err := f.Store.CreateWebhook(tb.Context(), w)
	require.NoError(tb, err)
	return made
}

// EndedRun makes a run that has failed.
func (f *Fixture) EndedRun(tb testing.TB) agent.Run {
	tb.Helper()
	run := f.NewRun(tb)
	require.NoError(tb, f.Store.FinishRun(tb.Context(), agent.RunEnd{
		Tenant: f.Tenant, RunID: run.ID, Status: agent.RunFailed, Kind: tool.Unavailable, Msg: "no model",
	}))
	return run
}

func (f *Fixture) makeDeliveries(tb testing.TB) int {
	tb.Helper()
	n, err := f.Store.MakeDeliveries(tb.Context(), f.Tenant)
	require.NoError(tb, err)
	return n
}

func (f *Fixture) deliveries(tb testing.TB, w webhook.Webhook) []webhook.Delivery {
	tb.Helper()
	all, err := f.Store.ListDeliveries(tb.Context(), webhook.DeliveryQuery{Tenant: f.Tenant, WebhookID: w.ID, Limit: 100})
	require.NoError(tb, err)
	return all
}

func (f *Fixture) claim(tb testing.TB, most, each int) []webhook.Due {
	tb.Helper()
	due, err := f.Store.ClaimDeliveries(tb.Context(), f.Tenant, webhook.Claim{Most: most, Each: each, Lease: time.Minute})
	require.NoError(tb, err)
	return due
}

func (f *Fixture) findWebhook(tb testing.TB, id string) webhook.Webhook {
	tb.Helper()
	w, err := f.Store.FindWebhook(tb.Context(), f.Tenant, id)
	require.NoError(tb, err)
	return w
}

func testWebhooks(t *testing.T, d *Database) {
	t.Helper()

	t.Run("each event that a webhook wants is delivered once", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		before := f.EndedRun(t)
		ends := f.Webhook(t, nil)
		other := f.Webhook(t, func(w *webhook.Webhook) { w.Agent = "another" })
		paused := f.Webhook(t, func(w *webhook.Webhook) { w.Active = false })
		asking := func(slug string) webhook.Webhook {
			return f.Webhook(t, func(w *webhook.Webhook) { w.Types, w.Tool = []tool.EventType{tool.EventNeedsApproval}, slug })
		}
		asks, strange := asking("refund"), asking("other")
		run := f.EndedRun(t)
		a := f.Ask(t, f.Request(t, f.Lone(t)))

		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				_, err := f.Store.MakeDeliveries(t.Context(), f.Tenant)
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		require.Zero(t, f.makeDeliveries(t))
		got := f.deliveries(t, ends)
		require.Len(t, got, 1, "nothing from before the webhook was made, such as %s", before.ID)
		require.Equal(t, agent.EventRunFailed, got[0].Type)
		require.Equal(t, run.ID, got[0].RunID)
		require.Equal(t, f.Agent.Slug, got[0].Agent)
		require.Equal(t, webhook.Pending, got[0].Status)
		message, err := got[0].Message()
		require.NoError(t, err)
		require.Equal(t, got[0].ID, message.ID)
		require.Contains(t, string(message.Data), `"run_id":"`+run.ID+`"`)
		require.Contains(t, string(message.Data), `"kind":"unavailable"`)
		require.Empty(t, f.deliveries(t, other))
		require.Empty(t, f.deliveries(t, paused))
		require.Empty(t, f.deliveries(t, strange))
		asked := f.deliveries(t, asks)
		require.Len(t, asked, 1)
		require.Equal(t, a.ID, asked[0].InvocationID)

		paused.Active = true
		paused, err = f.Store.ChangeWebhook(t.Context(), paused)
		require.NoError(t, err)
		f.makeDeliveries(t)
		require.Empty(t, f.deliveries(t, paused), "it gets what happens from then on")
		f.EndedRun(t)
		require.Equal(t, 2, f.makeDeliveries(t))
		require.Len(t, f.deliveries(t, paused), 1)
	})

	t.Run("servers lease deliveries apart, so many of each webhook", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		slow, quick := f.Webhook(t, nil), f.Webhook(t, nil)
		for range 6 {
			f.EndedRun(t)
		}
		require.Equal(t, 12, f.makeDeliveries(t))
		tenants, err := f.Store.WebhookTenants(t.Context(), 1000)
		require.NoError(t, err)
		require.Contains(t, tenants, f.Tenant)
		first := f.claim(t, 100, 2)
		require.Len(t, first, 4)
		require.Empty(t, f.claim(t, 100, 2), "the leases count against the limit of all servers")
		second := f.claim(t, 3, 4)
		require.Len(t, second, 3)
		seen := map[string]bool{}
		for _, due := range append(first, second...) {
			require.False(t, seen[due.ID])
			seen[due.ID] = true
			require.Equal(t, 1, due.Attempts)
			require.Contains(t, []string{slow.ID, quick.ID}, due.Webhook.ID)
		}

		one := first[0]
		_, err = f.Conn(t).Exec(t.Context(),
			"update webhook_deliveries set lease_until = now(), due_at = now() - interval '1 hour' where id = $1", one.ID)
		require.NoError(t, err)
		again := f.claim(t, 1, 5)
		require.Equal(t, one.ID, again[0].ID, "a lease that ended is taken over")
		require.Equal(t, 2, again[0].Attempts)
		_, err = f.Store.EndAttempt(t.Context(), webhook.Attempt{
			Tenant: f.Tenant, ID: one.ID, Fence: one.Fence, Status: webhook.Failed, Error: "late",
		})
		RequireKind(t, tool.Conflict, err)
		require.NoError(t, f.Store.ReleaseDelivery(t.Context(), f.Tenant, one.ID, one.Fence), "nor may it return it")
		require.NoError(t, f.Store.ReleaseDelivery(t.Context(), f.Tenant, one.ID, again[0].Fence))
		_, err = f.Conn(t).Exec(t.Context(),
			"update webhook_deliveries set due_at = now() - interval '1 hour' where id = $1 and lease_until is null", one.ID)
		require.NoError(t, err)
		last := f.claim(t, 1, 5)[0]
		require.Equal(t, one.ID, last.ID)
		require.Equal(t, 2, last.Attempts, "an attempt that was returned does not count")
	})

	t.Run("an attempt ends", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		w := f.Webhook(t, nil)
		watcher := f.Webhook(t, func(w *webhook.Webhook) { w.Types = []tool.EventType{webhook.EventDisabled} })
		end := func(due webhook.Due, a webhook.Attempt) bool {
			a.Tenant, a.ID, a.Fence = f.Tenant, due.ID, due.Fence
			disabled, err := f.Store.EndAttempt(t.Context(), a)
			require.NoError(t, err)
			return disabled
		}
		f.EndedRun(t)
		f.makeDeliveries(t)
		due := f.claim(t, 1, 1)[0]
		require.False(t, end(due, webhook.Attempt{
			Status: webhook.Pending, Delay: time.Hour, Code: 500, Error: "the receiver answered with 500", Answer: "sorry",
		}))
		require.NotNil(t, f.findWebhook(t, w.ID).FailingSince)
		got := f.deliveries(t, w)[0]
		require.Equal(t, 500, got.LastStatus)
		require.Equal(t, "sorry", got.LastAnswer)
		require.WithinDuration(t, time.Now().Add(time.Hour), got.DueAt, time.Minute)
		require.Empty(t, f.claim(t, 1, 1))

		f.EndedRun(t)
		f.makeDeliveries(t)
		require.False(t, end(f.claim(t, 1, 1)[0], webhook.Attempt{Status: webhook.Delivered, Code: 204}))
		is := f.findWebhook(t, w.ID)
		require.Nil(t, is.FailingSince)
		require.NotNil(t, is.DeliveredAt)
		require.Equal(t, w.Revision, is.Revision, "deliveries change no revision")

		// The first one fails for good, but another was delivered meanwhile.
		_, err := f.Conn(t).Exec(t.Context(), "update webhook_deliveries set due_at = now() where id = $1", got.ID)
		require.NoError(t, err)
		require.False(t, end(f.claim(t, 1, 1)[0], webhook.Attempt{Status: webhook.Failed, Error: "no answer"}))
		require.True(t, f.findWebhook(t, w.ID).Active)

		replayed, err := f.Store.ReplayDelivery(t.Context(), f.Tenant, w.ID, got.ID)
		require.NoError(t, err)
		require.Equal(t, 1, replayed.Replays)
		_, err = f.Store.ReplayDelivery(t.Context(), f.Tenant, w.ID, got.ID)
		RequireKind(t, tool.Conflict, err)
		due = f.claim(t, 1, 1)[0]
		require.Equal(t, got.ID, due.ID, "under the same id")
		require.Equal(t, 1, due.Attempts)
		require.True(t, end(due, webhook.Attempt{
			Status: webhook.Failed, Error: `looking up "secret.hooks.test" failed: no answer`,
		}), "nothing was delivered since")
		is = f.findWebhook(t, w.ID)
		require.False(t, is.Active)
		require.NotNil(t, is.DisabledAt)
		require.Contains(t, is.DisabledReason, "no answer")
		notice := f.deliveries(t, watcher)
		require.Len(t, notice, 1)
		require.Contains(t, string(notice[0].Data), w.ID)
		require.Contains(t, string(notice[0].Data), "no answer was received")
		require.NotContains(t, string(notice[0].Data), "secret.hooks.test", "where a receiver is is not for the others")

		ping, err := f.Store.PingWebhook(t.Context(), f.Tenant, w.ID)
		require.NoError(t, err)
		claimed := f.claim(t, 10, 1)
		require.Len(t, claimed, 2, "a webhook that is disabled can be pinged")
		for _, due := range claimed {
			if due.ID == ping.ID {
				require.False(t, end(due, webhook.Attempt{Status: webhook.Delivered, Code: 200}))
			}
		}
		require.False(t, f.findWebhook(t, w.ID).Active)
		is.Active = true
		is, err = f.Store.ChangeWebhook(t.Context(), is)
		require.NoError(t, err)
		require.Nil(t, is.DisabledAt)
		require.Empty(t, is.DisabledReason)
		require.Nil(t, is.FailingSince)
		_, err = f.Store.ChangeWebhook(t.Context(), w)
		require.ErrorIs(t, err, webhook.ErrChanged)
	})

	t.Run("secrets are rotated and sealed anew", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		w := f.Webhook(t, nil)
		w.Secret.Ciphertext = []byte("second")
		rotated, err := f.Store.RotateWebhookSecret(t.Context(), w, time.Hour)
		require.NoError(t, err)
		require.Equal(t, 2, rotated.Secret.Version)
		require.Equal(t, 1, rotated.OldSecret.Version)
		require.Equal(t, []byte("sealed"), rotated.OldSecret.Ciphertext)
		texts, err := f.Store.ListSealedTexts(t.Context(), f.Tenant, 2, 10)
		require.NoError(t, err)
		require.Equal(t, []vault.Text{rotated.Secret, *rotated.OldSecret}, texts)
		for _, text := range texts {
			text.KeyVersion, text.Ciphertext = 2, append([]byte("anew "), text.Ciphertext...)
			done, err := f.Store.ResealText(t.Context(), text)
			require.NoError(t, err)
			require.True(t, done)
		}
		is := f.findWebhook(t, w.ID)
		require.Equal(t, "anew second", string(is.Secret.Ciphertext))
		require.Equal(t, "anew sealed", string(is.OldSecret.Ciphertext))
		require.Equal(t, rotated.Revision, is.Revision)
		texts, err = f.Store.ListSealedTexts(t.Context(), f.Tenant, 2, 10)
		require.NoError(t, err)
		require.Empty(t, texts)
		at := is
		at.Secret.Ciphertext = []byte("third")
		is, err = f.Store.RotateWebhookSecret(t.Context(), at, 0)
		require.NoError(t, err)
		require.Nil(t, is.OldSecret, "without an overlap")
	})

	t.Run("a quarantine is an event, and a tenant has so many webhooks", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		quarantined := func(slug string) webhook.Webhook {
			return f.Webhook(t, func(w *webhook.Webhook) { w.Types, w.Tool = []tool.EventType{webhook.EventQuarantined}, slug })
		}
		all, own, strange := quarantined(""), quarantined("refund"), quarantined("another")
		_, err := f.Conn(t).Exec(t.Context(),
			"update tool_registry set quarantine = 'the server changed its definition' where tenant_id = $1 and slug = 'refund'",
			f.Tenant)
		require.NoError(t, err)
		_, err = f.Conn(t).Exec(t.Context(),
			"update tool_registry set quarantine = '' where tenant_id = $1 and slug = 'refund'", f.Tenant)
		require.NoError(t, err)
		for _, w := range []webhook.Webhook{all, own} {
			got := f.deliveries(t, w)
			require.Len(t, got, 1)
			require.Contains(t, string(got[0].Data), `"the server changed its definition"`)
		}
		require.Empty(t, f.deliveries(t, strange))
		for range webhook.MaxWebhooks - 5 {
			f.Webhook(t, nil)
		}
		made := atOnce(8, func(int) error {
			_, err := f.Store.CreateWebhook(t.Context(), webhook.Webhook{
				ID: NewID(t), Tenant: f.Tenant, URL: "https://example.com", Types: all.Types, Secret: all.Secret,
			})
			return err
		})
		requireAllBut(t, 2, made, "which is the most")
		page, err := f.Store.ListWebhooks(t.Context(), f.Tenant, own.ID, 10)
		require.NoError(t, err)
		require.Equal(t, []webhook.Webhook{all}, page)
		_, err = f.Store.DeleteWebhook(t.Context(), f.Tenant, all.ID, all.Revision+1)
		require.ErrorIs(t, err, webhook.ErrChanged)
		_, err = f.Store.DeleteWebhook(t.Context(), f.Tenant, all.ID, all.Revision)
		require.NoError(t, err)
		_, err = f.Store.DeleteWebhook(t.Context(), f.Tenant, all.ID, 0)
		RequireKind(t, tool.NotFound, err)
	})

	t.Run("deliveries go with their run, and with time", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		w := f.Webhook(t, nil)
		run := f.EndedRun(t)
		f.EndedRun(t)
		require.Equal(t, 2, f.makeDeliveries(t))
		conn := f.Conn(t)
		_, err := conn.Exec(t.Context(), "delete from runs where tenant_id = $1 and id = $2", f.Tenant, run.ID)
		require.NoError(t, err)
		left := f.deliveries(t, w)
		require.Len(t, left, 1)
		_, err = conn.Exec(t.Context(), `update webhook_deliveries set id = uuid_floor(now() - interval '31 days'),
			created_at = now() - interval '31 days' where id = $1`, left[0].ID)
		require.NoError(t, err)
		gone, err := f.Store.SweepDeliveries(t.Context())
		require.NoError(t, err)
		require.Zero(t, gone, "a delivery that is still attempted is kept")
		_, err = conn.Exec(t.Context(), `update webhook_deliveries set status = 'delivered', ended_at = now()
			where tenant_id = $1`, f.Tenant)
		require.NoError(t, err)
		gone, err = f.Store.SweepDeliveries(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, gone)
		require.Empty(t, f.deliveries(t, w))
	})
}
