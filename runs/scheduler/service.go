package scheduler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/uuid7"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/schedule"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// Store is the record of schedules, and of the agents they run. Package store implements it.
type Store interface {
	schedule.Store
	schedule.Outbox
	// FindAgent finds an agent by slug or id. It fails with tool.NotFound.
	FindAgent(ctx context.Context, tenant tool.TenantID, slugOrID string) (agent.Agent, error)
	ListAgentVersions(ctx context.Context, tenant tool.TenantID, agentID string) ([]agent.Version, error)
}

// Config configures a [Service].
type Config struct {
	Store     Store         // Required.
	Temporal  client.Client // Required. The caller closes it.
	Namespace string        // Of the client. Defaults to "default".
	TaskQueue string        // Where the workers listen that run Toolcrib's workflows. Required.
	// Attributes are the search attributes that the namespace has.
	Attributes wire.Attributes
	// MaxUnfinished bounds the pending and running runs of each tenant, as in [runs.Config].
	MaxUnfinished int
	// Check is how long a schedule is not compared with Temporal's. Defaults to [CheckInterval].
	Check  time.Duration
	Logger *slog.Logger // Defaults to discarding.
}

// CheckInterval is the default of [Config.Check].
const CheckInterval = 10 * time.Minute

// Service implements the use cases of schedules. It is safe for concurrent use.
type Service struct {
	cfg Config
	log *slog.Logger
}

// New returns a service. It fails where a required field is missing.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil || cfg.Temporal == nil || cfg.TaskQueue == "" {
		return nil, errors.New("scheduler: Config.Store, Temporal and TaskQueue are required")
	}
	switch {
	case cfg.MaxUnfinished == 0:
		cfg.MaxUnfinished = runs.DefaultMaxUnfinished
	case cfg.MaxUnfinished < 0:
		cfg.MaxUnfinished = 0
	}
	if cfg.Namespace == "" {
		cfg.Namespace = client.DefaultNamespace
	}
	if cfg.Check <= 0 {
		cfg.Check = CheckInterval
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Service{cfg: cfg, log: cfg.Logger}, nil
}

// Create makes a schedule. Where Temporal is away, the schedule begins when it is back. It fails
// with tool.NotFound for an agent that the tenant does not have, and as [resolver.ChooseAgent] where
// the agent has no version to run.
func (s *Service) Create(ctx context.Context, n schedule.Schedule) (schedule.Schedule, error) {
	err := s.check(ctx, &n)
	if err != nil {
		return schedule.Schedule{}, err
	}
	if n.ID, err = uuid7.New(); err != nil {
		return schedule.Schedule{}, err
	}
	made, err := s.cfg.Store.CreateSchedule(ctx, n)
	if err != nil {
		return schedule.Schedule{}, fmt.Errorf("recording the schedule: %w", err)
	}
	return s.apply(ctx, made), nil
}

// check validates a schedule, and finds its agent.
func (s *Service) check(ctx context.Context, n *schedule.Schedule) error {
	found, err := s.cfg.Store.FindAgent(ctx, n.Tenant, n.Agent)
	if err != nil {
		return fmt.Errorf("finding agent %q: %w", n.Agent, err)
	}
	n.Agent = found.Slug
	if err := n.Check(); err != nil {
		return err
	}
	versions, err := s.cfg.Store.ListAgentVersions(ctx, n.Tenant, found.ID)
	if err != nil {
		return fmt.Errorf("listing the versions of agent %q: %w", n.Agent, err)
	}
	_, err = resolver.ChooseAgent(found, versions, n.Constraint, tool.Production)
	return err //nolint:wrapcheck // It names the agent.
}

// Change changes a schedule by a function. A revision that is not zero is the expected one:
// another fails with [schedule.ErrChanged].
func (s *Service) Change(
	ctx context.Context, tenant tool.TenantID, nameOrID string, revision int64, change func(*schedule.Schedule) error,
) (schedule.Schedule, error) {
	n, err := s.find(ctx, tenant, nameOrID)
	if err != nil {
		return schedule.Schedule{}, err
	}
	if revision != 0 && n.Revision != revision {
		return schedule.Schedule{}, schedule.Changed()
	}
	before := n
	if err := change(&n); err != nil {
		return schedule.Schedule{}, err
	}
	if n.Agent == before.Agent && n.Constraint == before.Constraint {
		// The agent may have been removed since, and the schedule is to be paused all the same.
		err = n.Check()
	} else {
		err = s.check(ctx, &n)
	}
	if err != nil {
		return schedule.Schedule{}, err
	}
	// A change sets StartsLeft to another pointer, even to the number that was read.
	changed, err := s.cfg.Store.ChangeSchedule(ctx, n, n.StartsLeft != before.StartsLeft)
	if err != nil {
		return schedule.Schedule{}, fmt.Errorf("recording the change: %w", err)
	}
	return s.apply(ctx, changed), nil
}

// Delete deletes a schedule. Its runs go on.
func (s *Service) Delete(
	ctx context.Context, tenant tool.TenantID, nameOrID string, revision int64,
) (schedule.Schedule, error) {
	n, err := s.find(ctx, tenant, nameOrID)
	if err != nil {
		return schedule.Schedule{}, err
	}
	gone, err := s.cfg.Store.DeleteSchedule(ctx, tenant, n.ID, revision)
	if err != nil {
		return schedule.Schedule{}, fmt.Errorf("recording the deletion: %w", err)
	}
	s.apply(ctx, gone)
	return gone, nil
}

func (s *Service) find(ctx context.Context, tenant tool.TenantID, nameOrID string) (schedule.Schedule, error) {
	n, err := s.cfg.Store.FindSchedule(ctx, tenant, nameOrID)
	if err != nil {
		return n, fmt.Errorf("finding schedule %q: %w", tool.Clip(nameOrID, 64), err)
	}
	return n, nil
}
