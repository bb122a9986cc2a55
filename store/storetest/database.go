// Package storetest lends tests migrated databases of their own, and holds an
// implementation of the store's interfaces to their contracts; see [Run].
package storetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// Environment variables that say where tests find PostgreSQL, and that they
// must: with either of the latter two set, a test without one fails.
const (
	URLVariable     = "TOOLCRIB_TEST_DATABASE_URL" // Of a superuser; databases are made beside its own.
	RequireVariable = "TOOLCRIB_REQUIRE_DATABASE"
	CIVariable      = "CI"
)

// Database is a migrated database that one test has to itself. It is dropped
// when the test ends.
type Database struct {
	URL      string          // As superuser.
	Store    *store.Store    // As the app role.
	Platform *store.Platform // As the owner.
}

// New returns a store on a database of the test's own, connected as the app
// role. Without PostgreSQL it skips the test, or fails it in CI.
func New(t testing.TB) *store.Store {
	t.Helper()
	return NewDatabase(t).Store
}

// NewDatabase is [New] for tests that need more than the store. The options'
// zero fields take the values of tests.
func NewDatabase(t testing.TB, options ...store.Options) *Database {
	t.Helper()
	var opts store.Options
	if len(options) > 0 {
		opts = options[0]
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	if opts.MaxConns == 0 {
		opts.MaxConns = 4
	}
	if opts.SetRole == "" {
		opts.SetRole = store.AppRole
	}
	d := &Database{URL: clone(t, template(t))}
	var err error
	d.Store, err = store.Open(t.Context(), d.URL, opts)
	require.NoError(t, err)
	t.Cleanup(d.Store.Close)
	d.Platform, err = store.OpenPlatform(t.Context(), d.URL, store.Options{Logger: opts.Logger, MaxConns: 1})
	require.NoError(t, err)
	t.Cleanup(d.Platform.Close)
	return d
}

// NewEmpty returns the superuser's URL of an empty database of the test's own.
func NewEmpty(t testing.TB) string {
	t.Helper()
	return clone(t, "template0")
}

// Tenant makes an active tenant with a slug of its own and returns its id.
func (d *Database) Tenant(t testing.TB) tool.TenantID {
	t.Helper()
	tenant, err := d.Platform.CreateTenant(t.Context(), store.Tenant{Slug: "t-" + uuid.NewString()[:8]})
	require.NoError(t, err)
	return tenant.ID
}

// Key makes an API key with the given permissions and returns its text.
func (d *Database) Key(t testing.TB, tenant tool.TenantID, permissions ...string) string {
	t.Helper()
	_, text, err := d.Store.CreateKey(t.Context(), store.Key{Tenant: tenant, Name: "test", Permissions: permissions})
	require.NoError(t, err)
	return text
}

// Conn returns a connection to the database as superuser, for what no method
// does.
func (d *Database) Conn(t testing.TB) *pgx.Conn {
	t.Helper()
	return Connect(t, d.URL)
}

// Connect returns a connection that closes when the test ends.
func Connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

// serverURL returns the URL of the tests' server, or ends the test.
func serverURL(t testing.TB) string {
	t.Helper()
	if url := os.Getenv(URLVariable); url != "" {
		return url
	}
	const hint = URLVariable + " is not set: start PostgreSQL and set it to a superuser's URL, or run make test"
	if os.Getenv(CIVariable) != "" || os.Getenv(RequireVariable) != "" {
		t.Fatal(hint)
	}
	t.Skip(hint)
	return ""
}

// withDatabase returns the URL of another database of the same server.
func withDatabase(t testing.TB, server, name string) string {
	t.Helper()
	u, err := url.Parse(server)
	require.NoError(t, err)
	u.Path = "/" + name
	return u.String()
}

// templateLock keeps the test processes of a machine from making the same
// template at once.
const templateLock = 0x746f6f6c74657374 // "tooltest"

// template returns the name of a migrated database to copy, which it makes
// where it is missing: one for each set of migrations, and each month, whose
// partitions it holds.
func template(t testing.TB) string {
	t.Helper()
	server := serverURL(t)
	steps, err := store.Migrations()
	require.NoError(t, err)
	sum := sha256.New()
	for _, step := range steps {
		_, _ = sum.Write([]byte(step.Checksum))
	}
	name := fmt.Sprintf("toolcrib_template_%s_%s", time.Now().UTC().Format("200601"), hex.EncodeToString(sum.Sum(nil))[:12])

	conn := Connect(t, server)
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	ctx := t.Context()
	if exists(t, conn, name) {
		return name
	}
	_, err = conn.Exec(ctx, "select pg_advisory_lock($1)", int64(templateLock))
	require.NoError(t, err)
	if exists(t, conn, name) {
		return name
	}
	// Under another name until it is complete, so that a test that dies here
	// leaves nothing that looks like a template.
	draft := name + "_draft"
	_, err = conn.Exec(ctx, "drop database if exists "+draft+" with (force)")
	require.NoError(t, err)
	_, err = conn.Exec(ctx, "create database "+draft)
	require.NoError(t, err)
	_, err = store.Migrate(ctx, withDatabase(t, server, draft))
	require.NoError(t, err)
	_, err = conn.Exec(ctx, "alter database "+draft+" rename to "+name)
	require.NoError(t, err)
	return name
}

func exists(t testing.TB, conn *pgx.Conn, name string) bool {
	t.Helper()
	var found bool
	require.NoError(t, conn.QueryRow(t.Context(), "select exists (select from pg_database where datname = $1)", name).Scan(&found))
	return found
}

// clone copies a database for the test and returns its URL.
func clone(t testing.TB, from string) string {
	t.Helper()
	server := serverURL(t)
	name := "toolcrib_test_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	conn := Connect(t, server)
	_, err := conn.Exec(t.Context(), fmt.Sprintf("create database %s template %s", name, from))
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 30*time.Second)
		defer cancel()
		conn, err := pgx.Connect(ctx, server)
		if err != nil {
			t.Logf("leaving database %s behind: %v", name, err)
			return
		}
		defer func() { _ = conn.Close(ctx) }()
		if _, err := conn.Exec(ctx, "drop database if exists "+name+" with (force)"); err != nil {
			t.Logf("leaving database %s behind: %v", name, err)
		}
	})
	return withDatabase(t, server, name)
}
