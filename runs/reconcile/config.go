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
	// DefaultGrace is long enough for a start, or an end, that is under way.
	DefaultGrace = 30 * time.Second
	// DefaultInterval keeps what is found and closed within a minute of its cause.
	DefaultInterval = 10 * time.Second
	// DefaultLease is how long the others wait for a leader that has died.
	DefaultLease = 20 * time.Second
)

// Config is what a reconciler is made of.
type Config struct {
	// Store closes what is found, for one tenant at a time. Required.
	Store *store.Store
	// Temporal knows the workflows. Required.
	Temporal client.Client
	// Namespace is the client's. Defaults to [client.DefaultNamespace].
	Namespace string
	// Maintenance finds what is open across tenants. Without it the reconciler
	// looks at single runs only, and Pass and Lead fail.
	Maintenance *store.Maintenance
	// Grace is how old a run, and how long closed a workflow, must be before
	// a pass closes anything of it. Defaults to [DefaultGrace].
	Grace time.Duration
	// Interval is the time between two passes. Defaults to [DefaultInterval].
	Interval time.Duration
	// Lease is how long the leader's lease holds. Defaults to [DefaultLease].
	Lease time.Duration
	// Adopt binds the record to this namespace even where it was bound to
	// another: all runs of that one are then closed as lost. Off unless an
	// operator asks for it.
	Adopt bool
	// MeterProvider counts what is found and closed. Defaults to none.
	MeterProvider metric.MeterProvider
	// Logger receives a line for each closure. Defaults to [slog.Default].
	Logger *slog.Logger
}

// Reconciler closes what has ended without saying so. It is safe for concurrent
// use, but Pass and Lead, of which one may run at a time.
type Reconciler struct {
	cfg     Config
	log     *slog.Logger
	metrics *metrics
	holder  string
	scan    scan
}

// New returns a reconciler. It fails where a required part is missing.
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
		return nil, fmt.Errorf("reconcile: Config.Lease is %s, and at most %s", cfg.Lease, store.MaxLease)
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
