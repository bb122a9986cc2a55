package store

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
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
