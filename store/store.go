package store

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/tool"
)

// The group roles that [Migrate] creates. Grant one to a login role to let it
// act so; see [Options.SetRole] for connections that may switch.
const (
	OwnerRole       = "toolcrib_owner"       // Owns the tables; migrations and the platform.
	AppRole         = "toolcrib_app"         // Owns nothing; API servers and workers.
	MaintenanceRole = "toolcrib_maintenance" // Sweepers across tenants, with narrow grants.
)

// Options configures [Open] and [OpenPlatform].
type Options struct {
	// Logger is told of what a caller is not. Defaults to [slog.Default].
	Logger *slog.Logger
	// Tracer sees each query; nil for none.
	Tracer pgx.QueryTracer
	// MaxConns bounds the pool. Defaults to the URL's pool_max_conns, else to
	// the greater of 4 and the number of CPUs.
	MaxConns int
	// SetRole is the role every connection switches to, such as [AppRole]. For
	// development and tests, where one login may take any role: what the login
	// could do besides is not looked at. Empty to keep the login's own.
	// OpenPlatform defaults it to [OwnerRole].
	SetRole string
	// AllowPrivileged lets Open go on as a role that can get around row level
	// security. For development only.
	AllowPrivileged bool
	// NotifyInterval is how long wake-ups for listeners of [EventChannel] are
	// gathered before they are sent. Defaults to 20 ms; negative sends none.
	NotifyInterval time.Duration
	// SealInterval is how often the events that this store wrote are given their
	// numbers in the streams of their tenants, which reading a stream does too.
	// Defaults to 2 s; negative for reading only.
	SealInterval time.Duration
}

// Store keeps the data of tenants. It is safe for concurrent use.
type Store struct {
	pool     *pgxpool.Pool
	log      *slog.Logger
	platform bool // Acts for no tenant, on what is global.
	notifier *notifier
	sealer   *sealer
	closing  sync.Once

	transcripts *transcripts
	vectors     bool // Embeddings have a column of pgvector's type.
}

var (
	_ agent.Runs      = (*Store)(nil)
	_ ledger.Ledger   = (*Store)(nil)
	_ resolver.Source = (*Store)(nil)
	_ registry.Store  = (*Store)(nil)
	_ vault.Store     = (*Store)(nil)
	_ retrieval.Store = (*Store)(nil)
)

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
	if err := s.check(ctx, opts); err != nil {
		s.pool.Close()
		return nil, reached(err)
	}
	if opts.NotifyInterval >= 0 {
		s.notifier = startNotifier(ctx, s.pool, s.log, cmp.Or(opts.NotifyInterval, defaultNotifyInterval))
	}
	if opts.SealInterval >= 0 {
		s.sealer = startSealer(ctx, s, cmp.Or(opts.SealInterval, defaultSealInterval))
	}
	return s, nil
}

// Close waits for running queries and closes the pool. A second call does
// nothing.
func (s *Store) Close() {
	s.closing.Do(func() {
		if s.sealer != nil {
			s.sealer.stop()
		}
		if s.notifier != nil {
			s.notifier.stop()
		}
		s.pool.Close()
	})
}

// Ping reports whether the database answers. It fails with tool.Unavailable.
func (s *Store) Ping(ctx context.Context) error {
	return failure("store.Ping", s.pool.Ping(ctx))
}

func connect(ctx context.Context, url string, opts Options) (*Store, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, &tool.Error{Kind: tool.Invalid, Op: "store.Open", Msg: "the database URL is malformed", Err: err}
	}
	if opts.MaxConns > 0 {
		config.MaxConns = int32(min(opts.MaxConns, 10_000))
	}
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = "toolcrib"
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = 10 * time.Second
	}
	config.ConnConfig.Tracer = opts.Tracer
	if opts.SetRole != "" {
		config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
			return takeRole(ctx, conn, opts.SetRole)
		}
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, failure("store.Open", err)
	}
	s := &Store{pool: pool, log: opts.Logger, transcripts: newTranscripts()}
	if s.log == nil {
		s.log = slog.Default()
	}
	return s, nil
}

// check refuses a role that tenants are not safe from, and a schema that is too old.
func (s *Store) check(ctx context.Context, opts Options) error {
	if err := s.checkRole(ctx, opts); err != nil {
		return err
	}
	if err := s.checkSchema(ctx); err != nil {
		return err
	}
	return s.findVectors(ctx)
}
