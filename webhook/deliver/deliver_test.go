package deliver_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/egress/egresstest"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/webhook"
	"github.com/toolcrib/toolcrib/webhook/deliver"
)

func TestAnEventIsDelivered(t *testing.T) {
	t.Parallel()

	r := newRig(t)
	w, secret := r.hook(t)
	require.True(t, strings.HasPrefix(secret, "whsec_"))
	require.NotContains(t, string(w.Secret.Ciphertext), secret)
	r.serve(t, r.Store, nil)
	run := r.EndedRun(t)
	got := r.await(t, w, 1, webhook.Delivered)[0]
	require.Equal(t, 1, got.Attempts)
	require.Equal(t, http.StatusNoContent, got.LastStatus)
	requests := r.receiver.requests()
	require.Len(t, requests, 1)
	requireSigned(t, requests[0], secret)
	require.Equal(t, "application/json", requests[0].header.Get("Content-Type"))
	require.Equal(t, got.ID, requests[0].id())

	var message webhook.Message
	require.NoError(t, json.Unmarshal(requests[0].body, &message))
	require.Equal(t, got.ID, message.ID)
	require.Equal(t, agent.EventRunFailed, message.Type)
	require.Equal(t, r.Tenant, message.Tenant)
	require.WithinDuration(t, time.Now(), message.Time, time.Minute)
	var data struct {
		agent.RunEnded
		RunID string `json:"run_id"`
		Seq   int64  `json:"seq"`
		Agent string `json:"agent"`
	}
	require.NoError(t, json.Unmarshal(message.Data, &data))
	require.Equal(t, run.ID, data.RunID)
	require.Equal(t, agent.RunFailed, data.Status)
	require.Equal(t, r.Agent.Slug, data.Agent)
	require.NotZero(t, data.Seq)
}

// A receiver that fails, hangs, breaks off, redirects and restarts sees one id, in several
// attempts.
func TestReceiversThatFail(t *testing.T) {
	t.Parallel()

	r := newRig(t)
	r.receiver.answer = func(n int, w http.ResponseWriter, req *http.Request) {
		switch n {
		case 1:
			http.Error(w, "no \x00disk\u202e", http.StatusInternalServerError)
		case 2:
			<-req.Context().Done() // Hangs until the other side gives up.
		case 3:
			panic(http.ErrAbortHandler) // Breaks off.
		case 4:
			http.Redirect(w, req, "http://"+r.receiver.host+"/elsewhere", http.StatusTemporaryRedirect)
		case 5: // It restarts, and has answered nobody.
			go r.receiver.stop()
			<-req.Context().Done()
		}
	}
	w, secret := r.hook(t)
	var told told
	r.serve(t, r.Store, func(cfg *deliver.Config) { cfg.Observer = &told })
	r.EndedRun(t)
	require.Eventually(t, func() bool { return len(r.receiver.requests()) >= 5 }, time.Minute, 10*time.Millisecond)
	var while webhook.Delivery
	require.Eventually(t, func() bool {
		while = r.await(t, w, 1, webhook.Pending)[0]
		return while.LastError == "the upstream refused the connection"
	}, time.Minute, 10*time.Millisecond)
	require.Zero(t, while.LastStatus)
	r.receiver.start(t, r.receiver.host)
	got := r.await(t, w, 1, webhook.Delivered)[0]
	requests := r.receiver.requests()
	require.Len(t, requests, 6, "the redirect was not followed")
	for _, request := range requests {
		require.Equal(t, got.ID, request.id())
		require.Equal(t, requests[0].body, request.body)
		requireSigned(t, request, secret)
	}
	require.GreaterOrEqual(t, got.Attempts, 6)
	require.Eventually(t, func() bool { return told.count(deliver.Delivered) == 1 }, time.Minute, 10*time.Millisecond)
	require.Equal(t, got.Attempts-1, told.count(deliver.Retried))
	require.Equal(t, 1, told.count("over "+deliver.Delivered))
}

// told counts what an observer is told.
type told struct {
	mu     sync.Mutex
	counts map[string]int
}

func (o *told) count(what string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.counts[what]
}

func (o *told) Attempted(_ context.Context, outcome string, took time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.counts == nil {
		o.counts = map[string]int{}
	}
	if took > 0 {
		o.counts[outcome]++
	}
}

func (o *told) Over(ctx context.Context, outcome string, after time.Duration) {
	o.Attempted(ctx, "over "+outcome, after)
}

func TestTwoServersShareTheWork(t *testing.T) {
	t.Parallel()

	r := newRig(t)
	w, _ := r.hook(t)
	const events = 40
	for range events {
		r.EndedRun(t)
	}
	second, err := store.Open(t.Context(), r.URL, store.Options{SetRole: store.AppRole, MaxConns: 4})
	require.NoError(t, err)
	t.Cleanup(second.Close)
	r.serve(t, r.Store, nil)
	r.serve(t, second, nil)
	all := r.await(t, w, events, webhook.Delivered)
	seen := map[string]int{}
	for _, request := range r.receiver.requests() {
		seen[request.id()]++
	}
	require.Len(t, seen, events)
	for _, d := range all {
		require.Equal(t, 1, seen[d.ID])
		require.Equal(t, 1, d.Attempts)
	}
}

// A server is killed while a receiver has its request: another sends it again, under its id.
func TestAKilledServer(t *testing.T) {
	t.Parallel()

	r := newRig(t)
	r.receiver.answer = func(n int, _ http.ResponseWriter, req *http.Request) {
		if n == 1 {
			<-req.Context().Done()
		}
	}
	w, _ := r.hook(t)
	text, err := json.Marshal(child{Database: r.URL, Key: r.key, Host: r.receiver.host})
	require.NoError(t, err)
	server := exec.CommandContext(t.Context(), os.Args[0])
	server.Env = append(os.Environ(), childVariable+"="+string(text))
	require.NoError(t, server.Start())
	r.EndedRun(t)
	require.Eventually(t, func() bool { return len(r.receiver.requests()) == 1 }, 20*time.Second, 5*time.Millisecond)
	require.NoError(t, server.Process.Kill())
	require.Error(t, server.Wait())

	r.serve(t, r.Store, nil)
	got := r.await(t, w, 1, webhook.Delivered)[0]
	requests := r.receiver.requests()
	require.Len(t, requests, 2)
	require.Equal(t, requests[0].id(), requests[1].id())
	require.Equal(t, 2, got.Attempts)
}

// However many slow receivers a tenant has, the deliveries of others go on.
func TestATenantLeavesRoomForOthers(t *testing.T) {
	t.Parallel()

	slow := newRig(t)
	quick := *slow
	quick.Fixture = storetest.NewFixture(t, slow.Database)
	release := make(chan struct{})
	defer close(release)
	slow.receiver.answer = func(_ int, w http.ResponseWriter, req *http.Request) {
		if strings.HasSuffix(req.URL.Path, "/slow") {
			<-release
		}
		w.WriteHeader(http.StatusNoContent)
	}
	for range 4 {
		w, _, err := slow.service.Create(t.Context(), webhook.Webhook{
			Tenant: slow.Tenant, URL: slow.receiver.url() + "/slow", Types: []tool.EventType{agent.EventRunFailed}, Active: true,
		})
		require.NoError(t, err)
		for range 4 {
			_, err = slow.Store.PingWebhook(t.Context(), slow.Tenant, w.ID)
			require.NoError(t, err)
		}
	}
	slow.serve(t, slow.Store, func(c *deliver.Config) {
		c.Timeout, c.Lease, c.Concurrent = time.Minute, 2*time.Minute, 8
	})
	require.Eventually(t, func() bool { return len(slow.receiver.requests()) >= 4 }, time.Minute, 5*time.Millisecond)
	w, _ := quick.hook(t)
	_, err := quick.Store.PingWebhook(t.Context(), quick.Tenant, w.ID)
	require.NoError(t, err)
	quick.await(t, w, 1, webhook.Delivered)
}

// A server that stops returns what a receiver does not answer.
func TestAServerStops(t *testing.T) {
	t.Parallel()

	r := newRig(t)
	r.receiver.answer = func(_ int, _ http.ResponseWriter, req *http.Request) { <-req.Context().Done() }
	w, _ := r.hook(t)
	stop := r.serve(t, r.Store, func(c *deliver.Config) { c.Timeout, c.Lease = time.Minute, 2*time.Minute })
	r.EndedRun(t)
	require.Eventually(t, func() bool { return len(r.receiver.requests()) == 1 }, time.Minute, 5*time.Millisecond)
	stop()
	due, err := r.Store.ClaimDeliveries(t.Context(), r.Tenant, webhook.Claim{Most: 1, Each: 1, Lease: time.Second})
	require.NoError(t, err)
	require.Len(t, due, 1)
	require.Equal(t, w.ID, due[0].WebhookID)
	require.Equal(t, 1, due[0].Attempts, "what the stopped server began is no attempt")
}

func TestRotation(t *testing.T) {
	t.Parallel()

	r := newRig(t)
	w, first := r.hook(t)
	r.serve(t, r.Store, nil)
	w, second, err := r.service.Rotate(t.Context(), r.Tenant, w.ID, time.Hour, w.Revision)
	require.NoError(t, err)
	require.NotEqual(t, first, second)
	r.EndedRun(t)
	r.await(t, w, 1, webhook.Delivered)
	requireSigned(t, r.receiver.requests()[0], second, first)

	// The data key is rotated too, and signatures go on.
	_, err = r.vault.RotateDataKey(t.Context(), r.Tenant)
	require.NoError(t, err)
	is, err := r.Store.FindWebhook(t.Context(), r.Tenant, w.ID)
	require.NoError(t, err)
	require.Equal(t, 2, is.Secret.KeyVersion)
	require.Equal(t, 2, is.OldSecret.KeyVersion)
	r.EndedRun(t)
	r.await(t, w, 2, webhook.Delivered)
	requireSigned(t, r.receiver.requests()[1], second, first)

	_, err = r.Conn(t).Exec(t.Context(), "update webhooks set old_secret_until = now()")
	require.NoError(t, err)
	r.EndedRun(t)
	r.await(t, w, 3, webhook.Delivered)
	requireSigned(t, r.receiver.requests()[2], second)

	_, third, err := r.service.Rotate(t.Context(), r.Tenant, w.ID, -1, 0)
	require.NoError(t, err)
	r.EndedRun(t)
	r.await(t, w, 4, webhook.Delivered)
	requireSigned(t, r.receiver.requests()[3], third)
	_, _, err = r.service.Rotate(t.Context(), r.Tenant, w.ID, 0, w.Revision)
	require.ErrorIs(t, err, webhook.ErrChanged)
	_, _, err = r.service.Rotate(t.Context(), r.Tenant, w.ID, 8*24*time.Hour, 0)
	require.Equal(t, tool.Invalid, tool.KindOf(err))
}

func TestReplayAndPing(t *testing.T) {
	t.Parallel()

	r := newRig(t)
	w, secret := r.hook(t)
	r.serve(t, r.Store, nil)
	r.EndedRun(t)
	first := r.await(t, w, 1, webhook.Delivered)[0]
	replayed, err := r.Store.ReplayDelivery(t.Context(), r.Tenant, w.ID, first.ID)
	require.NoError(t, err)
	require.Equal(t, webhook.Pending, replayed.Status)
	again := r.await(t, w, 1, webhook.Delivered)[0]
	require.Equal(t, 1, again.Replays)
	requests := r.receiver.requests()
	require.Len(t, requests, 2)
	require.Equal(t, first.ID, requests[1].id(), "replayed under its id, so that a receiver can tell")
	require.Equal(t, requests[0].body, requests[1].body)

	off := false
	_, err = r.service.Change(t.Context(), r.Tenant, w.ID, webhook.Change{Active: &off})
	require.NoError(t, err)
	r.EndedRun(t)
	ping, err := r.Store.PingWebhook(t.Context(), r.Tenant, w.ID)
	require.NoError(t, err)
	all := r.await(t, w, 2, webhook.Delivered)
	require.Equal(t, ping.ID, all[0].ID, "one that is off can be pinged, and gets nothing else")
	requireSigned(t, r.receiver.requests()[2], secret)

	r.receiver.answer = func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }
	ping, err = r.Store.PingWebhook(t.Context(), r.Tenant, w.ID)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		got, err := r.Store.FindDelivery(t.Context(), r.Tenant, w.ID, ping.ID)
		return err == nil && got.Status == webhook.Failed && got.Attempts == 1
	}, 10*time.Second, 20*time.Millisecond, "a ping is attempted once")
}

// A webhook whose deliveries fail for long, or that is gone, is disabled; others are told.
func TestDisabled(t *testing.T) {
	t.Parallel()

	r := newRig(t)
	r.receiver.answer = func(_ int, w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("X-Kind") == "" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}
	broken, _ := r.hook(t)
	r.serve(t, r.Store, func(c *deliver.Config) {
		c.Retry = func(attempt int) (time.Duration, bool) { return 20 * time.Millisecond, attempt < 3 }
	})
	watcher, _ := r.hook(t, webhook.EventDisabled)
	r.EndedRun(t)
	failed := r.await(t, broken, 1, webhook.Failed)[0]
	require.Equal(t, 3, failed.Attempts)
	require.Equal(t, http.StatusServiceUnavailable, failed.LastStatus)
	is, err := r.Store.FindWebhook(t.Context(), r.Tenant, broken.ID)
	require.NoError(t, err)
	require.False(t, is.Active)
	require.NotNil(t, is.DisabledAt)
	require.Contains(t, is.DisabledReason, "the receiver answered with 503 Service Unavailable")
	require.Eventually(t, func() bool {
		all, err := r.Store.ListDeliveries(t.Context(), webhook.DeliveryQuery{Tenant: r.Tenant, WebhookID: watcher.ID})
		return err == nil && len(all) == 1 && strings.Contains(string(all[0].Data), broken.ID) &&
			!strings.Contains(string(all[0].Data), r.receiver.url()) // Its URL is not for other receivers.
	}, time.Minute, 20*time.Millisecond)

	r.receiver.answer = func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }
	on := true
	is, err = r.service.Change(t.Context(), r.Tenant, broken.ID, webhook.Change{Active: &on})
	require.NoError(t, err)
	require.Nil(t, is.DisabledAt)
	r.EndedRun(t)
	require.Eventually(t, func() bool {
		is, err := r.Store.FindWebhook(t.Context(), r.Tenant, broken.ID)
		return err == nil && !is.Active && strings.Contains(is.DisabledReason, "410 Gone")
	}, time.Minute, 20*time.Millisecond)
}

func TestAddressesAreRefused(t *testing.T) {
	t.Parallel()

	gate, err := egress.New(egress.Config{Policy: allowing("127.0.0.1:8080", "hooks.internal")})
	require.NoError(t, err)
	t.Cleanup(gate.Close)
	check := deliver.Checker(gate)
	for _, allowed := range []string{
		"https://example.com/hooks", "http://127.0.0.1:8080/x", "https://hooks.internal/", "http://hooks.internal/",
	} {
		require.NoError(t, check("t", allowed), allowed)
	}
	for _, refused := range []string{
		"http://example.com/hooks", "https://10.0.0.7/", "https://169.254.169.254/latest", "https://127.0.0.1/",
		"https://[::1]/", "https://user:pass@example.com/", "ftp://example.com/", "https://example.com:22/",
		"http://127.0.0.1:8081/", "https://",
	} {
		require.Error(t, check("t", refused), refused)
	}
	err = check("t", "http://example.com/hooks")
	require.ErrorContains(t, err, "use https")
}

// What a webhook is sent to is judged by its address at each attempt, whatever its name said
// before.
func TestNothingInward(t *testing.T) {
	t.Parallel()

	key := vault.GenerateKey()
	egresstest.Surface(t, "webhooks", func(ctx context.Context, cfg egress.Config, url string) error {
		keys, err := vault.ParseKeys(key)
		require.NoError(t, err)
		gate := egresstest.Gate(t, cfg)
		err = deliver.SendOnce(ctx, gate, keys, url)
		if rest, ok := strings.CutPrefix(url, "http://"); ok && err != nil { // Most are refused for being http.
			err = deliver.SendOnce(ctx, gate, keys, "https://"+rest)
		}
		return err
	})
}
