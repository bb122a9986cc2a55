package store

import (
	"context"
	"errors"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// checkSchema refuses a database that lacks steps this binary needs, or has steps that
// this binary does not work with. Other newer steps are accepted: binaries of two
// versions share a database during a roll-out.
func (s *Store) checkSchema(ctx context.Context) error {
	const op = "store.Open"
	steps, err := Migrations()
	if err != nil {
		return err
	}
	applied, err := s.appliedSteps(ctx)
	if err != nil {
		return failure(op, err)
	}
	have, needs := 0, 0
	for _, a := range applied {
		needs = max(needs, a.compatible)
		if have == a.Version-1 && (a.Version > len(steps) || steps[a.Version-1].Checksum == a.Checksum) {
			have = a.Version
		}
	}
	switch {
	case have < len(steps):
		return schemaFailure(op, have, len(steps))
	case needs > len(steps):
		return schemaMisfit(op, &SchemaError{Have: have, Want: len(steps), Needs: needs})
	case applied[len(applied)-1].Version > len(steps):
		s.log.WarnContext(ctx, "the database schema is newer than this binary",
			slog.Int("have", applied[len(applied)-1].Version), slog.Int("want", len(steps)))
	}
	return nil
}

// appliedSteps returns the steps that the database has, in order.
func (s *Store) appliedSteps(ctx context.Context) ([]Migration, error) {
	// As JSON, because databases with an old schema lack a column.
	rows, _ := s.pool.Query(ctx, `select m.version, m.name, m.checksum, coalesce((to_jsonb(m) ->> 'compatible')::integer, 0)
		from toolcrib_migrations m order by m.version`)
	applied, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (a Migration, err error) {
		err = row.Scan(&a.Version, &a.Name, &a.Checksum, &a.compatible)
		return a, err
	})
	if undefinedTable(err) {
		return nil, nil
	}
	return applied, err
}

// SchemaGap returns the number of steps of this binary that the database lacks, and of steps
// of the database that this binary does not know. It fails with tool.Unavailable.
func (s *Store) SchemaGap(ctx context.Context) (missing, unknown int, err error) {
	const op = "store.SchemaGap"
	steps, err := Migrations()
	if err != nil {
		return 0, 0, err
	}
	applied, err := s.appliedSteps(ctx)
	if err != nil {
		return 0, 0, failure(op, err)
	}
	missing, unknown = schemaGap(steps, applied)
	return missing, unknown, nil
}

func schemaGap(steps, applied []Migration) (missing, unknown int) {
	known := make(map[int]string, len(steps))
	for _, step := range steps {
		known[step.Version] = step.Checksum
	}
	missing = len(steps)
	for _, a := range applied {
		if checksum, ok := known[a.Version]; ok && checksum == a.Checksum {
			missing--
		} else {
			unknown++
		}
	}
	return missing, unknown
}

func undefinedTable(err error) bool {
	pgErr, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pgErr.Code == codeUndefinedTable
}
