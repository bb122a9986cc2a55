package schedule_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/schedule"
	"github.com/toolcrib/toolcrib/tool"
)

func TestNextTimes(t *testing.T) {
	t.Parallel()

	at := func(text string) time.Time {
		parsed, err := time.Parse(time.RFC3339, text)
		require.NoError(t, err)
		return parsed
	}
	end := at("2026-03-03T09:00:00Z")
	start := at("2026-03-10T00:00:00Z")
	for name, c := range map[string]struct {
		times schedule.Times
		after string
		want  []string
	}{
		"OfWeekdays": {
			schedule.Times{Crons: []string{"0 9 * * mon-fri"}},
			"2026-03-06T09:00:00Z",
			[]string{"2026-03-09T09:00:00Z", "2026-03-10T09:00:00Z", "2026-03-11T09:00:00Z"},
		},
		"SeveralExpressionsMeanATimeOnce": {
			schedule.Times{Crons: []string{"*/30 9 * * *", "30 9 * * *", "0 12 1 * *"}},
			"2026-02-28T09:00:00Z",
			[]string{"2026-02-28T09:30:00Z", "2026-03-01T09:00:00Z", "2026-03-01T09:30:00Z"},
		},
		"NotWhatAChangeOfClocksLeavesOut": {
			schedule.Times{Crons: []string{"30 2 * * *"}, Zone: "Europe/Berlin"},
			"2026-03-28T00:00:00+01:00",
			[]string{"2026-03-28T02:30:00+01:00", "2026-03-30T02:30:00+02:00", "2026-03-31T02:30:00+02:00"},
		},
		"OnceInAnHourThatIsThereTwice": {
			schedule.Times{Crons: []string{"30 2 * * *"}, Zone: "Europe/Berlin"},
			"2026-10-24T12:00:00+02:00",
			[]string{"2026-10-25T02:30:00+01:00", "2026-10-26T02:30:00+01:00", "2026-10-27T02:30:00+01:00"},
		},
		"LeapDays": {
			schedule.Times{Crons: []string{"0 0 29 2 *"}},
			"2026-01-01T00:00:00Z",
			[]string{"2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z"},
		},
		"OfAnInterval": {
			schedule.Times{Every: 6 * time.Hour, Offset: time.Hour},
			"2026-03-01T07:00:00Z",
			[]string{"2026-03-01T13:00:00Z", "2026-03-01T19:00:00Z", "2026-03-02T01:00:00Z"},
		},
		"UntilTheEnd": {
			schedule.Times{Crons: []string{"@daily", "0 9 * * *"}, EndAt: &end},
			"2026-03-02T12:00:00Z",
			[]string{"2026-03-03T00:00:00Z", "2026-03-03T09:00:00Z"},
		},
		"FromTheStart": {
			schedule.Times{Every: 24 * time.Hour, StartAt: &start},
			"2026-03-02T12:00:00Z",
			[]string{"2026-03-10T00:00:00Z", "2026-03-11T00:00:00Z", "2026-03-12T00:00:00Z"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := c.times.Next(at(c.after), 3)
			require.NoError(t, err)
			var shown []string
			for _, g := range got {
				shown = append(shown, g.Format(time.RFC3339))
			}
			require.Equal(t, c.want, shown)
		})
	}
	_, err := schedule.Times{Crons: []string{"61 * * * *"}}.Next(time.Now(), 3)
	require.Equal(t, tool.Invalid, tool.KindOf(err))
}
