package store_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

func TestFailures(t *testing.T) {
	t.Parallel()

	code := func(c string) error { return &pgconn.PgError{Code: c, Message: `relation "secret_table"`} }
	tests := []struct {
		name string
		err  error
		want tool.Kind
	}{
		{"NoRows", pgx.ErrNoRows, tool.NotFound},
		{"Unique", code("23505"), tool.Conflict},
		{"Reference", code("23503"), tool.NotFound},
		{"Immutable", code("23001"), tool.Conflict},
		{"Check", code("23514"), tool.Invalid},
		{"Data", code("22P02"), tool.Invalid},
		{"Privilege", code("42501"), tool.Denied},
		{"Serialization", code("40001"), tool.Unavailable},
		{"Deadlock", code("40P01"), tool.Unavailable},
		{"Starting", code("57P03"), tool.Unavailable},
		{"TooMany", code("53300"), tool.Unavailable},
		{"StatementTimeout", code("57014"), tool.Unavailable},
		{"Syntax", code("42601"), tool.InternalError},
		{"Disconnected", io.ErrUnexpectedEOF, tool.Unavailable},
		{"Cancelled", context.Canceled, tool.Cancelled},
		{"Deadline", context.DeadlineExceeded, tool.Timeout},
		{"Defect", errors.New("secret_table"), tool.InternalError},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := store.Failure("store.X", tt.err)
			storetest.RequireKind(t, tt.want, err)
			require.ErrorIs(t, err, tt.err)
			require.NotContains(t, tool.AsError(err).Msg, "secret_table")
		})
	}
	require.NoError(t, store.Failure("store.X", nil))
}

// Every class of SQLSTATE (PostgreSQL, appendix A), and each code that is unlike its
// class: what the server's state is to blame for is unavailable, what the request's
// values are is invalid, and what our statements are is a defect.
func TestSQLStates(t *testing.T) {
	t.Parallel()

	want := map[tool.Kind][]string{
		tool.Unavailable: {
			"08000", "08003", "08006", "08001", "08004", "08007", "08P01", // Connections.
			"25006", "25P03", "25P04", // Read-only; a transaction that the server ended.
			"28000", "28P01", "3D000", // This process is not let in.
			"40000", "40001", "40002", "40003", "40P01", // Rolled back.
			"53000", "53100", "53200", "53300", "53400", // No room: disk, memory, connections.
			"55006", "55P03", // Locks.
			"57000", "57014", "57P01", "57P02", "57P03", "57P04", "57P05", // An operator, or a time-out.
			"58000", "58030", "58P01", "58P02", // The system below the server.
			"72000",
		},
		tool.Invalid: {
			"22000", "22001", "22003", "22021", "22P02", "22P05", "23000", "23502", "23514", "23P01", "54000", "54001", "54011",
			"54023",
		},
		tool.Conflict: {"23505", "23001"},
		tool.NotFound: {"23503"},
		tool.Denied:   {"42501"},
		tool.InternalError: {
			"01000", "02000", "03000", "09000", "0A000", "0B000", "0F000", "0L000", "0P000", "0Z000", "20000", "21000", "24000",
			"25000", "25001", "25P01", "25P02", "26000", "27000", "2B000", "2D000", "2F000", "34000", "38000", "39000", "3B000",
			"3F000", "42000", "42601", "42703", "42P01", "44000", "55000", "55P02", "55P04", "F0000", "HV000", "P0000", "P0001",
			"XX000", "XX001", "XX002", "?",
		},
	}
	for kind, codes := range want {
		for _, code := range codes {
			err := store.Failure("store.X", fmt.Errorf("querying: %w", &pgconn.PgError{Code: code}))
			require.Equal(t, kind, tool.KindOf(err), "SQLSTATE %s", code)
			require.Equal(t, kind == tool.Unavailable, store.IsOutage(err), "SQLSTATE %s", code)
		}
	}
}

// A server that goes away is unavailable, and one that comes back serves on.
func TestLostConnections(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t, store.Options{MaxConns: 1, NotifyInterval: -1})
	tenant := d.Tenant(t)
	super := d.Conn(t)
	_, err := d.Store.FindTenant(t.Context(), tenant)
	require.NoError(t, err)
	_, err = super.Exec(
		t.Context(),
		"select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> "+
			"pg_backend_pid()",
	)
	require.NoError(t, err)
	_, err = d.Store.FindTenant(t.Context(), tenant)
	if err != nil {
		storetest.RequireKind(t, tool.Unavailable, err)
	}
	_, err = d.Store.FindTenant(t.Context(), tenant)
	require.NoError(t, err)
}

func TestListenersAreWoken(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	f := storetest.NewFixture(t, d)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	woken, ended := make(chan store.Wake), make(chan error, 1)
	go func() {
		ended <- d.Store.Listen(ctx, func(w store.Wake) {
			select {
			case woken <- w:
			case <-ctx.Done():
			}
		})
	}()
	for { // The first may go before anyone listens.
		f.Admit(t, f.Lone(t), true, true)
		select {
		case w := <-woken:
			require.Equal(t, store.Wake{Tenant: f.Tenant, RunID: f.Run.ID}, w)
			cancel()
			storetest.RequireKind(t, tool.Cancelled, <-ended)
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}
