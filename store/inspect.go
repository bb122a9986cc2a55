package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// MinServerMajor is the oldest supported major version of PostgreSQL.
const MinServerMajor = 15

// Inspection is the report of [Inspect].
type Inspection struct {
	Host     string
	Port     int
	Database string
	Version  string // Of the server, such as "17.2".
	Major    int
	Role     string        // Of the connection.
	Danger   string        // Why [Open] refuses the role; empty when it does not.
	Schema   int           // The last migration that was applied; 0 if none was.
	Want     int           // The last migration that this binary knows.
	Ahead    time.Duration // Difference of the server's clock to this machine's; negative if behind.
	// Reconciled is the time since the reconciler's last pass; nil if there was
	// none, or the schema is too old.
	Reconciled *time.Duration
}

// Inspect checks a database as a server or worker would find it, without changes. It
// fails like [Open] where the database cannot be reached.
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
	in.Ahead = clock.Sub(began.Add(time.Since(began) / 2)) // Half of the round trip.
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

// inspectSchema finds the last migration. A login that may not read the table of
// migrations has not been granted a role.
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

// inspectReconciler reads the time of the reconciler's last pass.
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
