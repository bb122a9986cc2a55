package client

import (
	"context"
	"net/url"
	"strconv"
	"time"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// TimesQuery selects times of a schedule. Zero fields are the server's defaults: ten times from
// now on.
type TimesQuery struct {
	From, Until time.Time
	Limit       int
}

// StartQuery filters starts of a schedule. Zero fields do not filter.
type StartQuery struct {
	Status string
	Page
}

// CreateSchedule makes a schedule.
func (c *Client) CreateSchedule(ctx context.Context, in v1.NewSchedule) (v1.Schedule, error) {
	return post[v1.Schedule](ctx, c, in, "schedules")
}

// ListSchedules returns a page of schedules, newest first.
func (c *Client) ListSchedules(ctx context.Context, page Page) (v1.Page[v1.Schedule], error) {
	return list[v1.Schedule](ctx, c, page.query(), "schedules")
}

// Schedule returns a schedule by its name or id.
func (c *Client) Schedule(ctx context.Context, nameOrID string) (v1.Schedule, error) {
	return get[v1.Schedule](ctx, c, nil, "schedules", nameOrID)
}

// ChangeSchedule changes a schedule.
func (c *Client) ChangeSchedule(ctx context.Context, nameOrID string, in v1.ScheduleChange) (v1.Schedule, error) {
	return put[v1.Schedule](ctx, c, in, "schedules", nameOrID)
}

// DeleteSchedule deletes a schedule with the record of its starts. Its runs go on.
func (c *Client) DeleteSchedule(ctx context.Context, nameOrID string) (v1.Schedule, error) {
	return remove[v1.Schedule](ctx, c, "schedules", nameOrID)
}

// PauseSchedule pauses a schedule.
func (c *Client) PauseSchedule(ctx context.Context, nameOrID, note string) (v1.Schedule, error) {
	return post[v1.Schedule](ctx, c, v1.ScheduleNote{Note: note}, "schedules", nameOrID, "pause")
}

// ResumeSchedule resumes a schedule.
func (c *Client) ResumeSchedule(ctx context.Context, nameOrID, note string) (v1.Schedule, error) {
	return post[v1.Schedule](ctx, c, v1.ScheduleNote{Note: note}, "schedules", nameOrID, "resume")
}

// TriggerSchedule starts a run of a schedule now.
func (c *Client) TriggerSchedule(ctx context.Context, nameOrID string) (v1.Schedule, error) {
	return post[v1.Schedule](ctx, c, nil, "schedules", nameOrID, "trigger")
}

// BackfillSchedule starts the runs of past times that have none, and returns the times.
func (c *Client) BackfillSchedule(
	ctx context.Context, nameOrID string, in v1.ScheduleBackfill,
) (v1.ScheduleTimes, error) {
	return post[v1.ScheduleTimes](ctx, c, in, "schedules", nameOrID, "backfill")
}

// ScheduleTimes returns times of a schedule.
func (c *Client) ScheduleTimes(ctx context.Context, nameOrID string, q TimesQuery) (v1.ScheduleTimes, error) {
	query := url.Values{}
	for name, at := range map[string]time.Time{"from": q.From, "until": q.Until} {
		if !at.IsZero() {
			query.Set(name, at.Format(time.RFC3339Nano))
		}
	}
	if q.Limit > 0 {
		query.Set("limit", strconv.Itoa(q.Limit))
	}
	return get[v1.ScheduleTimes](ctx, c, query, "schedules", nameOrID, "times")
}

// ListScheduleStarts returns a page of starts of a schedule, newest first.
func (c *Client) ListScheduleStarts(
	ctx context.Context, nameOrID string, q StartQuery,
) (v1.Page[v1.ScheduleStart], error) {
	return list[v1.ScheduleStart](ctx, c, q.query("status", q.Status), "schedules", nameOrID, "starts")
}
