package storetest

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/schedule"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// Schedule records a schedule that Temporal does not have.
func (f *Fixture) Schedule(tb testing.TB, name string, change func(*schedule.Schedule)) schedule.Schedule {
	tb.Helper()
	n := schedule.Schedule{
		ID: NewID(tb), Tenant: f.Tenant, Name: name, Agent: "desk", Input: json.RawMessage(`"go"`), CreatedBy: "key:x",
		Times: schedule.Times{Crons: []string{"0 3 * * *"}, Zone: "UTC"}, Overlap: schedule.Skip, Catchup: time.Hour,
	}
	if change != nil {
		change(&n)
	}
	made, err := f.Store.CreateSchedule(tb.Context(), n)
	require.NoError(tb, err)
	return made
}

func (f *Fixture) claimSchedules(tb testing.TB, id string) []schedule.Claimed {
	tb.Helper()
	claimed, err := f.Store.ClaimSchedules(tb.Context(), f.Tenant, id, 10, time.Minute)
	require.NoError(tb, err)
	return claimed
}

func testSchedules(t *testing.T, d *Database) {
	t.Helper()

	t.Run("a name is one schedule's, until it is deleted", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		made := f.Schedule(t, "nightly", nil)
		_, err := f.Store.CreateSchedule(t.Context(), schedule.Schedule{
			ID: NewID(t), Tenant: f.Tenant, Name: "nightly", Agent: "desk", Input: json.RawMessage(`1`), CreatedBy: "key:x",
			Times: schedule.Times{Every: time.Hour, Zone: "UTC"}, Overlap: schedule.Skip, Catchup: time.Hour,
		})
		RequireKind(t, tool.Conflict, err)
		stale := made
		made.Note = "changed"
		made, err = f.Store.ChangeSchedule(t.Context(), made, true)
		require.NoError(t, err)
		require.EqualValues(t, 2, made.Revision)
		_, err = f.Store.ChangeSchedule(t.Context(), stale, true)
		require.ErrorIs(t, err, schedule.ErrChanged)
		_, err = f.Store.DeleteSchedule(t.Context(), f.Tenant, made.ID, 1)
		require.ErrorIs(t, err, schedule.ErrChanged)
		_, err = f.Store.DeleteSchedule(t.Context(), f.Tenant, made.ID, 0)
		require.NoError(t, err)
		for _, name := range []string{made.ID, made.Name} {
			_, err = f.Store.FindSchedule(t.Context(), f.Tenant, name)
			RequireKind(t, tool.NotFound, err)
		}
		_, err = f.Store.ReserveScheduleStart(t.Context(), f.Tenant, made.ID, time.Now())
		RequireKind(t, tool.NotFound, err)
		f.Schedule(t, "nightly", nil)
		gone := f.claimSchedules(t, made.ID)
		require.True(t, gone[0].Deleted)
		require.NoError(t, f.Store.RemoveSchedule(t.Context(), gone[0]))
		require.Empty(t, f.claimSchedules(t, made.ID))
	})

	t.Run("one server compares a schedule, and a change meanwhile is due at once", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		made := f.Schedule(t, "nightly", nil)
		tenants, err := f.Store.ScheduleTenants(t.Context(), 1000)
		require.NoError(t, err)
		require.Contains(t, tenants, f.Tenant)
		claimed := f.claimSchedules(t, "")
		require.Len(t, claimed, 1)
		require.Empty(t, f.claimSchedules(t, made.ID))
		_, err = f.Store.ChangeSchedule(t.Context(), made, true)
		require.NoError(t, err)
		require.NoError(t, f.Store.EndScheduleSync(t.Context(), schedule.Sync{Claimed: claimed[0], Next: time.Hour}))
		RequireKind(t, tool.Conflict, f.Store.RemoveSchedule(t.Context(), claimed[0]))
		claimed = f.claimSchedules(t, "")
		require.Len(t, claimed, 1, "due at once")
		require.False(t, claimed[0].Synced())
		require.NoError(t, f.Store.EndScheduleSync(t.Context(), schedule.Sync{Claimed: claimed[0], Next: time.Hour}))
		require.Empty(t, f.claimSchedules(t, ""))
		found, err := f.Store.FindSchedule(t.Context(), f.Tenant, "nightly")
		require.NoError(t, err)
		require.True(t, found.Synced())
	})

	t.Run("a time has one start, and starts are used up", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		one := int64(1)
		made := f.Schedule(t, "once", func(s *schedule.Schedule) { s.StartsLeft = &one })
		at := time.Now()
		first, err := f.Store.ReserveScheduleStart(t.Context(), f.Tenant, made.ID, at)
		require.NoError(t, err)
		require.True(t, first.Fresh)
		again, err := f.Store.ReserveScheduleStart(t.Context(), f.Tenant, made.ID, at)
		require.NoError(t, err)
		require.False(t, again.Fresh)
		require.Equal(t, first.RunID, again.RunID)
		found, err := f.Store.FindSchedule(t.Context(), f.Tenant, "once")
		require.NoError(t, err)
		require.True(t, found.Paused)
		require.Zero(t, *found.StartsLeft)
		refused, err := f.Store.ReserveScheduleStart(t.Context(), f.Tenant, made.ID, at.Add(time.Hour))
		require.NoError(t, err)
		require.Equal(t, schedule.Refused, refused.Status)
		first.Status = schedule.Started
		require.NoError(t, f.Store.EndScheduleStart(t.Context(), first))
		all, err := f.Store.ListScheduleStarts(t.Context(), schedule.StartQuery{
			Tenant: f.Tenant, ScheduleID: made.ID, Status: schedule.Started,
		})
		require.NoError(t, err)
		require.Len(t, all, 1)
	})
	t.Run("a tenant has so many at most, and is told so", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		_, err := f.Conn(t).Exec(t.Context(), `insert into schedules
			(tenant_id, id, name, agent, input, every_s, overlap, catchup_s, created_by, sync_due)
			select $1, gen_random_uuid(), 's' || n, 'support', '1', 60, 'skip', 60, 'x', 'infinity' from generate_series(3, $2) n`,
			f.Tenant, schedule.MaxSchedules)
		require.NoError(t, err)
		made := atOnce(8, func(i int) error {
			_, err := f.Store.CreateSchedule(t.Context(), schedule.Schedule{
				ID: NewID(t), Tenant: f.Tenant, Name: fmt.Sprintf("n%d", i), Agent: "support", Input: json.RawMessage(`1`),
				Times: schedule.Times{Every: time.Hour, Zone: "UTC"}, Overlap: schedule.Skip, Catchup: time.Hour, CreatedBy: "x",
			})
			return err
		})
		requireAllBut(t, 2, made, "which is the most")
	})
	t.Run("a change that is of something else keeps what starts used up meanwhile", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		two := int64(2)
		made := f.Schedule(t, "twice", func(s *schedule.Schedule) { s.StartsLeft = &two })
		_, err := f.Store.ReserveScheduleStart(t.Context(), f.Tenant, made.ID, time.Now())
		require.NoError(t, err)
		made.Note = "as it was read before the start"
		changed, err := f.Store.ChangeSchedule(t.Context(), made, false)
		require.NoError(t, err)
		require.Equal(t, int64(1), *changed.StartsLeft)
		changed.StartsLeft = &two
		changed, err = f.Store.ChangeSchedule(t.Context(), changed, true)
		require.NoError(t, err)
		require.Equal(t, two, *changed.StartsLeft)
	})
}

// scheduleCases are the foreign cases of schedules and their starts.
var scheduleCases = map[string]func(t *testing.T, f foreign){
	"CreateSchedule": func(t *testing.T, f foreign) {
		t.Helper()
		made := f.Schedule(t, "nightly", nil)
		theirs := made
		theirs.ID, theirs.Tenant = NewID(t), f.stranger
		_, err := f.Store.CreateSchedule(t.Context(), theirs)
		require.NoError(t, err)
		f.requireSameSchedule(t, made)
	},
	"FindSchedule": func(t *testing.T, f foreign) {
		t.Helper()
		for _, name := range []string{f.Schedule(t, "nightly", nil).ID, "nightly"} {
			_, err := f.Store.FindSchedule(t.Context(), f.stranger, name)
			RequireKind(t, tool.NotFound, err)
		}
	},
	"ListSchedules": func(t *testing.T, f foreign) {
		t.Helper()
		f.Schedule(t, "nightly", nil)
		all, err := f.Store.ListSchedules(t.Context(), f.stranger, "", 10)
		require.NoError(t, err)
		require.Empty(t, all)
	},
	"ChangeSchedule": func(t *testing.T, f foreign) {
		t.Helper()
		made := f.Schedule(t, "nightly", nil)
		stolen := made
		stolen.Tenant, stolen.Agent = f.stranger, "evil"
		_, err := f.Store.ChangeSchedule(t.Context(), stolen, true)
		RequireKind(t, tool.Conflict, err)
		f.requireSameSchedule(t, made)
	},
	"DeleteSchedule": func(t *testing.T, f foreign) {
		t.Helper()
		made := f.Schedule(t, "nightly", nil)
		_, err := f.Store.DeleteSchedule(t.Context(), f.stranger, made.ID, 0)
		RequireKind(t, tool.NotFound, err)
		f.requireSameSchedule(t, made)
	},
	"ClaimSchedules": func(t *testing.T, f foreign) {
		t.Helper()
		made := f.Schedule(t, "nightly", nil)
		for _, id := range []string{"", made.ID} {
			claimed, err := f.Store.ClaimSchedules(t.Context(), f.stranger, id, 10, time.Minute)
			require.NoError(t, err)
			require.Empty(t, claimed)
		}
		require.Len(t, f.claimSchedules(t, ""), 1)
	},
	"EndScheduleSync": func(t *testing.T, f foreign) {
		t.Helper()
		made := f.Schedule(t, "nightly", nil)
		claimed := f.claimSchedules(t, "")[0]
		claimed.Tenant = f.stranger
		RequireKind(t, tool.Conflict, f.Store.EndScheduleSync(t.Context(), schedule.Sync{Claimed: claimed}))
		f.requireSameSchedule(t, made)
	},
	"RemoveSchedule": func(t *testing.T, f foreign) {
		t.Helper()
		made := f.Schedule(t, "nightly", nil)
		_, err := f.Store.DeleteSchedule(t.Context(), f.Tenant, made.ID, 0)
		require.NoError(t, err)
		claimed := f.claimSchedules(t, "")[0]
		stolen := claimed
		stolen.Tenant = f.stranger
		RequireKind(t, tool.Conflict, f.Store.RemoveSchedule(t.Context(), stolen))
		require.NoError(t, f.Store.RemoveSchedule(t.Context(), claimed))
	},
	"ReserveScheduleStart": func(t *testing.T, f foreign) {
		t.Helper()
		made := f.Schedule(t, "nightly", nil)
		_, err := f.Store.ReserveScheduleStart(t.Context(), f.stranger, made.ID, time.Now())
		RequireKind(t, tool.NotFound, err)
		f.requireSameSchedule(t, made)
	},
	"EndScheduleStart": func(t *testing.T, f foreign) {
		t.Helper()
		made := f.Schedule(t, "nightly", nil)
		start, err := f.Store.ReserveScheduleStart(t.Context(), f.Tenant, made.ID, time.Now())
		require.NoError(t, err)
		start.Tenant, start.Status = f.stranger, schedule.Refused
		RequireKind(t, tool.NotFound, f.Store.EndScheduleStart(t.Context(), start))
	},
	"ListScheduleStarts": func(t *testing.T, f foreign) {
		t.Helper()
		made := f.Schedule(t, "nightly", nil)
		_, err := f.Store.ListScheduleStarts(t.Context(), schedule.StartQuery{Tenant: f.stranger, ScheduleID: made.ID})
		RequireKind(t, tool.NotFound, err)
	},
	"ScheduleAuthority": func(t *testing.T, f foreign) {
		t.Helper()
		_, text, err := f.Store.CreateKey(t.Context(), store.Key{
			Tenant: f.Tenant, Name: "maker", Permissions: []string{"runs.write"},
		})
		require.NoError(t, err)
		key, err := f.Store.Authenticate(t.Context(), text)
		require.NoError(t, err)
		_, err = f.Store.ScheduleAuthority(t.Context(), f.stranger, key.Principal().Subject)
		RequireKind(t, tool.Denied, err)
		own, err := f.Store.ScheduleAuthority(t.Context(), f.Tenant, key.Principal().Subject)
		require.NoError(t, err)
		require.Equal(t, key.Principal(), own)
	},
}

func (f foreign) requireSameSchedule(t *testing.T, made schedule.Schedule) {
	t.Helper()
	found, err := f.Store.FindSchedule(t.Context(), f.Tenant, made.ID)
	require.NoError(t, err)
	require.Equal(t, made, found)
}
