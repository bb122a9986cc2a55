package runs

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

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

// Store is the record of runs and their starts. Package store implements it.
type Store interface {
	// AcceptRun records a pending run and its start in one transaction. It fails
	// with tool.Conflict when the run exists, and with tool.RateLimited when the
	// tenant has too many unfinished runs.
	AcceptRun(ctx context.Context, a agent.Acceptance) (agent.Run, error)
	// AddStart records the start of a workflow without a run, and reports whether
	// there was none of its workflow id.
	AddStart(ctx context.Context, start agent.Start, lease time.Duration) (bool, error)
	FindRun(ctx context.Context, tenant tool.TenantID, id string) (agent.Run, error)
	// CountStarts counts the starts that wait, over all tenants.
	CountStarts(ctx context.Context) (agent.StartBacklog, error)
	// ClaimStarts claims starts that are due, of any tenant.
	ClaimStarts(ctx context.Context, limit int, lease time.Duration) ([]agent.StartKey, error)
	// FindStart fails with tool.NotFound when Temporal confirmed the start.
	FindStart(ctx context.Context, key agent.StartKey) (agent.Start, error)
	DeleteStart(ctx context.Context, start agent.Start) error
	PostponeStart(ctx context.Context, start agent.Start, delay time.Duration, reason string) error
	// EndStart ends the pending run of a start, for the attempt that holds it, and
	// reports whether it did.
	EndStart(ctx context.Context, start agent.Start, end agent.RunEnd) (bool, error)
	// EndPendingRun ends a run that has not begun, and reports whether it did.
	EndPendingRun(ctx context.Context, end agent.RunEnd) (bool, error)
}

// Config is what a [Service] stands on.
type Config struct {
	Store    Store         // Required.
	Temporal client.Client // Required. The caller closes it.
	// TaskQueue is where the workers listen that run Toolcrib's workflows. Required.
	TaskQueue string
	// SearchAttributes says that the namespace has the attributes of package wire.
	SearchAttributes bool
	// MaxUnfinished bounds the pending and running runs of each tenant. Defaults
	// to [DefaultMaxUnfinished]; negative for no bound.
	MaxUnfinished int
	Logger        *slog.Logger // Defaults to discarding.
}

// Service implements the use cases. It is safe for concurrent use.
type Service struct {
	cfg          Config
	log          *slog.Logger
	availability *availability
}

// New returns a service. It fails where a required field is missing.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil || cfg.Temporal == nil || cfg.TaskQueue == "" {
		return nil, errors.New("runs: Config.Store, Temporal and TaskQueue are required")
	}
	switch {
	case cfg.MaxUnfinished == 0:
		cfg.MaxUnfinished = DefaultMaxUnfinished
	case cfg.MaxUnfinished < 0:
		cfg.MaxUnfinished = 0
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Service{cfg: cfg, log: cfg.Logger, availability: newAvailability(probe(cfg.Temporal))}, nil
}

// Available fails with tool.Unavailable, and says when to come back, while
// Temporal does not do its work. It answers within [StartTimeout], mostly at
// once: what was found is good for a second.
func (s *Service) Available(ctx context.Context) error { return s.availability.check(ctx) }
