package deliver_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/webhook"
	"github.com/toolcrib/toolcrib/webhook/deliver"
)

// childVariable makes the test binary a server that delivers, for tests that kill one. Its value
// is a [child] in JSON.
const childVariable = "TOOLCRIB_TEST_DELIVER"

type child struct{ Database, Key, Host string }

func TestMain(m *testing.M) {
	if text := os.Getenv(childVariable); text != "" {
		if err := serveChild(text); err != nil {
			panic(err)
		}
		return
	}
	m.Run() // Since Go 1.15 its result is the exit code.
}

// serveChild delivers until the process is killed.
func serveChild(text string) error {
	var c child
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return err
	}
	ctx := context.Background()
	s, err := store.Open(ctx, c.Database, store.Options{SetRole: store.AppRole, MaxConns: 2})
	if err != nil {
		return err
	}
	keys, err := vault.ParseKeys(c.Key)
	if err != nil {
		return err
	}
	gate, err := egress.New(egress.Config{Policy: allowing(c.Host)})
	if err != nil {
		return err
	}
	d, err := deliver.New(deliver.Config{
		Outbox: s, Vault: vault.New(s, vault.Options{Keys: keys}), Gate: gate, Interval: 20 * time.Millisecond,
		Timeout: time.Second, Lease: 1500 * time.Millisecond,
	})
	if err != nil {
		return err
	}
	d.Run(ctx)
	return nil
}

func allowing(hosts ...string) func(tool.TenantID) egress.Policy {
	return func(tool.TenantID) egress.Policy { return egress.Policy{AllowHosts: hosts} }
}

// rig is a tenant with runs, a receiver, and what delivers to it.
type rig struct {
	*storetest.Fixture
	key      string // Of the keyring.
	vault    *vault.Vault
	service  *webhook.Service
	receiver *receiver
	gate     *egress.Gate
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{
		Fixture: storetest.NewFixture(t, storetest.NewDatabase(t)), key: vault.GenerateKey(), receiver: newReceiver(t),
	}
	keys, err := vault.ParseKeys(r.key)
	require.NoError(t, err)
	r.vault = vault.New(r.Store, vault.Options{Keys: keys})
	t.Cleanup(func() { _ = r.vault.Close() })
	r.gate, err = egress.New(egress.Config{Policy: allowing(r.receiver.host)})
	require.NoError(t, err)
	t.Cleanup(r.gate.Close)
	r.service = webhook.NewService(r.Store, r.vault, deliver.Checker(r.gate))
	return r
}

// hook makes a webhook to the receiver.
func (r *rig) hook(t *testing.T, types ...tool.EventType) (webhook.Webhook, string) {
	t.Helper()
	if len(types) == 0 {
		types = []tool.EventType{agent.EventRunCompleted, agent.EventRunFailed, agent.EventRunCancelled}
	}
	w, secret, err := r.service.Create(t.Context(), webhook.Webhook{
		Tenant: r.Tenant, URL: r.receiver.url(), Types: types, Active: true, CreatedBy: "user:bob",
	})
	require.NoError(t, err)
	return w, secret
}

// serve starts a server that delivers, for as long as the test or until stop.
func (r *rig) serve(t *testing.T, outbox webhook.Outbox, change func(*deliver.Config)) (stop func()) {
	t.Helper()
	cfg := deliver.Config{
		Outbox: outbox, Vault: r.vault, Gate: r.gate, Interval: 20 * time.Millisecond, Timeout: 300 * time.Millisecond,
		Retry:  func(attempt int) (time.Duration, bool) { return 20 * time.Millisecond, attempt < 20 },
		Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	if change != nil {
		change(&cfg)
	}
	d, err := deliver.New(cfg)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() { d.Run(ctx) })
	stop = func() {
		cancel()
		running.Wait()
	}
	t.Cleanup(stop)
	return stop
}

// await returns the deliveries of a webhook once there are so many, and all have a status.
func (r *rig) await(t *testing.T, w webhook.Webhook, n int, status webhook.DeliveryStatus) []webhook.Delivery {
	t.Helper()
	var all []webhook.Delivery
	require.Eventually(t, func() bool {
		var err error
		all, err = r.Store.ListDeliveries(t.Context(), webhook.DeliveryQuery{Tenant: r.Tenant, WebhookID: w.ID, Limit: 200})
		if err != nil || len(all) != n {
			return false
		}
		for _, d := range all {
			if d.Status != status {
				return false
			}
		}
		return true
	}, 15*time.Second, 20*time.Millisecond, "want %d deliveries that are %s", n, status)
	return all
}

// request is a request that a receiver got.
type request struct {
	header http.Header
	body   []byte
}

func (r request) id() string { return r.header.Get(webhook.IDHeader) }

// receiver is a server that webhooks are sent to. It keeps its address when it restarts.
type receiver struct {
	host   string
	answer func(n int, w http.ResponseWriter, r *http.Request) // Answers the n-th request, from 1.

	mu     sync.Mutex
	server *http.Server
	got    []request
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{answer: func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }}
	r.start(t, "127.0.0.1:0")
	t.Cleanup(r.stop)
	return r
}

func (r *receiver) start(t *testing.T, address string) {
	t.Helper()
	var listener net.Listener
	require.Eventually(t, func() bool {
		var err error
		listener, err = (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
		return err == nil
	}, time.Minute, 10*time.Millisecond)
	r.host = listener.Addr().String()
	server := &http.Server{Handler: r, ReadHeaderTimeout: time.Second}
	r.mu.Lock()
	r.server = server
	r.mu.Unlock()
	go func() { _ = server.Serve(listener) }()
}

func (r *receiver) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.server.Close()
}

func (r *receiver) url() string {
	return (&url.URL{Scheme: "http", Host: r.host, Path: "/hooks"}).String()
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	r.mu.Lock()
	r.got = append(r.got, request{req.Header.Clone(), body})
	n := len(r.got)
	r.mu.Unlock()
	r.answer(n, w, req)
}

func (r *receiver) requests() []request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]request{}, r.got...)
}

// requireSigned requires that a request is signed by each of the secrets.
func requireSigned(t *testing.T, r request, secrets ...string) {
	t.Helper()
	require.Len(t, strings.Fields(r.header.Get(webhook.SignatureHeader)), len(secrets))
	for _, secret := range secrets {
		require.NoError(t, webhook.Verify(r.header, r.body, time.Now(), 0, secret))
	}
}
