package builtins

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/builtins/internal/calendar"
	"github.com/toolcrib/toolcrib/tool"
)

// datetimeInput is what datetime_utils is asked.
type datetimeInput struct {
	Operation string          `json:"operation"`
	Value     json.RawMessage `json:"value"`
	End       json.RawMessage `json:"end"`
	Timezone  string          `json:"timezone"`
	Format    string          `json:"format"`
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

// datetimeOutput is its answer; which members are set follows from the
// operation.
type datetimeOutput struct {
	Datetime  string   `json:"datetime,omitempty"`
	Unix      *int64   `json:"unix,omitempty"`
	Timezone  string   `json:"timezone,omitempty"`
	UTCOffset string   `json:"utc_offset,omitempty"`
	Weekday   string   `json:"weekday,omitempty"`
	Formatted string   `json:"formatted,omitempty"`
	Amount    *int64   `json:"amount,omitempty"`
	Unit      string   `json:"unit,omitempty"`
	Notes     []string `json:"notes,omitempty"`
}

const datetimeInputSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["operation"],
  "properties": {
    "operation": {"type": "string", "enum": ["now", "parse", "format", "add", "diff", "convert", "start_of", "end_of"],
      "description": "now: the current time. parse: read value. format: write value by format. add: value plus years … seconds, which may be negative. diff: whole units from value to end. convert: value in timezone. start_of, end_of: bounds of the unit that value is in."},
    "value": {"type": ["string", "number"], "description": "A date and time as 2006-01-02T15:04:05+02:00 or 2006-01-02, or seconds since 1970. Without an offset it is local time in timezone."},
    "end": {"type": ["string", "number"], "description": "For diff: the later time, written like value."},
    "timezone": {"type": "string", "description": "IANA name such as Europe/Zurich, or an offset such as +02:00. UTC when absent. Answers are given in it."},
    "format": {"type": "string", "description": "For format, and for parse when value is written unusually: a strftime pattern such as %d.%m.%Y %H:%M, or iso8601, rfc1123, date, time, datetime, unix."},
    "unit": {"type": "string", "enum": ["second", "minute", "hour", "day", "week", "month", "quarter", "year"], "description": "For diff (second when absent), start_of and end_of."},
    "week_start": {"type": "string", "enum": ["monday", "sunday"], "description": "monday when absent."},
    "years": {"type": "integer"}, "months": {"type": "integer"}, "weeks": {"type": "integer"}, "days": {"type": "integer"},
    "hours": {"type": "integer"}, "minutes": {"type": "integer"}, "seconds": {"type": "integer"}
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
    "formatted": {"type": "string"},
    "amount": {"type": "integer", "description": "For diff: whole units, truncated towards zero."},
    "unit": {"type": "string"},
    "notes": {"type": "array", "items": {"type": "string"}, "description": "What a clock change did to the answer."}
  }
}`

// datetimeUtils tells, reads, writes and reckons dates and times.
//
// Days and longer units count on the calendar of the time zone, hours and
// shorter ones are exact. Adding months clamps the day to the month's last. A
// local time that a clock change skips is moved forward by the gap; of one
// that is shown twice, the first is taken; notes say so. end_of is the last
// nanosecond. All of it within the years 1 to 9999.
func datetimeUtils(clock func() time.Time) Builtin {
	return Builtin{
		Spec: Spec{
			Key: "datetime_utils", Version: "1.0.0",
			Definition: tool.Definition{
				Name:           "Date and time",
				Description:    "Tells the current time; reads, formats, converts, adds to and compares dates and times in any time zone.",
				Category:       "utilities",
				InputSchema:    json.RawMessage(datetimeInputSchema),
				OutputSchema:   json.RawMessage(datetimeOutputSchema),
				Implementation: tool.Internal,
				Execution:      tool.Execution{Pure: true, MaxConcurrency: 8, ConcurrencyGroup: "datetime_utils", TimeoutSeconds: 5},
			},
			Policy: tool.Policy{EgressClass: tool.EgressNone, PermissionPolicy: tool.Auto},
		},
		Run: func(_ context.Context, call *tool.Call) (*tool.Result, error) {
			var in datetimeInput
			if err := decodeArguments(call.Arguments, &in); err != nil {
				return nil, err
			}
			out, err := in.answer(clock)
			if err != nil {
				return tool.ErrorResult(err.Error()), nil
			}
			raw, err := json.Marshal(out)
			if err != nil {
				return nil, fmt.Errorf("encoding answer: %w", err)
			}
			return tool.JSONResult(raw), nil
		},
	}
}

func (in *datetimeInput) answer(clock func() time.Time) (*datetimeOutput, error) {
	loc, err := calendar.Zone(in.Timezone)
	if err != nil {
		return nil, err //nolint:wrapcheck // Its text is the answer.
	}
	if in.Operation == "now" {
		return moment(clock().In(loc), calendar.Plain), nil
	}
	value, odd, err := in.read("value", in.Value, loc)
	if err != nil {
		return nil, err
	}
	weekStart := time.Monday
	if in.WeekStart == "sunday" {
		weekStart = time.Sunday
	}
	switch in.Operation {
	case "parse", "convert":
	case "format":
		if in.Format == "" {
			return nil, errors.New("format: needed for this operation")
		}
		out := moment(value, odd)
		out.Formatted, err = calendar.Format(value, in.Format)
		return out, err //nolint:wrapcheck // Its text is the answer.
	case "add":
		value, odd, err = calendar.Add(value, calendar.Amount{
			Years: in.Years, Months: in.Months, Weeks: in.Weeks, Days: in.Days,
			Hours: in.Hours, Minutes: in.Minutes, Seconds: in.Seconds,
		})
	case "diff":
		return in.diff(value, loc)
	case "start_of":
		value, err = calendar.StartOf(value, in.Unit, weekStart)
	case "end_of":
		value, err = calendar.EndOf(value, in.Unit, weekStart)
	default:
		return nil, fmt.Errorf("operation: %q is none of now, parse, format, add, diff, convert, start_of, end_of", in.Operation)
	}
	if err != nil {
		return nil, err //nolint:wrapcheck // Its text is the answer.
	}
	return moment(value, odd), nil
}

func (in *datetimeInput) diff(start time.Time, loc *time.Location) (*datetimeOutput, error) {
	end, _, err := in.read("end", in.End, loc)
	if err != nil {
		return nil, err
	}
	unit := in.Unit
	if unit == "" {
		unit = calendar.Second
	}
	n, err := calendar.Between(start, end, unit)
	if err != nil {
		return nil, err //nolint:wrapcheck // Its text is the answer.
	}
	return &datetimeOutput{Amount: &n, Unit: string(unit)}, nil
}

// read reads a time written as text or as a number of seconds. Only value is
// read by the format.
func (in *datetimeInput) read(name string, raw json.RawMessage, loc *time.Location) (time.Time, calendar.Oddity, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return time.Time{}, calendar.Plain, fmt.Errorf("%s: needed for this operation", name)
	}
	if raw[0] != '"' {
		t, err := fromSeconds(string(raw))
		if err != nil {
			return t, calendar.Plain, fmt.Errorf("%s: %w", name, err)
		}
		return t.In(loc), calendar.Plain, nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return time.Time{}, calendar.Plain, fmt.Errorf("%s: %w", name, err)
	}
	var t time.Time
	var odd calendar.Oddity
	var err error
	if in.Operation == "parse" && in.Format != "" {
		t, odd, err = calendar.ParseFormat(text, in.Format, loc)
	} else {
		t, odd, err = calendar.Parse(text, loc)
	}
	if err != nil {
		return t, odd, fmt.Errorf("%s: %w", name, err)
	}
	return t, odd, nil
}

// fromSeconds reads seconds since 1970, fractions to the nanosecond included.
func fromSeconds(number string) (time.Time, error) {
	if exponent := strings.IndexAny(number, "eE"); exponent >= 0 && len(number)-exponent > 4 {
		return time.Time{}, fmt.Errorf("%.32s seconds since 1970 is outside the years 1 to 9999", number)
	}
	r, ok := new(big.Rat).SetString(number)
	if !ok {
		return time.Time{}, errors.New("want a text or a number of seconds")
	}
	nanos := new(big.Int).Quo(new(big.Int).Mul(r.Num(), big.NewInt(1e9)), r.Denom())
	seconds, rest := new(big.Int).DivMod(nanos, big.NewInt(1e9), new(big.Int))
	if !seconds.IsInt64() || seconds.Int64() < -62135596800 || seconds.Int64() > 253402300799 {
		return time.Time{}, fmt.Errorf("%.32s seconds since 1970 is outside the years 1 to 9999: are these milliseconds", number)
	}
	return time.Unix(seconds.Int64(), rest.Int64()), nil
}

func moment(t time.Time, odd calendar.Oddity) *datetimeOutput {
	unix := t.Unix()
	out := &datetimeOutput{
		Datetime: t.Format(time.RFC3339Nano), Unix: &unix, Timezone: t.Location().String(),
		UTCOffset: t.Format("-07:00"), Weekday: t.Weekday().String(),
	}
	switch odd {
	case calendar.Plain:
	case calendar.Gap:
		out.Notes = []string{"clocks skip this local time: it was moved forward by the length of the gap"}
	case calendar.Fold:
		out.Notes = []string{"clocks show this local time twice: the first was taken"}
	}
	return out
}
