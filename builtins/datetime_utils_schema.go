package builtins

import (
	"encoding/json"

	"github.com/toolcrib/toolcrib/builtins/internal/calendar"
)

// datetimeInput are the arguments of datetime_utils.
type datetimeInput struct {
	Operation string          `json:"operation"`
	Value     json.RawMessage `json:"value"`
	End       json.RawMessage `json:"end"`
	Timezone  string          `json:"timezone"`
	Format    string          `json:"format"`
	Duration  string          `json:"duration"`
	Unit      calendar.Unit   `json:"unit"`
	WeekStart string          `json:"week_start"`
	Years     int64           `json:"years"`
	Months    int64           `json:"months"`
	Weeks     int64           `json:"weeks"`
	Days      int64           `json:"days"`
	Hours     int64           `json:"hours"`
	Minutes   int64           `json:"minutes"`
	Seconds   int64           `json:"seconds"`
}

// datetimeOutput is its result; the members set depend on the operation.
type datetimeOutput struct {
	Datetime  string      `json:"datetime,omitempty"`
	Unix      *int64      `json:"unix,omitempty"`
	Timezone  string      `json:"timezone,omitempty"`
	UTCOffset string      `json:"utc_offset,omitempty"`
	Weekday   string      `json:"weekday,omitempty"`
	ISOWeek   string      `json:"iso_week,omitempty"`
	Formatted string      `json:"formatted,omitempty"`
	Amount    *int64      `json:"amount,omitempty"`
	Unit      string      `json:"unit,omitempty"`
	Duration  string      `json:"duration,omitempty"`
	Seconds   json.Number `json:"seconds,omitempty"`
	Clock     string      `json:"clock,omitempty"`
	Notes     []string    `json:"notes,omitempty"`
}

const datetimeInputSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["operation"],
  "properties": {
    "operation": {"type": "string", "enum": ["now", "parse", "format", "add", "diff", "between", "duration", "convert", "start_of", "end_of"],
      "description": "now: the current time. parse: read value. format: write value by format. add: value plus duration, or plus years … seconds, which may be negative. diff: whole units from value to end. between: the duration from value to end. duration: read duration. convert: value in timezone. start_of, end_of: bounds of the unit that value is in."},
    "value": {"type": ["string", "number"], "maxLength": 128, "description": "A date and time as 2006-01-02T15:04:05+02:00, 2006-01-02, 2006-W01-1 or 2 January 2006, or a number of seconds since 1970. Without an offset it is local time in timezone. Dates such as 02/03/2024 need operation parse with format."},
    "end": {"type": ["string", "number"], "maxLength": 128, "description": "For diff and between: the other time, written like value."},
    "timezone": {"type": "string", "maxLength": 64, "description": "IANA name such as Europe/Zurich, or an offset such as +02:00. UTC when absent. Answers are given in it, and its calendar is reckoned on."},
    "format": {"type": "string", "maxLength": 256, "description": "For format, and for parse when value is written unusually: a strftime pattern such as %d.%m.%Y %H:%M, or iso8601, rfc1123, date, time, datetime, iso_week, unix."},
    "duration": {"type": "string", "maxLength": 128, "description": "For add and duration: P1Y2M10DT2H30M (ISO 8601) or 1h30m, with a minus before to go back."},
    "unit": {"type": "string", "enum": ["second", "minute", "hour", "day", "week", "month", "quarter", "year"], "description": "For diff (second when absent), start_of and end_of."},
    "week_start": {"type": "string", "enum": ["monday", "sunday"], "description": "monday when absent."},
    "years": {"type": "integer", "description": "For add, as the six below."}, "months": {"type": "integer", "description": "For add."},
    "weeks": {"type": "integer", "description": "For add."}, "days": {"type": "integer", "description": "For add."},
    "hours": {"type": "integer", "description": "For add."}, "minutes": {"type": "integer", "description": "For add."},
    "seconds": {"type": "integer", "description": "For add."}
  }
}`

const datetimeOutputSchema = `{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "datetime": {"type": "string", "description": "RFC 3339."},
    "unix": {"type": "integer", "description": "Seconds since 1970."},
    "timezone": {"type": "string"},
    "utc_offset": {"type": "string"},
    "weekday": {"type": "string"},
    "iso_week": {"type": "string", "description": "Year, week and day of ISO 8601, such as 2024-W13-7."},
    "formatted": {"type": "string"},
    "amount": {"type": "integer", "description": "For diff: whole units, truncated towards zero."},
    "unit": {"type": "string"},
    "duration": {"type": "string", "description": "ISO 8601. For between: calendar years, months and days, then the clock's rest; added to value it gives end."},
    "seconds": {"type": "number", "description": "The exact length of the duration, which one with days or longer units has only between two times."},
    "clock": {"type": "string", "description": "The same in hours, minutes and seconds, such as 49h30m0s."},
    "notes": {"type": "array", "items": {"type": "string"}, "description": "What a clock change did to the answer."}
  }
}`
