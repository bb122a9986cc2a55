package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/toolcrib/toolcrib/tool"
)

// migrationLock keeps two runners on one database apart.
const migrationLock = 0x746f6f6c63726962 // "toolcrib"

// partitionsAhead is how many months of partitions stand ready after a migration.
const partitionsAhead = 3

// Migrate brings the database up to date, in the first schema of the
// connection's search path, and returns the steps it applied. It makes the
// roles [OwnerRole], [AppRole] and [MaintenanceRole] where they are missing, and
// acts as the first; so the URL's role must be a superuser, or may create roles
// and is allowed to create in the schema. Runs at the same time wait for each
// other.
//
// It fails with a [*SchemaError] where the database is newer than this binary,
// and with tool.Conflict where a step that was applied has changed since.
func Migrate(ctx context.Context, url string) ([]Migration, error) {
	const op = "store.Migrate"
	var applied []Migration
	err := withMigrator(ctx, op, url, func(m *migrator) error {
		if err := m.prepare(ctx); err != nil {
			return err
		}
		steps, err := m.status(ctx)
		if err != nil {
			return err
		}
		for _, step := range steps {
			if step.AppliedAt != nil {
				continue
			}
			if err := m.apply(ctx, step); err != nil {
				return err
			}
			applied = append(applied, step)
		}
		if _, err := m.conn.Exec(ctx, addVectors); err != nil {
			return fmt.Errorf("giving embeddings a column of pgvector's type: %w", err)
		}
		_, err = m.conn.Exec(ctx, "select ensure_invocation_partitions($1)", partitionsAhead)
		return err
	})
	return applied, err
}

// MigrateDown takes back every step above the version, newest first, with all
// the data in what they made. It fails as [Migrate] does.
func MigrateDown(ctx context.Context, url string, version int) error {
	const op = "store.MigrateDown"
	return withMigrator(ctx, op, url, func(m *migrator) error {
		if err := m.prepare(ctx); err != nil {
			return err
		}
		steps, err := m.status(ctx)
		if err != nil {
			return err
		}
		for i := len(steps) - 1; i >= 0 && steps[i].Version > version; i-- {
			if steps[i].AppliedAt == nil {
				continue
			}
			if err := m.revert(ctx, steps[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// MigrationStatus returns every step this binary knows, with when it was
// applied. It fails as [Migrate] does, and changes nothing.
func MigrationStatus(ctx context.Context, url string) ([]Migration, error) {
	var steps []Migration
	err := withMigrator(ctx, "store.MigrationStatus", url, func(m *migrator) (err error) {
		steps, err = m.status(ctx)
		return err
	})
	return steps, err
}

// migrator runs migrations on one connection, under the lock.
type migrator struct {
	conn *pgx.Conn
	op   string
}

func withMigrator(ctx context.Context, op, url string, fn func(m *migrator) error) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		if _, ok := errors.AsType[*pgconn.ParseConfigError](err); ok {
			return &tool.Error{Kind: tool.Invalid, Op: op, Msg: "the database URL is malformed", Err: err}
		}
		return reached(failure(op, err))
	}
	// Closing the connection releases the lock, whatever happened to ctx.
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, "select pg_advisory_lock($1)", int64(migrationLock)); err != nil {
		return failure(op, err)
	}
	return failure(op, fn(&migrator{conn: conn, op: op}))
}

// prepare makes the roles, the schema and the table of applied steps, and takes
// the owner's role.
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
	_, err := m.conn.Exec(ctx, `
		create table if not exists toolcrib_migrations (
			version    integer primary key,
			name       text not null,
			checksum   text not null,
			applied_at timestamptz not null default now()
		);
		grant select on toolcrib_migrations to `+AppRole+", "+MaintenanceRole)
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
	rows, _ := m.conn.Query(ctx, "select version, name, checksum, applied_at from toolcrib_migrations order by version")
	applied, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (a Migration, err error) {
		err = row.Scan(&a.Version, &a.Name, &a.Checksum, &a.AppliedAt)
		return a, err
	})
	if undefinedTable(err) {
		return steps, nil
	}
	if err != nil {
		return nil, err
	}
	for _, a := range applied {
		if a.Version > len(steps) {
			return nil, schemaFailure(m.op, applied[len(applied)-1].Version, len(steps))
		}
		step := &steps[a.Version-1]
		if step.Checksum != a.Checksum {
			return nil, &tool.Error{Kind: tool.Conflict, Op: m.op, Msg: fmt.Sprintf(
				"migration %03d_%s was applied with other content than this binary holds", a.Version, a.Name)}
		}
		step.AppliedAt = a.AppliedAt
	}
	return steps, nil
}

func (m *migrator) apply(ctx context.Context, step Migration) error {
	err := pgx.BeginFunc(ctx, m.conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, step.up); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "insert into toolcrib_migrations (version, name, checksum) values ($1, $2, $3)",
			step.Version, step.Name, step.Checksum)
		return err
	})
	if err != nil {
		return fmt.Errorf("applying migration %03d_%s: %w", step.Version, step.Name, err)
	}
	return nil
}

func (m *migrator) revert(ctx context.Context, step Migration) error {
	err := pgx.BeginFunc(ctx, m.conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, step.down); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "delete from toolcrib_migrations where version = $1", step.Version)
		return err
	})
	if err != nil {
		return fmt.Errorf("reverting migration %03d_%s: %w", step.Version, step.Name, err)
	}
	return nil
}

// checkSchema refuses a database that lacks steps this binary needs. A newer
// one is let be: binaries of two versions share a database during a roll-out.
func (s *Store) checkSchema(ctx context.Context) error {
	const op = "store.Open"
	steps, err := Migrations()
	if err != nil {
		return err
	}
	var have int
	err = s.pool.QueryRow(ctx, "select coalesce(max(version), 0) from toolcrib_migrations").Scan(&have)
	if err != nil && !undefinedTable(err) {
		return failure(op, err)
	}
	if have < len(steps) {
		return schemaFailure(op, have, len(steps))
	}
	if have > len(steps) {
		s.log.WarnContext(ctx, "the database schema is newer than this binary")
	}
	return nil
}

func undefinedTable(err error) bool {
	pgErr, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pgErr.Code == codeUndefinedTable
}
