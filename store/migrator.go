package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/toolcrib/toolcrib/tool"
)

// migrationLock serializes migrations of one database.
const migrationLock = 0x746f6f6c63726962 // "toolcrib"

const (
	// migrationLockTimeout is how long a step waits for a lock, and so how long it
	// blocks other users of the same table, which queue behind it.
	migrationLockTimeout = 2 * time.Second
	// migrationPatience is how long a step without its locks is retried.
	migrationPatience = 10 * time.Minute
	// migrationPause is the longest pause between two attempts.
	migrationPause = 5 * time.Second
)

// migrator runs migrations on one connection, under the lock.
type migrator struct {
	conn *pgx.Conn
	op   string
}

func withMigrator(ctx context.Context, op, url string, fn func(m *migrator) error) error {
	conn, err := dialOnce(ctx, url)
	if err != nil {
		if _, ok := errors.AsType[*pgconn.ParseConfigError](err); ok {
			return &tool.Error{Kind: tool.Invalid, Op: op, Msg: malformedURL, Err: err}
		}
		return reached(failure(op, err))
	}
	// Closing the connection releases the lock, even if ctx has ended.
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	m := &migrator{conn: conn, op: op}
	if err := m.lock(ctx); err != nil {
		return failure(op, err)
	}
	return failure(op, fn(m))
}

// lock waits until no other migration is running. It polls: a statement that waited
// would keep its snapshot, and a concurrent index build of the other migration waits
// for every snapshot.
func (m *migrator) lock(ctx context.Context) error {
	_, err := m.conn.Exec(ctx, fmt.Sprintf(
		"set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; set lock_timeout = %d",
		migrationLockTimeout.Milliseconds()))
	if err != nil {
		return err
	}
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		var mine bool
		if err := m.conn.QueryRow(ctx, "select pg_try_advisory_lock($1)", int64(migrationLock)).Scan(&mine); err != nil ||
			mine {
			return err
		}
		if err := waitFor(ctx, pause); err != nil {
			return err
		}
	}
}

// patiently retries fn until it gets its locks.
func (m *migrator) patiently(ctx context.Context, fn func() error) error {
	deadline := time.Now().Add(migrationPatience)
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, migrationPause) {
		err := fn()
		pgErr, answered := errors.AsType[*pgconn.PgError](err)
		if !answered || pgErr.Code != codeLockNotAvailable && pgErr.Code != codeDeadlock {
			return err
		}
		if time.Now().After(deadline) {
			return &tool.Error{Kind: tool.Unavailable, Op: m.op, Err: err, Msg: fmt.Sprintf(
				"a long transaction kept a table locked for %s: end it (see pg_stat_activity) and migrate again",
				migrationPatience)}
		}
		if err := waitFor(ctx, pause); err != nil {
			return err
		}
	}
}

func waitFor(ctx context.Context, pause time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pause):
		return nil
	}
}

// prepare creates the roles, the schema and the table of applied steps, and sets the
// owner's role.
func (m *migrator) prepare(ctx context.Context) error {
	if err := ensureRoles(ctx, m.conn); err != nil {
		return err
	}
	if err := ensureSchema(ctx, m.conn); err != nil {
		return err
	}
	if _, err := m.conn.Exec(ctx, "set role "+OwnerRole); err != nil {
		return fmt.Errorf("taking the role %s: %w", OwnerRole, err)
	}
	err := m.patiently(ctx, func() error {
		_, err := m.conn.Exec(ctx, `
			create table if not exists toolcrib_migrations (
				version    integer primary key,
				name       text not null,
				checksum   text not null,
				applied_at timestamptz not null default now(),
				compatible integer not null default 0
			);
			do $$ begin
				if not exists (select from pg_attribute where attrelid = 'toolcrib_migrations'::regclass and attname = 'compatible') then
					alter table toolcrib_migrations add column compatible integer not null default 0;
				end if;
			end $$;
			grant select on toolcrib_migrations to `+AppRole+", "+MaintenanceRole)
		return err
	})
	if err != nil {
		return fmt.Errorf("making the table of migrations: %w", err)
	}
	return nil
}

// status compares the embedded steps with the applied ones.
func (m *migrator) status(ctx context.Context) ([]Migration, error) {
	steps, err := Migrations()
	if err != nil {
		return nil, err
	}
	applied, err := m.applied(ctx)
	if err != nil {
		return nil, err
	}
	for _, a := range applied {
		if former, ok := formerOf(a); ok {
			if former.repair != "" { // Migrate repairs it, or applies an empty one.
				steps[a.Version-1].AppliedAt = a.AppliedAt
			}
			continue
		}
		if a.Version > len(steps) {
			return nil, schemaFailure(m.op, applied[len(applied)-1].Version, len(steps))
		}
		step := &steps[a.Version-1]
		if step.Checksum != a.Checksum {
			return nil, &tool.Error{Kind: tool.Conflict, Op: m.op, Msg: fmt.Sprintf(
				"migration %03d_%s was applied with other content than this binary has", a.Version, a.Name)}
		}
		step.AppliedAt = a.AppliedAt
	}
	return steps, nil
}

// applied returns the applied steps.
func (m *migrator) applied(ctx context.Context) ([]Migration, error) {
	rows, _ := m.conn.Query(ctx, "select version, name, checksum, applied_at from toolcrib_migrations order by version")
	applied, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (a Migration, err error) {
		err = row.Scan(&a.Version, &a.Name, &a.Checksum, &a.AppliedAt)
		return a, err
	})
	if undefinedTable(err) {
		return nil, nil
	}
	return applied, err
}

func (m *migrator) apply(ctx context.Context, step Migration) error {
	run := m.applyAtOnce
	if step.online {
		run = m.applyOnline
	}
	if err := run(ctx, step); err != nil {
		return fmt.Errorf("applying migration %03d_%s: %w", step.Version, step.Name, err)
	}
	return nil
}

const recordStep = "insert into toolcrib_migrations (version, name, checksum, compatible) values ($1, $2, $3, $4)"

// applyAtOnce applies a step in one transaction.
func (m *migrator) applyAtOnce(ctx context.Context, step Migration) error {
	return m.patiently(ctx, func() error {
		return pgx.BeginFunc(ctx, m.conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, step.up); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, recordStep, step.Version, step.Name, step.Checksum, step.compatible)
			return err
		})
	})
}

func (m *migrator) revert(ctx context.Context, step Migration) error {
	err := m.patiently(ctx, func() error {
		return pgx.BeginFunc(ctx, m.conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, step.down); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, "delete from toolcrib_migrations where version = $1", step.Version)
			return err
		})
	})
	if err != nil {
		return fmt.Errorf("reverting migration %03d_%s: %w", step.Version, step.Name, err)
	}
	return nil
}

// sealEvents numbers the events without a number, so that the first follower of a
// tenant's stream need not wait.
func (m *migrator) sealEvents(ctx context.Context) error {
	return m.eachTenant(ctx, sealBatch, "select seal_events($1, $2)")
}

// indexBatch is the number of documents indexed in one transaction.
const indexBatch = 10

// indexDocuments indexes the words of documents that were ingested before the index
// of words existed.
func (m *migrator) indexDocuments(ctx context.Context) error {
	return m.eachTenant(ctx, indexBatch, "select index_documents($1, $2)")
}

// eachTenant runs a query with each tenant and a batch size, each time in a
// transaction, until it returns less than a full batch.
func (m *migrator) eachTenant(ctx context.Context, batch int, query string) error {
	rows, _ := m.conn.Query(ctx, "select id::text from tenants")
	tenants, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, tenant := range tenants {
		for n := batch; n >= batch; {
			err := m.patiently(ctx, func() error {
				return pgx.BeginFunc(ctx, m.conn, func(tx pgx.Tx) error {
					if _, err := tx.Exec(ctx, "select set_config('app.tenant_id', $1, true)", tenant); err != nil {
						return err
					}
					return tx.QueryRow(ctx, query, tenant, batch).Scan(&n)
				})
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// countQuotas counts what tenants made before it was counted. Counts are corrected by a
// difference, so that tenants may go on.
func (m *migrator) countQuotas(ctx context.Context) error {
	rows, _ := m.conn.Query(ctx, "select tenant_id::text from quota_counts where name = 'uncounted' order by 1")
	tenants, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, tenant := range tenants {
		err := m.patiently(ctx, func() error {
			_, err := m.conn.Exec(ctx, "select recount_quotas($1::uuid, true)", tenant)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
