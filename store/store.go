package store

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/audit"
	"github.com/toolcrib/toolcrib/file"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/schedule"
	"github.com/toolcrib/toolcrib/wait"
	"github.com/toolcrib/toolcrib/webhook"
)

// The group roles that [Migrate] creates. Grant one to a login role; see
// [Options.SetRole] for connections that switch to it.
const (
	OwnerRole       = "toolcrib_owner"       // Owns the tables; migrations and the platform.
	AppRole         = "toolcrib_app"         // Owns nothing; API servers and workers.
	MaintenanceRole = "toolcrib_maintenance" // Sweepers across tenants, with narrow grants.
)

// Options configures [Open] and [OpenPlatform].
type Options struct {
	// Logger logs errors that are not returned. Defaults to [slog.Default].
	Logger *slog.Logger
	// Tracer traces each query; nil for none.
	Tracer pgx.QueryTracer
	// MaxConns bounds the connections in use. Defaults to the URL's pool_max_conns,
	// else to [DefaultMaxConns]. Readiness probes, [Store.Listen] and
	// [Store.ListenControl] use one more each.
	MaxConns int
	// Timeouts bounds the waits for the database.
	Timeouts Timeouts
	// SetRole is the role every connection switches to, such as [AppRole]. For
	// development and tests, where one login may take any role; the login's own
	// rights are not checked. Empty to keep the login's role. OpenPlatform defaults
	// it to [OwnerRole].
	SetRole string
	// AllowPrivileged lets Open accept a role that can bypass row-level security.
	// For development only.
	AllowPrivileged bool
	// NotifyInterval is the interval at which wake-ups for listeners of
	// [EventChannel] are sent in a batch. Defaults to 20 ms; negative sends none.
	NotifyInterval time.Duration
	// SealInterval is the interval at which events that this store wrote are
	// numbered in their tenants' streams, which reading a stream does too. Defaults
	// to 2 s; negative for reading only. The audit log is chained each second, or at
	// this interval if that is shorter; negative leaves it to other processes.
	SealInterval time.Duration
	// ListenQuiet is how long a listening connection may be silent before
	// [Store.Listen] pings the server. Defaults to 10 s.
	ListenQuiet time.Duration
}

// Store reads and writes the data of tenants. It is safe for concurrent use.
type Store struct {
	pool     *pgxpool.Pool
	gate     *gate // For all users of the pool except probes and listeners.
	timeouts Timeouts
	writes   *writeFailures
	unheard  atomic.Int32 // Consecutive operations without an answer of the server.
	log      *slog.Logger
	platform bool // Acts on global rows, without a tenant.
	notifier *notifier
	sealer   *sealer
	sweeps   sweeps
	quiet    time.Duration // Options.ListenQuiet.
	closing  sync.Once
	closed   chan struct{} // Closed by Close: listeners end.

	transcripts *transcripts
	vectors     bool // Embeddings have a column of pgvector's type.
}

var (
	_ agent.Runs      = (*Store)(nil)
	_ audit.Log       = (*Store)(nil)
	_ ledger.Ledger   = (*Store)(nil)
	_ resolver.Source = (*Store)(nil)
	_ registry.Store  = (*Store)(nil)
	_ vault.Store     = (*Store)(nil)
	_ retrieval.Store = (*Store)(nil)
	_ wait.Approvals  = (*Store)(nil)
	_ webhook.Store   = (*Store)(nil)
	_ webhook.Outbox  = (*Store)(nil)
	_ schedule.Store  = (*Store)(nil)
	_ file.Store      = (*Store)(nil)
	_ schedule.Starts = (*Store)(nil)
	_ schedule.Outbox = (*Store)(nil)
)

// openTimeout bounds the checks when a database is opened.
const openTimeout = 30 * time.Second

// Open connects to a migrated database.
//
// It fails with tool.Unavailable where the database does not answer, with a
// [*SchemaError] where its schema is older than this binary's, and with
// tool.Denied where the login is, or may become, a superuser, the owner of the
// tables, [MaintenanceRole], or a role that bypasses row level security or may
// create roles; see [Options.AllowPrivileged].
func Open(ctx context.Context, url string, opts Options) (*Store, error) {
	s, err := connect(ctx, url, opts)
	if err != nil {
		return nil, err
	}
	checking, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	if err := s.check(checking, opts); err != nil {
		s.pool.Close()
		return nil, reached(err)
	}
	if opts.NotifyInterval >= 0 {
		s.notifier = startNotifier(ctx, s, cmp.Or(opts.NotifyInterval, defaultNotifyInterval))
	}
	if opts.SealInterval >= 0 {
		s.sealer = startSealer(ctx, s, cmp.Or(opts.SealInterval, defaultSealInterval))
	}
	return s, nil
}

// Close waits for running queries, ends listeners and closes the pool. A second call
// does nothing.
func (s *Store) Close() {
	s.closing.Do(func() {
		close(s.closed)
		if s.sealer != nil {
			s.sealer.stop()
		}
		if s.notifier != nil {
			s.notifier.stop()
		}
		s.pool.Close()
	})
}

// check refuses a role that can bypass tenant isolation, and an old schema.
func (s *Store) check(ctx context.Context, opts Options) error {
	if err := s.checkRole(ctx, opts); err != nil {
		return err
	}
	if err := s.checkSchema(ctx); err != nil {
		return err
	}
	return s.findVectors(ctx)
}
