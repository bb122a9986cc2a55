package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// MinServerMajor is the oldest major version of PostgreSQL that migrations and
// queries are written for.
const MinServerMajor = 15

// Inspection is what a look at a database found.
type Inspection struct {
	Host     string
	Port     int
	Database string
	Version  string // Of the server, such as "17.2".
	Major    int
	Role     string        // That the connection acts as.
	Danger   string        // Why [Open] refuses the role; empty when it does not.
	Schema   int           // The last migration that was applied; 0 if none was.
	Want     int           // The last migration that this binary knows.
	Ahead    time.Duration // How far the server's clock is ahead of this machine's; less than zero behind.
	// Reconciled is how long ago the reconciler last went through the record; nil
	// if it never did, or the schema is older than it.
	Reconciled *time.Duration
}

// Inspect looks at a database as a server or worker would meet it, and changes
// nothing. It fails as [Open] does where the database can't be reached.
func Inspect(ctx context.Context, url string) (Inspection, error) {
	const op = "store.Inspect"
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	s, err := connect(ctx, url, Options{MaxConns: 1})
	if err != nil {
		return Inspection{}, err
	}
	defer s.pool.Close()
	to := s.pool.Config().ConnConfig
	in := Inspection{Host: to.Host, Port: int(to.Port), Database: to.Database}
	var number int
	var clock time.Time
	if err := s.pool.Ping(ctx); err != nil {
		return in, reached(failure(op, err))
	}
	began := time.Now()
	err = s.pool.QueryRow(ctx, `
		select split_part(current_setting('server_version'), ' ', 1), current_setting('server_version_num')::int,
			current_user::text, clock_timestamp()`).Scan(&in.Version, &number, &in.Role, &clock)
	if err != nil {
		return in, failure(op, err)
	}
	in.Ahead = clock.Sub(began.Add(time.Since(began) / 2)) // The answer was on its way for a while.
	in.Major = number / 10_000
	if err := s.checkRole(ctx, Options{}); err != nil {
		if tool.KindOf(err) != tool.Denied {
			return in, err
		}
		in.Danger = tool.AsError(err).Msg
	}
	if err := s.inspectSchema(ctx, &in); err != nil || in.Schema < in.Want {
		return in, err
	}
	return in, s.inspectReconciler(ctx, &in)
}

// inspectSchema finds the last migration. A login that may not read the table
// of migrations means a database that was never prepared for it.
func (s *Store) inspectSchema(ctx context.Context, in *Inspection) error {
	steps, err := Migrations()
	if err != nil {
		return err
	}
	in.Want = len(steps)
	err = s.pool.QueryRow(ctx, "select coalesce(max(version), 0) from toolcrib_migrations").Scan(&in.Schema)
	if pgErr, ok := errors.AsType[*pgconn.PgError](err); ok &&
		(pgErr.Code == codeUndefinedTable || pgErr.Code == codeInsufficient) {
		return nil
	}
	return failure("store.Inspect", err)
}

// inspectReconciler reads when the record was last reconciled.
func (s *Store) inspectReconciler(ctx context.Context, in *Inspection) error {
	row, err := db.New(s.pool).ReadLease(ctx, ReconcilerLease)
	if pgErr, ok := errors.AsType[*pgconn.PgError](err); ok &&
		(pgErr.Code == codeUndefinedTable || pgErr.Code == codeInsufficient) || noLease(err) {
		return nil
	}
	if err != nil {
		return failure("store.Inspect", err)
	}
	if lease := leaseOf(row); lease.PassedAt != nil {
		in.Reconciled = &lease.Since
	}
	return nil
}
