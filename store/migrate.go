package store

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/store/internal/db"
)

// partitionsAhead is the number of monthly partitions created in advance.
const partitionsAhead = 3

// Migrate brings the database up to date, in the first schema of the connection's
// search path, and returns the steps it applied. It creates the roles [OwnerRole],
// [AppRole] and [MaintenanceRole] where they are missing, and acts as the first; so
// the URL's role must be a superuser, or be allowed to create roles and to create in
// the schema. Concurrent runs wait for each other.
//
// Steps do not block a database in use: each waits for locks only briefly and is
// retried, for up to ten minutes; indexes of large tables are built without blocking
// writes. A database with an earlier text of a step is repaired first.
//
// It fails with a [*SchemaError] where the database is newer than this binary, with
// tool.Conflict where a step was applied with unknown content, and with
// tool.Unavailable where long transactions kept the locks for all that time.
func Migrate(ctx context.Context, url string) ([]Migration, error) {
	const op = "store.Migrate"
	var applied []Migration
	err := withMigrator(ctx, op, url, func(m *migrator) error {
		if err := m.prepare(ctx); err != nil {
			return err
		}
		if err := m.repair(ctx); err != nil {
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
		if err := m.sealEvents(ctx); err != nil {
			return fmt.Errorf("numbering events: %w", err)
		}
		if err := m.indexDocuments(ctx); err != nil {
			return fmt.Errorf("indexing the words of documents: %w", err)
		}
		if err := m.countQuotas(ctx); err != nil {
			return fmt.Errorf("counting what tenants have: %w", err)
		}
		return m.patiently(ctx, func() error {
			_, err := ensurePartitions(ctx, db.New(m.conn), partitionsAhead)
			return err
		})
	})
	return applied, err
}

// MigrateDown reverts every step above the version, newest first, and deletes the
// data of what they created. It fails like [Migrate].
func MigrateDown(ctx context.Context, url string, version int) error {
	const op = "store.MigrateDown"
	return withMigrator(ctx, op, url, func(m *migrator) error {
		if err := m.prepare(ctx); err != nil {
			return err
		}
		if err := m.repair(ctx); err != nil {
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

// MigrationStatus returns every step this binary knows, with its time of application.
// It fails like [Migrate], and changes nothing.
func MigrationStatus(ctx context.Context, url string) ([]Migration, error) {
	var steps []Migration
	err := withMigrator(ctx, "store.MigrationStatus", url, func(m *migrator) (err error) {
		steps, err = m.status(ctx)
		return err
	})
	return steps, err
}
