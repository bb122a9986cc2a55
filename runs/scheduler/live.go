package scheduler

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/schedule"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// Bounds of windows of time.
const (
	// MaxTimes is the largest number of times that [Service.Next] returns.
	MaxTimes = 1000
	// MaxBackfill is the largest number of times that one backfill starts.
	MaxBackfill = 500
	maxWindow   = 10 * 366 * 24 * time.Hour
)

// Live is what Temporal says of a schedule.
type Live struct {
	Next    []time.Time // Of the next starts, as they will be unless the schedule is paused.
	Skipped int         // Times without a run because an earlier one had not ended.
	Missed  int         // Times that passed the catch-up window.
	Running int         // Runs that have not ended, and starts that are being decided.
}

// Live asks Temporal about a schedule. It fails with tool.Unavailable while Temporal is away, or
// does not have the schedule yet.
func (s *Service) Live(ctx context.Context, n schedule.Schedule) (Live, error) {
	ctx, cancel := context.WithTimeout(ctx, runs.StartTimeout)
	defer cancel()
	found, err := s.handle(ctx, n).Describe(ctx)
	if err != nil {
		return Live{}, unavailable("describing the schedule", err)
	}
	return Live{
		Next: found.Info.NextActionTimes, Skipped: found.Info.NumActionsSkippedOverlap,
		Missed: found.Info.NumActionsMissedCatchupWindow, Running: len(found.Info.RunningWorkflows),
	}, nil
}

// Window is a span of time, with both ends.
type Window struct{ From, Until time.Time }

// Next returns the times of a schedule in a window, at most limit, as Temporal's server computes
// them, whether the schedule is paused or not.
func (s *Service) Next(
	ctx context.Context, tenant tool.TenantID, nameOrID string, w Window, limit int,
) ([]time.Time, error) {
	n, err := s.applied(ctx, tenant, nameOrID)
	if err != nil {
		return nil, err
	}
	times, err := s.times(ctx, n, w)
	return times[:min(len(times), limit)], err
}

func (s *Service) times(ctx context.Context, n schedule.Schedule, w Window) ([]time.Time, error) {
	switch {
	case !w.Until.After(w.From):
		return nil, invalidWindow("/until", "the window ends before it begins")
	case w.Until.Sub(w.From) > maxWindow:
		return nil, invalidWindow("/until", "the window is longer than ten years")
	}
	ctx, cancel := context.WithTimeout(ctx, runs.StartTimeout)
	defer cancel()
	found, err := s.cfg.Temporal.WorkflowService().ListScheduleMatchingTimes(ctx,
		&workflowservice.ListScheduleMatchingTimesRequest{
			Namespace: s.cfg.Namespace, ScheduleId: wire.ScheduleID(n.Tenant, n.ID),
			StartTime: timestamppb.New(w.From.Add(-time.Second)), EndTime: timestamppb.New(w.Until),
		})
	if err != nil {
		return nil, unavailable("computing the times of the schedule", err)
	}
	times := make([]time.Time, 0, len(found.GetStartTime()))
	for _, at := range found.GetStartTime() {
		if t := at.AsTime(); !t.Before(w.From) {
			times = append(times, t)
		}
	}
	return times, nil
}

// Trigger starts a run now, under the overlap policy of the schedule, paused or not.
func (s *Service) Trigger(ctx context.Context, tenant tool.TenantID, nameOrID string) (schedule.Schedule, error) {
	n, err := s.applied(ctx, tenant, nameOrID)
	if err != nil {
		return n, err
	}
	ctx, cancel := context.WithTimeout(ctx, runs.StartTimeout)
	defer cancel()
	err = s.handle(ctx, n).Trigger(ctx, client.ScheduleTriggerOptions{Overlap: overlapOf(n.Overlap)})
	return n, unavailable("triggering the schedule", err)
}

// Backfill starts the runs of past times that have none, under an overlap policy; empty for
// [schedule.BufferAll]. It returns their times, those with a run included.
func (s *Service) Backfill(
	ctx context.Context, tenant tool.TenantID, nameOrID string, w Window, overlap schedule.Overlap,
) ([]time.Time, error) {
	n, err := s.applied(ctx, tenant, nameOrID)
	if err != nil {
		return nil, err
	}
	if w.Until.After(time.Now()) {
		return nil, invalidWindow("/until", "a backfill is of past times: the window ends in the future")
	}
	times, err := s.times(ctx, n, w)
	switch {
	case err != nil:
		return nil, err
	case len(times) == 0:
		return nil, invalidWindow("/from", "the schedule has no time in the window")
	case len(times) > MaxBackfill:
		return nil, invalidWindow("/until", fmt.Sprintf(
			"the schedule has more than %d times in the window: backfill shorter ones, one after the other", MaxBackfill))
	}
	if overlap == "" {
		overlap = schedule.BufferAll
	}
	ctx, cancel := context.WithTimeout(ctx, runs.StartTimeout)
	defer cancel()
	err = s.handle(ctx, n).Backfill(ctx, client.ScheduleBackfillOptions{Backfill: []client.ScheduleBackfill{
		{Start: w.From, End: w.Until, Overlap: overlapOf(overlap)},
	}})
	return times, unavailable("backfilling the schedule", err)
}

// applied returns a schedule that Temporal has as it is.
func (s *Service) applied(ctx context.Context, tenant tool.TenantID, nameOrID string) (schedule.Schedule, error) {
	n, err := s.find(ctx, tenant, nameOrID)
	if err != nil || n.Synced() {
		return n, err
	}
	if n = s.apply(ctx, n); n.Synced() {
		return n, nil
	}
	return n, &tool.Error{
		Kind: tool.Unavailable, Op: "scheduler", RetryAfter: time.Second,
		Msg: "Temporal does not have the schedule as it is yet: it is told as soon as it answers",
	}
}

func (s *Service) handle(ctx context.Context, n schedule.Schedule) client.ScheduleHandle {
	return s.cfg.Temporal.ScheduleClient().GetHandle(ctx, wire.ScheduleID(n.Tenant, n.ID))
}

// unavailable returns the error of a request to Temporal.
func unavailable(doing string, err error) error {
	if err == nil {
		return nil
	}
	msg := "Temporal does not answer"
	if missing(err) {
		msg = "Temporal does not have the schedule yet"
	}
	return &tool.Error{
		Kind: tool.Unavailable, Op: "scheduler", RetryAfter: time.Second, Msg: msg, Err: fmt.Errorf("%s: %w", doing, err),
	}
}

func missing(err error) bool { return is[*serviceerror.NotFound](err) }

func invalidWindow(path, msg string) error {
	return &tool.Error{Kind: tool.Invalid, Op: "scheduler", Path: path, Msg: msg}
}
