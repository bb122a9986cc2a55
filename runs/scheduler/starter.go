package scheduler

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/schedule"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// Starter begins the runs of schedules, in workers. It is safe for concurrent use.
type Starter struct {
	starts   schedule.Starts
	runs     runs.Store
	recorder *runs.Recorder
}

// NewStarter returns a starter.
func NewStarter(starts schedule.Starts, store runs.Store, resolver runs.Resolver) *Starter {
	return &Starter{starts: starts, runs: store, recorder: runs.NewRecorder(store, resolver)}
}

// Begin implements [activities.Scheduled].
func (s *Starter) Begin(ctx context.Context, in wire.BeginScheduledInput) (wire.BeginScheduledOutput, error) {
	var out wire.BeginScheduledOutput
	found, err := s.starts.FindSchedule(ctx, in.Tenant, in.Schedule)
	if err == nil && found.ID != in.Schedule {
		return out, &tool.Error{Kind: tool.Invalid, Op: "scheduler.Begin", Msg: "the schedule is not named by its id"}
	}
	var start schedule.Start
	if err == nil {
		start, err = s.starts.ReserveScheduleStart(ctx, in.Tenant, found.ID, in.At)
	}
	if tool.KindOf(err) == tool.NotFound && err != nil {
		out.Gone = true
		return out, nil //nolint:nilerr // There is nothing to start.
	}
	if err != nil {
		return out, fmt.Errorf("reserving the start: %w", err)
	}
	run, err := s.record(ctx, in, found, start)
	switch {
	case err != nil && !final(err):
		return out, err
	case err != nil:
		e := tool.AsError(err)
		start.Status, start.Kind, start.Reason = schedule.Refused, e.Kind, e.Msg
		out.Refused = &wire.Failure{Kind: e.Kind, Msg: e.Msg}
	default:
		start.Status, start.RunID, start.Kind, start.Reason = schedule.Started, run.ID, "", ""
		out.RunID, out.WorkflowID, out.Agent = run.ID, run.WorkflowID, run.Agent
		out.Principal, out.Ended = &run.Principal, run.Status.Final()
	}
	if err := s.starts.EndScheduleStart(ctx, start); err != nil {
		return wire.BeginScheduledOutput{}, fmt.Errorf("recording the start: %w", err)
	}
	return out, nil
}

// record records the run of a start, or finds it.
func (s *Starter) record(
	ctx context.Context, in wire.BeginScheduledInput, of schedule.Schedule, start schedule.Start,
) (agent.Run, error) {
	const op = "scheduler.Begin"
	if start.Status == schedule.Started {
		return s.runs.FindRun(ctx, in.Tenant, start.RunID) //nolint:wrapcheck // Begin's caller is told of the run.
	}
	if start.Status == schedule.Refused && (start.Fresh || of.StartsLeft != nil && *of.StartsLeft == 0) {
		return agent.Run{}, &tool.Error{Kind: tool.Denied, Op: op, Msg: "all starts of the schedule were used"}
	}
	p, err := s.starts.ScheduleAuthority(ctx, in.Tenant, of.CreatedBy)
	if err != nil {
		return agent.Run{}, fmt.Errorf("reading the authority of the schedule: %w", err)
	}
	if !p.May(schedule.StartPermission) {
		lacking := &tool.PermissionError{Permissions: []string{schedule.StartPermission}}
		return agent.Run{}, &tool.Error{
			Kind: tool.Denied, Op: op, Err: lacking,
			Msg: "the API key that the schedule was made with may not start runs any more: " + lacking.Error(),
		}
	}
	return s.recorder.Record(ctx, runs.NewRun{
		Request: runs.Request{ID: start.RunID}, Principal: p, Agent: of.Agent, Constraint: of.Constraint, Input: of.Input,
	}, in.TaskQueue, in.MaxUnfinished)
}

// final reports whether another attempt soon would fail likewise, or would be a surprise.
func final(err error) bool {
	switch tool.KindOf(err) {
	case tool.Invalid, tool.NotFound, tool.Denied, tool.Conflict, tool.RateLimited:
		return true
	case tool.Unavailable, tool.Timeout, tool.Unknown, tool.Cancelled, tool.InternalError:
		return false
	}
	return false
}

// Ended implements [activities.Scheduled].
func (s *Starter) Ended(ctx context.Context, tenant tool.TenantID, runID string) (bool, error) {
	run, err := s.runs.FindRun(ctx, tenant, runID)
	if tool.KindOf(err) == tool.NotFound && err != nil { // It was purged.
		return true, nil //nolint:nilerr // It is over.
	}
	return err == nil && run.Status.Final(), err //nolint:wrapcheck // It is encoded.
}
