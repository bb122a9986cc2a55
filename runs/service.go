package runs

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/wire"
)

// MaxUnfinished returns how many pending and running runs a tenant without a limit of its own may
// have; zero for no bound.
func (s *Service) MaxUnfinished() int { return s.cfg.MaxUnfinished }

// DefaultMaxUnfinished is how many unfinished runs a tenant may have unless a
// configuration says otherwise: as many as the platform is meant to hold waiting
// at once in one process, and above what tenants reach in ordinary use.
const DefaultMaxUnfinished = 10_000

const (
	// StartTimeout bounds one attempt to start a workflow, and every other single
	// request to Temporal that a caller waits for.
	StartTimeout = 3 * time.Second
	// startLease is for how long a start belongs to one attempt: long enough for
	// the request, for asking about it, and for the record of the outcome.
	startLease = 15 * time.Second
	// maxBackoff bounds the time between two attempts.
	maxBackoff = 15 * time.Second
	// startHorizon is how long a run is kept pending while Temporal does not take
	// it. After it the run is failed: its caller no longer expects it.
	startHorizon = 24 * time.Hour
)

// Config configures a [Service].
type Config struct {
	Store      Store         // Required.
	Resolver   Resolver      // Required.
	Reconciler Reconciler    // Required.
	Temporal   client.Client // Required. The caller closes it.
	// DataConverter is the client's. Defaults to Temporal's own.
	DataConverter converter.DataConverter
	// TaskQueue is where the workers listen that run Toolcrib's workflows. Required.
	TaskQueue string
	// Attributes are the search attributes that the namespace has.
	Attributes wire.Attributes
	// Files has the files of answers. Without it, answers name no files, and what people draw is
	// no file.
	Files Files
	// MaxUnfinished bounds the pending and running runs of each tenant. Defaults
	// to [DefaultMaxUnfinished]; negative for no bound.
	MaxUnfinished int
	// MaxQueued and MaxTenantQueued bound the runs that have not begun, of all tenants and of each.
	// Default to [DefaultMaxQueued] and [DefaultMaxTenantQueued]; negative for no bound. They are
	// compared with what was counted at most [QueueInterval] before, and what this process has
	// accepted since.
	MaxQueued, MaxTenantQueued int
	// MaxQueueAge is for how long runs of a tenant may wait to begin, where there are a hundred or
	// more. Defaults to [DefaultMaxQueueAge]; negative for no bound.
	MaxQueueAge time.Duration
	Logger      *slog.Logger // Defaults to discarding.
}

// Service implements the use cases. It is safe for concurrent use.
type Service struct {
	cfg          Config
	log          *slog.Logger
	availability *availability
	schemas      *schema.Cache
	overdue      overdueStats
	queues       queues
	slugs        sync.Map // Of tenants, which never change: strings by tool.TenantID.
}

// New returns a service. It fails where a required field is missing.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil || cfg.Resolver == nil || cfg.Reconciler == nil || cfg.Temporal == nil || cfg.TaskQueue == "" {
		return nil, errors.New("runs: Config.Store, Resolver, Reconciler, Temporal and TaskQueue are required")
	}
	switch {
	case cfg.MaxUnfinished == 0:
		cfg.MaxUnfinished = DefaultMaxUnfinished
	case cfg.MaxUnfinished < 0:
		cfg.MaxUnfinished = 0
	}
	cfg.MaxQueued = bound(cfg.MaxQueued, DefaultMaxQueued)
	cfg.MaxTenantQueued = bound(cfg.MaxTenantQueued, DefaultMaxTenantQueued)
	cfg.MaxQueueAge = bound(cfg.MaxQueueAge, DefaultMaxQueueAge)
	if cfg.DataConverter == nil {
		cfg.DataConverter = converter.GetDefaultDataConverter()
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Service{
		cfg: cfg, log: cfg.Logger, availability: newAvailability(probe(cfg.Temporal)), schemas: schema.New(0),
	}, nil
}

// bound returns a setting: its default for zero, and zero, for none, for what is negative.
func bound[T int | time.Duration](set, standard T) T {
	if set == 0 {
		return standard
	}
	return max(set, 0)
}

// Available fails with tool.Unavailable, and says when to come back, while
// Temporal does not do its work. It answers within [StartTimeout], mostly at
// once: what was found is good for a second.
func (s *Service) Available(ctx context.Context) error { return s.availability.check(ctx) }
