package calendar_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/builtins/internal/calendar"
)

func TestParseDuration(t *testing.T) {
	t.Parallel()

	const none = "" // There is no such form.
	for _, tt := range []struct{ text, iso, seconds, clock string }{
		{"P1Y2M10DT2H30M", "P1Y2M10DT2H30M", none, none},
		{"P1Y", "P1Y", none, none},
		{"P14M", "P1Y2M", none, none},
		{"P2W", "P14D", none, none},
		{"P1W1D", "P8D", none, none},
		{"P45D", "P45D", none, none},
		{"P1DT36H", "P1DT36H", none, none},
		{"PT36H", "PT36H", "129600", "36h0m0s"},
		{"PT90M", "PT1H30M", "5400", "1h30m0s"},
		{"PT3601S", "PT1H1S", "3601", "1h0m1s"},
		{"PT1.5H", "PT1H30M", "5400", "1h30m0s"},
		{"PT1H0.5M", "PT1H30S", "3630", "1h0m30s"},
		{"PT0,25S", "PT0.25S", "0.25", "250ms"},
		{"PT0.000000001S", "PT0.000000001S", "0.000000001", "1ns"},
		{"PT0.123456789H", "PT7M24.4444404S", "444.4444404", "7m24.4444404s"},
		{"-P1D", "-P1D", none, none},
		{"+P1D", "P1D", none, none},
		{"-PT1H30.5S", "-PT1H30.5S", "-3630.5", "-1h0m30.5s"},
		{"PT0S", "PT0S", "0", "0s"},
		{"P0D", "PT0S", "0", "0s"},
		{"-PT0S", "PT0S", "0", "0s"},
		{"1h30m", "PT1H30M", "5400", "1h30m0s"},
		{"-1h30m", "-PT1H30M", "-5400", "-1h30m0s"},
		{"1.5h", "PT1H30M", "5400", "1h30m0s"},
		{"90s", "PT1M30S", "90", "1m30s"},
		{"250ms", "PT0.25S", "0.25", "250ms"},
		{"-1.5us", "-PT0.0000015S", "-0.0000015", "-1.5µs"},
		{"1m1h", "PT1H1M", "3660", "1h1m0s"},
		{"48h", "PT48H", "172800", "48h0m0s"},
		{"0", "PT0S", "0", "0s"},
		{" 1h ", "PT1H", "3600", "1h0m0s"},
		{"PT100000000H", "PT100000000H", "360000000000", none}, // Longer than Go's durations.
		{"P9999Y11M", "P9999Y11M", none, none},
	} {
		a, err := calendar.ParseDuration(tt.text)
		require.NoError(t, err, tt.text)
		require.Equal(t, tt.iso, a.String(), tt.text)
		seconds, ok := a.InSeconds()
		require.Equal(t, tt.seconds != none, ok, tt.text)
		require.Equal(t, tt.seconds, seconds, tt.text)
		clock, ok := a.Clock()
		require.Equal(t, tt.clock != none, ok, tt.text)
		require.Equal(t, tt.clock, clock, tt.text)
	}
}

func TestParseDurationRefuses(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"":                               "not a known duration format",
		"P":                              "not a known duration format",
		"-P":                             "not a known duration format",
		"PT":                             "not a known duration format",
		"P1DT":                           "not a known duration format",
		"P1S":                            "not a known duration format",
		"P1H":                            "not a known duration format",
		"PT1D":                           "not a known duration format",
		"PT1S1M":                         "not a known duration format",
		"P1M1Y":                          "not a known duration format",
		"P1.5D":                          "not a known duration format",
		"P0.5Y":                          "not a known duration format",
		"P-1D":                           "not a known duration format",
		"--P1D":                          "not a known duration format",
		"p1d":                            "not a known duration format",
		"PT1h":                           "not a known duration format",
		"P0001-02-03T04:05:06":           "not a known duration format",
		"1d":                             "not a known duration format",
		"1y":                             "not a known duration format",
		"2 hours":                        "not a known duration format",
		"1h 30m":                         "not a known duration format",
		"1:30":                           "not a known duration format",
		"90":                             "not a known duration format",
		"1.5":                            "not a known duration format",
		"1H":                             "not a known duration format",
		"1e3s":                           "not a known duration format",
		"NaN":                            "not a known duration format",
		"PT1.5H30M":                      "fraction before its last part",
		"PT1.5M1S":                       "fraction before its last part",
		"PT0.1234567890S":                "not a known duration format",
		"P20001Y":                        "outside the years",
		"P999999999Y":                    "outside the years",
		"P999999999W":                    "outside the years",
		"PT999999999999H":                "out of range",
		"PT200000000H":                   "outside the years",
		"300000000h":                     "not a known duration format",
		"P" + strings.Repeat("1", 1<<20): "not a known duration format",
	} {
		_, err := calendar.ParseDuration(text)
		require.ErrorContains(t, err, want, "%.64q", text)
		require.Less(t, len(err.Error()), 300)
	}
}

func TestUntil(t *testing.T) {
	t.Parallel()

	loc := zurich(t)
	for _, tt := range []struct{ start, end, want string }{
		{"2024-01-31", "2024-02-29", "P1M"}, // The month's last day is a month later.
		{"2024-01-31", "2024-02-28", "P28D"},
		{"2024-01-31", "2024-03-01", "P1M1D"},
		{"2024-02-29", "2025-02-28", "P1Y"},
		{"2024-02-29", "2024-01-31", "-P29D"},
		{"2024-03-31", "2024-02-29", "-P1M"},
		{"2000-02-29", "2024-02-28", "P23Y11M30D"},
		{"2024-03-30T12:00", "2024-03-31T12:00", "P1D"},
		{"2024-03-30T12:00", "2024-03-31T11:00", "PT22H"}, // Of a day of 23 hours.
		{"2024-03-30T02:30", "2024-03-31T03:10", "PT23H40M"},
		{"2024-03-30T02:30", "2024-03-31T03:30", "P1D"}, // 02:30 is moved forward.
		{"2024-10-26T02:30", "2024-10-27T02:30:00+01:00", "P1DT1H"},
		{"2024-10-26T03:00", "2024-10-27T02:59:00+01:00", "PT24H59M"},
		{"2024-10-27T02:30:00+02:00", "2024-10-27T02:30:00+01:00", "PT1H"},
		{"2024-01-01T00:00:00.75", "2024-01-01T00:00:01.5", "PT0.75S"},
		{"2024-01-01T00:00:01.5", "2024-01-01T00:00:00.75", "-PT0.75S"},
		{"2024-01-01", "2024-01-01", "PT0S"},
		{"0001-01-02", "9999-12-30", "P9998Y11M28D"},
	} {
		start, _, err := calendar.Parse(tt.start, loc)
		require.NoError(t, err)
		end, _, err := calendar.Parse(tt.end, loc)
		require.NoError(t, err)
		got, err := calendar.Until(start, end)
		require.NoError(t, err)
		require.Equal(t, tt.want, got.String(), "%s to %s", tt.start, tt.end)
		checkUntil(t, start, end)
	}
}

// Days that the clock skips whole, in a zone that went over the date line.
func TestUntilOverTheDateLine(t *testing.T) {
	t.Parallel()

	loc, err := calendar.Zone("Pacific/Apia")
	require.NoError(t, err)
	start := time.Date(2011, 12, 29, 12, 0, 0, 0, loc)
	end := time.Date(2011, 12, 31, 12, 0, 0, 0, loc)
	require.Equal(t, 24*time.Hour, end.Sub(start))
	got, err := calendar.Until(start, end)
	require.NoError(t, err)
	require.Equal(t, "P2D", got.String())
	days, err := calendar.Between(start, end, calendar.Day)
	require.NoError(t, err)
	require.Equal(t, int64(2), days, "the date grew by two")
	skipped, odd, err := calendar.Add(start, calendar.Amount{Days: 1})
	require.NoError(t, err)
	require.Equal(t, calendar.Gap, odd)
	require.Equal(t, "2011-12-31T12:00:00+14:00", skipped.Format(time.RFC3339))
	last, err := calendar.EndOf(start, calendar.Day, time.Monday)
	require.NoError(t, err)
	require.Equal(t, "2011-12-29T23:59:59.999999999-10:00", last.Format(time.RFC3339Nano))
}
