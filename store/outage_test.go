package store_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// short are time-outs for tests, which wait for them.
var short = store.Timeouts{Operation: time.Second, Lock: 200 * time.Millisecond, Connect: 300 * time.Millisecond}

// silence is a server's address behind which nothing is passed on while it is
// silent: connections are accepted and stay open.
type silence struct {
	server string
	silent atomic.Bool
	mu     sync.Mutex
	open   []net.Conn
}

// through returns the URL with its host replaced.
func (s *silence) through(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	s.server = u.Host
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = listener.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, conn := range s.open {
			_ = conn.Close()
		}
	})
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			s.join(client)
		}
	}()
	u.Host = listener.Addr().String()
	return u.String()
}

func (s *silence) join(client net.Conn) {
	server, err := (&net.Dialer{}).Dial("tcp", s.server)
	if err != nil {
		_ = client.Close()
		return
	}
	s.mu.Lock()
	s.open = append(s.open, client, server)
	s.mu.Unlock()
	go s.pass(server, client)
	go s.pass(client, server)
}

// pass drops what comes while it is silent.
func (s *silence) pass(to, from net.Conn) {
	buffer := make([]byte, 1<<16)
	for {
		n, err := from.Read(buffer)
		if n > 0 && !s.silent.Load() {
			_, err = to.Write(buffer[:n])
		}
		if err != nil {
			if errors.Is(err, io.EOF) && s.silent.Load() {
				return // Nothing is heard of the end either.
			}
			_, _ = to.Close(), from.Close()
			return
		}
	}
}

// A server that is not heard of any more, on open connections and on new ones, is
// unavailable within the operation's time, and is found again.
func TestSilentServerIsUnavailable(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	tenant := d.Tenant(t)
	var line silence
	s, err := store.Open(t.Context(), line.through(
		t, d.URL,
	), store.Options{SetRole: store.AppRole, MaxConns: 2, Timeouts: short})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	_, err = s.FindTenant(t.Context(), tenant)
	require.NoError(t, err)

	line.silent.Store(true)
	for range 4 { // More than there are connections.
		_, err = s.FindTenant(t.Context(), tenant) // Without a deadline of its own.
		storetest.RequireKind(t, tool.Unavailable, err)
	}
	require.Error(t, s.CheckWrites(deadline(t, time.Second)))
	line.silent.Store(false)
	require.Eventually(t, func() bool {
		_, err := s.FindTenant(t.Context(), tenant)
		return err == nil
	}, 10*time.Second, 10*time.Millisecond, "connections that are given up take the place of new ones")
	require.NoError(t, s.CheckWrites(deadline(t, 5*time.Second)))
}

func deadline(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// A listener notices that its server is gone: it does not wait for ever.
func TestListenerNoticesSilence(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	var line silence
	s, err := store.Open(t.Context(), line.through(t, d.URL), store.Options{
		SetRole: store.AppRole, MaxConns: 2, Timeouts: short, ListenQuiet: 100 * time.Millisecond,
	})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	ended := make(chan error, 1)
	go func() { ended <- s.Listen(t.Context(), func(store.Wake) {}) }()
	require.Eventually(t, func() bool { return s.PoolStats().Acquires > 3 }, time.Minute, time.Millisecond)
	select {
	case err := <-ended:
		t.Fatalf("a connection that is quiet was given up: %v", err)
	case <-time.After(500 * time.Millisecond):
	}
	line.silent.Store(true)
	require.Error(t, <-ended)
}

// A held lock is unavailable, and not a defect; other tables are served meanwhile,
// however many wait for the locked one.
func TestLockedTableStallsNobodyElse(t *testing.T) {
	t.Parallel()

	patient := store.Timeouts{Operation: 15 * time.Second, Lock: 300 * time.Millisecond}
	d := storetest.NewDatabase(t, store.Options{MaxConns: 4, Timeouts: patient})
	f := storetest.NewFixture(t, d)
	holder, err := d.Conn(t).Begin(t.Context())
	require.NoError(t, err)
	_, err = holder.Exec(t.Context(), "lock table runs in access exclusive mode")
	require.NoError(t, err)

	ctx, stop := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	for i := range 60 {
		waiting.Go(func() {
			for ctx.Err() == nil {
				var err error
				if i%2 == 0 {
					_, err = d.Store.FindRun(ctx, f.Tenant, f.Run.ID)
				} else {
					_, err = d.Store.OpenTurn(ctx, f.Tenant, f.Run.ID, f.Turn.Message.ID, "k")
				}
				if ctx.Err() == nil {
					require.Equal(t, tool.Unavailable, tool.KindOf(err), "%d: %v", i%2, err)
				}
			}
		})
	}
	for range 200 {
		_, err := d.Store.FindTenant(t.Context(), f.Tenant)
		require.NoError(t, err)
	}
	stop()
	waiting.Wait()
	require.NoError(t, holder.Rollback(t.Context()))
	_, err = d.Store.FindRun(t.Context(), f.Tenant, f.Run.ID)
	require.NoError(t, err)
}

// A server that becomes read-only, as a primary does that is demoted, takes no
// writes: that is unavailable, the probe of writes says so, and connections to it
// are not kept.
func TestReadOnlyServer(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t, store.Options{MaxConns: 2, Timeouts: short})
	tenant := d.Tenant(t)
	require.NoError(t, d.Store.CheckWrites(t.Context()))
	super := d.Conn(t)
	writable := func(on bool) {
		value := map[bool]string{true: "off", false: "on"}[on]
		// New sessions get it from the database, those that are open from the test.
		_, err := super.Exec(t.Context(), "set default_transaction_read_only = off")
		require.NoError(t, err)
		_, err = super.Exec(
			t.Context(),
			`do $$ begin execute format('alter database %I set default_transaction_read_only = `+value+
				`', current_database()); end $$`,
		)
		require.NoError(t, err)
	}
	write := func() error {
		_, _, err := d.Store.CreateKey(t.Context(), store.Key{Tenant: tenant, Name: "k", Permissions: []string{"*"}})
		return err
	}
	require.NoError(t, write())
	writable(false)
	_, err := super.Exec(
		t.Context(),
		"select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> "+
			"pg_backend_pid()",
	)
	require.NoError(t, err)
	storetest.RequireKind(t, tool.Unavailable, write())
	storetest.RequireKind(t, tool.Unavailable, d.Store.CheckWrites(t.Context()))
	writable(true)
	require.Eventually(t, func() bool { return write() == nil }, time.Minute, 10*time.Millisecond)
	require.Eventually(t, func() bool { return d.Store.CheckWrites(t.Context()) == nil }, time.Minute,
		50*time.Millisecond)
}

// A connection of the pool whose session has become read-only is replaced, and what
// it refused is repeated on another.
func TestReadOnlySessionIsReplaced(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t, store.Options{MaxConns: 2})
	tenant := d.Tenant(t)
	store.MakeReadOnly(t, d.Store, 2)
	_, _, err := d.Store.CreateKey(t.Context(), store.Key{Tenant: tenant, Name: "k", Permissions: []string{"*"}})
	require.NoError(t, err)
	store.MakeReadOnly(t, d.Store, 2)
	require.Error(t, d.Store.CheckWrites(t.Context()))
	require.Eventually(t, func() bool { return d.Store.CheckWrites(t.Context()) == nil }, time.Minute,
		50*time.Millisecond)
}

// Every transaction has time-outs of its own, of its operation, which end with it:
// behind a pooler a connection is everybody's. What is outside a transaction has
// those of ordinary operations.
func TestTransactionsHaveTimeouts(t *testing.T) {
	t.Parallel()

	var seen statements
	d := storetest.NewDatabase(t)
	tenant := d.Tenant(t)
	// With the defaults, which those of tests are longer than.
	opened, err := store.Open(t.Context(), d.URL, store.Options{SetRole: store.AppRole, MaxConns: 1, Tracer: &seen})
	require.NoError(t, err)
	t.Cleanup(opened.Close)
	_, err = opened.FindTenant(t.Context(), tenant)
	require.NoError(t, err)
	require.Equal(t, []any{string(tenant), "2700", "2000", "15000", `{"kind":"system","subject":"toolcrib"}`}, seen.settings())
	_, err = opened.EnsurePartitions(t.Context(), 3)
	require.NoError(t, err)
	require.Equal(t, []any{"", "54000", "2000", "15000", `{"kind":"system","subject":"toolcrib"}`}, seen.settings())
	_, err = opened.SweepRequests(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"2700ms", "2s", "15s"}, store.SessionTimeouts(t, opened), "they end with their transaction")
}

// The server ends a statement that takes too long, in a batch too, and the
// connection is used again.
func TestStatementTimeout(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t, store.Options{MaxConns: 1, Timeouts: store.Timeouts{Operation: 500 * time.Millisecond}})
	tenant := d.Tenant(t)
	before := store.Backend(t, d.Store)
	storetest.RequireKind(t, tool.Unavailable, store.Dawdle(t.Context(), d.Store, tenant))
	require.Equal(t, before, store.Backend(t, d.Store))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	storetest.RequireKind(t, tool.Timeout, store.Dawdle(ctx, d.Store, tenant))
	ctx, cancel = context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	storetest.RequireKind(t, tool.Cancelled, store.Dawdle(ctx, d.Store, tenant))
}

// statements keeps the arguments of the last statement that set a tenant.
type statements struct {
	mu   sync.Mutex
	last []any
}

func (s *statements) settings() []any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

func (s *statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

func (*statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (s *statements) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = data.Batch.QueuedQueries[0].Arguments
	return ctx
}

func (*statements) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (*statements) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}
