package builtins_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/builtins"
	"github.com/toolcrib/toolcrib/tool"
)

func datetime(t *testing.T, args string) *tool.Result {
	t.Helper()
	c := builtins.New(builtins.Config{Clock: func() time.Time { return time.Date(2024, 3, 30, 23, 30, 0, 5e8, time.UTC) }})
	e, ok := c.Lookup("datetime_utils")
	require.True(t, ok)
	res, err := e.Execute(t.Context(), &tool.Call{Arguments: json.RawMessage(args)})
	require.NoError(t, err)
	if !res.IsError {
		at := slices.IndexFunc(c.Specs(), func(s builtins.Spec) bool { return s.Key == "datetime_utils" })
		requireFits(t, c.Specs()[at].Definition.OutputSchema, res.Structured)
	}
	return res
}

// requireFits holds an answer to the schema that is published.
func requireFits(t *testing.T, raw, answer json.RawMessage) {
	t.Helper()
	var s jsonschema.Schema
	require.NoError(t, json.Unmarshal(raw, &s))
	resolved, err := s.Resolve(nil)
	require.NoError(t, err)
	var value any
	require.NoError(t, json.Unmarshal(answer, &value))
	require.NoError(t, resolved.Validate(value), "%s", answer)
}

func TestDatetimeUtils(t *testing.T) {
	t.Parallel()

	tests := []struct{ name, args, member, want string }{
		{"now", `{"operation": "now"}`, "datetime", "2024-03-30T23:30:00.5Z"},
		{"now elsewhere", `{"operation": "now", "timezone": "Asia/Kathmandu"}`, "datetime", "2024-03-31T05:15:00.5+05:45"},
		{"weekday", `{"operation": "now", "timezone": "Europe/Zurich"}`, "weekday", "Sunday"},
		{"offset", `{"operation": "now", "timezone": "-03:30"}`, "utc_offset", "-03:30"},
		{"parse date", `{"operation": "parse", "value": "2024-02-29"}`, "datetime", "2024-02-29T00:00:00Z"},
		{
			"parse local", `{"operation": "parse", "value": "2024-07-01 12:00", "timezone": "America/New_York"}`, "datetime",
			"2024-07-01T12:00:00-04:00",
		},
		{
			"parse offset", `{"operation": "parse", "value": "2024-07-01t12:00:00.25z", "timezone": "Asia/Tokyo"}`, "datetime",
			"2024-07-01T21:00:00.25+09:00",
		},
		{
			"parse rfc1123", `{"operation": "parse", "value": "Tue, 05 Mar 2024 10:00:00 GMT"}`, "datetime",
			"2024-03-05T10:00:00Z",
		},
		{"parse seconds", `{"operation": "parse", "value": 1709632800}`, "datetime", "2024-03-05T10:00:00Z"},
		{"parse negative fraction", `{"operation": "parse", "value": -0.5}`, "datetime", "1969-12-31T23:59:59.5Z"},
		{
			"parse format", `{"operation": "parse", "value": "5.3.2024 09:08 pm", "format": "%d.%m.%Y %I:%M %p"}`, "datetime",
			"2024-03-05T21:08:00Z",
		},
		{
			"parse format with offset", `{"operation": "parse", "value": "Tue 05 March 24 +0100", "format": "%a %d %B %y %z"}`,
			"datetime", "2024-03-04T23:00:00Z",
		},
		{
			"parse gap", `{"operation": "parse", "value": "2024-03-31T02:30", "timezone": "Europe/Zurich"}`, "datetime",
			"2024-03-31T03:30:00+02:00",
		},
		{
			"parse fold", `{"operation": "parse", "value": "2024-10-27T02:30", "timezone": "Europe/Zurich"}`, "datetime",
			"2024-10-27T02:30:00+02:00",
		},
		{
			"format",
			`{"operation": "format", "value": "2024-03-05T21:08:09.123456Z", "format": "%A %d %b %Y, %H:%M:%S.%f %j %V %u 100%%"}`,
			"formatted", "Tuesday 05 Mar 2024, 21:08:09.123456 065 10 2 100%",
		},
		{
			"format by name", `{"operation": "format", "value": "2024-03-05", "format": "rfc1123"}`, "formatted",
			"Tue, 05 Mar 2024 00:00:00 +0000",
		},
		{
			"format words are no layout", `{"operation": "format", "value": "2024-03-05", "format": "Jan 2006 Monday"}`,
			"formatted", "Jan 2006 Monday",
		},
		{"add clamps", `{"operation": "add", "value": "2024-01-31", "months": 1}`, "datetime", "2024-02-29T00:00:00Z"},
		{"add leap year", `{"operation": "add", "value": "2024-02-29", "years": 1}`, "datetime", "2025-02-28T00:00:00Z"},
		{
			"add backwards", `{"operation": "add", "value": "2024-03-31", "months": -13, "days": -1}`, "datetime",
			"2023-02-27T00:00:00Z",
		},
		{
			"add a day over a change",
			`{"operation": "add", "value": "2024-03-30T12:00", "days": 1, "timezone": "Europe/Zurich"}`, "datetime",
			"2024-03-31T12:00:00+02:00",
		},
		{
			"add hours over a change",
			`{"operation": "add", "value": "2024-03-30T12:00", "hours": 24, "timezone": "Europe/Zurich"}`, "datetime",
			"2024-03-31T13:00:00+02:00",
		},
		{
			"add into a gap", `{"operation": "add", "value": "2024-03-30T02:30", "days": 1, "timezone": "Europe/Zurich"}`,
			"datetime", "2024-03-31T03:30:00+02:00",
		},
		{
			"convert", `{"operation": "convert", "value": "2024-03-05T10:00:00Z", "timezone": "Australia/Lord_Howe"}`,
			"datetime", "2024-03-05T21:00:00+11:00",
		},
		{
			"start of week", `{"operation": "start_of", "value": "2024-03-31T10:00", "unit": "week"}`, "datetime",
			"2024-03-25T00:00:00Z",
		},
		{
			"start of week, sunday",
			`{"operation": "start_of", "value": "2024-03-31T10:00", "unit": "week", "week_start": "sunday"}`, "datetime",
			"2024-03-31T00:00:00Z",
		},
		{
			"start of quarter", `{"operation": "start_of", "value": "2024-06-30", "unit": "quarter"}`, "datetime",
			"2024-04-01T00:00:00Z",
		},
		{
			"start of a day without midnight",
			`{"operation": "start_of", "value": "2018-11-04T10:00", "unit": "day", "timezone": "America/Sao_Paulo"}`,
			"datetime", "2018-11-04T01:00:00-02:00",
		},
		{
			"start of the second two o'clock",
			`{"operation": "start_of", "value": "2024-10-27T02:30:00+01:00", "unit": "hour", "timezone": "Europe/Zurich"}`,
			"datetime", "2024-10-27T02:00:00+01:00",
		},
		{
			"end of month", `{"operation": "end_of", "value": "2024-02-10", "unit": "month"}`, "datetime",
			"2024-02-29T23:59:59.999999999Z",
		},
		{
			"end of a short day", `{"operation": "end_of", "value": "2024-03-31", "unit": "day", "timezone": "Europe/Zurich"}`,
			"datetime", "2024-03-31T23:59:59.999999999+02:00",
		},
		{
			"end of year", `{"operation": "end_of", "value": "2024-03-31", "unit": "year"}`, "datetime",
			"2024-12-31T23:59:59.999999999Z",
		},
		{
			"end of the last year", `{"operation": "end_of", "value": "9999-03-31", "unit": "year"}`, "datetime",
			"9999-12-31T23:59:59.999999999Z",
		},
		{"iso week", `{"operation": "now", "timezone": "Asia/Tokyo"}`, "iso_week", "2024-W13-7"},
		{"iso week of the year before", `{"operation": "parse", "value": "2021-01-03"}`, "iso_week", "2020-W53-7"},
		{"parse iso week", `{"operation": "parse", "value": "2025-W01-1"}`, "datetime", "2024-12-30T00:00:00Z"},
		{"parse ordinal", `{"operation": "parse", "value": "2024-366"}`, "datetime", "2024-12-31T00:00:00Z"},
		{
			"add duration", `{"operation": "add", "value": "2024-01-31", "duration": "P1M1DT90M"}`, "datetime",
			"2024-03-01T01:30:00Z",
		},
		{
			"add clock duration", `{"operation": "add", "value": "2024-01-31", "duration": "-1h30m"}`, "datetime",
			"2024-01-30T22:30:00Z",
		},
		{"add nothing", `{"operation": "add", "value": "2024-01-31"}`, "datetime", "2024-01-31T00:00:00Z"},
		{
			"the second of a fold by its offset",
			`{"operation": "convert", "value": "2024-10-27T02:30+01:00", "timezone": "Europe/Zurich"}`, "datetime",
			"2024-10-27T02:30:00+01:00",
		},
		{"between", `{"operation": "between", "value": "2024-01-31", "end": "2024-03-01T12:00"}`, "duration", "P1M1DT12H"},
		{
			"between, measured",
			`{"operation": "between", "value": "2024-03-30T12:00", "end": "2024-03-31T12:00", "timezone": "Europe/Zurich"}`,
			"clock", "23h0m0s",
		},
		{"between, backwards", `{"operation": "between", "value": 90.5, "end": 0}`, "duration", "-PT1M30.5S"},
		{
			"between in centuries", `{"operation": "between", "value": "0001-01-01", "end": "9999-12-31"}`, "duration",
			"P9998Y11M30D",
		},
		{"duration", `{"operation": "duration", "duration": "PT90M"}`, "clock", "1h30m0s"},
		{"duration as iso", `{"operation": "duration", "duration": "36h"}`, "duration", "PT36H"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			res := datetime(t, tt.args)
			require.False(t, res.IsError, "%v", res.Content)
			var got map[string]any
			require.NoError(t, json.Unmarshal(res.Structured, &got))
			require.Equal(t, tt.want, got[tt.member])
		})
	}
}

// An answer has what its operation tells, and nothing else.
func TestDatetimeAnswers(t *testing.T) {
	t.Parallel()

	for args, want := range map[string]string{
		`{"operation": "parse", "value": "2024-03-31T02:30", "timezone": "Europe/Zurich"}`: `{
			"datetime": "2024-03-31T03:30:00+02:00", "unix": 1711848600, "timezone": "Europe/Zurich", "utc_offset": "+02:00",
			"weekday": "Sunday", "iso_week": "2024-W13-7",
			"notes": ["clocks skip the local time of value: it was moved forward by the length of the gap"]}`,
		`{"operation": "add", "value": "2024-10-27T02:30", "months": 12, "timezone": "Europe/Zurich"}`: `{
			"datetime": "2025-10-27T02:30:00+01:00", "unix": 1761528600, "timezone": "Europe/Zurich", "utc_offset": "+01:00",
			"weekday": "Monday", "iso_week": "2025-W44-1",
			"notes": ["clocks show the local time of value twice: the first was taken"]}`,
		`{"operation": "add", "value": "2024-10-26T02:30", "days": 1, "timezone": "Europe/Zurich"}`: `{
			"datetime": "2024-10-27T02:30:00+02:00", "unix": 1729989000, "timezone": "Europe/Zurich", "utc_offset": "+02:00",
			"weekday": "Sunday", "iso_week": "2024-W43-7",
			"notes": ["clocks show the local time of the result twice: the first was taken"]}`,
		`{"operation": "between", "value": "2024-03-31T02:30", "end": "2024-10-27T02:30", "timezone": "Europe/Zurich"}`: `{
			"duration": "P6M26DT23H", "seconds": 18140400, "clock": "5039h0m0s",
			"notes": ["clocks skip the local time of value: it was moved forward by the length of the gap",
				"clocks show the local time of end twice: the first was taken"]}`,
		`{"operation": "between", "value": "0001-01-01", "end": "9999-12-31T00:00:00.5"}`: `{"duration": "P9998Y11M30DT0.5S", "seconds": 315537811200.5}`,
		`{"operation": "duration", "duration": "P1Y14M2W"}`:                               `{"duration": "P2Y2M14D"}`,
		`{"operation": "duration", "duration": "250ms"}`:                                  `{"duration": "PT0.25S", "seconds": 0.25, "clock": "250ms"}`,
		`{"operation": "parse", "value": "1971-01-01", "timezone": "Africa/Monrovia"}`: `{
			"datetime": "1971-01-01T00:00:00-00:44", "unix": 31538670, "timezone": "Africa/Monrovia", "utc_offset": "-00:44",
			"weekday": "Friday", "iso_week": "1970-W53-5",
			"notes": ["the offset of that day had seconds, which datetime leaves out: unix is exact"]}`,
	} {
		res := datetime(t, args)
		require.False(t, res.IsError, "%v", res.Content)
		require.JSONEq(t, want, string(res.Structured), args)
	}
}

func TestDatetimeDiff(t *testing.T) {
	t.Parallel()

	for args, want := range map[string]string{
		`"value": "2024-01-01", "end": "2024-01-02"`:                                                          `{"amount":86400,"unit":"second"}`,
		`"value": "2024-01-31", "end": "2024-02-29", "unit": "month"`:                                         `{"amount":1,"unit":"month"}`,
		`"value": "2024-01-31", "end": "2024-02-28", "unit": "month"`:                                         `{"amount":0,"unit":"month"}`,
		`"value": "2000-02-29", "end": "2024-02-28", "unit": "year"`:                                          `{"amount":23,"unit":"year"}`,
		`"value": "2024-03-30T12:00", "end": "2024-03-31T12:00", "unit": "day", "timezone": "Europe/Zurich"`:  `{"amount":1,"unit":"day"}`,
		`"value": "2024-03-30T12:00", "end": "2024-03-31T12:00", "unit": "hour", "timezone": "Europe/Zurich"`: `{"amount":23,"unit":"hour"}`,
		`"value": "2024-03-01", "end": "2024-01-31", "unit": "day"`:                                           `{"amount":-30,"unit":"day"}`,
		`"value": "2024-03-01", "end": "2023-11-30", "unit": "quarter"`:                                       `{"amount":-1,"unit":"quarter"}`,
		`"value": 0.75, "end": 0, "unit": "second"`:                                                           `{"amount":0,"unit":"second"}`,
		`"value": "0001-01-01", "end": "9999-12-31", "unit": "week"`:                                          `{"amount":521722,"unit":"week"}`,
	} {
		res := datetime(t, `{"operation": "diff", `+args+`}`)
		require.False(t, res.IsError, "%v", res.Content)
		require.Equal(t, want, string(res.Structured), args)
	}
}

func TestDatetimeSaysNo(t *testing.T) {
	t.Parallel()

	for args, want := range map[string]string{
		`{"operation": "teleport", "value": 0}`:               "operation",
		`{"operation": "parse"}`:                              "value: required",
		`{"operation": "diff", "value": 0}`:                   "end: required",
		`{"operation": "format", "value": 0}`:                 "format: required",
		`{"operation": "format", "value": 0, "format": "%Q"}`: "unknown format directive %Q",
		`{"operation": "parse", "value": "02/03/2024"}`: "value: \"02/03/2024\" " +
			"could be several dates",
		`{"operation": "add", "value": "20240305"}`:               "could be seconds or a date",
		`{"operation": "parse", "value": "2024-02-30"}`:           "February 2024 has no day 30",
		`{"operation": "parse", "value": "Mon, 5 Mar 2024"}`:      "is a Tuesday, no Monday",
		`{"operation": "parse", "value": "2024-03-05 10:00 PST"}`: "no time zone for certain",
		`{"operation": "parse", "value": true}`:                   "want a text or a number",
		`{"operation": "between", "value": 0}`:                    "end: required",
		`{"operation": "between", "value": 0, "end": "soon"}`:     "end: \"soon\" is not a known date",
		`{"operation": "duration"}`:                               "duration: required",
		`{"operation": "duration", "duration": "1:30"}`: "duration: \"1:30\" is " +
			"not a known duration",
		`{"operation": "add", "value": 0, "duration": "P1.5D"}`:          "not a known duration",
		`{"operation": "add", "value": 0, "duration": "P1D", "days": 1}`: "want either",
		`{"operation": "add", "value": 0, "duration": "P9000Y"}`:         "outside the years",
		`{"operation": "convert", "value": "9999-12-31T23:00Z", "timezone": "+14"}`: "outside the years 1 to " +
			"9999 in +14:00",
		`{"operation": "convert", "value": "0001-01-01T00:00Z", "timezone": "America/New_York"}`: "outside the years",
		`{"operation": "now", "timezone": "Local"}`:                                              "unknown time zone",
		`{"operation": "now", "timezone": "../../etc/passwd"}`:                                   "unknown time zone",
		`{"operation": "now", "timezone": "europe/zurich"}`:                                      "it is spelled Europe/Zurich",
		`{"operation": "parse", "value": "30.02.2024", "format": "%d.%m.%Y"}`:                    "has no day 30",
		`{"operation": "parse", "value": 1709632800000}`:                                         "milliseconds",
		`{"operation": "parse", "value": 1e999999999}`:                                           "outside the years",
		`{"operation": "now", "timezone": "Mars/Olympus"}`:                                       "unknown time zone",
		`{"operation": "add", "value": "9999-12-31", "days": 1}`:                                 "outside the years",
		`{"operation": "add", "value": "2024-01-01", "years": 9223372036854775807}`:              "out of range",
		`{"operation": "start_of", "value": 0}`:                                                  "unknown unit",
	} {
		res := datetime(t, args)
		require.True(t, res.IsError, args)
		require.Contains(t, res.Content[0].Text, want, args)
	}
}

// What is read beyond RFC 3339 and ISO 8601 is what docs/tools/internal.md
// lists, row by row, and nothing more.
func TestDatetimeLeniency(t *testing.T) {
	t.Parallel()

	const zurich = `, "timezone": "Europe/Zurich"`
	noon := "2024-07-01T12:00:00+02:00"
	for _, tt := range []struct{ name, args, want string }{
		{"white space", `"value": " \t\u00a0\u30002024-07-01T12:00:00+02:00\r\n"` + zurich, noon},
		{
			"white space around a duration", `"operation": "add", "value": "2024-07-01T11:00", "duration": " PT1H\n"` + zurich,
			noon,
		},
		{"white space inside", `"value": "2024-07-01  12:00"` + zurich, ""},
		{"white space around a zone", `"value": "2024-07-01T12:00", "timezone": " Europe/Zurich"`, ""},
		{"white space by a format", `"value": " 2024-07-01", "format": "%F"` + zurich, "2024-07-01T00:00:00+02:00"},
		{"white space that the format has", `"value": " 2024-07-01 12", "format": " %F %H"` + zurich, noon},
		{"space for T", `"value": "2024-07-01 12:00:00 +02:00"` + zurich, noon},
		{"lower case", `"value": "2024-07-01t10:00:00z"` + zurich, noon},
		{"no seconds", `"value": "2024-07-01T12:00"` + zurich, noon},
		{"comma", `"value": "2024-07-01T12:00:00,000"` + zurich, noon},
		{"hours alone", `"value": "2024-07-01T12:00+02"` + zurich, noon},
		{"UTC after a time", `"value": "2024-07-01 10:00 UTC"` + zurich, noon},
		{"GMT after a time", `"value": "2024-07-01 10:00GMT"` + zurich, noon},
		{"no zone", `"value": "2024-07-01T12:00"`, "2024-07-01T12:00:00Z"},
		{"an empty zone", `"value": "2024-07-01T12:00", "timezone": ""`, "2024-07-01T12:00:00Z"},
		{"a blank zone", `"value": "2024-07-01T12:00", "timezone": " "`, ""},
		{"utc", `"value": "2024-07-01T12:00", "timezone": "utc"`, "2024-07-01T12:00:00Z"},
		{"EST as a zone", `"value": "2024-07-01T12:00", "timezone": "EST"`, "2024-07-01T12:00:00-05:00"},
		{"CET as a zone", `"value": "2024-07-01T12:00", "timezone": "CET"`, noon},
		{"PST as a zone", `"value": "2024-07-01T12:00", "timezone": "PST"`, ""},
		{"CEST as a zone", `"value": "2024-07-01T12:00", "timezone": "CEST"`, ""},
		{"EST after a time", `"value": "2024-07-01 12:00 EST"`, ""},
		{"CET after a time", `"value": "Mon, 1 Jul 2024 12:00:00 CET"`, ""},
		{"CET by a format", `"value": "2024-07-01 CET", "format": "%F %Z"`, ""},
		{"Go's duration", `"operation": "add", "value": "2024-07-01T11:00", "duration": "1h"` + zurich, noon},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			args := "{" + tt.args + "}"
			if !strings.Contains(args, `"operation"`) {
				args = `{"operation": "parse", ` + tt.args + "}"
			}
			res := datetime(t, args)
			if tt.want == "" {
				require.True(t, res.IsError, "%s", res.Structured)
				return
			}
			require.False(t, res.IsError, "%v", res.Content)
			var got struct{ Datetime string }
			require.NoError(t, json.Unmarshal(res.Structured, &got))
			require.Equal(t, tt.want, got.Datetime)
		})
	}
}
