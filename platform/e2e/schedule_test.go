package e2e_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	toolcrib "github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/platform/faulttest/grpcproxy"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/runs/scheduler"
	"github.com/toolcrib/toolcrib/schedule"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/worker"
)

// clock is a desk with schedules.
type clock struct {
	*desk
	*toolcrib.Client
	service *scheduler.Service
}

// newClock returns a clock whose model answers at once, or as it is told to.
func newClock(t *testing.T, model agent.Model) *clock {
	t.Helper()
	c := &clock{}
	c.desk = newDesk(t, func(config *serve.HandlerConfig) {
		var err error
		c.service, err = scheduler.New(scheduler.Config{
			Store: config.Store, Temporal: config.Temporal, Namespace: config.Namespace, TaskQueue: config.TaskQueue,
			Check: time.Millisecond,
		})
		require.NoError(t, err)
		config.Schedules = c.service
	})
	var err error
	c.Client, err = toolcrib.New(toolcrib.Config{Server: c.url, Key: c.key})
	require.NoError(t, err)
	t.Cleanup(c.Client.Close)
	if model == nil {
		model = play()
	}
	c.start(worker.Config{Models: map[string]agent.Model{"test": model}})
	return c
}

// yearly is a schedule with no time during a test.
func yearly(name string) v1.NewSchedule {
	return v1.NewSchedule{Name: name, Agent: "desk", Input: json.RawMessage(`"report"`), Crons: []string{"30 2 29 2 *"}}
}

func (c *clock) make(n v1.NewSchedule) v1.Schedule {
	c.t.Helper()
	made, err := c.CreateSchedule(c.t.Context(), n)
	require.NoError(c.t, err)
	require.True(c.t, made.Synced, made.SyncError)
	c.t.Cleanup(func() { // The server is shared.
		_ = c.desk.temporal.ScheduleClient().GetHandle(context.Background(),
			wire.ScheduleID(c.principal.Tenant, made.ID)).Delete(context.Background())
	})
	return made
}

func (c *clock) handle(id string) client.ScheduleHandle {
	return c.desk.temporal.ScheduleClient().GetHandle(c.t.Context(), wire.ScheduleID(c.principal.Tenant, id))
}

// starts returns the starts of a schedule that are decided, the newest first, once there are n.
func (c *clock) starts(name string, n int) []v1.ScheduleStart {
	c.t.Helper()
	var found []v1.ScheduleStart
	require.Eventually(c.t, func() bool {
		page, err := c.ListScheduleStarts(c.t.Context(), name, toolcrib.StartQuery{})
		require.NoError(c.t, err)
		found = page.Items
		for _, s := range found {
			if s.Status == schedule.Starting {
				return false
			}
		}
		return len(found) >= n
	}, time.Minute, 100*time.Millisecond, "%d starts of %s", n, name)
	return found
}

func (c *clock) ended(runID string) agent.Run {
	c.t.Helper()
	require.Eventually(c.t, func() bool { return c.find(runID).Status.Final() }, time.Minute, 100*time.Millisecond)
	return c.find(runID)
}

func (c *clock) sync() {
	c.t.Helper()
	require.NoError(c.t, c.service.Sync(c.t.Context()))
}

// A time starts one run, like a request of the schedule's maker, and the schedule tells of it.
func TestAScheduleStartsRuns(t *testing.T) {
	t.Parallel()
	c := newClock(t, nil)
	made := c.make(yearly("report"))
	_, err := c.TriggerSchedule(t.Context(), "report")
	require.NoError(t, err)
	start := c.starts("report", 1)[0]
	require.Equal(t, schedule.Started, start.Status)
	run := c.ended(start.RunID)
	require.Equal(t, agent.RunCompleted, run.Status)
	require.JSONEq(t, `"report"`, string(run.Input))
	require.Equal(t, made.CreatedBy, run.Principal.Subject)
	require.WithinDuration(t, time.Now(), start.At, time.Minute)
	backlog := func() int {
		n, err := c.CountStarts(t.Context())
		require.NoError(t, err)
		return n.Count
	}
	require.LessOrEqual(t, backlog(), 1)
	info, err := c.desk.temporal.DescribeWorkflowExecution(t.Context(), run.WorkflowID, "")
	require.NoError(t, err)
	require.True(t, wire.IsScheduled(info.GetWorkflowExecutionInfo().GetParentExecution().GetWorkflowId()),
		"the run is a child of the workflow that decides what overlaps")
	parent := info.GetWorkflowExecutionInfo().GetParentExecution()
	waited := c.desk.temporal.GetWorkflow(t.Context(), parent.GetWorkflowId(), parent.GetRunId())
	require.NoError(t, waited.Get(t.Context(), nil))
	h := historyOf(t.Context(), t, c.desk.temporal, parent.GetWorkflowId(), parent.GetRunId())
	requireReplays(t, h, "scheduled_run")

	// An attempt again finds the same run, also of many at once.
	starter := scheduler.NewStarter(c.Store, c.Store, resolver.New(c.Store, resolver.Options{}))
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			out, err := starter.Begin(t.Context(), wire.BeginScheduledInput{
				ScheduledRunInput: wire.ScheduledRunInput{Tenant: c.principal.Tenant, Schedule: made.ID}, At: start.At,
				TaskQueue: c.queue,
			})
			if err != nil || out.RunID != run.ID || !out.Ended {
				t.Errorf("%+v, %v", out, err)
			}
		})
	}
	wg.Wait()
}

// The times of a schedule come by themselves, until its starts are used up.
func TestAScheduleRunsAtItsTimes(t *testing.T) {
	t.Parallel()
	c := newClock(t, nil)
	key, err := c.Store.Authenticate(t.Context(), c.key)
	require.NoError(t, err)
	two := int64(2)
	// An interval this short is refused by the API.
	made, err := c.Store.CreateSchedule(t.Context(), schedule.Schedule{
		ID: newID(t), Tenant: c.principal.Tenant, Name: "often", Agent: "desk", Input: json.RawMessage(`"go"`),
		Times: schedule.Times{Every: time.Second, Zone: "UTC"}, Overlap: schedule.AllowAll, Catchup: time.Minute,
		StartsLeft: &two, CreatedBy: key.Principal().Subject,
	})
	require.NoError(t, err)
	c.sync()
	started := 0
	for _, s := range c.starts("often", 2) {
		if s.Status == schedule.Started {
			started++
			require.Equal(t, agent.RunCompleted, c.ended(s.RunID).Status)
		}
	}
	require.Equal(t, 2, started)
	c.sync()
	shown, err := c.Schedule(t.Context(), made.ID)
	require.NoError(t, err)
	require.True(t, shown.Paused, "its starts are used up")
	require.Equal(t, "all its starts were used", shown.Note)
	_, err = c.ResumeSchedule(t.Context(), "often", "")
	require.ErrorContains(t, err, "no start is left")
}

// What overlaps is decided by runs, however long they last, and not by the workflows that start
// them.
func TestOverlapIsOfRuns(t *testing.T) {
	t.Parallel()
	entered, release := make(chan struct{}, 1), make(chan struct{})
	c := newClock(t, held(entered, release))
	c.make(yearly("slow"))
	trigger := func() {
		t.Helper()
		_, err := c.TriggerSchedule(t.Context(), "slow")
		require.NoError(t, err)
		time.Sleep(1100 * time.Millisecond) // A time is a second.
	}
	trigger()
	<-entered
	trigger()
	require.Eventually(t, func() bool {
		shown, err := c.Schedule(t.Context(), "slow")
		require.NoError(t, err)
		return shown.Live != nil && shown.Live.Skipped == 1 && shown.Live.Running == 1
	}, time.Minute, 200*time.Millisecond)
	first := c.starts("slow", 1)
	require.Len(t, first, 1)

	overlap := schedule.CancelOther
	_, err := c.ChangeSchedule(t.Context(), "slow", v1.ScheduleChange{Overlap: &overlap})
	require.NoError(t, err)
	trigger()
	<-entered
	require.Equal(t, agent.RunCancelled, c.ended(first[0].RunID).Status)
	close(release)
	for _, s := range c.starts("slow", 2) {
		c.ended(s.RunID)
	}
}

// Authority is that of the moment of a start.
func TestAScheduleHasTheAuthorityOfItsMaker(t *testing.T) {
	t.Parallel()
	c := newClock(t, nil)
	maker, text, err := c.Store.CreateKey(t.Context(), store.Key{
		Tenant: c.principal.Tenant, Name: "maker", Permissions: []string{"schedules.write", "runs.write"},
	})
	require.NoError(t, err)
	theirs, err := toolcrib.New(toolcrib.Config{Server: c.url, Key: text})
	require.NoError(t, err)
	defer theirs.Close()
	made, err := theirs.CreateSchedule(t.Context(), yearly("report"))
	require.NoError(t, err)
	_, err = c.Store.RevokeKey(t.Context(), c.principal.Tenant, maker.ID)
	require.NoError(t, err)
	_, err = c.TriggerSchedule(t.Context(), "report")
	require.NoError(t, err)
	start := c.starts("report", 1)[0]
	require.Equal(t, schedule.Refused, start.Status)
	require.Equal(t, tool.Denied, start.Code)
	require.Contains(t, start.Reason, "has been revoked")
	require.Empty(t, start.RunID)

	// Another key takes it over, and the time that was refused is made up for.
	_, err = c.ChangeSchedule(t.Context(), made.ID, v1.ScheduleChange{TakeOver: true})
	require.NoError(t, err)
	time.Sleep(1100 * time.Millisecond)
	_, err = c.TriggerSchedule(t.Context(), "report")
	require.NoError(t, err)
	started := c.starts("report", 2)[0]
	require.Equal(t, schedule.Started, started.Status, started.Reason)
	require.Equal(t, agent.RunCompleted, c.ended(started.RunID).Status)

	// A suspended tenant's schedules rest.
	_, err = c.db.Platform.SetTenantStatus(t.Context(), c.principal.Tenant, store.TenantSuspended)
	require.NoError(t, err)
	c.sync()
	described, err := c.handle(made.ID).Describe(t.Context())
	require.NoError(t, err)
	require.True(t, described.Schedule.State.Paused)
	_, err = c.ScheduleAuthority(t.Context(), c.principal.Tenant, started.ID)
	require.Equal(t, tool.Denied, tool.KindOf(err))
	_, err = c.db.Platform.SetTenantStatus(t.Context(), c.principal.Tenant, store.TenantActive)
	require.NoError(t, err)
	c.sync()
	described, err = c.handle(made.ID).Describe(t.Context())
	require.NoError(t, err)
	require.False(t, described.Schedule.State.Paused)
}

// Whatever happens between the record and Temporal, both are the same in the end.
func TestSchedulesAreMended(t *testing.T) {
	t.Parallel()
	for _, effect := range []grpcproxy.Effect{grpcproxy.FailBefore, grpcproxy.FailAfter, grpcproxy.Hang} {
		t.Run(string(effect), func(t *testing.T) {
			t.Parallel()
			c := newClock(t, nil)
			fault := c.proxy.Inject(grpcproxy.Fault{Method: "CreateSchedule", Effect: effect})
			began := time.Now()
			made, err := c.CreateSchedule(t.Context(), yearly("report"))
			require.NoError(t, err)
			require.False(t, made.Synced)
			require.Less(t, time.Since(began), 5*time.Second)
			fault.Cancel()
			mended := func() *client.ScheduleDescription {
				var described *client.ScheduleDescription
				require.Eventually(t, func() bool {
					c.sync()
					n, err := c.FindSchedule(t.Context(), c.principal.Tenant, made.ID)
					require.NoError(t, err)
					described, err = c.handle(made.ID).Describe(t.Context())
					return err == nil && n.Synced() && strings.Contains(described.Schedule.State.Note, "revision")
				}, time.Minute, 100*time.Millisecond)
				return described
			}
			mended()

			// It is lost there, or changed by hand.
			require.NoError(t, c.handle(made.ID).Delete(t.Context()))
			mended()
			require.NoError(t, c.handle(made.ID).Pause(t.Context(), client.SchedulePauseOptions{Note: "by hand"}))
			require.False(t, mended().Schedule.State.Paused)
			edited := func(edit func(s *client.Schedule)) {
				require.NoError(t, c.handle(made.ID).Update(t.Context(), client.ScheduleUpdateOptions{
					DoUpdate: func(in client.ScheduleUpdateInput) (*client.ScheduleUpdate, error) {
						edit(&in.Description.Schedule)
						return &client.ScheduleUpdate{Schedule: &in.Description.Schedule}, nil
					},
				}))
			}
			edited(func(s *client.Schedule) { s.Spec.Calendars[0].Hour[0].Start, s.Spec.Calendars[0].Hour[0].End = 5, 5 })
			require.Eventually(t, func() bool {
				return mended().Schedule.Spec.Calendars[0].Hour[0].Start == 2
			}, time.Minute, 100*time.Millisecond)
			edited(func(s *client.Schedule) { s.Policy.CatchupWindow = time.Minute })
			require.Eventually(t, func() bool {
				return mended().Schedule.Policy.CatchupWindow == time.Hour
			}, time.Minute, 100*time.Millisecond)

			// It is deleted, and Temporal is told later.
			fault = c.proxy.Inject(grpcproxy.Fault{Method: "DeleteSchedule", Effect: effect})
			_, err = c.DeleteSchedule(t.Context(), "report")
			require.NoError(t, err)
			_, err = c.Schedule(t.Context(), "report")
			require.Equal(t, tool.NotFound, tool.KindOf(err))
			fault.Cancel()
			require.Eventually(t, func() bool {
				c.sync()
				_, err := c.handle(made.ID).Describe(t.Context())
				return err != nil
			}, time.Minute, 100*time.Millisecond)
			remade, err := c.CreateSchedule(t.Context(), yearly("report"))
			require.NoError(t, err)
			require.NotEqual(t, made.ID, remade.ID)
		})
	}
}

// Temporal's words for the times of a schedule are known for the same times: what nobody changed is
// not put back.
func TestUnchangedSchedulesAreLeftAlone(t *testing.T) {
	t.Parallel()
	c := newClock(t, nil)
	all := make(map[string]time.Time)
	for i, times := range []v1.NewSchedule{
		{Crons: []string{"30 2 29 2 *"}},
		{Crons: []string{"*/7 1-23/2 1,15,31 jan-mar mon-fri", "@daily", "@yearly"}},
		{Crons: []string{"0 0 * * 7", "0 0 * * sun,sat", "5/20 * * * *"}, TimeZone: "Europe/Berlin", JitterS: 60},
		{EveryS: 3600, OffsetS: 60, CatchupS: 120, Overlap: schedule.BufferAll},
		{Crons: []string{"@weekly", "@monthly", "@hourly"}},
		{Crons: []string{"0 12 1-31 1-12 0-7"}, StartAt: new(time.Now().Add(time.Hour)), EndAt: new(time.Now().Add(2 * time.Hour))},
	} {
		times.Name, times.Agent, times.Input, times.Paused = "times"+strconv.Itoa(i), "desk", json.RawMessage(`"x"`), true
		made := c.make(times)
		described, err := c.handle(made.ID).Describe(t.Context())
		require.NoError(t, err)
		all[made.ID] = described.Info.LastUpdateAt
	}
	for range 5 {
		c.sync()
	}
	for id, before := range all {
		described, err := c.handle(id).Describe(t.Context())
		require.NoError(t, err)
		require.Equal(t, before, described.Info.LastUpdateAt, "%+v", described.Schedule.Spec)
	}
}

// A schedule of Temporal whose record is gone deletes itself.
func TestAScheduleWithoutARecordDeletesItself(t *testing.T) {
	t.Parallel()
	c := newClock(t, nil)
	made := c.make(yearly("report"))
	_, err := c.db.Conn(t).Exec(t.Context(), "delete from schedules where id = $1", made.ID)
	require.NoError(t, err)
	require.NoError(t, c.handle(made.ID).Trigger(t.Context(), client.ScheduleTriggerOptions{}))
	require.Eventually(t, func() bool {
		_, err := c.handle(made.ID).Describe(t.Context())
		return err != nil
	}, time.Minute, 100*time.Millisecond)
}

// What clocks skip has no time, and what they repeat has one, the second; intervals do not see
// clocks.
func TestSchedulesOverAClockChange(t *testing.T) {
	t.Parallel()
	c := newClock(t, nil)
	for name, tt := range map[string]struct {
		schedule    v1.NewSchedule
		from, until string
		want        []string
	}{
		"nonexistent hour": {
			v1.NewSchedule{Crons: []string{"30 2 * * *"}, TimeZone: "Europe/Berlin"},
			"2026-03-28T00:00:00Z", "2026-03-30T12:00:00Z",
			[]string{"2026-03-28T02:30:00+01:00", "2026-03-30T02:30:00+02:00"},
		},
		"repeated hour": {
			v1.NewSchedule{Crons: []string{"30 2 * * *"}, TimeZone: "Europe/Berlin"},
			"2026-10-24T00:00:00Z", "2026-10-26T12:00:00Z",
			[]string{"2026-10-24T02:30:00+02:00", "2026-10-25T02:30:00+01:00", "2026-10-26T02:30:00+01:00"},
		},
		"beside the change": {
			v1.NewSchedule{Crons: []string{"0 9 * * *"}, TimeZone: "Europe/Berlin"},
			"2026-03-28T00:00:00Z", "2026-03-29T12:00:00Z",
			[]string{"2026-03-28T09:00:00+01:00", "2026-03-29T09:00:00+02:00"},
		},
		"another zone": {
			v1.NewSchedule{Crons: []string{"30 2 * * *"}, TimeZone: "America/New_York"},
			"2026-03-07T00:00:00Z", "2026-03-09T12:00:00Z",
			[]string{"2026-03-07T02:30:00-05:00", "2026-03-09T02:30:00-04:00"},
		},
		"without a zone": {
			v1.NewSchedule{Crons: []string{"30 2 * * *"}},
			"2026-03-28T00:00:00Z", "2026-03-30T12:00:00Z",
			[]string{"2026-03-28T02:30:00Z", "2026-03-29T02:30:00Z", "2026-03-30T02:30:00Z"},
		},
		"interval": {
			v1.NewSchedule{EveryS: 3600, OffsetS: 1800, TimeZone: "Europe/Berlin"},
			"2026-03-29T00:00:00Z", "2026-03-29T02:00:00Z",
			[]string{"2026-03-29T01:30:00+01:00", "2026-03-29T03:30:00+02:00"},
		},
		"half hours of the repeated hour": {
			v1.NewSchedule{Crons: []string{"0,30 * * * *"}, TimeZone: "Europe/Berlin"},
			"2026-10-25T00:00:00Z", "2026-10-25T02:00:00Z",
			[]string{"2026-10-25T02:00:00+02:00", "2026-10-25T02:30:00+01:00", "2026-10-25T03:00:00+01:00"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := tt.schedule
			n.Name, n.Agent, n.Input = "s"+strings.ReplaceAll(name, " ", ""), "desk", json.RawMessage(`1`)
			n.Paused = true
			made := c.make(n)
			times, err := c.ScheduleTimes(t.Context(), made.Name, toolcrib.TimesQuery{
				From: at(t, tt.from), Until: at(t, tt.until), Limit: 20,
			})
			require.NoError(t, err)
			var got []string
			for _, tm := range times.Times {
				got = append(got, tm.Format(time.RFC3339))
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func at(t *testing.T, text string) time.Time {
	t.Helper()
	parsed, err := time.Parse(time.RFC3339, text)
	require.NoError(t, err)
	return parsed
}

// A backfill starts what is missing, and nothing twice.
func TestBackfill(t *testing.T) {
	t.Parallel()
	c := newClock(t, nil)
	n := yearly("hourly")
	n.Crons, n.Paused = []string{"@hourly"}, true
	c.make(n)
	until := time.Now().Truncate(time.Hour)
	window := v1.ScheduleBackfill{From: until.Add(-2 * time.Hour), Until: until}
	times, err := c.BackfillSchedule(t.Context(), "hourly", window)
	require.NoError(t, err)
	require.Len(t, times.Times, 3)
	first := c.starts("hourly", 3)
	require.Len(t, first, 3)
	for _, s := range first {
		require.Equal(t, schedule.Started, s.Status)
		c.ended(s.RunID)
	}
	_, err = c.BackfillSchedule(t.Context(), "hourly", window)
	require.NoError(t, err)
	time.Sleep(2 * time.Second)
	require.Equal(t, first, c.starts("hourly", 3))
	for _, bad := range []v1.ScheduleBackfill{
		{From: until, Until: until.Add(2 * time.Hour)},
		{From: until, Until: until.Add(-time.Hour)},
		{From: until.Add(-1000 * time.Hour), Until: until},
		{From: until.Add(time.Second), Until: until.Add(2 * time.Second)},
	} {
		_, err := c.BackfillSchedule(t.Context(), "hourly", bad)
		require.Equal(t, tool.Invalid, tool.KindOf(err), "%v: %v", bad, err)
	}
	resp, _ := c.post("/v1/schedules", `{"name":"x","agent":"desk","input":1,"crons":["0 25 * * *"]}`)
	require.Equal(t, http.StatusUnprocessableEntity, resp.StatusCode)
}
