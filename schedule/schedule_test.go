package schedule_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/schedule"
	"github.com/toolcrib/toolcrib/tool"
)

// A cron expression that is wrong is refused with its place and what is wrong.
func TestCheckCron(t *testing.T) {
	t.Parallel()
	for _, cron := range []string{
		"0 9 * * mon-fri", "*/15 0-6,22 1,15 JAN-mar 0-7", "5/10 * * * *", "@daily", " 0  0 29 2 * ", "0 0 31 4,5 7",
	} {
		require.NoError(t, schedule.CheckCron(cron), cron)
	}
	for cron, want := range map[string]string{
		"":                 "is empty",
		"0 9 * *":          "4 fields: want 5",
		"0 0 9 * * *":      "6 fields: want 5",
		"0 25 * * *":       `at position 3, hour "25": 25 is not from 0 to 23`,
		"60 * * * *":       `at position 1, minute "60": 60 is not from 0 to 59`,
		"0 0 0 * *":        `at position 5, day of the month "0": 0 is not from 1 to 31`,
		"0 0 * 13 *":       `at position 7, month "13"`,
		"0 0 * * monday":   `at position 9, day of the week "monday": "monday" is neither a number nor one of sun mon`,
		"0 9-5 * * *":      `the range "9-5" ends before it begins`,
		"*/0 * * * *":      `the step "0" is not a number from 1 on`,
		"0 0 30 2 *":       "never matches: no month of it has a day 30",
		"a * * * *":        `at position 1, minute "a": "a" is not a number`,
		"@often":           `unknown "@often": want one of @yearly`,
		"@every 5m":        "every_s",
		"TZ=UTC 0 9 * * *": "time_zone",
		"+5 * * * *":       "is not a number",
	} {
		require.ErrorContains(t, schedule.CheckCron(cron), want, cron)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	good := func() schedule.Schedule {
		return schedule.Schedule{
			Name: "nightly", Agent: "desk", Input: json.RawMessage(`"go"`),
			Times: schedule.Times{Crons: []string{"0  3 * * *"}, Zone: "Europe/Berlin"},
		}
	}
	s := good()
	require.NoError(t, s.Check())
	require.Equal(t, []string{"0 3 * * *"}, s.Crons)
	require.Equal(t, schedule.Skip, s.Overlap)
	require.Equal(t, schedule.DefaultCatchup, s.Catchup)
	none, now := int64(0), time.Now()
	for path, change := range map[string]func(s *schedule.Schedule){
		"/name":        func(s *schedule.Schedule) { s.Name = "two words" },
		"/agent":       func(s *schedule.Schedule) { s.Agent = "" },
		"/input":       func(s *schedule.Schedule) { s.Input = nil },
		"/overlap":     func(s *schedule.Schedule) { s.Overlap = "terminate" },
		"/catchup_s":   func(s *schedule.Schedule) { s.Catchup = time.Second },
		"/crons":       func(s *schedule.Schedule) { s.Crons = nil },
		"/crons/0":     func(s *schedule.Schedule) { s.Crons[0] = "x" },
		"/time_zone":   func(s *schedule.Schedule) { s.Zone = "Europe/Bonn" },
		"/every_s":     func(s *schedule.Schedule) { s.Crons, s.Every = nil, 59*time.Second },
		"/offset_s":    func(s *schedule.Schedule) { s.Crons, s.Every, s.Offset = nil, time.Hour, time.Hour },
		"/jitter_s":    func(s *schedule.Schedule) { s.Jitter = 48 * time.Hour },
		"/end_at":      func(s *schedule.Schedule) { s.StartAt, s.EndAt = &now, &now },
		"/starts_left": func(s *schedule.Schedule) { s.StartsLeft = &none },
	} {
		s := good()
		change(&s)
		err := s.Check()
		require.Equal(t, tool.Invalid, tool.KindOf(err), path)
		require.Equal(t, path, tool.AsError(err).Path)
	}
}
