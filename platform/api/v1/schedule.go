package v1

import (
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib/runs/scheduler"
	"github.com/toolcrib/toolcrib/schedule"
	"github.com/toolcrib/toolcrib/tool"
)

// NewSchedule makes a schedule: with crons or every_s.
type NewSchedule struct {
	Name       string           `json:"name" minLength:"1" maxLength:"64" doc:"Names the schedule within the tenant, as a slug" example:"nightlyReport"`
	Agent      string           `json:"agent" minLength:"1" maxLength:"64" doc:"Slug or id of the agent that is run" example:"supportDesk"`
	Version    string           `json:"version,omitempty" maxLength:"64" doc:"Which version of the agent; the highest published one when absent" example:"^1.2"`
	Input      json.RawMessage  `json:"input" doc:"Of each run: a string, or any other JSON value" example:"\"Report on the last day\""`
	Crons      []string         `json:"crons,omitempty" maxItems:"10" doc:"Cron expressions: minute, hour, day of the month, month, day of the week; or @daily and the like" example:"[\"0 9 * * mon-fri\"]"`
	TimeZone   string           `json:"time_zone,omitempty" maxLength:"80" doc:"Of the crons, by its IANA name; UTC when absent" example:"Europe/Berlin"`
	EveryS     int64            `json:"every_s,omitempty" minimum:"0" maximum:"31622400" doc:"An interval in seconds, from 60, instead of crons" example:"0"`
	OffsetS    int64            `json:"offset_s,omitempty" minimum:"0" maximum:"31622400" doc:"Shifts the times of an interval, which are its multiples since 1970" example:"0"`
	StartAt    *time.Time       `json:"start_at,omitempty" doc:"No time before it is meant" example:"2026-01-01T00:00:00Z"`
	EndAt      *time.Time       `json:"end_at,omitempty" doc:"No time after it is meant" example:"2026-12-31T00:00:00Z"`
	JitterS    int64            `json:"jitter_s,omitempty" minimum:"0" maximum:"86400" doc:"Delays each start by a random time below this"`
	Overlap    schedule.Overlap `json:"overlap,omitempty" enum:"skip,buffer_one,buffer_all,cancel_other,allow_all" doc:"What happens at a time while the run of an earlier one has not ended; skip when absent"`
	CatchupS   int64            `json:"catchup_s,omitempty" minimum:"0" maximum:"31536000" doc:"How late a start may be after an outage, in seconds from 10; an hour when absent" example:"3600"`
	StartsLeft *int64           `json:"starts_left,omitempty" minimum:"1" maximum:"1000000" doc:"How many times may start a run; no limit when absent. The last one pauses the schedule"`
	Paused     bool             `json:"paused,omitempty"`
	Note       string           `json:"note,omitempty" maxLength:"500"`
}

// ScheduleChange changes a schedule. Absent members are left unchanged. What changes agent,
// version or input makes the caller the one whose authority the runs have.
type ScheduleChange struct {
	Agent      *string           `json:"agent,omitempty" minLength:"1" maxLength:"64"`
	Version    *string           `json:"version,omitempty" maxLength:"64" doc:"Empty for the highest published one"`
	Input      json.RawMessage   `json:"input,omitempty"`
	Crons      []string          `json:"crons,omitempty" maxItems:"10" doc:"Replace an interval too"`
	TimeZone   *string           `json:"time_zone,omitempty" maxLength:"80"`
	EveryS     *int64            `json:"every_s,omitempty" minimum:"60" maximum:"31622400" doc:"Replaces crons too"`
	OffsetS    *int64            `json:"offset_s,omitempty" minimum:"0" maximum:"31622400"`
	StartAt    *time.Time        `json:"start_at,omitempty"`
	EndAt      *time.Time        `json:"end_at,omitempty"`
	Unbounded  bool              `json:"unbounded,omitempty" doc:"Removes start_at, end_at and starts_left before the other changes"`
	JitterS    *int64            `json:"jitter_s,omitempty" minimum:"0" maximum:"86400"`
	Overlap    *schedule.Overlap `json:"overlap,omitempty" enum:"skip,buffer_one,buffer_all,cancel_other,allow_all"`
	CatchupS   *int64            `json:"catchup_s,omitempty" minimum:"10" maximum:"31536000"`
	StartsLeft *int64            `json:"starts_left,omitempty" minimum:"1" maximum:"1000000"`
	TakeOver   bool              `json:"take_over,omitempty" doc:"Makes the caller the one whose authority the runs have"`
}

// ScheduleNote says why a schedule is paused or resumed.
type ScheduleNote struct {
	Note string `json:"note,omitempty" maxLength:"500" example:"until the supplier is back"`
}

// ScheduleBackfill starts the runs of past times that have none.
type ScheduleBackfill struct {
	From    time.Time        `json:"from"`
	Until   time.Time        `json:"until" doc:"Not in the future"`
	Overlap schedule.Overlap `json:"overlap,omitempty" enum:"skip,buffer_one,buffer_all,cancel_other,allow_all" doc:"Between these runs and others of the schedule; buffer_all when absent"`
}

// Schedule starts runs of an agent at certain times.
type Schedule struct {
	ID         string           `json:"id" example:"01975c2e-7d1a-7c3e-9f00-0000000000f1"`
	Name       string           `json:"name" example:"nightlyReport"`
	Agent      string           `json:"agent" example:"supportDesk"`
	Version    string           `json:"version,omitempty" example:"^1.2"`
	Input      json.RawMessage  `json:"input" example:"\"Report on the last day\""`
	Crons      []string         `json:"crons,omitempty" example:"[\"0 9 * * mon-fri\"]"`
	TimeZone   string           `json:"time_zone" example:"Europe/Berlin"`
	EveryS     int64            `json:"every_s,omitempty"`
	OffsetS    int64            `json:"offset_s,omitempty"`
	StartAt    *time.Time       `json:"start_at,omitempty"`
	EndAt      *time.Time       `json:"end_at,omitempty"`
	JitterS    int64            `json:"jitter_s,omitempty"`
	Overlap    schedule.Overlap `json:"overlap" enum:"skip,buffer_one,buffer_all,cancel_other,allow_all"`
	CatchupS   int64            `json:"catchup_s" example:"3600"`
	StartsLeft *int64           `json:"starts_left,omitempty"`
	Paused     bool             `json:"paused"`
	Note       string           `json:"note,omitempty" doc:"Why it is paused, or was resumed"`
	Synced     bool             `json:"synced" doc:"Whether Temporal, the clock, has the schedule as it is here"`
	SyncError  string           `json:"sync_error,omitempty" doc:"Why it does not"`
	Live       *ScheduleLive    `json:"live,omitempty" doc:"What Temporal says of it; only of a single schedule, and while Temporal answers"`
	CreatedBy  string           `json:"created_by" doc:"Whose authority the runs have, as it is when they start" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
	Revision   int64            `json:"revision" example:"1"`
	CreatedAt  time.Time        `json:"created_at"`
	UpdatedAt  time.Time        `json:"updated_at"`
}

// ScheduleLive is what Temporal says of a schedule.
type ScheduleLive struct {
	Next    []time.Time `json:"next" nullable:"false" doc:"The next times"`
	Skipped int         `json:"skipped" doc:"Times without a run because an earlier one had not ended"`
	Missed  int         `json:"missed" doc:"Times that passed catchup_s"`
	Running int         `json:"running" doc:"Runs that have not ended"`
}

// ScheduleTimes are times of a schedule.
type ScheduleTimes struct {
	TimeZone string      `json:"time_zone" example:"Europe/Berlin"`
	Times    []time.Time `json:"times" nullable:"false" doc:"In the time zone of the schedule"`
}

// ScheduleStart is a time of a schedule, and what became of it.
type ScheduleStart struct {
	ID        string               `json:"id" example:"01975c2e-7d1a-7c3e-9f00-0000000000f2"`
	At        time.Time            `json:"at" doc:"The time that was meant"`
	Status    schedule.StartStatus `json:"status" enum:"starting,started,refused"`
	RunID     string               `json:"run_id,omitempty" example:"01975c2e-7d1a-7c3e-9f00-0000000000a1"`
	Code      tool.Kind            `json:"code,omitempty" doc:"Of the refusal" example:"denied"`
	Reason    string               `json:"reason,omitempty" doc:"Why the start was refused"`
	CreatedAt time.Time            `json:"created_at"`
}

// Schedule returns what the members describe.
func (n NewSchedule) Schedule() schedule.Schedule {
	return schedule.Schedule{
		Name: n.Name, Agent: n.Agent, Constraint: n.Version, Input: n.Input,
		Times: schedule.Times{
			Crons: n.Crons, Zone: n.TimeZone, Every: seconds(n.EveryS), Offset: seconds(n.OffsetS), StartAt: n.StartAt,
			EndAt: n.EndAt, Jitter: seconds(n.JitterS),
		},
		Overlap: n.Overlap, Catchup: seconds(n.CatchupS), StartsLeft: n.StartsLeft, Paused: n.Paused, Note: n.Note,
	}
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

// Apply makes the change, by a caller.
func (c ScheduleChange) Apply(s *schedule.Schedule, caller string) {
	if c.Agent != nil || c.Version != nil || len(c.Input) > 0 || c.TakeOver {
		s.CreatedBy = caller
	}
	if c.Unbounded {
		s.StartAt, s.EndAt, s.StartsLeft = nil, nil, nil
	}
	set(&s.Agent, c.Agent)
	set(&s.Constraint, c.Version)
	if len(c.Input) > 0 {
		s.Input = c.Input
	}
	if len(c.Crons) > 0 {
		s.Crons, s.Every, s.Offset = c.Crons, 0, 0
	}
	set(&s.Zone, c.TimeZone)
	if c.EveryS != nil {
		s.Every, s.Offset = seconds(*c.EveryS), 0
		if len(c.Crons) == 0 {
			s.Crons = nil
		}
	}
	for _, field := range []struct {
		to   *time.Duration
		from *int64
	}{{&s.Offset, c.OffsetS}, {&s.Jitter, c.JitterS}, {&s.Catchup, c.CatchupS}} {
		if field.from != nil {
			*field.to = seconds(*field.from)
		}
	}
	if c.StartAt != nil {
		s.StartAt = c.StartAt
	}
	if c.EndAt != nil {
		s.EndAt = c.EndAt
	}
	set(&s.Overlap, c.Overlap)
	if c.StartsLeft != nil {
		s.StartsLeft = c.StartsLeft
	}
}

// FromSchedule returns a schedule as it is answered.
func FromSchedule(s schedule.Schedule) Schedule {
	return Schedule{
		ID: s.ID, Name: s.Name, Agent: s.Agent, Version: s.Constraint, Input: s.Input, Crons: s.Crons, TimeZone: s.Zone,
		EveryS: int64(s.Every.Seconds()), OffsetS: int64(s.Offset.Seconds()), StartAt: s.StartAt, EndAt: s.EndAt,
		JitterS: int64(s.Jitter.Seconds()), Overlap: s.Overlap, CatchupS: int64(s.Catchup.Seconds()),
		StartsLeft: s.StartsLeft, Paused: s.Paused, Note: s.Note, Synced: s.Synced(), SyncError: s.SyncError,
		CreatedBy: s.CreatedBy, Revision: s.Revision, CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt,
	}
}

// FromLive returns what Temporal says of a schedule, as it is answered.
func FromLive(l scheduler.Live) *ScheduleLive {
	out := ScheduleLive{Next: []time.Time{}, Skipped: l.Skipped, Missed: l.Missed, Running: l.Running}
	out.Next = append(out.Next, l.Next...)
	return &out
}

// FromStart returns a start as it is answered.
func FromStart(s schedule.Start) ScheduleStart {
	out := ScheduleStart{
		ID: s.ID, At: s.At, Status: s.Status, Code: s.Kind, Reason: s.Reason, CreatedAt: s.CreatedAt,
	}
	if s.Status == schedule.Started {
		out.RunID = s.RunID
	}
	return out
}
