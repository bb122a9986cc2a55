package cli_test

import (
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/schedule"
	"github.com/toolcrib/toolcrib/tool"
)

// Schedules are listed page by page, and shown as people and programs want them.
func TestScheduleList(t *testing.T) {
	t.Parallel()

	s := setup(t)
	require.Contains(t, s.run(t, "schedule", "list").err, "no schedules")
	for i := range 3 {
		_, err := s.Store.CreateSchedule(t.Context(), schedule.Schedule{
			ID: uuid.Must(uuid.NewV7()).String(), Tenant: s.tenant, Name: "nightly" + strconv.Itoa(i), Agent: "desk",
			Input: json.RawMessage(`"go"`), Times: schedule.Times{Crons: []string{"0 3 * * *"}, Zone: "UTC"},
			Overlap: schedule.Skip, Catchup: time.Hour, CreatedBy: "key:x",
		})
		require.NoError(t, err)
	}
	require.Contains(t, s.ok(t, "schedule", "list"), "nightly0")
	var first, second v1.Page[v1.Schedule]
	require.NoError(t, json.Unmarshal([]byte(s.ok(t, "schedule", "list", "--limit", "2", "--json")), &first))
	require.Len(t, first.Items, 2)
	require.NotEmpty(t, first.Next)
	more := s.ok(t, "schedule", "list", "--limit", "2", "--cursor", first.Next, "--json")
	require.NoError(t, json.Unmarshal([]byte(more), &second))
	require.Len(t, second.Items, 1)
	require.Empty(t, second.Next)
	require.Equal(t, "nightly0", second.Items[0].Name)
}

// What beginners get wrong is named, with what to write instead.
func TestScheduleMistakes(t *testing.T) {
	t.Parallel()

	s := setup(t)
	_, err := s.Store.CreateAgent(t.Context(), agent.Agent{
		Tenant: s.tenant, Slug: "desk", Status: tool.Draft, Version: "1.0.0",
		Definition: agent.Definition{Name: "desk", Model: "scripted/x"},
	})
	require.NoError(t, err)
	for _, tt := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"no name", []string{"create"}, cli.ExitUsage, "name"},
		{"no times", []string{"create", "x", "--agent", "desk", "--input", "go"}, cli.ExitInvalid, "cron"},
		{
			"six fields",
			[]string{"create", "x", "--agent", "desk", "--input", "go", "--cron", "0 0 3 * * *"},
			cli.ExitInvalid, "want 5: minute, hour",
		},
		{
			"an hour of 24",
			[]string{"create", "x", "--agent", "desk", "--input", "go", "--cron", "0 24 * * *"},
			cli.ExitInvalid, "24 is not from 0 to 23",
		},
		{
			"both kinds",
			[]string{"create", "x", "--agent", "desk", "--input", "go", "--cron", "@daily", "--every", "1h"},
			cli.ExitInvalid, "not both: make two schedules",
		},
		{
			"a zone that is none",
			[]string{"create", "x", "--agent", "desk", "--input", "go", "--cron", "@daily", "--time-zone", "Berlin"},
			cli.ExitInvalid, "Europe/Berlin",
		},
		{
			"a start that is none",
			[]string{"create", "x", "--agent", "desk", "--input", "go", "--every", "1h", "--start", "tomorrow"},
			cli.ExitUsage, "2026-01-02T15:04:05Z",
		},
		{
			"an unknown agent",
			[]string{"create", "x", "--agent", "dsk", "--input", "go", "--every", "1h"},
			cli.ExitNotFound, "dsk",
		},
		{
			"an agent without a version",
			[]string{"create", "x", "--agent", "desk", "--input", "go", "--every", "1h"},
			cli.ExitConflict, "desk",
		},
		{"an unknown schedule", []string{"show", "nightly"}, cli.ExitNotFound, "schedule not found"},
		{"none to delete", []string{"delete", "nightly"}, cli.ExitNotFound, "schedule not found"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got := s.run(t, append([]string{"schedule"}, tt.args...)...)
			require.Equal(t, tt.code, got.code, got.err)
			require.Contains(t, got.err, tt.says)
		})
	}
}
