package cli_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/vault"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/webhook"
	"github.com/toolcrib/toolcrib/webhook/deliver"
)

// The life of a webhook, with a receiver that verifies what it gets as documented.
func TestWebhookCommands(t *testing.T) {
	t.Parallel()

	var secret atomic.Pointer[string]
	var got atomic.Int32
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		verifier := client.WebhookVerifier{Secrets: []string{*secret.Load()}}
		message, err := verifier.Verify(r.Header, body)
		if err != nil || message.Type != webhook.EventPing {
			http.Error(w, "not signed", http.StatusUnauthorized)
			return
		}
		got.Add(1)
	}))
	t.Cleanup(receiver.Close)
	host := strings.TrimPrefix(receiver.URL, "http://")
	gate, err := egress.New(egress.Config{Policy: func(tool.TenantID) egress.Policy {
		return egress.Policy{AllowHosts: []string{host}}
	}})
	require.NoError(t, err)
	t.Cleanup(gate.Close)
	keys, err := vault.ParseKeys(vault.GenerateKey())
	require.NoError(t, err)
	s := setup(t, func(cfg *serve.HandlerConfig) { cfg.Keys, cfg.CheckWebhook = keys, deliver.Checker(gate) })
	d, err := deliver.New(deliver.Config{
		Outbox: s.Store, Vault: vault.New(s.Store, vault.Options{Keys: keys}), Gate: gate, Interval: 20 * time.Millisecond,
	})
	require.NoError(t, err)
	go d.Run(t.Context())

	require.Contains(t, s.run(t, "webhook", "list").err, "no webhooks")
	none := s.run(t, "webhook", "create", receiver.URL)
	require.Equal(t, cli.ExitUsage, none.code)
	require.Contains(t, none.err, "--event")
	unknown := s.run(t, "webhook", "create", receiver.URL, "--event", "run.ended")
	require.NotEqual(t, cli.ExitOK, unknown.code)
	require.Contains(t, unknown.err, "run.failed")
	plain := s.run(t, "webhook", "create", "http://example.com", "--event", "run.failed")
	require.Contains(t, plain.err, "--allow-host")
	var made v1.WebhookSecret
	require.NoError(t, json.Unmarshal([]byte(s.ok(t, "webhook", "create", receiver.URL, "--event", "run.failed",
		"--event", "tool.needs_approval", "--description", "desk", "--json")), &made))
	secret.Store(&made.Secret)
	require.Contains(t, s.ok(t, "webhook", "list"), made.ID)
	shown := s.ok(t, "webhook", "show", made.ID)
	require.Contains(t, shown, "run.failed tool.needs_approval")
	require.NotContains(t, shown, "whsec_")

	require.Contains(t, s.ok(t, "webhook", "ping", made.ID), "delivered, answered 200")
	require.Equal(t, int32(1), got.Load())
	rotated := s.ok(t, "webhook", "rotate", made.ID)
	require.Contains(t, rotated, "whsec_")
	require.Contains(t, s.ok(t, "webhook", "ping", made.ID), "delivered", "the old secret signs too")
	s.ok(t, "webhook", "rotate", made.ID, "--overlap", "0")
	failed := s.run(t, "webhook", "ping", made.ID)
	require.NotEqual(t, cli.ExitOK, failed.code)
	require.Contains(t, failed.err, "the receiver answered with 401 Unauthorized")

	var page v1.Page[v1.Delivery]
	require.NoError(t, json.Unmarshal([]byte(s.ok(t, "webhook", "deliveries", made.ID, "--status", "failed", "--json")),
		&page))
	require.Len(t, page.Items, 1)
	require.Equal(t, "not signed", page.Items[0].LastAnswer)
	require.Contains(t, s.ok(t, "webhook", "deliveries", made.ID), "webhook.ping")
	require.Contains(t, s.ok(t, "webhook", "replay", made.ID, page.Items[0].ID), "is sent again")

	require.Contains(t, s.ok(t, "webhook", "update", made.ID, "--active=false", "--event", "run.completed"), "inactive")
	require.NoError(t, json.Unmarshal([]byte(s.ok(t, "webhook", "show", made.ID, "--json")), &made.Webhook))
	require.False(t, made.Active)
	require.Equal(t, "desk", made.Description)
	require.Equal(t, []tool.EventType{"run.completed"}, made.Types)
	require.Contains(t, s.ok(t, "webhook", "update", made.ID, "--active"), "active")
	require.Equal(t, "deleted "+made.ID+"\n", s.ok(t, "webhook", "delete", made.ID))
	require.Equal(t, cli.ExitNotFound, s.run(t, "webhook", "show", made.ID).code)
}
