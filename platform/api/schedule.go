package api

import (
	"cmp"
	"context"
	"net/http"
	"time"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/runs/scheduler"
	"github.com/toolcrib/toolcrib/schedule"
	"github.com/toolcrib/toolcrib/tool"
)

// SchedulePath names the schedule of a path. It is exported as [Paging] is.
type SchedulePath struct {
	Name string `path:"schedule" maxLength:"64" doc:"Name or id"`
}

type scheduleInput struct{ SchedulePath }

type changeScheduleInput struct {
	SchedulePath
	Changing
	Body v1.ScheduleChange
}

type deleteScheduleInput struct {
	SchedulePath
	Changing
}

type noteScheduleInput struct {
	SchedulePath
	Body *v1.ScheduleNote
}

type backfillScheduleInput struct {
	SchedulePath
	Body v1.ScheduleBackfill
}

type scheduleTimesInput struct {
	SchedulePath
	From  time.Time `query:"from" doc:"Start of the window; now when absent"`
	Until time.Time `query:"until" doc:"End of the window; ten years after its start when absent"`
	Limit int       `query:"limit" minimum:"1" maximum:"1000" default:"10"`
}

type previewTimesInput struct {
	Crons    []string  `query:"cron,explode" maxItems:"10" doc:"Cron expressions" example:"[\"0 9 * * mon-fri\"]"`
	TimeZone string    `query:"time_zone" maxLength:"80" doc:"Of the crons; UTC when absent" example:"Europe/Berlin"`
	EveryS   int64     `query:"every_s" minimum:"0" maximum:"31622400" doc:"An interval in seconds, instead of crons"`
	OffsetS  int64     `query:"offset_s" minimum:"0" maximum:"31622400"`
	StartAt  time.Time `query:"start_at"`
	EndAt    time.Time `query:"end_at"`
	Limit    int       `query:"limit" minimum:"1" maximum:"100" default:"10"`
}

type listSchedulesInput struct{ Paging }

type listStartsInput struct {
	SchedulePath
	Status string `query:"status" enum:"starting,started,refused"`
	Paging
}

type scheduleOutput struct {
	Location string `header:"Location"`
	Etag     string `header:"Etag" doc:"Names this state of the schedule, for If-Match"`
	Body     v1.Schedule
}

type scheduleTimesOutput struct{ Body v1.ScheduleTimes }

func (s *server) registerSchedules() {
	handle(s, route{
		id: "createSchedule", method: http.MethodPost, path: "/v1/schedules", tag: "schedules",
		permission: SchedulesWrite, status: http.StatusCreated, summary: "Make a schedule",
		detail: "Runs an agent at the times of cron expressions in a time zone, or of an interval. The caller also needs " +
			RunsWrite + ", then and at each start: runs have the authority that the caller's key has when they start.",
	}, s.createSchedule)
	handle(s, route{
		id: "listSchedules", method: http.MethodGet, path: "/v1/schedules", tag: "schedules",
		permission: SchedulesRead, summary: "List schedules, newest first",
	}, s.listSchedules)
	handle(s, route{
		id: "getSchedule", method: http.MethodGet, path: "/v1/schedules/{schedule}", tag: "schedules",
		permission: SchedulesRead, summary: "Get a schedule",
		detail: "With its next times and counts as Temporal has them, while that answers.",
	}, s.getSchedule)
	handle(s, route{
		id: "changeSchedule", method: http.MethodPut, path: "/v1/schedules/{schedule}", tag: "schedules",
		permission: SchedulesWrite, summary: "Change a schedule",
		detail: "A change of agent, version or input makes the caller the one whose authority the runs have.",
	}, s.changeSchedule)
	handle(s, route{
		id: "deleteSchedule", method: http.MethodDelete, path: "/v1/schedules/{schedule}", tag: "schedules",
		permission: SchedulesWrite, summary: "Delete a schedule, with the record of its starts",
		detail: "Runs that it started go on.",
	}, s.deleteSchedule)
	s.registerScheduleActions()
}

func (s *server) registerScheduleActions() {
	handle(s, route{
		id: "previewScheduleTimes", method: http.MethodGet, path: "/v1/schedule-times", tag: "schedules",
		permission: SchedulesRead, summary: "Preview the next times that a schedule would have",
		detail: "Without jitter, before there is a schedule. Of the hour that clocks go through twice it has each time once.",
	}, s.previewTimes)
	handle(s, route{
		id: "pauseSchedule", method: http.MethodPost, path: "/v1/schedules/{schedule}/pause", tag: "schedules",
		permission: SchedulesWrite, summary: "Pause a schedule",
		detail: "Times pass without a run until it is resumed; they are not caught up. Runs go on.",
	}, s.pauseSchedule)
	handle(s, route{
		id: "resumeSchedule", method: http.MethodPost, path: "/v1/schedules/{schedule}/resume", tag: "schedules",
		permission: SchedulesWrite, summary: "Resume a schedule",
	}, s.resumeSchedule)
	handle(s, route{
		id: "triggerSchedule", method: http.MethodPost, path: "/v1/schedules/{schedule}/trigger", tag: "schedules",
		permission: SchedulesWrite, status: http.StatusAccepted, summary: "Start a run of a schedule now",
		detail: "Paused or not, under its overlap policy. Its starts show the run.",
	}, s.triggerSchedule)
	handle(s, route{
		id: "backfillSchedule", method: http.MethodPost, path: "/v1/schedules/{schedule}/backfill", tag: "schedules",
		permission: SchedulesWrite, status: http.StatusAccepted, summary: "Start the runs of past times that have none",
		detail: "Of at most 500 times, which the answer lists; one that has a run gets no other.",
	}, s.backfillSchedule)
	handle(s, route{
		id: "listScheduleTimes", method: http.MethodGet, path: "/v1/schedules/{schedule}/times", tag: "schedules",
		permission: SchedulesRead, summary: "List the times of a schedule",
		detail: "As Temporal computes them, the changes of clocks included, whether the schedule is paused or not.",
	}, s.listScheduleTimes)
	handle(s, route{
		id: "listScheduleStarts", method: http.MethodGet, path: "/v1/schedules/{schedule}/starts", tag: "schedules",
		permission: SchedulesRead, summary: "List the starts of a schedule, newest first",
		detail: "With their runs, or why they were refused. Of the last 30 days.",
	}, s.listScheduleStarts)
}

// mayStart refuses callers who may not start runs themselves.
func mayStart(p tool.Principal) error {
	if p.May(RunsWrite) {
		return nil
	}
	return &tool.Error{
		Kind: tool.Denied, Op: "api.schedule", Err: &tool.PermissionError{Permissions: []string{RunsWrite}},
		Msg: "a schedule starts runs with the authority of its maker: this key lacks the permission " + RunsWrite,
	}
}

func (s *server) createSchedule(
	ctx context.Context, p tool.Principal, in *body[v1.NewSchedule],
) (*scheduleOutput, error) {
	if err := needsKey(p, "a schedule"); err != nil {
		return nil, err
	}
	if err := mayStart(p); err != nil {
		return nil, err
	}
	n := in.Body.Schedule()
	n.Tenant, n.CreatedBy = p.Tenant, p.Subject
	made, err := s.schedules.Create(ctx, n)
	if err != nil {
		return nil, err
	}
	out := showSchedule(made)
	out.Location = "/v1/schedules/" + made.ID
	return out, nil
}

func (s *server) listSchedules(
	ctx context.Context, p tool.Principal, in *listSchedulesInput,
) (*listed[v1.Schedule], error) {
	before, err := in.before()
	if err != nil {
		return nil, err
	}
	found, err := s.cfg.Store.ListSchedules(ctx, p.Tenant, before, in.fetch())
	if err != nil {
		return nil, err
	}
	return answer(page(in.Paging, found, v1.FromSchedule, func(n schedule.Schedule) string { return n.ID })), nil
}

func (s *server) getSchedule(ctx context.Context, p tool.Principal, in *scheduleInput) (*scheduleOutput, error) {
	found, err := s.cfg.Store.FindSchedule(ctx, p.Tenant, in.Name)
	if err != nil {
		return nil, err
	}
	out := showSchedule(found)
	if live, err := s.schedules.Live(ctx, found); err == nil {
		out.Body.Live = v1.FromLive(live)
	}
	return out, nil
}

func (s *server) changeSchedule(
	ctx context.Context, p tool.Principal, in *changeScheduleInput,
) (*scheduleOutput, error) {
	if err := needsKey(p, "a schedule"); err != nil {
		return nil, err
	}
	if err := mayStart(p); err != nil {
		return nil, err
	}
	revision, err := s.scheduleRevision(ctx, p, in.Name, in.Changing)
	if err != nil {
		return nil, err
	}
	changed, err := s.schedules.Change(ctx, p.Tenant, in.Name, revision, func(n *schedule.Schedule) error {
		in.Body.Apply(n, p.Subject)
		return nil
	})
	if err != nil {
		return nil, in.changed(err)
	}
	return showSchedule(changed), nil
}

func (s *server) deleteSchedule(
	ctx context.Context, p tool.Principal, in *deleteScheduleInput,
) (*scheduleOutput, error) {
	revision, err := s.scheduleRevision(ctx, p, in.Name, in.Changing)
	if err != nil {
		return nil, err
	}
	gone, err := s.schedules.Delete(ctx, p.Tenant, in.Name, revision)
	if err != nil {
		return nil, in.changed(err)
	}
	return showSchedule(gone), nil
}

func (s *server) pauseSchedule(ctx context.Context, p tool.Principal, in *noteScheduleInput) (*scheduleOutput, error) {
	return s.switchSchedule(ctx, p, in, true)
}

func (s *server) resumeSchedule(ctx context.Context, p tool.Principal, in *noteScheduleInput) (*scheduleOutput, error) {
	return s.switchSchedule(ctx, p, in, false)
}

func (s *server) switchSchedule(
	ctx context.Context, p tool.Principal, in *noteScheduleInput, paused bool,
) (*scheduleOutput, error) {
	changed, err := s.schedules.Change(ctx, p.Tenant, in.Name, 0, func(n *schedule.Schedule) error {
		n.Paused, n.Note = paused, ""
		if in.Body != nil {
			n.Note = in.Body.Note
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return showSchedule(changed), nil
}

func (s *server) triggerSchedule(ctx context.Context, p tool.Principal, in *scheduleInput) (*scheduleOutput, error) {
	if err := mayStart(p); err != nil {
		return nil, err
	}
	n, err := s.schedules.Trigger(ctx, p.Tenant, in.Name)
	if err != nil {
		return nil, err
	}
	return showSchedule(n), nil
}

func (s *server) backfillSchedule(
	ctx context.Context, p tool.Principal, in *backfillScheduleInput,
) (*scheduleTimesOutput, error) {
	if err := mayStart(p); err != nil {
		return nil, err
	}
	times, err := s.schedules.Backfill(ctx, p.Tenant, in.Name,
		scheduler.Window{From: in.Body.From, Until: in.Body.Until}, in.Body.Overlap)
	if err != nil {
		return nil, err
	}
	return s.showTimes(ctx, p, in.Name, times)
}

func (s *server) previewTimes(
	_ context.Context, _ tool.Principal, in *previewTimesInput,
) (*scheduleTimesOutput, error) {
	t := schedule.Times{
		Crons: in.Crons, Zone: cmp.Or(in.TimeZone, "UTC"), Every: time.Duration(in.EveryS) * time.Second,
		Offset: time.Duration(in.OffsetS) * time.Second,
	}
	if !in.StartAt.IsZero() {
		t.StartAt = &in.StartAt
	}
	if !in.EndAt.IsZero() {
		t.EndAt = &in.EndAt
	}
	times, err := t.Next(time.Now(), in.Limit)
	if err != nil {
		return nil, err
	}
	if times == nil {
		times = []time.Time{}
	}
	return &scheduleTimesOutput{Body: v1.ScheduleTimes{TimeZone: t.Zone, Times: times}}, nil
}

func (s *server) listScheduleTimes(
	ctx context.Context, p tool.Principal, in *scheduleTimesInput,
) (*scheduleTimesOutput, error) {
	w := scheduler.Window{From: in.From, Until: in.Until}
	if w.From.IsZero() {
		w.From = time.Now()
	}
	if w.Until.IsZero() {
		w.Until = w.From.AddDate(10, 0, 0)
	}
	times, err := s.schedules.Next(ctx, p.Tenant, in.Name, w, in.Limit)
	if err != nil {
		return nil, err
	}
	return s.showTimes(ctx, p, in.Name, times)
}

// showTimes answers times in the time zone of their schedule.
func (s *server) showTimes(
	ctx context.Context, p tool.Principal, name string, times []time.Time,
) (*scheduleTimesOutput, error) {
	n, err := s.cfg.Store.FindSchedule(ctx, p.Tenant, name)
	if err != nil {
		return nil, err
	}
	zone, err := time.LoadLocation(n.Zone)
	if err != nil {
		zone = time.UTC
	}
	out := &scheduleTimesOutput{Body: v1.ScheduleTimes{TimeZone: n.Zone, Times: make([]time.Time, len(times))}}
	for i, t := range times {
		out.Body.Times[i] = t.In(zone)
	}
	return out, nil
}

func (s *server) listScheduleStarts(
	ctx context.Context, p tool.Principal, in *listStartsInput,
) (*listed[v1.ScheduleStart], error) {
	before, err := in.before()
	if err != nil {
		return nil, err
	}
	n, err := s.cfg.Store.FindSchedule(ctx, p.Tenant, in.Name)
	if err != nil {
		return nil, err
	}
	found, err := s.cfg.Store.ListScheduleStarts(ctx, schedule.StartQuery{
		Tenant: p.Tenant, ScheduleID: n.ID, Status: schedule.StartStatus(in.Status), Before: before, Limit: in.fetch(),
	})
	if err != nil {
		return nil, err
	}
	return answer(page(in.Paging, found, v1.FromStart, func(b schedule.Start) string { return b.ID })), nil
}

// scheduleRevision returns the revision that the condition of a change requires, and zero without
// a condition.
func (s *server) scheduleRevision(ctx context.Context, p tool.Principal, name string, in Changing) (int64, error) {
	if in.IfMatch == "" {
		return 0, nil
	}
	n, err := s.cfg.Store.FindSchedule(ctx, p.Tenant, name)
	if err != nil {
		return 0, err
	}
	if !names(in.IfMatch, etag(n.ID, n.Revision), false) {
		return 0, preconditionFailed()
	}
	return n.Revision, nil
}

func showSchedule(n schedule.Schedule) *scheduleOutput {
	return &scheduleOutput{Etag: etag(n.ID, n.Revision), Body: v1.FromSchedule(n)}
}
