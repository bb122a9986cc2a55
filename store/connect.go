package store

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/toolcrib/toolcrib/tool"
)

// DefaultMaxConns is the default of [Options.MaxConns], unless the URL has
// pool_max_conns.
const DefaultMaxConns = 16

// MaxMaxConns is the maximum of [Options.MaxConns].
const MaxMaxConns = 10_000

// malformedURL is said of a URL that names no database. It never quotes the URL, which has a password.
const malformedURL = "the database URL is malformed: expected one such as postgres://user:password@host:5432/name"

func connect(ctx context.Context, url string, opts Options) (*Store, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, &tool.Error{Kind: tool.Invalid, Op: "store.Open", Msg: malformedURL, Err: err}
	}
	limit := DefaultMaxConns
	switch parsed, err := pgx.ParseConfig(url); { // It keeps the pool's parameters.
	case opts.MaxConns > 0:
		limit = min(opts.MaxConns, MaxMaxConns)
	case err == nil && parsed.RuntimeParams["pool_max_conns"] != "":
		limit = min(int(config.MaxConns), MaxMaxConns)
	}
	timeouts := opts.Timeouts.withDefaults()
	configure(config.ConnConfig, opts.Timeouts)
	// The gate bounds the connections in use. Connections that are being closed,
	// which is slow on a silent network, are extra, so that callers do not wait
	// for them.
	config.MaxConns = int32(2*limit + 2)
	config.PingTimeout = min(time.Second, timeouts.Connect)
	config.ConnConfig.Tracer = opts.Tracer
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		if err := limitSession(ctx, conn, timeouts); err != nil || opts.SetRole == "" {
			return err
		}
		return takeRole(ctx, conn, opts.SetRole)
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, failure("store.Open", err)
	}
	s := &Store{
		pool: pool, log: opts.Logger, transcripts: newTranscripts(),
		timeouts: timeouts, gate: newGate(limit), writes: &writeFailures{},
		quiet: cmp.Or(opts.ListenQuiet, 10*time.Second), closed: make(chan struct{}),
	}
	if s.log == nil {
		s.log = slog.Default()
	}
	return s, nil
}

// configure sets the connect timeout and TCP timeouts, and refuses servers that are
// read-only: after a failover the URL's next host is tried, or the name is resolved
// again. Settings in the URL take precedence.
func configure(config *pgx.ConnConfig, asked Timeouts) {
	timeouts := asked.withDefaults()
	if asked.Connect > 0 || config.ConnectTimeout == 0 {
		config.ConnectTimeout = timeouts.Connect
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "toolcrib"
	}
	if config.ValidateConnect == nil {
		config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	dial := config.DialFunc
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if tcp, ok := conn.(*net.TCPConn); ok && err == nil {
			// Systems without these options still have the operation timeouts.
			_ = tcp.SetKeepAliveConfig(net.KeepAliveConfig{
				Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3,
			})
			limitUnacknowledged(tcp, timeouts.Unacknowledged)
		}
		return conn, err
	}
}

// limitSession sets the timeouts of statements outside of transactions: a statement
// is prepared before its transaction begins, and may wait for locks then too. They
// are not startup parameters, which poolers refuse.
//
// Results and messages of more than 2 KB are compressed by lz4, which takes less time than
// the default, unless the server has no lz4 or its operator chose a method.
func limitSession(ctx context.Context, conn *pgx.Conn, t Timeouts) error {
	_, err := conn.Exec(ctx, `select set_config('statement_timeout', $1, false), set_config('lock_timeout', $2, false),
		set_config('idle_in_transaction_session_timeout', $3, false),
		(select set_config(s.name, 'lz4', false) from pg_settings s
		 where s.name = 'default_toast_compression' and s.source = 'default' and 'lz4' = any (s.enumvals))`, pgx.QueryExecModeExec,
		milliseconds(t.statement("")), milliseconds(t.Lock), milliseconds(t.Idle))
	return err
}

// dialOnce opens a connection outside the pool, with a store's settings.
func dialOnce(ctx context.Context, url string) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	configure(config, Timeouts{Connect: max(config.ConnectTimeout, 10*time.Second)})
	return pgx.ConnectConfig(ctx, config)
}

// renewInterval is the minimum interval between resets of a pool.
const renewInterval = 250 * time.Millisecond

// renew closes all connections of the pool, because the server is read-only or does
// not respond. New connections are dialled on demand.
func (s *Store) renew() {
	s.writes.mu.Lock()
	due := time.Since(s.writes.renewed) >= renewInterval
	if due {
		s.writes.renewed = time.Now()
	}
	s.writes.mu.Unlock()
	if due {
		s.pool.Reset()
	}
}

// writeFailures records the last write that failed because the server is read-only
// or its disk is full.
type writeFailures struct {
	mu      sync.Mutex
	renewed time.Time
	last    time.Time
	err     error
}

// writeMemory is how long a failed write counts against readiness: a probe that
// changes one row does not notice a disk without room for more rows.
const writeMemory = 5 * time.Second

func (w *writeFailures) note(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last, w.err = time.Now(), err
}

// recent returns the last failure within writeMemory.
func (w *writeFailures) recent() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil || time.Since(w.last) > writeMemory {
		return nil
	}
	return w.err
}
