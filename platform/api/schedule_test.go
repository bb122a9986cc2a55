package api_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

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
