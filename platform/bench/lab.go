package bench

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"github.com/toolcrib/toolcrib/platform/dev/embedded"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/store"
)

// connections bounds every pool, ours and those of hand-written code alike.
const connections = 16

// lab is what all benchmarks run on: a PostgreSQL that waits for the disk, and
// a Temporal server on a file, both as toolcrib dev runs them. The environment
// is not asked: measuring fills databases.
type lab struct {
	cfg        Config
	size       Size
	part       string
	began      time.Time
	dir        string
	postgres   *embedded.Postgres
	temporal   *embedded.Temporal
	postmaster int // Zero where its CPU time can't be measured.
	trips      atomic.Int64
	closers    []func(context.Context) error
}

func openLab(ctx context.Context, cfg Config) (*lab, error) {
	l := &lab{cfg: cfg, size: cfg.Size, began: time.Now()}
	if err := l.open(ctx); err != nil {
		return nil, errors.Join(err, l.close(context.WithoutCancel(ctx)))
	}
	return l, nil
}

func (l *lab) open(ctx context.Context) (err error) {
	if l.dir, err = os.MkdirTemp("", "toolcrib-bench-"); err != nil {
		return fmt.Errorf("making a folder to measure in: %w", err)
	}
	l.later(func(context.Context) error { return os.RemoveAll(l.dir) })
	if err := os.Chmod(l.dir, 0o711); err != nil { //nolint:gosec // The account that runs PostgreSQL must pass through.
		return fmt.Errorf("opening the folder to measure in: %w", err)
	}
	l.postgres, err = embedded.StartPostgres(ctx, embedded.PostgresConfig{
		Dir: filepath.Join(l.dir, "postgres"), Port: embedded.AnyPort, Logger: l.cfg.Logger,
	})
	if err != nil {
		return err
	}
	l.later(l.postgres.Stop)
	l.temporal, err = embedded.StartTemporal(ctx, embedded.TemporalConfig{
		Dir: filepath.Join(l.dir, "temporal"), Port: embedded.AnyPort, Headless: true, Logger: l.cfg.Logger,
	})
	if err != nil {
		return err
	}
	l.later(l.temporal.Stop)
	return l.findPostmaster(ctx)
}

// findPostmaster finds the parent of a backend.
func (l *lab) findPostmaster(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, l.postgres.URL())
	if err != nil {
		return fmt.Errorf("connecting to PostgreSQL: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	var pid int
	if err := conn.QueryRow(ctx, "select pg_backend_pid()").Scan(&pid); err != nil {
		return fmt.Errorf("asking PostgreSQL for its process: %w", err)
	}
	if backend, err := readProcess(pid); err == nil {
		l.postmaster = backend.parent
	}
	return nil
}

// later runs fn when the benchmark that asked for it has ended, or when the lab
// closes; before what was asked for earlier.
func (l *lab) later(fn func(context.Context) error) { l.closers = append(l.closers, fn) }

const closeTimeout = time.Minute

// run runs a benchmark and closes what it opened: the connections of all of them
// together are more than PostgreSQL has, and idle workers take time from the next.
func (l *lab) run(ctx context.Context, b benchmark) (figures []Figure, err error) {
	opened := len(l.closers)
	defer func() { err = errors.Join(err, l.closeFrom(context.WithoutCancel(ctx), opened)) }()
	l.part = b.name
	l.progress("%s", b.about)
	return b.run(ctx, l)
}

func (l *lab) close(ctx context.Context) error { return l.closeFrom(ctx, 0) }

// closeFrom closes all but what was opened first.
func (l *lab) closeFrom(ctx context.Context, first int) error {
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	var err error
	for _, fn := range slices.Backward(l.closers[first:]) {
		err = errors.Join(err, fn(ctx))
	}
	l.closers = l.closers[:first]
	return err
}

func (l *lab) progress(format string, args ...any) {
	_, _ = fmt.Fprintf(l.cfg.Progress, "%6.1fs  %-9s  %s\n", time.Since(l.began).Seconds(), l.part,
		fmt.Sprintf(format, args...))
}

// database is one of PostgreSQL's, migrated.
type database struct {
	url  string
	pool *pgxpool.Pool // As superuser: for hand-written code, for filling tables, and for counting rows.
	*store.Store
	platform *store.Platform
}

// newDatabase makes a database that is as toolcrib dev has it.
func (l *lab) newDatabase(ctx context.Context, name string) (*database, error) {
	address, err := l.createDatabase(ctx, name)
	if err != nil {
		return nil, err
	}
	d := &database{url: address}
	if _, err := serve.Migrate(ctx, d.url, l.cfg.Logger); err != nil {
		return nil, fmt.Errorf("migrating the database %s: %w", name, err)
	}
	return d, l.connect(ctx, d)
}

// createDatabase makes an empty database and returns its superuser's address.
func (l *lab) createDatabase(ctx context.Context, name string) (string, error) {
	admin, err := pgx.Connect(ctx, l.postgres.URL())
	if err != nil {
		return "", fmt.Errorf("connecting to PostgreSQL: %w", err)
	}
	_, err = admin.Exec(ctx, "create database "+pgx.Identifier{name}.Sanitize())
	if err := errors.Join(err, admin.Close(ctx)); err != nil {
		return "", fmt.Errorf("making the database %s: %w", name, err)
	}
	address, err := url.Parse(l.postgres.URL())
	if err != nil {
		return "", fmt.Errorf("reading PostgreSQL's address: %w", err)
	}
	address.Path = "/" + name
	return address.String(), nil
}

func (l *lab) connect(ctx context.Context, d *database) error {
	config, err := pgxpool.ParseConfig(d.url)
	if err != nil {
		return fmt.Errorf("reading PostgreSQL's address: %w", err)
	}
	config.MaxConns = connections
	if d.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return fmt.Errorf("connecting to PostgreSQL: %w", err)
	}
	l.later(func(context.Context) error { d.pool.Close(); return nil })
	// The role is switched to, as toolcrib dev does.
	d.Store, err = store.Open(ctx, d.url, store.Options{
		Logger: l.cfg.Logger, SetRole: store.AppRole, MaxConns: connections, Tracer: tripCounter{&l.trips},
	})
	if err != nil {
		return fmt.Errorf("opening the store: %w", err)
	}
	l.later(func(context.Context) error { d.Close(); return nil })
	if d.platform, err = store.OpenPlatform(ctx, d.url, store.Options{Logger: l.cfg.Logger, MaxConns: 1}); err != nil {
		return fmt.Errorf("opening the platform's store: %w", err)
	}
	l.later(func(context.Context) error { d.platform.Close(); return nil })
	return nil
}

// count returns the number that a query is answered with.
func (d *database) count(ctx context.Context, query string, args ...any) (int, error) {
	var n int
	if err := d.pool.QueryRow(ctx, query, args...).Scan(&n); err != nil {
		return 0, fmt.Errorf("counting what was done: %w", err)
	}
	return n, nil
}

// tripCounter counts the round trips of a store.
type tripCounter struct{ n *atomic.Int64 }

var (
	_ pgx.QueryTracer = tripCounter{}
	_ pgx.BatchTracer = tripCounter{}
)

// TraceQueryStart implements [pgx.QueryTracer].
func (t tripCounter) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	t.n.Add(1)
	return ctx
}

// TraceQueryEnd implements [pgx.QueryTracer].
func (tripCounter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TraceBatchStart implements [pgx.BatchTracer].
func (t tripCounter) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	t.n.Add(1)
	return ctx
}

// TraceBatchQuery implements [pgx.BatchTracer].
func (tripCounter) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd implements [pgx.BatchTracer].
func (tripCounter) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// dial connects to the lab's Temporal.
func (l *lab) dial(ctx context.Context, plugins ...client.Plugin) (client.Client, error) {
	c, err := serve.DialTemporal(ctx, client.Options{
		HostPort: l.temporal.Address(), Namespace: l.temporal.Namespace(), Plugins: plugins,
		Logger: sdklog.NewStructuredLogger(l.cfg.Logger),
	})
	if err != nil {
		return nil, err
	}
	l.later(func(context.Context) error { c.Close(); return nil })
	return c, nil
}

// machine says in a line where the figures were measured.
func (l *lab) machine(ctx context.Context) string {
	parts := []string{
		fmt.Sprintf("%d processors", runtime.NumCPU()), runtime.GOOS + "/" + runtime.GOARCH, runtime.Version(),
	}
	if conn, err := pgx.Connect(ctx, l.postgres.URL()); err == nil {
		var version string
		if conn.QueryRow(ctx, "show server_version").Scan(&version) == nil {
			number, _, _ := strings.Cut(version, " ")
			parts = append(parts, "PostgreSQL "+number)
		}
		_ = conn.Close(ctx)
	}
	return strings.Join(parts, ", ")
}
