package calendar_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/builtins/internal/calendar"
)

// zones have between them every kind of clock change there is: half hours,
// midnights, whole days, changes of standard time, and two a year or none.
var zones = []string{
	"Africa/Cairo", "Africa/Casablanca", "Africa/Johannesburg", "Africa/Lagos", "Africa/Monrovia", "America/Anchorage",
	"America/Argentina/Buenos_Aires", "America/Asuncion", "America/Bogota", "America/Caracas", "America/Chicago",
	"America/Denver",
	"America/Halifax", "America/Havana", "America/Los_Angeles", "America/Mexico_City", "America/New_York",
	"America/Phoenix",
	"America/Santiago", "America/Sao_Paulo", "America/Scoresbysund", "America/St_Johns", "Antarctica/Troll", "Asia/Amman",
	"Asia/Beirut", "Asia/Dhaka", "Asia/Gaza", "Asia/Jerusalem", "Asia/Kathmandu", "Asia/Kolkata", "Asia/Pyongyang",
	"Asia/Seoul", "Asia/Tehran", "Asia/Tokyo", "Atlantic/Azores", "Australia/Adelaide", "Australia/Lord_Howe",
	"Australia/Sydney", "Europe/Dublin", "Europe/Istanbul", "Europe/London", "Europe/Moscow", "Europe/Zurich",
	"Pacific/Apia", "Pacific/Auckland", "Pacific/Chatham", "Pacific/Kwajalein", "Pacific/Norfolk",
}

// TestClockChanges compares what the calendar answers around every clock change
// from 1970 to 2037 with what clocks showed by the tz database.
func TestClockChanges(t *testing.T) {
	t.Parallel()

	require.GreaterOrEqual(t, len(zones), 45)
	for _, name := range zones {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			loc, err := calendar.Zone(name)
			require.NoError(t, err)
			changes := changesOf(loc)
			for _, change := range changes {
				checkResolve(t, loc, change)
				checkUnits(t, loc, change)
				checkSums(t, loc, change)
			}
			if want, ok := counted[name]; ok {
				require.Len(t, changes, want)
			}
		})
	}
}

// counted are how many clock changes some zones have, by their laws.
var counted = map[string]int{
	"Europe/Zurich":     2 * (2037 - 1981 + 1), // Each spring and autumn since 1981.
	"America/Phoenix":   0,
	"Africa/Lagos":      0,
	"Asia/Kathmandu":    1, // From +05:30 to +05:45 in 1986.
	"Pacific/Kwajalein": 1, // Over the date line in 1993.
	"Asia/Pyongyang":    2, // Half an hour back in 2015, and forward in 2018.
}

// Changes that the search must find.
func TestKnownClockChanges(t *testing.T) {
	t.Parallel()

	for _, known := range []struct{ zone, at string }{
		{"Europe/Zurich", "2024-03-31T01:00:00Z"},
		{"Europe/Zurich", "2024-10-27T01:00:00Z"},
		{"Pacific/Apia", "2011-12-30T10:00:00Z"},
		{"Australia/Lord_Howe", "2024-04-06T15:00:00Z"},
		{"America/St_Johns", "2009-11-01T02:31:00Z"},
		{"America/Sao_Paulo", "2018-11-04T03:00:00Z"},
		{"Africa/Monrovia", "1972-01-07T00:44:30Z"},
		{"America/New_York", "1974-01-06T07:00:00Z"},
		{"Antarctica/Troll", "2037-03-29T01:00:00Z"},
	} {
		loc, err := calendar.Zone(known.zone)
		require.NoError(t, err)
		at, err := time.Parse(time.RFC3339, known.at)
		require.NoError(t, err)
		require.Contains(t, changesOf(loc), at, known.zone)
	}
}

// changesOf finds the instants at which a zone's offset changes, by bisection:
// two times six hours apart that have different offsets have one between.
func changesOf(loc *time.Location) []time.Time {
	const stride = 6 * time.Hour
	var found []time.Time
	last := time.Date(2038, 1, 1, 0, 0, 0, 0, time.UTC)
	for at := time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC); at.Before(last); at = at.Add(stride) {
		low, high := at, at.Add(stride)
		if offset(low.In(loc)) == offset(high.In(loc)) {
			continue
		}
		for high.Sub(low) > time.Second {
			middle := low.Add(high.Sub(low) / 2).Truncate(time.Second)
			if offset(middle.In(loc)) == offset(low.In(loc)) {
				low = middle
			} else {
				high = middle
			}
		}
		found = append(found, high)
	}
	return found
}

// around are times from the change that matter: at its edges, and every 20
// minutes from two hours before what it skips or repeats until two hours after.
func around(before, after time.Duration) []time.Duration {
	edge := []time.Duration{min(before, after), max(before, after)}
	var out []time.Duration
	for _, e := range edge {
		out = append(out, e-time.Second, e-1, e, e+1, e+time.Second)
	}
	for d := edge[0] - 2*time.Hour; d <= edge[1]+2*time.Hour; d += 20 * time.Minute {
		out = append(out, d)
	}
	return out
}

// checkResolve asks for the wall times around a change. The clock shows one at
// the instants that read it by the offset they have.
func checkResolve(t *testing.T, loc *time.Location, change time.Time) {
	t.Helper()

	before, after := offset(change.Add(-1).In(loc)), offset(change.In(loc))
	for _, d := range around(before, after) {
		wall := change.Add(d)
		var shown []time.Time // Earliest first: the greater offset is the earlier instant.
		for _, o := range []time.Duration{max(before, after), min(before, after)} {
			if at := wall.Add(-o); offset(at.In(loc)) == o {
				shown = append(shown, at)
			}
		}
		got, odd := calendar.Resolve(wall, loc)
		if len(shown) == 0 {
			require.Equal(t, calendar.Gap, odd, "%s %s", loc, wall)
			require.Equal(t, wall.Add(after-before), wallOf(got), "%s %s", loc, wall)
			continue
		}
		require.True(t, shown[0].Equal(got), "%s %s: want %s, got %s", loc, wall, shown[0], got)
		require.Equal(t, len(shown) > 1, odd == calendar.Fold, "%s %s", loc, wall)
		require.Equal(t, wall, wallOf(got), "%s", loc)
	}
}

var units = []calendar.Unit{
	calendar.Second, calendar.Minute, calendar.Hour, calendar.Day, calendar.Week, calendar.Month, calendar.Quarter,
	calendar.Year,
}

// checkUnits asks for the bounds of every unit around a change: no time is
// outside of its own, and what is shown at their bounds is.
func checkUnits(t *testing.T, loc *time.Location, change time.Time) {
	t.Helper()

	before, after := offset(change.Add(-1).In(loc)), offset(change.In(loc))
	shift := max(after-before, before-after)
	for d := -shift - time.Hour; d <= shift+time.Hour; d += 29 * time.Minute {
		at := change.Add(d).In(loc)
		for _, unit := range units {
			start, err := calendar.StartOf(at, unit, time.Monday)
			require.NoError(t, err)
			end, err := calendar.EndOf(at, unit, time.Monday)
			require.NoError(t, err)
			require.False(t, start.After(at), "%s of %s begins at %s", unit, at, start)
			require.False(t, end.Before(at), "%s of %s ends at %s", unit, at, end)
			again, err := calendar.StartOf(start, unit, time.Monday)
			require.NoError(t, err)
			require.True(t, again.Equal(start), "%s of %s begins at %s, and that at %s", unit, at, start, again)
			if unit != calendar.Hour {
				continue
			}
			require.Equal(t, wallOf(at).Truncate(time.Hour), wallOf(start).Truncate(time.Hour))
			require.Equal(t, wallOf(at).Truncate(time.Hour), wallOf(end).Truncate(time.Hour))
		}
	}
}

// checkSums adds days and months that lead around a change, and hours over it.
func checkSums(t *testing.T, loc *time.Location, change time.Time) {
	t.Helper()

	before, after := offset(change.Add(-1).In(loc)), offset(change.In(loc))
	for _, d := range []time.Duration{-30 * time.Minute, -1, 0, 90 * time.Minute} {
		wall := change.Add(max(before, after) + d)
		want, odd := calendar.Resolve(wall, loc)
		from, _ := calendar.Resolve(wall.AddDate(0, 0, -3), loc)
		if wallOf(from).Equal(wall.AddDate(0, 0, -3)) { // It was not moved itself.
			got, seen, err := calendar.Add(from, calendar.Amount{Days: 3})
			require.NoError(t, err)
			require.True(t, want.Equal(got), "%s and 3 days: want %s, got %s", from, want, got)
			require.Equal(t, odd, seen)
		}
		later, _, err := calendar.Add(change.Add(d-time.Hour).In(loc), calendar.Amount{Hours: 2})
		require.NoError(t, err)
		require.True(t, change.Add(d+time.Hour).Equal(later))

		for _, end := range []time.Time{want, change.Add(d).In(loc), change.AddDate(0, 3, 1).Add(d).In(loc)} {
			checkUntil(t, from, end)
			checkUntil(t, end, from)
		}
	}
}

// checkUntil asks for the amount between two times, and adds it again.
func checkUntil(t *testing.T, start, end time.Time) {
	t.Helper()

	amount, err := calendar.Until(start, end)
	require.NoError(t, err)
	got, _, err := calendar.Add(start, amount)
	require.NoError(t, err)
	require.True(t, end.Equal(got), "%s and %s: want %s, got %s", start, amount, end, got)
	read, err := calendar.ParseDuration(amount.String())
	require.NoError(t, err, amount)
	got, _, err = calendar.Add(start, read)
	require.NoError(t, err)
	require.True(t, end.Equal(got), "%s and %s: want %s, got %s", start, amount, end, got)
}

func offset(t time.Time) time.Duration {
	_, seconds := t.Zone()
	return time.Duration(seconds) * time.Second
}

func wallOf(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}
