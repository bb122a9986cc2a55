package calendar_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/builtins/internal/calendar"
)

// Bounds where clock changes cut a unit, skip its beginning or repeat it.
func TestBounds(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		zone, at   string
		unit       calendar.Unit
		start, end string
	}{
		{
			"Europe/Zurich", "2024-03-31T12:00:00+02:00", calendar.Day, "2024-03-31T00:00:00+01:00",
			"2024-03-31T23:59:59.999999999+02:00",
		},
		{
			"Europe/Zurich", "2024-10-27T02:30:00+02:00", calendar.Hour, "2024-10-27T02:00:00+02:00",
			"2024-10-27T02:59:59.999999999+02:00",
		},
		{
			"Europe/Zurich", "2024-10-27T02:30:00+01:00", calendar.Hour, "2024-10-27T02:00:00+01:00",
			"2024-10-27T02:59:59.999999999+01:00",
		},
		{
			"Asia/Kathmandu", "2024-10-27T02:30:00+05:45", calendar.Hour, "2024-10-27T02:00:00+05:45",
			"2024-10-27T02:59:59.999999999+05:45",
		},
		// The clock goes from 02:00 back to 01:30, and on from 02:00 to 02:30.
		{
			"Australia/Lord_Howe", "2024-04-07T01:15:00+11:00", calendar.Hour, "2024-04-07T01:00:00+11:00",
			"2024-04-07T01:59:59.999999999+11:00",
		},
		{
			"Australia/Lord_Howe", "2024-04-07T01:45:00+10:30", calendar.Hour, "2024-04-07T01:30:00+10:30",
			"2024-04-07T01:59:59.999999999+10:30",
		},
		{
			"Australia/Lord_Howe", "2024-10-06T02:45:00+11:00", calendar.Hour, "2024-10-06T02:30:00+11:00",
			"2024-10-06T02:59:59.999999999+11:00",
		},
		// Midnight is skipped.
		{
			"America/Sao_Paulo", "2018-11-04T10:00:00-02:00", calendar.Day, "2018-11-04T01:00:00-02:00",
			"2018-11-04T23:59:59.999999999-02:00",
		},
		{
			"America/Sao_Paulo", "2018-11-03T10:00:00-03:00", calendar.Day, "2018-11-03T00:00:00-03:00",
			"2018-11-03T23:59:59.999999999-03:00",
		},
		{
			"America/Toronto", "1919-03-31T12:00:00-04:00", calendar.Day, "1919-03-31T00:30:00-04:00",
			"1919-03-31T23:59:59.999999999-04:00",
		},
		// From 00:01 back to 23:01: October ends at the first midnight, but for
		// the hour that comes again.
		{
			"America/St_Johns", "2009-10-31T22:00:00-02:30", calendar.Month, "2009-10-01T00:00:00-02:30",
			"2009-10-31T23:59:59.999999999-02:30",
		},
		{
			"America/St_Johns", "2009-10-31T23:30:00-03:30", calendar.Month, "2009-10-01T00:00:00-02:30",
			"2009-10-31T23:59:59.999999999-03:30",
		},
		{
			"America/St_Johns", "2009-11-01T10:00:00-03:30", calendar.Day, "2009-11-01T00:00:00-02:30",
			"2009-11-01T23:59:59.999999999-03:30",
		},
		{"UTC", "2024-02-10T00:00:00Z", calendar.Month, "2024-02-01T00:00:00Z", "2024-02-29T23:59:59.999999999Z"},
		{"UTC", "2023-11-30T00:00:00Z", calendar.Quarter, "2023-10-01T00:00:00Z", "2023-12-31T23:59:59.999999999Z"},
		{"UTC", "2021-01-03T00:00:00Z", calendar.Week, "2020-12-28T00:00:00Z", "2021-01-03T23:59:59.999999999Z"},
		{"UTC", "9999-12-31T12:00:00Z", calendar.Year, "9999-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z"},
		{"UTC", "1969-12-31T23:59:59.5Z", calendar.Second, "1969-12-31T23:59:59Z", "1969-12-31T23:59:59.999999999Z"},
		{"UTC", "1969-12-31T23:59:59.5Z", calendar.Minute, "1969-12-31T23:59:00Z", "1969-12-31T23:59:59.999999999Z"},
	} {
		loc, err := calendar.Zone(tt.zone)
		require.NoError(t, err)
		at, _, err := calendar.Parse(tt.at, loc)
		require.NoError(t, err)
		start, err := calendar.StartOf(at, tt.unit, time.Monday)
		require.NoError(t, err)
		require.Equal(t, tt.start, start.Format(time.RFC3339Nano), "%s of %s", tt.unit, tt.at)
		end, err := calendar.EndOf(at, tt.unit, time.Monday)
		require.NoError(t, err)
		require.Equal(t, tt.end, end.Format(time.RFC3339Nano), "%s of %s", tt.unit, tt.at)
	}
	_, err := calendar.StartOf(time.Unix(0, 0), "fortnight", time.Monday)
	require.ErrorContains(t, err, "fortnight")
	_, err = calendar.EndOf(time.Unix(0, 0), "", time.Monday)
	require.ErrorContains(t, err, "unknown unit")
}

// A day is clamped to its month's last, from where it is counted: not month
// by month.
func TestAdd(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		zone, from string
		amount     calendar.Amount
		want       string
		odd        calendar.Oddity
	}{
		{"UTC", "2024-01-31", calendar.Amount{Months: 1}, "2024-02-29T00:00:00Z", calendar.Plain},
		{"UTC", "2023-01-31", calendar.Amount{Months: 1}, "2023-02-28T00:00:00Z", calendar.Plain},
		{"UTC", "2024-01-31", calendar.Amount{Months: 2}, "2024-03-31T00:00:00Z", calendar.Plain},
		{"UTC", "2024-03-31", calendar.Amount{Months: -1}, "2024-02-29T00:00:00Z", calendar.Plain},
		{"UTC", "2024-02-29", calendar.Amount{Years: 1}, "2025-02-28T00:00:00Z", calendar.Plain},
		{"UTC", "2024-02-29", calendar.Amount{Years: 4}, "2028-02-29T00:00:00Z", calendar.Plain},
		{"UTC", "2000-02-29", calendar.Amount{Years: -100}, "1900-02-28T00:00:00Z", calendar.Plain},
		// Clamped, then a day.
		{"UTC", "2024-08-31", calendar.Amount{Months: 1, Days: 1}, "2024-10-01T00:00:00Z", calendar.Plain},
		{"UTC", "2024-01-31", calendar.Amount{Years: 1, Months: -11}, "2024-02-29T00:00:00Z", calendar.Plain},
		{"UTC", "2024-12-30", calendar.Amount{Weeks: 1, Days: -1, Hours: 25}, "2025-01-06T01:00:00Z", calendar.Plain},
		{"UTC", "2024-01-01", calendar.Amount{Nanos: -1}, "2023-12-31T23:59:59.999999999Z", calendar.Plain},
		{"Europe/Zurich", "2024-03-30T12:00", calendar.Amount{Days: 1}, "2024-03-31T12:00:00+02:00", calendar.Plain},
		{"Europe/Zurich", "2024-03-30T12:00", calendar.Amount{Hours: 24}, "2024-03-31T13:00:00+02:00", calendar.Plain},
		{"Europe/Zurich", "2024-10-26T12:00", calendar.Amount{Weeks: 1}, "2024-11-02T12:00:00+01:00", calendar.Plain},
		{"Europe/Zurich", "2024-10-26T12:00", calendar.Amount{Hours: 168}, "2024-11-02T11:00:00+01:00", calendar.Plain},
		{"Europe/Zurich", "2024-02-29T02:30", calendar.Amount{Months: 1, Days: 2}, "2024-03-31T03:30:00+02:00", calendar.Gap},
		{"Europe/Zurich", "2024-03-30T02:30", calendar.Amount{Days: 1, Hours: 1}, "2024-03-31T04:30:00+02:00", calendar.Gap},
		{"Europe/Zurich", "2024-10-26T02:30", calendar.Amount{Days: 1}, "2024-10-27T02:30:00+02:00", calendar.Fold},
		{"Europe/Zurich", "2024-10-26T02:30", calendar.Amount{Days: 1, Hours: 1}, "2024-10-27T02:30:00+01:00", calendar.Fold},
		{
			"Europe/Zurich", "2024-10-27T02:30:00+01:00",
			calendar.Amount{Hours: -1},
			"2024-10-27T02:30:00+02:00",
			calendar.Plain,
		},
		{"Australia/Lord_Howe", "2024-10-05T02:15", calendar.Amount{Days: 1}, "2024-10-06T02:45:00+11:00", calendar.Gap},
	} {
		loc, err := calendar.Zone(tt.zone)
		require.NoError(t, err)
		from, _, err := calendar.Parse(tt.from, loc)
		require.NoError(t, err)
		got, odd, err := calendar.Add(from, tt.amount)
		require.NoError(t, err)
		require.Equal(t, tt.want, got.Format(time.RFC3339Nano), "%s and %+v", tt.from, tt.amount)
		require.Equal(t, tt.odd, odd, "%s and %+v", tt.from, tt.amount)
	}
}

func TestAddRefuses(t *testing.T) {
	t.Parallel()

	at := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	for _, a := range []calendar.Amount{
		{Seconds: 1},
		{Days: 1},
		{Months: 1},
		{Years: -9999},
		{Years: 1 << 62},
		{Hours: -1 << 62},
		{Days: 1 << 40},
		{Hours: 1 << 37},
	} {
		_, _, err := calendar.Add(at, a)
		require.Error(t, err, "%+v", a)
	}
}

// A whole number of units added is as many between.
func TestBetween(t *testing.T) {
	t.Parallel()

	loc := zurich(t)
	for start := time.Date(2023, 1, 1, 12, 0, 0, 0, loc); start.Year() < 2025; start = start.AddDate(0, 0, 5) {
		for _, n := range []int64{-100, -13, -1, 0, 1, 2, 12, 400} {
			for unit, a := range map[calendar.Unit]calendar.Amount{
				calendar.Second: {Seconds: n}, calendar.Minute: {Minutes: n}, calendar.Hour: {Hours: n}, calendar.Day: {Days: n},
				calendar.Week: {Weeks: n},
			} {
				end, _, err := calendar.Add(start, a)
				require.NoError(t, err)
				got, err := calendar.Between(start, end, unit)
				require.NoError(t, err)
				require.Equal(t, n, got, "%s from %s to %s", unit, start, end)
			}
		}
	}
	_, err := calendar.Between(time.Unix(0, 0), time.Unix(0, 0), "fortnight")
	require.ErrorContains(t, err, "fortnight")
}
