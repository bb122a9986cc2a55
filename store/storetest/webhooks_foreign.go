package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/webhook"
)

// delivery makes a webhook of the fixture's tenant with a delivery that is due.
func (f foreign) delivery(t *testing.T) (webhook.Webhook, webhook.Delivery) {
	t.Helper()
	w := f.Webhook(t, nil)
	made, err := f.Store.PingWebhook(t.Context(), f.Tenant, w.ID)
	require.NoError(t, err)
	return w, made
}

// requireSameWebhook requires that a webhook and its deliveries are unchanged.
func (f foreign) requireSameWebhook(t *testing.T, w webhook.Webhook, all ...webhook.Delivery) {
	t.Helper()
	require.Equal(t, w, f.findWebhook(t, w.ID))
	require.ElementsMatch(t, all, f.deliveries(t, w))
}

// webhookCases are the foreign cases of webhooks and their deliveries.
var webhookCases = map[string]func(t *testing.T, f foreign){
	"CreateWebhook": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.CreateWebhook(t.Context(), webhook.Webhook{
			ID: NewID(t), Tenant: f.stranger, URL: "https://example.com", Types: []tool.EventType{webhook.EventQuarantined},
			Secret: vault.Text{KeyVersion: 1, Ciphertext: []byte("x")},
		})
		require.NoError(t, err)
		own, err := f.Store.ListWebhooks(t.Context(), f.Tenant, "", 10)
		require.NoError(t, err)
		require.Empty(t, own)
	},
	"FindWebhook": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.FindWebhook(t.Context(), f.stranger, f.Webhook(t, nil).ID)
		RequireKind(t, tool.NotFound, err)
	},
	"ListWebhooks": func(t *testing.T, f foreign) {
		t.Helper()
		f.Webhook(t, nil)
		all, err := f.Store.ListWebhooks(t.Context(), f.stranger, "", 10)
		require.NoError(t, err)
		require.Empty(t, all)
	},
	"ChangeWebhook": func(t *testing.T, f foreign) {
		t.Helper()
		w := f.Webhook(t, nil)
		stolen := w
		stolen.Tenant, stolen.URL = f.stranger, "https://evil.example"
		_, err := f.Store.ChangeWebhook(t.Context(), stolen)
		RequireKind(t, tool.Conflict, err)
		f.requireSameWebhook(t, w)
	},
	"RotateWebhookSecret": func(t *testing.T, f foreign) {
		t.Helper()
		w := f.Webhook(t, nil)
		stolen := w
		stolen.Tenant = f.stranger
		_, err := f.Store.RotateWebhookSecret(t.Context(), stolen, time.Hour)
		RequireKind(t, tool.Conflict, err)
		f.requireSameWebhook(t, w)
	},
	"DeleteWebhook": func(t *testing.T, f foreign) {
		t.Helper()
		w := f.Webhook(t, nil)
		_, err := f.Store.DeleteWebhook(t.Context(), f.stranger, w.ID, 0)
		RequireKind(t, tool.NotFound, err)
		f.requireSameWebhook(t, w)
	},
	"ListSealedTexts": func(t *testing.T, f foreign) {
		t.Helper()
		f.Webhook(t, nil)
		all, err := f.Store.ListSealedTexts(t.Context(), f.stranger, 2, 10)
		require.NoError(t, err)
		require.Empty(t, all)
	},
	"ResealText": func(t *testing.T, f foreign) {
		t.Helper()
		w := f.Webhook(t, nil)
		stolen := w.Secret
		stolen.Tenant, stolen.Ciphertext = f.stranger, []byte("other")
		done, err := f.Store.ResealText(t.Context(), stolen)
		require.NoError(t, err)
		require.False(t, done)
		f.requireSameWebhook(t, w)
	},
	"PingWebhook": func(t *testing.T, f foreign) {
		t.Helper()
		w := f.Webhook(t, nil)
		_, err := f.Store.PingWebhook(t.Context(), f.stranger, w.ID)
		RequireKind(t, tool.NotFound, err)
		f.requireSameWebhook(t, w)
	},
	"FindDelivery": func(t *testing.T, f foreign) {
		t.Helper()
		w, made := f.delivery(t)
		_, err := f.Store.FindDelivery(t.Context(), f.stranger, w.ID, made.ID)
		RequireKind(t, tool.NotFound, err)
	},
	"ListDeliveries": func(t *testing.T, f foreign) {
		t.Helper()
		w, _ := f.delivery(t)
		_, err := f.Store.ListDeliveries(t.Context(), webhook.DeliveryQuery{Tenant: f.stranger, WebhookID: w.ID})
		RequireKind(t, tool.NotFound, err)
	},
	"ReplayDelivery": func(t *testing.T, f foreign) {
		t.Helper()
		w, made := f.delivery(t)
		_, err := f.Store.ReplayDelivery(t.Context(), f.stranger, w.ID, made.ID)
		RequireKind(t, tool.NotFound, err)
		f.requireSameWebhook(t, w, made)
	},
	"MakeDeliveries": func(t *testing.T, f foreign) {
		t.Helper()
		w := f.Webhook(t, nil)
		f.EndedRun(t)
		made, err := f.Store.MakeDeliveries(t.Context(), f.stranger)
		require.NoError(t, err)
		require.Zero(t, made)
		f.requireSameWebhook(t, w)
	},
	"ClaimDeliveries": func(t *testing.T, f foreign) {
		t.Helper()
		w, made := f.delivery(t)
		due, err := f.Store.ClaimDeliveries(t.Context(), f.stranger, webhook.Claim{Most: 9, Each: 9, Lease: time.Minute})
		require.NoError(t, err)
		require.Empty(t, due)
		f.requireSameWebhook(t, w, made)
	},
	"EndAttempt": func(t *testing.T, f foreign) {
		t.Helper()
		w, _ := f.delivery(t)
		due := f.claim(t, 1, 1)[0]
		_, err := f.Store.EndAttempt(t.Context(), webhook.Attempt{
			Tenant: f.stranger, ID: due.ID, Fence: due.Fence, Status: webhook.Delivered,
		})
		RequireKind(t, tool.Conflict, err)
		f.requireSameWebhook(t, w, due.Delivery)
	},
	"ReleaseDelivery": func(t *testing.T, f foreign) {
		t.Helper()
		w, _ := f.delivery(t)
		due := f.claim(t, 1, 1)[0]
		require.NoError(t, f.Store.ReleaseDelivery(t.Context(), f.stranger, due.ID, due.Fence)) // No effect.
		f.requireSameWebhook(t, w, due.Delivery)
		require.Empty(t, f.claim(t, 1, 1))
	},
}
