package chaos_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"github.com/toolcrib/toolcrib/platform/cli"
	platformclient "github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/platform/dev/embedded"
	"github.com/toolcrib/toolcrib/platform/faulttest/grpcproxy"
	"github.com/toolcrib/toolcrib/platform/faulttest/pgproxy"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// site is an installation: two servers and two workers, whose PostgreSQL and
// Temporal stand behind proxies, and an upstream that counts.
type site struct {
	t         *testing.T
	cluster   *cluster
	postgres  *pgproxy.Proxy
	frontend  *grpcproxy.Proxy
	backend   *backend
	temporal  client.Client // Straight to the server.
	upstream  *upstream
	tenant    tool.TenantID
	servers   []*process
	workers   []*process
	clients   []*platformclient.Client
	addresses []string // Of the servers.

	mu       sync.Mutex
	promised []string        // Ids of runs that a server accepted.
	handled  map[string]bool // Workflow ids that were reset or terminated by hand.
	version  int             // Of the definitions that were applied last.
}

func newSite(t *testing.T) *site {
	t.Helper()
	return newSiteIn(t, "")
}

// newSiteIn is newSite where Temporal keeps its database in a folder; in memory if that is empty.
func newSiteIn(t *testing.T, temporalDir string) *site {
	t.Helper()
	s := &site{
		t: t, cluster: newCluster(t), backend: newBackend(t, temporalDir), upstream: newUpstream(t),
		handled: make(map[string]bool),
	}
	s.connectTemporal()
	key := s.prepareDatabase()
	proxied, err := s.postgres.URL(s.cluster.login(t, "app", store.AppRole))
	require.NoError(t, err)
	maintenance, err := s.postgres.URL(s.cluster.login(t, "maintenance", store.MaintenanceRole))
	require.NoError(t, err)
	s.cluster.installFaults(t, "app")
	environ := []string{
		cli.DatabaseVariable + "=" + proxied, "TOOLCRIB_MAINTENANCE_DATABASE_URL=" + maintenance,
		cli.QueueVariable + "=q-" + uuid.NewString(),
		"TEMPORAL_ADDRESS=" + s.frontend.Address(), "TEMPORAL_NAMESPACE=" + embedded.DefaultNamespace,
	}
	transcripts := t.TempDir()
	for name, text := range scripts {
		require.NoError(t, os.WriteFile(filepath.Join(transcripts, name+".yaml"), []byte(text), 0o600))
	}
	for i := range 2 {
		address := freeAddress(t)
		s.addresses = append(s.addresses, address)
		s.servers = append(s.servers, keep(t, fmt.Sprintf("server %d", i), environ, "serve", "--listen", address))
		s.workers = append(s.workers, keep(t, fmt.Sprintf("worker %d", i), environ,
			"worker", "--transcripts", transcripts, "--allow-host", strings.TrimPrefix(s.upstream.URL, "http://")))
		c, err := platformclient.New(platformclient.Config{Server: "http://" + address, Key: key, Timeout: 20 * time.Second})
		require.NoError(t, err)
		t.Cleanup(c.Close)
		s.clients = append(s.clients, c)
		s.awaitReady("http://" + address + "/readyz")
	}
	require.NoError(t, s.apply(t.Context(), s.clients[0]))
	return s
}

// connectTemporal starts the proxy in front of Temporal.
func (s *site) connectTemporal() {
	s.t.Helper()
	address := s.backend.server.Address()
	var err error
	s.frontend, err = grpcproxy.Start(address)
	require.NoError(s.t, err)
	s.t.Cleanup(s.frontend.Close)
	s.temporal, err = client.Dial(client.Options{
		HostPort: address, Namespace: embedded.DefaultNamespace, Logger: sdklog.NewStructuredLogger(quiet()),
	})
	require.NoError(s.t, err)
	s.t.Cleanup(s.temporal.Close)
}

// prepareDatabase migrates, puts the proxy in front, and makes a tenant with a
// key that may do everything.
func (s *site) prepareDatabase() (key string) {
	s.t.Helper()
	ctx := s.t.Context()
	_, err := serve.Migrate(ctx, s.cluster.url(), quiet())
	require.NoError(s.t, err)
	s.postgres, err = pgproxy.Start(fmt.Sprintf("127.0.0.1:%d", s.cluster.port()))
	require.NoError(s.t, err)
	s.t.Cleanup(s.postgres.Close)
	platform, err := store.OpenPlatform(ctx, s.cluster.url(), store.Options{Logger: quiet(), MaxConns: 1})
	require.NoError(s.t, err)
	defer platform.Close()
	tenant, err := platform.CreateTenant(ctx, store.Tenant{Slug: "chaos"})
	require.NoError(s.t, err)
	s.tenant = tenant.ID
	db, err := store.Open(ctx, s.cluster.url(), store.Options{SetRole: store.AppRole, Logger: quiet(), MaxConns: 1})
	require.NoError(s.t, err)
	defer db.Close()
	_, key, err = db.CreateKey(ctx, store.Key{Tenant: s.tenant, Name: "chaos", Permissions: []string{"*"}})
	require.NoError(s.t, err)
	return key
}

// promise keeps that a server accepted a run.
func (s *site) promise(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.promised = append(s.promised, id)
}

// accepted returns the ids of the runs that servers accepted, oldest first.
func (s *site) accepted() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.promised...)
}

// handle records that a workflow was reset or terminated by hand.
func (s *site) handle(workflowID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handled[workflowID] = true
}

// query returns the rows of a statement, read as superuser.
func query[T any](ctx context.Context, s *site, sql string, args ...any) []T {
	s.t.Helper()
	var all []T
	require.NoError(s.t, s.cluster.withConn(ctx, s.t, func(conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		all, err = pgx.CollectRows(rows, pgx.RowToStructByPos[T])
		return err
	}))
	return all
}

// awaitReady waits until a server answers 200.
func (s *site) awaitReady(address string) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, address, http.NoBody)
		if err != nil {
			return false
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	}, patience, 20*time.Millisecond, "%s does not get ready", address)
}

// freeAddress returns a loopback address that is free now.
func freeAddress(t *testing.T) string {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

// withUser returns a database URL with another user.
func withUser(t *testing.T, address, user, password string) string {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	u.User = url.UserPassword(user, password)
	return u.String()
}

func quiet() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
}
