package store

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
)

// applyOnline applies a step whose statements commit one by one, because they cannot
// run in a transaction. Each is idempotent, so that an interrupted step can be
// retried.
func (m *migrator) applyOnline(ctx context.Context, step Migration) error {
	for _, statement := range step.statements() {
		run := func() error { return m.concurrently(ctx, statement) }
		if index, ok := parseIndex(statement); ok {
			run = func() error { return m.buildIndex(ctx, index) }
		} else if !strings.Contains(statement, " concurrently ") {
			run = func() error { _, err := m.conn.Exec(ctx, statement); return err }
		}
		if err := m.patiently(ctx, run); err != nil {
			return err
		}
	}
	_, err := m.conn.Exec(ctx, recordStep, step.Version, step.Name, step.Checksum, step.compatible)
	return err
}

// statements splits a step without bodies of functions.
func (m Migration) statements() []string {
	var lines []string
	for line := range strings.Lines(m.up) {
		if !strings.HasPrefix(strings.TrimSpace(line), "--") {
			lines = append(lines, line)
		}
	}
	var out []string
	for statement := range strings.SplitSeq(strings.Join(lines, ""), ";\n") {
		if statement = strings.TrimSpace(statement); statement != "" {
			out = append(out, statement)
		}
	}
	return out
}

// index is an index that is built while its table is in use.
type index struct {
	unique      string // "unique" or nothing.
	name, table string
	definition  string // Columns and condition.
}

var createIndex = regexp.MustCompile(`(?is)^create (unique )?index concurrently (\w+) on (\w+) (.+)$`)

func parseIndex(statement string) (index, bool) {
	parts := createIndex.FindStringSubmatch(statement)
	if parts == nil {
		return index{}, false
	}
	return index{unique: parts[1], name: parts[2], table: parts[3], definition: parts[4]}, true
}

// concurrently runs a statement that waits for transactions to end, without a
// timeout: meanwhile it holds no lock that blocks reads or writes.
func (m *migrator) concurrently(ctx context.Context, statement string) error {
	if _, err := m.conn.Exec(ctx, "set lock_timeout = 0"); err != nil {
		return err
	}
	_, err := m.conn.Exec(ctx, statement)
	_, restore := m.conn.Exec(ctx, fmt.Sprintf("set lock_timeout = %d", migrationLockTimeout.Milliseconds()))
	return errors.Join(err, restore)
}

// buildIndex builds an index, on a partitioned table partition by partition, where
// PostgreSQL does not support concurrent builds.
func (m *migrator) buildIndex(ctx context.Context, x index) error {
	var partitioned bool
	err := m.conn.QueryRow(ctx, "select relkind = 'p' from pg_class where oid = $1::regclass", x.table).Scan(&partitioned)
	if err != nil {
		return err
	}
	if !partitioned {
		return m.buildOn(ctx, x)
	}
	_, err = m.conn.Exec(
		ctx, fmt.Sprintf("create %sindex if not exists %s on only %s %s", x.unique, x.name, x.table, x.definition),
	)
	if err != nil {
		return err
	}
	rows, _ := m.conn.Query(ctx, `select c.relname::text from pg_inherits i join pg_class c on c.oid = i.inhrelid
		where i.inhparent = $1::regclass and not exists (
			select from pg_index x join pg_inherits a on a.inhrelid = x.indexrelid
			where x.indrelid = c.oid and a.inhparent = $2::regclass) order by 1`, x.table, x.name)
	partitions, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, partition := range partitions {
		part := index{
			unique: x.unique, name: partition + strings.TrimPrefix(x.name, x.table), table: partition, definition: x.definition,
		}
		if err := m.buildOn(ctx, part); err != nil {
			return err
		}
		if _, err := m.conn.Exec(ctx, fmt.Sprintf("alter index %s attach partition %s", x.name, part.name)); err != nil {
			return err
		}
	}
	return nil
}

// buildOn builds an index on one table, unless it exists. An invalid one of an
// interrupted run is rebuilt.
func (m *migrator) buildOn(ctx context.Context, x index) error {
	var valid bool
	err := m.conn.QueryRow(ctx, "select indisvalid from pg_index where indexrelid = to_regclass($1)", x.name).Scan(&valid)
	if err == nil && valid {
		return nil
	}
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	if err == nil {
		if err := m.concurrently(ctx, "drop index concurrently "+x.name); err != nil {
			return err
		}
	}
	return m.concurrently(
		ctx, fmt.Sprintf("create %sindex concurrently %s on %s %s", x.unique, x.name, x.table, x.definition),
	)
}
