package store

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
)

// TenantOf returns the tenant that a pooled connection is set to outside any
// transaction.
func TenantOf(ctx context.Context, tb testing.TB, s *Store) (tenant string) {
	tb.Helper()
	require.NoError(tb, s.pool.QueryRow(ctx, "select coalesce(current_setting('app.tenant_id', true), '')").Scan(&tenant))
	return tenant
}

// Parts under test of their own.
var (
	Storable = storable
	Text     = text
	Failure  = failure
)

// MakeReadOnly has sessions of the pool refuse writes, as those of a primary do
// that was demoted.
func MakeReadOnly(tb testing.TB, s *Store, sessions int) {
	tb.Helper()
	for range sessions {
		conn, err := s.pool.Acquire(tb.Context())
		require.NoError(tb, err)
		defer conn.Release()
		_, err = conn.Exec(tb.Context(), "set default_transaction_read_only = on")
		require.NoError(tb, err)
	}
}

// SessionTimeouts returns the time-outs of a pooled connection outside any
// transaction.
func SessionTimeouts(tb testing.TB, s *Store) (values []string) {
	tb.Helper()
	for _, name := range []string{"statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"} {
		var value string
		require.NoError(tb, s.pool.QueryRow(tb.Context(), "select current_setting($1)", name).Scan(&value))
		values = append(values, value)
	}
	return values
}

// Backend returns the process id of the pool's connection at the server.
func Backend(tb testing.TB, s *Store) (pid int) {
	tb.Helper()
	require.NoError(tb, s.pool.QueryRow(tb.Context(), "select pg_backend_pid()").Scan(&pid))
	return pid
}

// Dawdle is an operation that takes too long.
func Dawdle(ctx context.Context, s *Store, tenant tool.TenantID) error {
	return s.read(ctx, "store.Dawdle", tenant, func(b *pgx.Batch) { b.Queue("select pg_sleep(30)") })
}

// TablesOfExports returns the tables that are exported, with the columns that are withheld or are
// files of their own, and the tables that are not exported, with the reasons.
func TablesOfExports() (exported map[string][]string, not map[string]string) {
	exported = map[string][]string{}
	for name, t := range exportedTables {
		exported[name] = append([]string{t.content}, t.secret...)
	}
	return exported, notExported
}
