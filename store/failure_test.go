package store_test

import (
	"context"
	"errors"
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
		{"StatementTimeout", code("57014"), tool.Timeout},
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

// A server that goes away is unavailable, and one that comes back serves on.
func TestLostConnections(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t, store.Options{MaxConns: 1, NotifyInterval: -1})
	tenant := d.Tenant(t)
	super := d.Conn(t)
	_, err := d.Store.FindTenant(t.Context(), tenant)
	require.NoError(t, err)
	_, err = super.Exec(t.Context(), "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()")
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
