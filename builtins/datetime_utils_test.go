package builtins_test

import (
	"encoding/json"
	"testing"
	"time"

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
	return res
}

func TestDatetimeUtils(t *testing.T) {
	t.Parallel()

	tests := []struct{ name, args, member, want string }{
		{"now", `{"operation": "now"}`, "datetime", "2024-03-30T23:30:00.5Z"},
		{"now elsewhere", `{"operation": "now", "timezone": "Asia/Kathmandu"}`, "datetime", "2024-03-31T05:15:00.5+05:45"},
		{"weekday", `{"operation": "now", "timezone": "Europe/Zurich"}`, "weekday", "Sunday"},
		{"offset", `{"operation": "now", "timezone": "-03:30"}`, "utc_offset", "-03:30"},
		{"parse date", `{"operation": "parse", "value": "2024-02-29"}`, "datetime", "2024-02-29T00:00:00Z"},
		{"parse local", `{"operation": "parse", "value": "2024-07-01 12:00", "timezone": "America/New_York"}`, "datetime", "2024-07-01T12:00:00-04:00"},
		{"parse offset", `{"operation": "parse", "value": "2024-07-01t12:00:00.25z", "timezone": "Asia/Tokyo"}`, "datetime", "2024-07-01T21:00:00.25+09:00"},
		{"parse rfc1123", `{"operation": "parse", "value": "Tue, 05 Mar 2024 10:00:00 GMT"}`, "datetime", "2024-03-05T10:00:00Z"},
		{"parse seconds", `{"operation": "parse", "value": 1709632800}`, "datetime", "2024-03-05T10:00:00Z"},
		{"parse negative fraction", `{"operation": "parse", "value": -0.5}`, "datetime", "1969-12-31T23:59:59.5Z"},
		{"parse format", `{"operation": "parse", "value": "5.3.2024 09:08 pm", "format": "%d.%m.%Y %I:%M %p"}`, "datetime", "2024-03-05T21:08:00Z"},
		{"parse format with offset", `{"operation": "parse", "value": "Tue 05 March 24 +0100", "format": "%a %d %B %y %z"}`, "datetime", "2024-03-04T23:00:00Z"},
		{"parse gap", `{"operation": "parse", "value": "2024-03-31T02:30", "timezone": "Europe/Zurich"}`, "datetime", "2024-03-31T03:30:00+02:00"},
		{"parse fold", `{"operation": "parse", "value": "2024-10-27T02:30", "timezone": "Europe/Zurich"}`, "datetime", "2024-10-27T02:30:00+02:00"},
		{"format", `{"operation": "format", "value": "2024-03-05T21:08:09.123456Z", "format": "%A %d %b %Y, %H:%M:%S.%f %j %V %u 100%%"}`, "formatted", "Tuesday 05 Mar 2024, 21:08:09.123456 065 10 2 100%"},
		{"format by name", `{"operation": "format", "value": "2024-03-05", "format": "rfc1123"}`, "formatted", "Tue, 05 Mar 2024 00:00:00 +0000"},
		{"format words are no layout", `{"operation": "format", "value": "2024-03-05", "format": "Jan 2006 Monday"}`, "formatted", "Jan 2006 Monday"},
		{"add clamps", `{"operation": "add", "value": "2024-01-31", "months": 1}`, "datetime", "2024-02-29T00:00:00Z"},
		{"add leap year", `{"operation": "add", "value": "2024-02-29", "years": 1}`, "datetime", "2025-02-28T00:00:00Z"},
		{"add backwards", `{"operation": "add", "value": "2024-03-31", "months": -13, "days": -1}`, "datetime", "2023-02-27T00:00:00Z"},
		{"add a day over a change", `{"operation": "add", "value": "2024-03-30T12:00", "days": 1, "timezone": "Europe/Zurich"}`, "datetime", "2024-03-31T12:00:00+02:00"},
		{"add hours over a change", `{"operation": "add", "value": "2024-03-30T12:00", "hours": 24, "timezone": "Europe/Zurich"}`, "datetime", "2024-03-31T13:00:00+02:00"},
		{"add into a gap", `{"operation": "add", "value": "2024-03-30T02:30", "days": 1, "timezone": "Europe/Zurich"}`, "datetime", "2024-03-31T03:30:00+02:00"},
		{"convert", `{"operation": "convert", "value": "2024-03-05T10:00:00Z", "timezone": "Australia/Lord_Howe"}`, "datetime", "2024-03-05T21:00:00+11:00"},
		{"start of week", `{"operation": "start_of", "value": "2024-03-31T10:00", "unit": "week"}`, "datetime", "2024-03-25T00:00:00Z"},
		{"start of week, sunday", `{"operation": "start_of", "value": "2024-03-31T10:00", "unit": "week", "week_start": "sunday"}`, "datetime", "2024-03-31T00:00:00Z"},
		{"start of quarter", `{"operation": "start_of", "value": "2024-06-30", "unit": "quarter"}`, "datetime", "2024-04-01T00:00:00Z"},
		{"start of a day without midnight", `{"operation": "start_of", "value": "2018-11-04T10:00", "unit": "day", "timezone": "America/Sao_Paulo"}`, "datetime", "2018-11-04T01:00:00-02:00"},
		{"start of the second two o'clock", `{"operation": "start_of", "value": "2024-10-27T02:30:00+01:00", "unit": "hour", "timezone": "Europe/Zurich"}`, "datetime", "2024-10-27T02:00:00+01:00"},
		{"end of month", `{"operation": "end_of", "value": "2024-02-10", "unit": "month"}`, "datetime", "2024-02-29T23:59:59.999999999Z"},
		{"end of a short day", `{"operation": "end_of", "value": "2024-03-31", "unit": "day", "timezone": "Europe/Zurich"}`, "datetime", "2024-03-31T23:59:59.999999999+02:00"},
		{"end of year", `{"operation": "end_of", "value": "2024-03-31", "unit": "year"}`, "datetime", "2024-12-31T23:59:59.999999999Z"},
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
		`{"operation": "teleport", "value": 0}`:                                     "operation",
		`{"operation": "parse"}`:                                                    "value: needed",
		`{"operation": "diff", "value": 0}`:                                         "end: needed",
		`{"operation": "format", "value": 0}`:                                       "format: needed",
		`{"operation": "format", "value": 0, "format": "%Q"}`:                       "unknown format directive %Q",
		`{"operation": "parse", "value": "02/03/2024"}`:                             "not a date and time I know",
		`{"operation": "parse", "value": "2024-02-30"}`:                             "not a date and time I know",
		`{"operation": "parse", "value": "30.02.2024", "format": "%d.%m.%Y"}`:       "has no day 30",
		`{"operation": "parse", "value": 1709632800000}`:                            "milliseconds",
		`{"operation": "parse", "value": 1e999999999}`:                              "outside the years",
		`{"operation": "now", "timezone": "Mars/Olympus"}`:                          "unknown time zone",
		`{"operation": "add", "value": "9999-12-31", "days": 1}`:                    "outside the years",
		`{"operation": "add", "value": "2024-01-01", "years": 9223372036854775807}`: "out of range",
		`{"operation": "start_of", "value": 0}`:                                     "unknown unit",
	} {
		res := datetime(t, args)
		require.True(t, res.IsError, args)
		require.Contains(t, res.Content[0].Text, want, args)
	}
}

func TestDatetimeNotesClockChanges(t *testing.T) {
	t.Parallel()

	require.Contains(t, string(datetime(t, `{"operation": "parse", "value": "2024-03-31T02:30", "timezone": "Europe/Zurich"}`).Structured), "skip")
	require.Contains(t, string(datetime(t, `{"operation": "parse", "value": "2024-10-27T02:30", "timezone": "Europe/Zurich"}`).Structured), "twice")
	require.NotContains(t, string(datetime(t, `{"operation": "parse", "value": "2024-10-27T04:30", "timezone": "Europe/Zurich"}`).Structured), "notes")
}
