package fuzz_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/platform/dev/embedded"
	"github.com/toolcrib/toolcrib/platform/models/scripted"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// plantedSecret stands in every tool's configuration and must not come out.
const plantedSecret = "planted-b7c1e9a04d"

// site is the platform as its users have it: the API as toolcrib serve puts it
// together, on a socket, with a worker, a database and two tenants.
type site struct {
	db      *storetest.Database
	address string // Host and port of the API.
	queue   string
	actors  []actor
	doc     *document
	log     *eavesdropper
	global  []string // Ids of what all tenants share.
	client  client.Client
	servers fickle
}

// actor is a caller of the API.
type actor struct {
	name        string
	tenant      tool.TenantID // Empty for a caller without a key.
	keyID       string
	key         string
	permissions []string
}

// Places in [site.actors]: two callers with all permissions in tenants of their
// own, one that may only read in ann's tenant, and two without permissions.
const (
	ann = iota
	bob
	reader
	nobody
	impostor
)

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{
		db:    storetest.NewDatabase(t, store.Options{Logger: quiet(), MaxConns: 16}),
		queue: "fuzz-" + rand.Text(), // No id, which would be taken for one of a tenant.
		log:   &eavesdropper{},
	}
	log := slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	_, err := serve.Migrate(t.Context(), s.db.URL, quiet())
	require.NoError(t, err)
	options := client.Options{
		HostPort: temporalServer.Address(), Namespace: embedded.DefaultNamespace, Logger: sdklog.NewStructuredLogger(log),
	}
	w, err := serve.StartWorker(t.Context(), serve.WorkerConfig{
		Temporal: options, TaskQueue: s.queue,
		Plugin: worker.Config{
			Store: s.db.Store, Functions: functions(t), SecretsDir: t.TempDir(), Logger: log,
			Models: map[string]agent.Model{"scripted": scripted.New(transcripts(t))},
		},
	})
	require.NoError(t, err)
	t.Cleanup(w.Stop)
	s.servers.Discoverer = w.Discoverer()
	s.client = w.Client()
	s.address = s.serve(t, s.db.Store, s.client)

	s.addActor(t, "ann", s.db.Tenant(t), "*")
	s.addActor(t, "bob", s.db.Tenant(t), "*")
	s.addActor(t, "reader", s.actors[ann].tenant, "tools.read", "runs.read")
	key := s.actors[ann].key
	s.actors = append(s.actors, actor{name: "nobody"}, actor{name: "impostor", key: key[:len(key)-4] + "aaaa"})
	s.log.listenFor(plantedSecret, s.actors[ann].key, s.actors[bob].key, s.actors[reader].key)
	s.doc = readDocument(t, s.address)
	rows, err := s.db.Conn(t).Query(t.Context(), `select id::text from tool_registry where tenant_id is null
		union all select id::text from tool_versions where tenant_id is null`)
	require.NoError(t, err)
	s.global, err = pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return s
}

func (s *site) addActor(t *testing.T, name string, tenant tool.TenantID, permissions ...string) {
	t.Helper()
	k, text, err := s.db.Store.CreateKey(t.Context(), store.Key{Tenant: tenant, Name: name, Permissions: permissions})
	require.NoError(t, err)
	s.actors = append(s.actors, actor{name: name, tenant: tenant, keyID: k.ID, key: text, permissions: permissions})
}

// serve serves the API on a free port until the test ends.
func (s *site) serve(t *testing.T, db *store.Store, temporal client.Client) (address string) {
	t.Helper()
	keys, err := vault.ParseKeys(vault.GenerateKey())
	require.NoError(t, err)
	handler, err := serve.Handler(t.Context(), serve.HandlerConfig{
		Store: db, Temporal: temporal, Namespace: embedded.DefaultNamespace, TaskQueue: s.queue, Version: "1.0.0",
		Keys: keys, Discoverer: &s.servers, Logger: slog.New(slog.NewJSONHandler(s.log, nil)),
	})
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var served sync.WaitGroup
	served.Go(func() { _ = serve.HTTP(ctx, listener, handler, quiet()) })
	t.Cleanup(func() {
		stop()
		served.Wait()
	})
	return listener.Addr().String()
}

// functions are what the tools of the fuzzer's definitions do.
func functions(t *testing.T) *function.Registry {
	t.Helper()
	reg := function.NewRegistry()
	require.NoError(t, function.Define(reg, "echo", "Echoes.",
		func(_ context.Context, in map[string]any) (map[string]any, error) {
			return in, nil
		}, function.Pure()))
	require.NoError(t, function.Define(reg, "note", "Notes.", func(context.Context, map[string]any) (string, error) {
		return "noted", nil
	}))
	require.NoError(t, function.Define(reg, "dawdle", "Takes its time.",
		func(ctx context.Context, _ map[string]any) (string, error) {
			select {
			case <-time.After(500 * time.Millisecond):
				return "done", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}, function.Pure()))
	return reg
}

// transcripts is a folder of what the scripted models say.
func transcripts(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, calls := range map[string]string{"talk": "echoIt", "wait": "dawdleIt"} {
		text := "turns:\n  - call:\n      - {id: a, tool: " + calls + ", args: {say: hello}}\n  - say: done\n"
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(text), 0o600))
	}
	return dir
}

// eavesdropper listens to a log for what must not be in it.
type eavesdropper struct {
	mu        sync.Mutex
	forbidden [][]byte
	heard     []string
}

func (e *eavesdropper) listenFor(secrets ...string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range secrets {
		e.forbidden = append(e.forbidden, []byte(s))
	}
}

// overheard returns the lines that hold what must not be in them.
func (e *eavesdropper) overheard() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.heard)
}

func (e *eavesdropper) Write(line []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, secret := range e.forbidden {
		if bytes.Contains(line, secret) {
			e.heard = append(e.heard, string(line))
		}
	}
	return len(line), nil
}
