package store

import (
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
)

// What a server says that turns a login away becomes what to do.
func TestTurnedAway(t *testing.T) {
	t.Parallel()
	to := &pgconn.Config{User: "ada", Database: "tools"}
	for _, tt := range []struct {
		answer pgconn.PgError
		kind   tool.Kind
		says   string
	}{
		{
			pgconn.PgError{
				Code:    codeNoAuthorization,
				Message: `no pg_hba.conf entry for host "10.0.0.1", user "ada", database "tools", no encryption`,
			},
			tool.Denied, "requires TLS: set sslmode=require",
		},
		{
			pgconn.PgError{Code: codeNoAuthorization, Message: `role "ada" does not exist`},
			tool.Denied,
			`refuses the login "ada"`,
		},
		{pgconn.PgError{Code: codeTooMany}, tool.Unavailable, "no connections left"},
		{pgconn.PgError{Code: codeStarting}, tool.Unavailable, "is starting"},
		{pgconn.PgError{Code: "XX999"}, tool.Unavailable, "see its log (XX999)"},
	} {
		kind, says := turnedAway(&tt.answer, to, "db:5432")
		require.Equal(t, tt.kind, kind)
		require.Contains(t, says, "db:5432 ")
		require.Contains(t, says, tt.says)
	}
}
