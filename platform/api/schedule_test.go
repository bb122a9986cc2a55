package api_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/schedule"
)

// seedSchedule records a schedule of the bundle's tenant.
func seedSchedule(t *testing.T, b *bundle) schedule.Schedule {
	t.Helper()
	made, err := b.Store.CreateSchedule(t.Context(), schedule.Schedule{
		ID: uuid.Must(uuid.NewV7()).String(), Tenant: b.tenant, Name: "theirNightly", Agent: "desk",
		Input: json.RawMessage(`"go"`), Times: schedule.Times{Crons: []string{"0 3 * * *"}, Zone: "UTC"},
		Overlap: schedule.Skip, Catchup: time.Hour, CreatedBy: "key:x",
	})
	require.NoError(t, err)
	return made
}

// Who may not start runs makes no schedule that would.
func TestSchedulesNeedThePermissionToStartRuns(t *testing.T) {
	t.Parallel()
	b := setup(t)
	made := seedSchedule(t, b)
	key := b.Key(t, b.tenant, "schedules.write", "schedules.read")
	for path, body := range map[string]string{
		"/v1/schedules": `{"name":"x","agent":"desk","input":1,"every_s":60}`,
		"/v1/schedules/" + made.Name + "/trigger":  "",
		"/v1/schedules/" + made.Name + "/backfill": `{"from":"2026-01-01T00:00:00Z","until":"2026-01-02T00:00:00Z"}`,
	} {
		require.Equal(t, http.StatusForbidden, b.do(t, http.MethodPost, path, body, key).status, path)
	}
}

// The times of a schedule are previewed before it is made, and what is wrong is named.
func TestScheduleTimesArePreviewed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	key := b.Key(t, b.tenant, "schedules.read")
	var times v1.ScheduleTimes
	const preview = "/v1/schedule-times?cron=30+2+*+*+*&cron=0,15+9+1+*+*&time_zone=Europe/Berlin&limit=3"
	got := b.do(t, http.MethodGet, preview, "", key)
	require.Equal(t, http.StatusOK, got.status, string(got.body))
	got.into(t, &times)
	require.Equal(t, "Europe/Berlin", times.TimeZone)
	require.Len(t, times.Times, 3)
	require.True(t, times.Times[0].After(time.Now()))
	got = b.do(t, http.MethodGet, "/v1/schedule-times?cron=61+2+*+*+*", "", key)
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Contains(t, string(got.body), "/crons/0")
	got = b.do(t, http.MethodGet, "/v1/schedule-times?every_s=3600", "", b.Key(t, b.tenant, "runs.read"))
	require.Equal(t, http.StatusForbidden, got.status)
}
