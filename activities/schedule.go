package activities

import (
	"context"
	"log/slog"

	"go.temporal.io/sdk/activity"

	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// Scheduled begins the runs of schedules. Package runs/scheduler implements it.
type Scheduled interface {
	// Begin records the run of a time of a schedule, or why there is none. It is idempotent: a
	// time has one run at most. Where it fails, it should be tried again.
	Begin(ctx context.Context, in wire.BeginScheduledInput) (wire.BeginScheduledOutput, error)
	// Ended reports whether a run has ended.
	Ended(ctx context.Context, tenant tool.TenantID, runID string) (bool, error)
}

// BeginScheduled records the run of a time of a schedule. Where the schedule has been deleted, it
// deletes the one of Temporal that is left.
func (a *Activities) BeginScheduled(
	ctx context.Context, in wire.BeginScheduledInput,
) (wire.BeginScheduledOutput, error) {
	attrs := []any{
		slog.String("tenant_id", string(in.Tenant)), slog.String("schedule_id", in.Schedule), slog.Time("at", in.At),
	}
	out, err := a.beginScheduled(ctx, in)
	switch {
	case err != nil:
		logFailure(ctx, "beginning a scheduled run failed", err, attrs...)
		return out, failure.Encode(err)
	case out.Refused != nil:
		activity.GetLogger(ctx).Warn("a scheduled run was refused", append(attrs,
			slog.String("kind", string(out.Refused.Kind)), slog.String("reason", out.Refused.Msg))...)
	case out.Gone:
		schedules := activity.GetClient(ctx).ScheduleClient()
		if err := schedules.GetHandle(ctx, wire.ScheduleID(in.Tenant, in.Schedule)).Delete(ctx); err != nil {
			activity.GetLogger(ctx).Warn("deleting a schedule without a record failed", append(attrs,
				slog.Any("error", err))...)
		}
	}
	return out, nil
}

func (a *Activities) beginScheduled(
	ctx context.Context, in wire.BeginScheduledInput,
) (wire.BeginScheduledOutput, error) {
	if err := a.checkScheduled(ctx, in.Tenant); err != nil {
		return wire.BeginScheduledOutput{}, err
	}
	return a.Scheduled.Begin(ctx, in) //nolint:wrapcheck // It is encoded.
}

// ScheduledEnded reports whether a run has ended.
func (a *Activities) ScheduledEnded(ctx context.Context, in wire.ScheduledEndedInput) (bool, error) {
	err := a.checkScheduled(ctx, in.Tenant)
	if err != nil {
		return false, failure.Encode(err)
	}
	ended, err := a.Scheduled.Ended(ctx, in.Tenant, in.RunID)
	return ended, failure.Encode(err)
}

func (a *Activities) checkScheduled(ctx context.Context, tenant tool.TenantID) error {
	if a.Scheduled == nil {
		return &tool.Error{Kind: tool.Unavailable, Op: "activities", Msg: "this worker runs no schedules"}
	}
	return checkTenant(ctx, tenant)
}
