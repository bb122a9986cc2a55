package scheduler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"golang.org/x/sync/errgroup"

	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/schedule"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

const (
	// syncLease is for how long a comparison belongs to one server; syncTimeout bounds its requests
	// to Temporal, so that a late one of a server that lost its lease changes nothing.
	syncLease   = 20 * time.Second
	syncTimeout = 10 * time.Second
	// syncWidth is how many schedules a server compares at once.
	syncWidth       = 8
	syncInterval    = time.Second
	maxSyncBackoff  = 5 * time.Minute
	tenantsPerSweep = 100
	purgeInterval   = time.Hour
)

var (
	tenantAttribute = temporal.NewSearchAttributeKeyKeyword(wire.TenantAttribute)
	agentAttribute  = temporal.NewSearchAttributeKeyKeyword(wire.AgentAttribute)
	phaseAttribute  = temporal.NewSearchAttributeKeyKeyword(wire.PhaseAttribute)
)

// Run keeps Temporal's schedules equal to their records until ctx ends.
func (s *Service) Run(ctx context.Context) {
	ticker := time.NewTicker(syncInterval)
	defer ticker.Stop()
	var purged time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := s.Sync(ctx); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "comparing schedules failed", slog.Any("error", err))
		}
		if time.Since(purged) > purgeInterval {
			purged = time.Now()
			if _, err := s.cfg.Store.SweepScheduleStarts(ctx); err != nil && ctx.Err() == nil {
				s.log.WarnContext(ctx, "deleting old starts of schedules failed", slog.Any("error", err))
			}
		}
	}
}

// Sync compares the schedules that are due with Temporal's, and makes those equal. Several
// processes may do so concurrently. It fails where the record cannot be read.
func (s *Service) Sync(ctx context.Context) error {
	tenants, err := s.cfg.Store.ScheduleTenants(ctx, tenantsPerSweep)
	if err != nil {
		return fmt.Errorf("finding schedules to compare: %w", err)
	}
	for _, tenant := range tenants {
		claimed, err := s.cfg.Store.ClaimSchedules(ctx, tenant, "", syncWidth, syncLease)
		if err != nil {
			return fmt.Errorf("claiming schedules: %w", err)
		}
		var group errgroup.Group
		for _, c := range claimed {
			group.Go(func() error { s.sync(ctx, c); return nil })
		}
		_ = group.Wait() // They log their errors.
	}
	return nil
}

// apply tells Temporal of a change at once, as far as it answers, and returns the schedule as its
// record is afterwards.
func (s *Service) apply(ctx context.Context, n schedule.Schedule) schedule.Schedule {
	applying, cancel := context.WithTimeout(context.WithoutCancel(ctx), runs.StartTimeout)
	defer cancel()
	claimed, err := s.cfg.Store.ClaimSchedules(applying, n.Tenant, n.ID, 1, syncLease)
	if err != nil || len(claimed) == 0 { // Another server has it, and takes it up again.
		return n
	}
	s.sync(applying, claimed[0])
	if found, err := s.cfg.Store.FindSchedule(ctx, n.Tenant, n.ID); err == nil {
		return found
	}
	return n
}

// sync makes one schedule of Temporal equal to its record.
func (s *Service) sync(ctx context.Context, c schedule.Claimed) {
	asking, cancel := context.WithTimeout(ctx, syncTimeout)
	err := s.mend(asking, c)
	cancel()
	recording, cancel := context.WithTimeout(context.WithoutCancel(ctx), syncTimeout)
	defer cancel()
	end := schedule.Sync{Claimed: c, Next: s.cfg.Check}
	attrs := []any{
		slog.String("tenant_id", string(c.Tenant)), slog.String("schedule_id", c.ID), slog.Int64("revision", c.Revision),
	}
	if err != nil {
		end.Error, end.Next = tool.AsError(unavailable("telling Temporal", err)).Msg, backoff(c.Failures)
		if refused(err) {
			end.Error = "Temporal refuses the schedule: " + err.Error()
		}
		s.log.WarnContext(ctx, "telling Temporal of a schedule failed; it is retried",
			append(attrs, slog.Any("error", err))...)
	}
	if err == nil && c.Deleted {
		err = s.cfg.Store.RemoveSchedule(recording, c)
	} else {
		err = s.cfg.Store.EndScheduleSync(recording, end)
	}
	if err != nil && tool.KindOf(err) != tool.Conflict { // Another server has it.
		s.log.WarnContext(ctx, "recording what Temporal has of a schedule failed", append(attrs, slog.Any("error", err))...)
	}
}

func backoff(failures int) time.Duration { return min(maxSyncBackoff, time.Second<<min(failures, 10)) }

// mend creates, changes or deletes Temporal's schedule, if it is not as the record.
func (s *Service) mend(ctx context.Context, c schedule.Claimed) error {
	handle := s.handle(ctx, c.Schedule)
	if c.Deleted {
		if err := handle.Delete(ctx); err != nil && !missing(err) {
			return fmt.Errorf("deleting the schedule: %w", err)
		}
		return nil
	}
	want := s.wanted(c)
	err := handle.Update(ctx, client.ScheduleUpdateOptions{
		DoUpdate: func(in client.ScheduleUpdateInput) (*client.ScheduleUpdate, error) {
			has := in.Description.Schedule
			if c.Synced() {
				keepQueue(has, want)
			}
			if equal(has, want, c.Crons) {
				return nil, temporal.ErrSkipScheduleUpdate
			}
			if c.Synced() && !c.Resting && has.State != nil && !strings.HasSuffix(has.State.Note, suspended) {
				s.log.WarnContext(ctx, "a schedule was changed in Temporal; it is put back",
					slog.String("tenant_id", string(c.Tenant)), slog.String("schedule_id", c.ID), slog.String("schedule", c.Name))
			}
			return &client.ScheduleUpdate{Schedule: &want}, nil
		},
	})
	if err == nil || !missing(err) {
		return err //nolint:wrapcheck // Sync classifies it.
	}
	_, err = s.cfg.Temporal.ScheduleClient().Create(ctx, client.ScheduleOptions{
		ID: wire.ScheduleID(c.Tenant, c.ID), Spec: *want.Spec, Action: want.Action, Overlap: want.Policy.Overlap,
		CatchupWindow: want.Policy.CatchupWindow, Note: want.State.Note, Paused: want.State.Paused,
	})
	return err //nolint:wrapcheck // As above.
}

// keepQueue takes the task queue of Temporal's schedule over: it belongs to the queue of the server
// that told Temporal of its last change. Servers with others leave it there, or they would move it
// back and forth.
func keepQueue(has, want client.Schedule) {
	started, ok := has.Action.(*client.ScheduleWorkflowAction)
	wanted, _ := want.Action.(*client.ScheduleWorkflowAction)
	if ok && started.TaskQueue != "" {
		wanted.TaskQueue = started.TaskQueue
	}
}

// suspended ends the note of a schedule that rests.
const suspended = ": the tenant is suspended"

// wanted returns the schedule that Temporal should have.
func (s *Service) wanted(c schedule.Claimed) client.Schedule {
	note := fmt.Sprintf("%s, revision %d", c.Name, c.Revision)
	switch {
	case c.Resting:
		note += suspended
	case c.Note != "":
		note += ": " + c.Note
	}
	spec := client.ScheduleSpec{CronExpressions: c.Crons, Jitter: c.Jitter, TimeZoneName: c.Zone}
	if c.Every > 0 {
		spec.Intervals = []client.ScheduleIntervalSpec{{Every: c.Every, Offset: c.Offset}}
	}
	if c.StartAt != nil {
		spec.StartAt = *c.StartAt
	}
	if c.EndAt != nil {
		spec.EndAt = *c.EndAt
	}
	action := &client.ScheduleWorkflowAction{
		ID: wire.ScheduleID(c.Tenant, c.ID), Workflow: wire.ScheduledRunWorkflow, TaskQueue: s.cfg.TaskQueue,
		Args: []any{wire.ScheduledRunInput{
			Tenant: c.Tenant, Schedule: c.ID, Revision: c.Revision, MaxUnfinished: s.cfg.MaxUnfinished,
		}},
		StaticSummary: "schedule " + c.Name,
		Priority:      temporal.Priority{FairnessKey: string(c.Tenant)}, // As runs that are asked for have.
	}
	var known []temporal.SearchAttributeUpdate
	if s.cfg.Attributes.Owner {
		known = append(known, tenantAttribute.ValueSet(string(c.Tenant)), agentAttribute.ValueSet(c.Agent))
	}
	if s.cfg.Attributes.Phase { // For the run that it begins.
		known = append(known, phaseAttribute.ValueSet(wire.PhaseRunning))
	}
	action.TypedSearchAttributes = temporal.NewSearchAttributes(known...)
	return client.Schedule{
		Action: action, Spec: &spec,
		Policy: &client.SchedulePolicies{Overlap: overlapOf(c.Overlap), CatchupWindow: c.Catchup},
		State:  &client.ScheduleState{Note: note, Paused: c.Paused || c.Resting},
	}
}

func overlapOf(o schedule.Overlap) enums.ScheduleOverlapPolicy {
	switch o {
	case schedule.BufferOne:
		return enums.SCHEDULE_OVERLAP_POLICY_BUFFER_ONE
	case schedule.BufferAll:
		return enums.SCHEDULE_OVERLAP_POLICY_BUFFER_ALL
	case schedule.CancelOther:
		return enums.SCHEDULE_OVERLAP_POLICY_CANCEL_OTHER
	case schedule.AllowAll:
		return enums.SCHEDULE_OVERLAP_POLICY_ALLOW_ALL
	case schedule.Skip:
	}
	return enums.SCHEDULE_OVERLAP_POLICY_SKIP
}

// refused reports whether Temporal will not take the schedule however often it is asked.
func refused(err error) bool { return is[*serviceerror.InvalidArgument](err) }

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
