// Package storetest creates migrated databases for tests, and is the conformance suite of
// the store's interfaces; see [Run].
package storetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// Environment variables of the test database. With either of the latter two set, a test
// without PostgreSQL fails instead of being skipped.
const (
	URLVariable     = "TOOLCRIB_TEST_DATABASE_URL" // Of a superuser; databases are created on its server.
	RequireVariable = "TOOLCRIB_REQUIRE_DATABASE"
	CIVariable      = "CI"
)

// Database is a migrated database for one test. It is dropped when the test ends.
type Database struct {
	URL      string          // As superuser.
	Store    *store.Store    // As the app role.
	Platform *store.Platform // As the owner.
}

// New returns a store on a database of its own, connected as the app role. Without
// PostgreSQL it skips the test, or fails it in CI.
func New(tb testing.TB) *store.Store {
	tb.Helper()
	return NewDatabase(tb).Store
}

// NewDatabase is [New] for tests that need more than the store. Zero options have
// defaults for tests.
func NewDatabase(tb testing.TB, options ...store.Options) *Database {
	tb.Helper()
	var opts store.Options
	if len(options) > 0 {
		opts = options[0]
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.NewTextHandler(tb.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	if opts.MaxConns == 0 {
		opts.MaxConns = 4
	}
	if opts.SetRole == "" {
		opts.SetRole = store.AppRole
	}
	if opts.Timeouts.Operation == 0 {
		opts.Timeouts.Operation = 20 * time.Second // Many tests share the cores.
	}
	d := &Database{URL: clone(tb, template(tb))}
	var err error
	d.Store, err = store.Open(tb.Context(), d.URL, opts)
	require.NoError(tb, err)
	tb.Cleanup(d.Store.Close)
	d.Platform, err = store.OpenPlatform(tb.Context(), d.URL, store.Options{Logger: opts.Logger, MaxConns: 1})
	require.NoError(tb, err)
	tb.Cleanup(d.Platform.Close)
	return d
}

// NewEmpty returns the superuser's URL of a new empty database.
func NewEmpty(tb testing.TB) string {
	tb.Helper()
	return clone(tb, "template0")
}

// Tenant creates an active tenant with a unique slug and returns its id.
func (d *Database) Tenant(tb testing.TB) tool.TenantID {
	tb.Helper()
	tenant, err := d.Platform.CreateTenant(tb.Context(), store.Tenant{Slug: "t-" + uuid.NewString()[:8]})
	require.NoError(tb, err)
	return tenant.ID
}

// Key creates an API key with the given permissions and returns its text.
func (d *Database) Key(tb testing.TB, tenant tool.TenantID, permissions ...string) string {
	tb.Helper()
	_, text, err := d.Store.CreateKey(tb.Context(), store.Key{Tenant: tenant, Name: "test", Permissions: permissions})
	require.NoError(tb, err)
	return text
}

// Conn returns a superuser's connection to the database, for direct SQL.
func (d *Database) Conn(tb testing.TB) *pgx.Conn {
	tb.Helper()
	return Connect(tb, d.URL)
}

// Seed runs statements that add very many rows, on a superuser's connection. Triggers do not fire: there are no
// entries of the audit log, nothing is counted and references are not checked.
func Seed(tb testing.TB, conn *pgx.Conn, statements ...string) {
	tb.Helper()
	for _, sql := range slices.Concat([]string{"set session_replication_role = replica"}, statements,
		[]string{"reset session_replication_role"}) {
		_, err := conn.Exec(tb.Context(), sql)
		require.NoError(tb, err)
	}
}

// Connect returns a connection that closes when the test ends.
func Connect(tb testing.TB, address string) *pgx.Conn {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), address)
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = conn.Close(context.WithoutCancel(tb.Context())) })
	return conn
}

// serverURL returns the URL of the tests' server, or skips or fails the test.
func serverURL(tb testing.TB) string {
	tb.Helper()
	if address := os.Getenv(URLVariable); address != "" {
		return address
	}
	const hint = URLVariable + " is not set: start PostgreSQL and set it to a superuser's URL, or run make test"
	if os.Getenv(CIVariable) != "" || os.Getenv(RequireVariable) != "" {
		tb.Fatal(hint)
	}
	tb.Skip(hint)
	return ""
}

// withDatabase returns the URL of another database of the same server.
func withDatabase(tb testing.TB, server, name string) string {
	tb.Helper()
	u, err := url.Parse(server)
	require.NoError(tb, err)
	u.Path = "/" + name
	return u.String()
}

// templateLock serializes the creation of a template by the test processes of a machine.
const templateLock = 0x746f6f6c74657374 // "tooltest"

// template returns the name of a migrated database to copy, and creates it if it is
// missing: one for each set of migrations and each month, whose partitions it has.
func template(tb testing.TB) string {
	tb.Helper()
	server := serverURL(tb)
	steps, err := store.Migrations()
	require.NoError(tb, err)
	sum := sha256.New()
	for _, step := range steps {
		_, _ = sum.Write([]byte(step.Checksum))
	}
	name := fmt.Sprintf("toolcrib_template_%s_%s", time.Now().UTC().Format("200601"),
		hex.EncodeToString(sum.Sum(nil))[:12])

	conn := Connect(tb, server)
	defer func() { _ = conn.Close(context.WithoutCancel(tb.Context())) }()
	ctx := tb.Context()
	if exists(tb, conn, name) {
		return name
	}
	_, err = conn.Exec(ctx, "select pg_advisory_lock($1)", int64(templateLock))
	require.NoError(tb, err)
	if exists(tb, conn, name) {
		return name
	}
	// Under another name until it is complete, so that a test that dies here
	// leaves no broken template.
	draft := name + "_draft"
	_, err = conn.Exec(ctx, "drop database if exists "+draft+" with (force)")
	require.NoError(tb, err)
	_, err = conn.Exec(ctx, "create database "+draft)
	require.NoError(tb, err)
	_, err = store.Migrate(ctx, withDatabase(tb, server, draft))
	require.NoError(tb, err)
	_, err = conn.Exec(ctx, "alter database "+draft+" rename to "+name)
	require.NoError(tb, err)
	return name
}

func exists(tb testing.TB, conn *pgx.Conn, name string) bool {
	tb.Helper()
	var found bool
	require.NoError(
		tb, conn.QueryRow(tb.Context(), "select exists (select from pg_database where datname = $1)", name).Scan(&found),
	)
	return found
}

// clone copies a database for the test and returns its URL.
func clone(tb testing.TB, from string) string {
	tb.Helper()
	server := serverURL(tb)
	name := "toolcrib_test_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	conn := Connect(tb, server)
	_, err := conn.Exec(tb.Context(), fmt.Sprintf("create database %s template %s", name, from))
	require.NoError(tb, err)
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), 30*time.Second)
		defer cancel()
		conn, err := pgx.Connect(ctx, server)
		if err != nil {
			tb.Logf("leaving database %s behind: %v", name, err)
			return
		}
		defer func() { _ = conn.Close(ctx) }()
		if _, err := conn.Exec(ctx, "drop database if exists "+name+" with (force)"); err != nil {
			tb.Logf("leaving database %s behind: %v", name, err)
		}
	})
	return withDatabase(tb, server, name)
}
