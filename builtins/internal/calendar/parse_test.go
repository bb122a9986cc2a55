package calendar_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/builtins/internal/calendar"
)

func zurich(t *testing.T) *time.Location {
	t.Helper()
	loc, err := calendar.Zone("Europe/Zurich")
	require.NoError(t, err)
	return loc
}

// Every spelling that is documented, and the leniency it has.
func TestParse(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"2024-02-29":                           "2024-02-29T00:00:00+01:00",
		"  2024-02-29\n":                       "2024-02-29T00:00:00+01:00",
		"2024-07-01T12:30":                     "2024-07-01T12:30:00+02:00",
		"2024-07-01 12:30":                     "2024-07-01T12:30:00+02:00",
		"2024-07-01t12:30:15":                  "2024-07-01T12:30:15+02:00",
		"2024-07-01T12:30:15.5":                "2024-07-01T12:30:15.5+02:00",
		"2024-07-01T12:30:15,123456789":        "2024-07-01T12:30:15.123456789+02:00",
		"2024-07-01T12:30Z":                    "2024-07-01T14:30:00+02:00",
		"2024-07-01T12:30:15z":                 "2024-07-01T14:30:15+02:00",
		"2024-07-01 12:30:15 UTC":              "2024-07-01T14:30:15+02:00",
		"2024-07-01 12:30 GMT":                 "2024-07-01T14:30:00+02:00",
		"2024-07-01T12:30:15+02:00":            "2024-07-01T12:30:15+02:00",
		"2024-07-01T12:30:15 -0330":            "2024-07-01T18:00:15+02:00",
		"2024-07-01T12:30+05":                  "2024-07-01T09:30:00+02:00",
		"2024-07-01T00:00:00-18:00":            "2024-07-01T20:00:00+02:00",
		"20240701T123015":                      "2024-07-01T12:30:15+02:00",
		"20240701T123015Z":                     "2024-07-01T14:30:15+02:00",
		"20240701T123015.25+0200":              "2024-07-01T12:30:15.25+02:00",
		"2024-060":                             "2024-02-29T00:00:00+01:00",
		"2024-366":                             "2024-12-31T00:00:00+01:00",
		"2024-366T23:59":                       "2024-12-31T23:59:00+01:00",
		"2024-W01-1":                           "2024-01-01T00:00:00+01:00",
		"2020-W53-5":                           "2021-01-01T00:00:00+01:00",
		"2025-W01-1":                           "2024-12-30T00:00:00+01:00",
		"2024-W09-4T08:00Z":                    "2024-02-29T09:00:00+01:00",
		"Tue, 05 Mar 2024 10:00:00 GMT":        "2024-03-05T11:00:00+01:00",
		"Tuesday, 5 March 2024 10:00:00 +0100": "2024-03-05T10:00:00+01:00",
		"tue, 5 MAR 2024 10:00":                "2024-03-05T10:00:00+01:00",
		"5 Mar 2024":                           "2024-03-05T00:00:00+01:00",
		"5 march 2024":                         "2024-03-05T00:00:00+01:00",
		"March 5, 2024":                        "2024-03-05T00:00:00+01:00",
		"Tuesday, March 5, 2024 10:00":         "2024-03-05T10:00:00+01:00",
		"0001-01-02T00:00Z":                    "0001-01-02T00:34:08+00:34",
		"9999-12-31T12:00Z":                    "9999-12-31T13:00:00+01:00",
		"2024-10-27T02:30:00+01:00":            "2024-10-27T02:30:00+01:00", // The second, by its offset.
	} {
		got, odd, err := calendar.Parse(text, zurich(t))
		require.NoError(t, err, text)
		require.Equal(t, want, got.Format(time.RFC3339Nano), text)
		require.Equal(t, calendar.Plain, odd, text)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"":                          "not a known date and time format",
		"yesterday":                 "not a known date and time format",
		"12:30":                     "not a known date and time format",
		"2024-03":                   "not a known date and time format",
		"2024-3-5":                  "not a known date and time format",
		"24-03-05 10:00":            "could be several dates",
		"2024-W10":                  "not a known date and time format",
		"2024-W10-8":                "from 1 to 7",
		"2024-03-05T5:04":           "not a known date and time format",
		"2024-03-05T05:04:05.":      "not a known date and time format",
		"2024-03-05T05:04.5":        "not a known date and time format",
		"2024-03-05T":               "not a known date and time format",
		"2024-03-05Z":               "not a known date and time format",
		"-2024-03-05":               "not a known date and time format",
		"+12024-03-05":              "not a known date and time format",
		"２０２４-03-05":                "not a known date and time format",
		"2024–03–05":                "not a known date and time format",
		"02/03/2024":                "could be several dates",
		"2/3/24":                    "could be several dates",
		"02.03.2024 10:00":          "could be several dates",
		"02-03-2024":                "could be several dates",
		"2024/03/02":                "could be several dates",
		"1709632800":                "could be seconds or a date",
		"20240305":                  "could be seconds or a date",
		"-0.5":                      "could be seconds or a date",
		"2024-03-05 10:00 EST":      "name no time zone for certain",
		"2024-03-05 10:00:00 IST":   "name no time zone for certain",
		"2024-03-05 10:00 am":       "hour of twelve",
		"2024-02-30":                "February 2024 has no day 30",
		"2023-02-29":                "February 2023 has no day 29",
		"2024-04-31T10:00Z":         "April 2024 has no day 31",
		"2024-00-10":                "from 1 to 12",
		"2024-13-10":                "from 1 to 12",
		"2024-01-00":                "from 1 to 31",
		"2024-01-32":                "from 1 to 31",
		"2023-366":                  "the year 2023 has no day 366",
		"2024-000":                  "from 1 to 366",
		"2024-W53-1":                "the year 2024 has no week 53",
		"2024-W00-1":                "from 1 to 53",
		"0000-01-01":                "from 1 to 9999",
		"9999-W52-6":                "outside the years 1 to 9999",
		"2024-01-01T24:00":          "from 0 to 23",
		"2024-01-01T12:60":          "from 0 to 59",
		"2016-12-31T23:59:60Z":      "from 0 to 59",
		"2024-01-01T12:00+18:01":    "at most 18 hours",
		"2024-01-01T12:00+99":       "at most 18 hours",
		"2024-01-01T12:00+02:60":    "at most 18 hours",
		"Mon, 5 Mar 2024 10:00 GMT": "2024-03-05 is a Tuesday, no Monday",
		"Foo, 5 Mar 2024":           "want a name such as",
		"5 Foo 2024":                "want a name such as",
		"5 Mars 2024":               "not a known date and time format",
		"31 June 2024":              "June 2024 has no day 31",
		"2024-01-01T12:00[UTC]":     "not a known date and time format",
		strings.Repeat("2", 1<<20):  "not a known date and time format",
	} {
		_, _, err := calendar.Parse(text, zurich(t))
		require.ErrorContains(t, err, want, "%.64q", text)
		require.Less(t, len(err.Error()), 300)
	}
}

func TestParseFormat(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct{ text, format, want string }{
		{"5.3.2024", "%d.%m.%Y", "2024-03-05T00:00:00+01:00"},
		{"03/05/24", "%m/%d/%y", "2024-03-05T00:00:00+01:00"},
		{"05/03/1969", "%d/%m/%Y", "1969-03-05T00:00:00+01:00"},
		{"68", "%y", "2068-01-01T00:00:00+01:00"},
		{"69", "%y", "1969-01-01T00:00:00+01:00"},
		{"20240305", "%Y%m%d", "2024-03-05T00:00:00+01:00"},
		{" 5 Mar 2024", "%e %b %Y", "2024-03-05T00:00:00+01:00"},
		{"tuesday, MARCH 5 2024", "%A, %B %d %Y", "2024-03-05T00:00:00+01:00"},
		{"2024-03-05 12:05 am", "%F %I:%M %p", "2024-03-05T00:05:00+01:00"},
		{"2024-03-05 12:05 PM", "%F %I:%M %p", "2024-03-05T12:05:00+01:00"},
		{"2024-03-05 9:05pm", "%F %I:%M%p", "2024-03-05T21:05:00+01:00"},
		{"2024-03-05 09:08:07.25", "%F %T.%f", "2024-03-05T09:08:07.25+01:00"},
		{"2024-03-05T09:08:07.123456789Z", "%FT%T.%L%z", "2024-03-05T10:08:07.123456789+01:00"},
		{"2024-03-05 09:08 -03:30", "%F %R %:z", "2024-03-05T13:38:00+01:00"},
		{"2024-03-05 09:08 GMT", "%F %R %Z", "2024-03-05T10:08:00+01:00"},
		{"060/2024", "%j/%Y", "2024-02-29T00:00:00+01:00"},
		{"2024-W10-2", "%G-W%V-%u", "2024-03-05T00:00:00+01:00"},
		{"2024-W10", "%G-W%V", "2024-03-04T00:00:00+01:00"},
		{"2020-W53-Fri", "%G-W%V-%a", "2021-01-01T00:00:00+01:00"},
		{"2024-W10-2", "iso_week", "2024-03-05T00:00:00+01:00"},
		{"1709632800", "unix", "2024-03-05T11:00:00+01:00"},
		{"-1.5", "%s.%f", "1970-01-01T00:59:58.5+01:00"},
		{"2024-07-01T12:00:00+0000", "iso8601", "2024-07-01T14:00:00+02:00"},
		{"Tue, 05 Mar 2024 10:00:00 +0100", "RFC1123", "2024-03-05T10:00:00+01:00"},
		{"100% 2024", "%j%% %Y", "2024-04-09T00:00:00+02:00"},
		{"2024 \t 03", "%Y%n%m", "2024-03-01T00:00:00+01:00"},
	} {
		got, _, err := calendar.ParseFormat(tt.text, tt.format, zurich(t))
		require.NoError(t, err, "%q by %q", tt.text, tt.format)
		require.Equal(t, tt.want, got.Format(time.RFC3339Nano), "%q by %q", tt.text, tt.format)
	}
}

func TestParseFormatRefuses(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct{ text, format, want string }{
		{"5.3.24", "%d.%m.%Y", "year of four digits"},
		{"5.3.20245", "%d.%m.%Y", "left over"},
		{"5.3.2024 x", "%d.%m.%Y", "left over"},
		{"5-3-2024", "%d.%m.%Y", "want \".\""},
		{"05.03", "%d.%m", "no year"},
		{"10:00", "time", `want ":"`},
		{"10:00:00", "time", "no year"},
		{"30.02.2024", "%d.%m.%Y", "has no day 30"},
		{"9:05 2024", "%I:%M %Y", "%I and %p together"},
		{"21:05 pm 2024", "%H:%M %p %Y", "%I and %p together"},
		{"13:05 pm 2024", "%I:%M %p %Y", "from 1 to 12"},
		{"Mon 2024-03-05", "%a %F", "is a Tuesday, no Monday"},
		{"2024-03-05 7", "%F %u", "is a Tuesday, no Sunday"},
		{"2024-03-05 3", "%F %m", "names the month twice"},
		{"2024-03-05 24", "%F %y", "names the year twice"},
		{"2024-065 3", "%Y-%j %m", "day in two ways"},
		{"2024-W10 2024", "%G-W%V %Y", "day in two ways"},
		{"W10 2", "W%V %u", "%G and %V together"},
		{"2024", "%G", "%G and %V together"},
		{"2023-366", "%Y-%j", "has no day 366"},
		{"2024-W53-1", "iso_week", "has no week 53"},
		{"0 2024", "%s %Y", "in two ways"},
		{"99999999999999", "%s", "left over"},
		{"999999999999", "%s", "outside the years"},
		{"x", "%s", "want seconds"},
		{"2024-03-05 CET", "%F %Z", "want an offset"},
		{"2024-03-05 +19", "%F %z", "want an offset"},
		{"2024", "%Q", "unknown format directive %Q"},
		{"2024", "%w", "unknown format directive %w"},
		{"2024", "%Y%", "ends in %"},
		{"2024", strings.Repeat("%n", 1<<16), "at most 256"},
	} {
		_, _, err := calendar.ParseFormat(tt.text, tt.format, zurich(t))
		require.ErrorContains(t, err, tt.want, "%q by %.64q", tt.text, tt.format)
	}
}

func TestFormat(t *testing.T) {
	t.Parallel()

	at := time.Date(2021, 1, 3, 0, 5, 9, 123456789, zurich(t)) // A Sunday, of the week before.
	for format, want := range map[string]string{
		"%Y %y %m %d %e %j":              "2021 21 01 03  3 003",
		"%H %I %M %S %p %f %L":           "00 12 05 09 AM 123456 123",
		"%a %A %b %B %u %w":              "Sun Sunday Jan January 7 0",
		"%G-W%V-%u":                      "2020-W53-7",
		"%z %:z %Z %s":                   "+0100 +01:00 CET 1609628709",
		"%F|%T|%R|%n|%t|%%":              "2021-01-03|00:05:09|00:05|\n|\t|%",
		"iso8601":                        "2021-01-03T00:05:09+01:00",
		"rfc3339":                        "2021-01-03T00:05:09+01:00",
		"rfc1123":                        "Sun, 03 Jan 2021 00:05:09 +0100",
		"Date":                           "2021-01-03",
		"time":                           "00:05:09",
		"datetime":                       "2021-01-03 00:05:09",
		"iso_week":                       "2020-W53-7",
		"unix":                           "1609628709",
		"":                               "",
		"Monday 2006 15:04 MST, ünïcode": "Monday 2006 15:04 MST, ünïcode",
	} {
		got, err := calendar.Format(at, format)
		require.NoError(t, err, format)
		require.Equal(t, want, got, format)
	}
	for format, want := range map[string]string{
		"%": "ends in %", "%Q": "%Q", "%E": "%E", "%-d": "%-", "%:": "%:", "%::z": "%:", "%é": "unknown",
		strings.Repeat("a", 257): "at most 256",
	} {
		_, err := calendar.Format(at, format)
		require.ErrorContains(t, err, want, format)
	}
}

// What is written by a format that leaves nothing out is read as the same.
func TestFormatsAreReadAgain(t *testing.T) {
	t.Parallel()

	for _, format := range []string{
		"%Y-%m-%dT%H:%M:%S.%f%z", "%e %B %Y %I:%M:%S.%f %p %:z", "%A %G-W%V %T.%f %Z", "%Y/%j %R:%S.%f %Z", "%s.%f",
		"%a, %d %b %y %T.%f %z",
	} {
		for at := time.Date(1970, 1, 1, 0, 0, 0, 123456000,
			time.UTC); at.Year() < 2030; at = at.Add(997*time.Hour + 61*time.Second) {
			text, err := calendar.Format(at, format)
			require.NoError(t, err)
			got, odd, err := calendar.ParseFormat(text, format, zurich(t))
			require.NoError(t, err, "%q by %q", text, format)
			require.True(t, at.Equal(got), "%q by %q", text, format)
			require.Equal(t, calendar.Plain, odd)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"2024-02-29", "2024-01-02T03:04:05.678+02:00", "Mon, 02 Jan 2006 15:04:05 GMT", "0000-00-00", "９999-01-01",
		"-P1Y2M3W4DT5H6M7.5S", "1h30m", "",
	} {
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
		if a, err := calendar.ParseDuration(text); err == nil {
			again, err := calendar.ParseDuration(a.String())
			if err != nil || again.String() != a.String() {
				t.Errorf("%q is %s, and that %s: %v", text, a, again, err)
			}
		}
	})
}
