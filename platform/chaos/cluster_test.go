package chaos_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/dev/embedded"
)

// cluster is a PostgreSQL of the test's own, which can be crashed.
type cluster struct {
	cfg embedded.PostgresConfig

	mu     sync.Mutex
	server *embedded.Postgres
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	dir, err := os.MkdirTemp( //nolint:usetesting // t.TempDir is closed to the account that runs PostgreSQL.
		"", "toolcrib-chaos-",
	)
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o711)) // The account that runs PostgreSQL passes through.
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	c := &cluster{
		cfg: embedded.PostgresConfig{Dir: filepath.Join(dir, "postgres"), Port: embedded.AnyPort, Logger: quiet()},
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c.server, err = embedded.StartPostgres(ctx, c.cfg)
	require.NoError(t, err)
	t.Cleanup(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		_ = c.server.Stop(context.Background())
	})
	// The same port at each start: the proxy and the checker know it.
	c.cfg.Port, c.cfg.PortFixed = c.server.Port(), true
	return c
}

func (c *cluster) port() int { return c.cfg.Port }

// url returns the superuser's URL, whose transactions may always write.
func (c *cluster) url() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.server.URL()
}

// crash stops the server at once, without a checkpoint, and starts it again.
func (c *cluster) crash(ctx context.Context) error { return c.crashFor(ctx, func() {}) }

// crashFor is crash where something happens before the server starts again.
func (c *cluster) crashFor(ctx context.Context, meanwhile func()) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, cancel := context.WithCancel(ctx)
	cancel()
	_ = c.server.Stop(now) // Says that it had no time to stop in order.
	meanwhile()
	server, err := embedded.StartPostgres(ctx, c.cfg)
	if err != nil {
		return fmt.Errorf("starting PostgreSQL again: %w", err)
	}
	c.server = server
	return nil
}

// connect returns a superuser's connection. While PostgreSQL restarts it waits.
func (c *cluster) connect(ctx context.Context, t *testing.T) *pgx.Conn {
	t.Helper()
	cfg, err := pgx.ParseConfig(c.url())
	require.NoError(t, err)
	cfg.RuntimeParams["default_transaction_read_only"] = "off"
	cfg.RuntimeParams["application_name"] = "chaos"
	var conn *pgx.Conn
	require.Eventually(t, func() bool {
		conn, err = pgx.ConnectConfig(ctx, cfg)
		return err == nil
	}, patience, 50*time.Millisecond, "PostgreSQL does not accept connections")
	return conn
}

// exec runs statements as superuser: all of them again where another fault ends
// the connection.
func (c *cluster) exec(ctx context.Context, t *testing.T, statements ...string) error {
	t.Helper()
	return c.withConn(ctx, t, func(conn *pgx.Conn) error {
		for _, sql := range statements {
			if _, err := conn.Exec(ctx, sql); err != nil {
				return fmt.Errorf("%s: %w", sql, err)
			}
		}
		return nil
	})
}

// withConn calls fn with a superuser's connection, and again with another one
// where a fault that is played meanwhile ended it.
func (c *cluster) withConn(ctx context.Context, t *testing.T, fn func(*pgx.Conn) error) error {
	t.Helper()
	for until := time.Now().Add(patience); ; {
		conn := c.connect(ctx, t)
		err := fn(conn)
		lost := conn.IsClosed()
		_ = conn.Close(context.WithoutCancel(ctx))
		if err == nil || !lost || ctx.Err() != nil || time.Now().After(until) {
			return err
		}
	}
}

// login makes a login that is granted one role and returns its URL.
func (c *cluster) login(t *testing.T, name, role string) string {
	t.Helper()
	require.NoError(
		t, c.exec(t.Context(), t, fmt.Sprintf("create role %s login password 'only-here' in role %s", name, role)),
	)
	return withUser(t, c.url(), name, "only-here")
}

// installFaults makes what lets the disk of the database be full and its clock
// jump, for sessions of a role. now and clock_timestamp of a schema in front of
// pg_catalog hide the built-in ones; columns' defaults keep those.
func (c *cluster) installFaults(t *testing.T, role string) {
	t.Helper()
	require.NoError(t, c.exec(t.Context(), t,
		`create schema chaos; grant usage on schema chaos to public`,
		`create table chaos.state (clock interval not null, full_disk boolean not null)`,
		`insert into chaos.state values ('0', false); grant select on chaos.state to public`,
		`create function chaos.now() returns timestamptz language sql stable as
			$$ select pg_catalog.now() + (select clock from chaos.state) $$`,
		`create function chaos.clock_timestamp() returns timestamptz language sql volatile as
			$$ select pg_catalog.clock_timestamp() + (select clock from chaos.state) $$`,
		`create function chaos.check_disk() returns trigger language plpgsql as $$ begin
			if (select full_disk from chaos.state) then
				raise exception 'could not extend file: No space left on device' using errcode = 'disk_full';
			end if;
			return null;
		end $$`,
		`do $$ declare t regclass; begin
			for t in select c.oid from pg_class c where c.relnamespace = 'public'::regnamespace
				and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> 'toolcrib_migrations' loop
				execute format('create trigger chaos_disk before insert or update on %s for each statement execute function chaos.check_disk()', t);
			end loop;
		end $$`,
		fmt.Sprintf(`alter role %s set search_path = public, chaos, pg_catalog`, role),
	))
}
