package reconcile

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/metric"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/store"
)

// Defaults of [Config].
const (
	// DefaultGrace covers a start, or an end, in progress.
	DefaultGrace = 30 * time.Second
	// DefaultInterval closes things within a minute of their cause.
	DefaultInterval = 10 * time.Second
	// DefaultLease is how long the others wait for a dead leader.
	DefaultLease = 20 * time.Second
)

// Config configures a [Reconciler].
type Config struct {
	// Store closes findings, one tenant at a time. Required.
	Store *store.Store
	// Temporal is asked about workflows. Required.
	Temporal client.Client
	// Namespace is the client's. Defaults to [client.DefaultNamespace].
	Namespace string
	// Maintenance finds open runs across tenants. Without it the reconciler checks
	// single runs only, and Pass and Lead fail.
	Maintenance *store.Maintenance
	// Grace is the minimum age of a run, and of the end of a workflow, for a pass to close
	// anything of it. Defaults to [DefaultGrace].
	Grace time.Duration
	// Interval is the time between two passes. Defaults to [DefaultInterval].
	Interval time.Duration
	// Lease is the duration of the leader's lease. Defaults to [DefaultLease].
	Lease time.Duration
	// Adopt binds the record to this namespace even if it was bound to another: all runs
	// of that one are then closed as lost. Off by default.
	Adopt bool
	// MeterProvider counts findings and closures. Defaults to none.
	MeterProvider metric.MeterProvider
	// Logger logs each closure. Defaults to [slog.Default].
	Logger *slog.Logger
}

// Reconciler closes runs, calls and documents whose workflow has ended without recording it. It is safe for
// concurrent use, except that Pass and Lead must not run concurrently.
type Reconciler struct {
	cfg     Config
	log     *slog.Logger
	metrics *metrics
	holder  string
	scan    scan
}

// New returns a reconciler. It fails if a required field is missing.
func New(cfg Config) (*Reconciler, error) {
	if cfg.Store == nil || cfg.Temporal == nil {
		return nil, errors.New("reconcile: Config.Store and Temporal are required")
	}
	if cfg.Namespace == "" {
		cfg.Namespace = client.DefaultNamespace
	}
	if cfg.Grace <= 0 {
		cfg.Grace = DefaultGrace
	}
	if cfg.Interval <= 0 {
		cfg.Interval = DefaultInterval
	}
	if cfg.Lease <= 0 {
		cfg.Lease = DefaultLease
	}
	if cfg.Lease > store.MaxLease {
		return nil, fmt.Errorf("reconcile: Config.Lease is %s: at most %s", cfg.Lease, store.MaxLease)
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	m, err := newMetrics(cfg.MeterProvider)
	if err != nil {
		return nil, fmt.Errorf("reconcile: making metrics: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return &Reconciler{
		cfg: cfg, log: cfg.Logger, metrics: m, holder: fmt.Sprintf("%s/%d/%s", host, os.Getpid(), uuid.NewString()[:8]),
	}, nil
}
