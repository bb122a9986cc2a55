package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/toolcrib/toolcrib/audit"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// globalScope is the tenant in keys of global rows.
const globalScope = "00000000-0000-0000-0000-000000000000"

// maxTries bounds the retries of an operation that loses to others.
const maxTries = 8

// errRaced means that another transaction wrote the same row after the statement's
// snapshot; a retry sees it.
var errRaced = errors.New("raced with another transaction")

// do runs fn as tenant. Each statement of fn is one round trip and its own
// transaction. Statements that lose to a concurrent transaction are retried.
func (s *Store) do(ctx context.Context, op string, tenant tool.TenantID, fn func(q *db.Queries) error) error {
	return s.doAfter(ctx, op, db.SetTenant, tenant, fn)
}

// doPlanned is do for the large statements of a call, which are planned once per
// connection: they look up rows by their keys, whatever the parameters.
func (s *Store) doPlanned(ctx context.Context, op string, tenant tool.TenantID, fn func(q *db.Queries) error) error {
	return s.doAfter(ctx, op, db.SetTenantPlanOnce, tenant, fn)
}

// doInOrder is do for pages that walk an index: see SetTenantInOrder.
func (s *Store) doInOrder(ctx context.Context, op string, tenant tool.TenantID, fn func(q *db.Queries) error) error {
	return s.doAfter(ctx, op, db.SetTenantInOrder, tenant, fn)
}

// doAfter is do with another statement that sets the tenant.
func (s *Store) doAfter(
	ctx context.Context, op, enter string, tenant tool.TenantID, fn func(q *db.Queries) error,
) error {
	if err := s.checkTenant(op, tenant); err != nil {
		return err
	}
	return s.run(ctx, op, func(ctx context.Context) error {
		return fn(db.New(bind(ctx, scope{pool: s.pool, enter: enter, settings: s.settings(ctx, op, tenant)})))
	})
}

// doGlobal is do without a tenant, for database functions that act for all tenants.
func (s *Store) doGlobal(ctx context.Context, op string, fn func(q *db.Queries) error) error {
	return s.run(ctx, op, func(ctx context.Context) error {
		return fn(db.New(bind(ctx, scope{pool: s.pool, enter: db.SetTenant, settings: s.settings(ctx, op, "")})))
	})
}

// doFiltered is do for lists whose filters decide which index to use: they are planned
// for the actual parameters.
func (s *Store) doFiltered(ctx context.Context, op string, tenant tool.TenantID, fn func(q *db.Queries) error) error {
	return s.doAfter(ctx, op, db.SetTenantPlanEach, tenant, fn)
}

// ask returns the answer of one query of sqlc, which do runs as tenant: [Store.do] or
// one of its variants.
func ask[P, T any](
	ctx context.Context, do func(context.Context, string, tool.TenantID, func(*db.Queries) error) error,
	op string, tenant tool.TenantID, query func(*db.Queries, context.Context, P) (T, error), params P,
) (answer T, err error) {
	err = do(ctx, op, tenant, func(q *db.Queries) (err error) {
		answer, err = query(q, ctx, params)
		return err
	})
	return answer, err
}

// inTx runs fn as tenant in one transaction of several round trips.
func (s *Store) inTx(ctx context.Context, op string, tenant tool.TenantID, fn func(q *db.Queries) error) error {
	if err := s.checkTenant(op, tenant); err != nil {
		return err
	}
	return s.run(ctx, op, func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			q := db.New(bind(ctx, tx))
			if err := q.SetTenant(ctx, s.settings(ctx, op, tenant)); err != nil {
				return err
			}
			return fn(q)
		})
	})
}

// read runs the statements of fill as tenant, in one round trip and one transaction.
func (s *Store) read(ctx context.Context, op string, tenant tool.TenantID, fill func(b *pgx.Batch)) error {
	return s.readAfter(ctx, op, db.SetTenant, tenant, fill)
}

// readAfter is read with another statement that sets the tenant.
func (s *Store) readAfter(
	ctx context.Context, op, enter string, tenant tool.TenantID, fill func(b *pgx.Batch),
) error {
	if err := s.checkTenant(op, tenant); err != nil {
		return err
	}
	return s.run(ctx, op, func(ctx context.Context) error {
		b := tenantBatch(enter, s.settings(ctx, op, tenant))
		fill(b)
		return s.pool.SendBatch(ctx, b).Close()
	})
}

// settings are the transaction settings of an operation, by the actor of ctx.
func (s *Store) settings(ctx context.Context, op string, tenant tool.TenantID) db.SetTenantParams {
	return db.SetTenantParams{
		TenantID: string(tenant), StatementTimeout: milliseconds(s.timeouts.statement(op)),
		LockTimeout: milliseconds(s.timeouts.Lock), IdleTimeout: milliseconds(s.timeouts.Idle),
		Actor: audit.ActorSetting(ctx),
	}
}

// queue adds a query to b whose rows are appended to into.
func queue[T any](b *pgx.Batch, into *[]T, sql string, args ...any) {
	b.Queue(sql, args...).Query(func(rows pgx.Rows) (err error) {
		*into, err = pgx.CollectRows(rows, pgx.RowToStructByPos[T])
		return err
	})
}

// queueScalars is queue for a query of one column.
func queueScalars[T any](b *pgx.Batch, into *[]T, sql string, args ...any) {
	b.Queue(sql, args...).Query(func(rows pgx.Rows) (err error) {
		*into, err = pgx.CollectRows(rows, pgx.RowTo[T])
		return err
	})
}

// checkTenant refuses malformed tenant ids. A platform store acts for the empty tenant
// only, and other stores never do.
func (s *Store) checkTenant(op string, tenant tool.TenantID) error {
	if s.platform != (tenant == "") || tenant != "" && !tool.ValidID(string(tenant)) {
		return notFound(op, "tenant not found")
	}
	return nil
}

// scope prepends the statement that sets the tenant to each statement, in one batch:
// one round trip and one transaction, because the server commits at the end of the
// batch. The setting ends with it, so that a pooled connection keeps no tenant.
type scope struct {
	pool     *pgxpool.Pool
	enter    string // The statement that sets the tenant and the timeouts.
	settings db.SetTenantParams
}

var _ db.DBTX = scope{}

func tenantBatch(enter string, settings db.SetTenantParams) *pgx.Batch {
	b := &pgx.Batch{}
	b.Queue(enter, settings.TenantID, settings.StatementTimeout, settings.LockTimeout, settings.IdleTimeout,
		settings.Actor)
	return b
}

func (s scope) send(ctx context.Context, sql string, args []any) (pgx.BatchResults, error) {
	b := tenantBatch(s.enter, s.settings)
	b.Queue(sql, args...)
	results := s.pool.SendBatch(ctx, b)
	if _, err := results.Exec(); err != nil {
		_ = results.Close() // It returns the same failure.
		return nil, err
	}
	return results, nil
}

// Exec implements [db.DBTX].
func (s scope) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	results, err := s.send(ctx, sql, args)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	tag, err := results.Exec()
	if closeErr := results.Close(); err == nil {
		err = closeErr
	}
	return tag, err
}

// Query implements [db.DBTX].
func (s scope) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	results, err := s.send(ctx, sql, args)
	if err != nil {
		return nil, err
	}
	rows, err := results.Query()
	if err != nil {
		_ = results.Close() // It returns the same failure.
		return nil, err
	}
	return &scopedRows{Rows: rows, results: results}, nil
}

// QueryRow implements [db.DBTX].
func (s scope) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	results, err := s.send(ctx, sql, args)
	return scopedRow{results: results, err: err}
}

// scopedRows closes its batch after its last row, so that Err includes a failed commit.
type scopedRows struct {
	pgx.Rows
	results pgx.BatchResults
	err     error
	closed  bool
}

func (r *scopedRows) Next() bool {
	if r.Rows.Next() {
		return true
	}
	r.Close()
	return false
}

func (r *scopedRows) Close() {
	r.Rows.Close()
	if !r.closed {
		r.closed = true
		r.err = r.results.Close()
	}
}

func (r *scopedRows) Err() error {
	if err := r.Rows.Err(); err != nil {
		return err
	}
	return r.err
}

type scopedRow struct {
	results pgx.BatchResults
	err     error
}

func (r scopedRow) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	err := r.results.QueryRow().Scan(dest...)
	if closeErr := r.results.Close(); err == nil {
		err = closeErr
	}
	return err
}
