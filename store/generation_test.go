package store_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
)

// During a roll-out binaries of the version before share the database: every
// query of theirs is planned, with the grants it needs, on the schema of today.
func TestQueriesOfEarlierBinariesWork(t *testing.T) {
	t.Parallel()

	files, err := filepath.Glob("testdata/generations/*.sql")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	d := storetest.NewDatabase(t)
	tenant := d.Tenant(t)
	for _, role := range []string{store.AppRole, store.OwnerRole} {
		conn := d.Conn(t)
		_, err := conn.Exec(t.Context(), "set role "+role)
		require.NoError(t, err)
		_, err = conn.Exec(t.Context(), "select set_config('app.tenant_id', $1, false)", tenant)
		require.NoError(t, err)
		for _, file := range files {
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			queries := strings.Split(string(raw), "-- name: ")[1:]
			require.Greater(t, len(queries), 100)
			for _, query := range queries {
				name, sql, _ := strings.Cut(query, "\n")
				if (role == store.OwnerRole) == ofPlatform[name] {
					require.NoError(t, plan(t.Context(), conn, name, sql), "%s: %s", file, name)
				}
			}
		}
	}
}

// ofPlatform are the queries that run as the owner.
var ofPlatform = map[string]bool{
	"CreateTenant": true, "FindTenantBySlug": true, "ListTenants": true, "SetTenantStatus": true,
}

// plan has a query planned as a prepared statement, without running it. The
// grants are checked as well.
func plan(ctx context.Context, conn *pgx.Conn, name, sql string) error {
	prepared, err := conn.Prepare(ctx, name, strings.TrimSuffix(strings.TrimSpace(sql), ";"))
	if err != nil {
		return err
	}
	call := pgx.Identifier{name}.Sanitize()
	if n := len(prepared.ParamOIDs); n > 0 {
		call += "(" + strings.TrimSuffix(strings.Repeat("null, ", n), ", ") + ")"
	}
	_, err = conn.Exec(ctx, "explain execute "+call)
	return err
}

// A schema that has steps behind which this binary does not work is refused;
// one with other newer steps is not.
func TestOpenHoldsToCompatibility(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	conn := d.Conn(t)
	steps, err := store.Migrations()
	require.NoError(t, err)
	known := len(steps)
	_, err = conn.Exec(
		t.Context(),
		"insert into toolcrib_migrations (version, name, checksum, compatible) values ($1, 'additive', 'x', $2)", known+1,
		known,
	)
	require.NoError(t, err)
	s, err := store.Open(t.Context(), d.URL, store.Options{SetRole: store.AppRole})
	require.NoError(t, err)
	s.Close()

	_, err = conn.Exec(t.Context(), "update toolcrib_migrations set compatible = version where version = $1", known+1)
	require.NoError(t, err)
	_, err = store.Open(t.Context(), d.URL, store.Options{SetRole: store.AppRole})
	var misfit *store.SchemaError
	require.ErrorAs(t, err, &misfit)
	require.Equal(t, store.SchemaError{Have: known + 1, Want: known, Needs: known + 1}, *misfit)
	require.ErrorContains(t, err, "use a newer binary")
}
