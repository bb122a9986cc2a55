package store_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store/storetest"
)

// A row that says no egress class calls nothing out, and there are three
// classes to say.
func TestEgressClassColumn(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	tenant := d.Tenant(t)
	conn := d.Conn(t)
	insert := func(columns, values string) (class string, err error) {
		err = conn.QueryRow(t.Context(), "insert into tool_registry (id, tenant_id, slug, name, version"+columns+
			") values ($1, $2, $3, 'x', '1.0.0'"+values+") returning egress_class", storetest.NewID(t), tenant,
			"t"+storetest.NewID(t)).Scan(&class)
		return class, err
	}
	class, err := insert("", "")
	require.NoError(t, err)
	require.Equal(t, "none", class)
	for value, code := range map[string]string{
		"'none'": "", "'read_only'": "", "'write'": "", "''": "23514", "'all'": "23514", "'NONE'": "23514", "null": "23502",
	} {
		class, err := insert(", egress_class", ", "+value)
		if code == "" {
			require.NoError(t, err, value)
			require.Equal(t, value, "'"+class+"'")
			continue
		}
		var pgErr *pgconn.PgError
		require.ErrorAs(t, err, &pgErr, value)
		require.Equal(t, code, pgErr.Code, value)
	}
}
