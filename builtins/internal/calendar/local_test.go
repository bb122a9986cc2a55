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
	"America/Argentina/Buenos_Aires", "America/Asuncion", "America/Bogota", "America/Caracas", "America/Chicago", "America/Denver",
	"America/Halifax", "America/Havana", "America/Los_Angeles", "America/Mexico_City", "America/New_York", "America/Phoenix",
	"America/Santiago", "America/Sao_Paulo", "America/Scoresbysund", "America/St_Johns", "Antarctica/Troll", "Asia/Amman",
	"Asia/Beirut", "Asia/Dhaka", "Asia/Gaza", "Asia/Jerusalem", "Asia/Kathmandu", "Asia/Kolkata", "Asia/Pyongyang",
	"Asia/Seoul", "Asia/Tehran", "Asia/Tokyo", "Atlantic/Azores", "Australia/Adelaide", "Australia/Lord_Howe",
	"Australia/Sydney", "Europe/Dublin", "Europe/Istanbul", "Europe/London", "Europe/Moscow", "Europe/Zurich",
	"Pacific/Apia", "Pacific/Auckland", "Pacific/Chatham", "Pacific/Kwajalein", "Pacific/Norfolk",
}

// TestResolveAgreesWithEveryTransition compares Resolve, minute by minute
// around each clock change from 1970 to 2037, with what clocks showed.
func TestResolveAgreesWithEveryTransition(t *testing.T) {
	t.Parallel()

	for _, name := range zones {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			loc, err := calendar.Zone(name)
			require.NoError(t, err)
			for _, change := range transitions(loc) {
				checkTransition(t, loc, change)
			}
		})
	}
}

func transitions(loc *time.Location) []time.Time {
	var found []time.Time
	last := time.Date(2037, 12, 31, 0, 0, 0, 0, time.UTC)
	for at := time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC); ; {
		_, end := at.In(loc).ZoneBounds()
		if end.IsZero() || end.After(last) {
			return found
		}
		found = append(found, end)
		at = end
	}
}

const step = 5 * time.Minute

func checkTransition(t *testing.T, loc *time.Location, change time.Time) {
	t.Helper()

	before, after := offset(change.Add(-1)), offset(change)
	shift := max(after-before, before-after) + time.Hour
	shown := make(map[time.Time][]time.Time) // Instants at which clocks showed a time.
	from := change.Add(-shift).Truncate(step)
	for at := from; at.Before(change.Add(shift)); at = at.Add(step) {
		wall := wallOf(at.In(loc))
		shown[wall] = append(shown[wall], at)
	}
	first, last := wallOf(change.Add(-30*time.Minute).In(loc)), wallOf(change.Add(30*time.Minute).In(loc))
	if last.Before(first) {
		first, last = last, first
	}
	for wall := first.Truncate(step); wall.Before(last); wall = wall.Add(step) {
		got, odd := calendar.Resolve(wall, loc)
		if offset(got)%step != 0 || before%step != 0 || after%step != 0 {
			continue // Offsets of odd seconds, before there were standards.
		}
		switch instants := shown[wall]; len(instants) {
		case 0:
			require.Equal(t, calendar.Gap, odd, "%s %s", loc, wall)
			require.Equal(t, wall.Add(after-before), wallOf(got), "%s %s", loc, wall)
		default:
			require.True(t, instants[0].Equal(got), "%s %s: want %s, got %s", loc, wall, instants[0], got)
			require.Equal(t, len(instants) > 1, odd == calendar.Fold, "%s %s", loc, wall)
		}
	}
}

func offset(t time.Time) time.Duration {
	_, seconds := t.Zone()
	return time.Duration(seconds) * time.Second
}

func wallOf(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

func TestZone(t *testing.T) {
	t.Parallel()

	for name, seconds := range map[string]int{"": 0, "UTC": 0, "z": 0, "+02:00": 7200, "-0530": -19800, "UTC+5": 18000, "gmt-3": -10800} {
		loc, err := calendar.Zone(name)
		require.NoError(t, err, name)
		require.Equal(t, time.Duration(seconds)*time.Second, offset(time.Unix(0, 0).In(loc)), name)
	}
	for _, name := range []string{"Local", "localtime", "posixrules", "Mars/Olympus", "../../etc/passwd", "/etc/localtime", "+19:00", "+2:60", "Europe/Zurich\x00"} {
		_, err := calendar.Zone(name)
		require.Error(t, err, name)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"2024-02-29", "2024-01-02T03:04:05.678+02:00", "Mon, 02 Jan 2006 15:04:05 GMT", "0000-00-00", "９999-01-01", ""} {
		f.Add(seed, "%Y-%m-%dT%H:%M:%S%z")
		f.Add(seed, "%a %b %e %j %p %I %s %f %")
	}
	loc, err := calendar.Zone("Europe/Zurich")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text, pattern string) {
		for _, parse := range []func() (time.Time, calendar.Oddity, error){
			func() (time.Time, calendar.Oddity, error) { return calendar.Parse(text, loc) },
			func() (time.Time, calendar.Oddity, error) { return calendar.ParseFormat(text, pattern, loc) },
		} {
			at, _, err := parse()
			if err == nil && (at.UTC().Year() < 0 || at.UTC().Year() > 10000) {
				t.Errorf("%q gives %s", text, at)
			}
		}
		_, _ = calendar.Format(time.Unix(0, 0), pattern)
	})
}
