package builtins

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// datetimeUtils returns the current time, and parses, formats and calculates
// dates and times.
//
// Days and longer units count on the calendar of the time zone, hours and shorter ones
// are exact. Adding months clamps the day to the month's last. A local time that a clock
// change skips is moved forward by the gap; for an ambiguous one, the first is taken;
// notes report both. end_of is the last nanosecond. All times are within the years 1 to
// 9999, in the time zone too. Package calendar has the details.
func datetimeUtils(clock func() time.Time) Builtin {
	return Builtin{
		Spec: Spec{
			Key: "datetime_utils", Version: "2.0.1",
			Definition: tool.Definition{
				Name: "Date and time",
				Description: "Gives the current time; reads, formats, converts, adds to and compares dates, times and " +
					"durations in any time zone. Use it whenever an answer depends on today's date, a weekday, a time zone or " +
					"the time between two dates, rather than reckoning yourself. It knows no calendars of people or holidays.",
				Category:       "utilities",
				InputSchema:    json.RawMessage(datetimeInputSchema),
				OutputSchema:   json.RawMessage(datetimeOutputSchema),
				Implementation: tool.Internal,
				Execution: tool.Execution{
					Pure: true, MaxConcurrency: tool.ReadConcurrency, ConcurrencyGroup: "datetime_utils", TimeoutSeconds: 5,
				},
			},
			Policy: tool.Policy{EgressClass: tool.EgressNone, PermissionPolicy: tool.PermissionAuto},
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
