package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
)

// A migration that needs a table which a long transaction has written to waits
// for it, and others who write to the table do not wait for the migration.
func TestMigrateWaitsWithoutHoldingOthersUp(t *testing.T) {
	t.Parallel()

	address := pastDatabase(t, currentSteps(t)[:16])
	holder := storetest.Connect(t, address)
	for _, sql := range []string{"begin", "update run_events set type = type"} {
		_, err := holder.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	migrated := make(chan error, 1)
	go func() {
		_, err := store.Migrate(t.Context(), address)
		migrated <- err
	}()

	// Twice a migration is seen to wait for the table; between the two it gave up.
	observer := storetest.Connect(t, address)
	waiting := func() (pid int) {
		require.NoError(t, observer.QueryRow(t.Context(), `select coalesce(max(pid), 0) from pg_locks
			where relation = 'run_events'::regclass and not granted and mode <> 'RowExclusiveLock'`).Scan(&pid))
		return pid
	}
	for range 2 {
		require.Eventually(t, func() bool { return waiting() != 0 }, 60*time.Second, 5*time.Millisecond)
		_, err := observer.Exec(t.Context(), "set statement_timeout = '60s'")
		require.NoError(t, err)
		_, err = observer.Exec(t.Context(), "delete from run_events where false")
		require.NoError(t, err, "a write goes through while the migration still waits")
		select {
		case err := <-migrated:
			t.Fatalf("the migration did not wait: %v", err)
		default:
		}
	}
	_, err := holder.Exec(t.Context(), "commit")
	require.NoError(t, err)
	require.NoError(t, <-migrated)
}

// An index that an interrupted run left invalid is built anew.
func TestMigrateTakesUpAnInterruptedIndex(t *testing.T) {
	t.Parallel()

	address := pastDatabase(t, currentSteps(t)[:17])
	conn := storetest.Connect(t, address)
	for _, sql := range []string{
		"create index run_events_order on run_events (tenant_id, id)",
		"update pg_index set indisvalid = false where indexrelid = 'run_events_order'::regclass",
	} {
		_, err := conn.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	_, err := store.Migrate(t.Context(), address)
	require.NoError(t, err)
	require.Empty(t, texts(t, conn, "select indexrelid::regclass::text from pg_index where not indisvalid"))
	require.Equal(t, []string{"run_events_order"}, texts(t, conn,
		"select indexrelid::regclass::text from pg_index where indrelid = 'run_events'::regclass and "+
			"indexrelid::regclass::text = 'run_events_order'"))
}
