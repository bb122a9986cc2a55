package scheduler

import (
	"fmt"
	"slices"
	"strings"

	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/schedule"
)

// equal reports whether Temporal's schedule is the wanted one, with these crons. What people change
// there by hand makes it another one: its times, whether it is paused, what overlaps, how late a
// start may be, and what is started.
func equal(has, want client.Schedule, crons []string) bool {
	if has.State == nil || has.Policy == nil || has.Spec == nil {
		return false
	}
	started, ok := has.Action.(*client.ScheduleWorkflowAction)
	wanted, _ := want.Action.(*client.ScheduleWorkflowAction)
	return ok && started.ID == wanted.ID && started.Workflow == wanted.Workflow && started.TaskQueue == wanted.TaskQueue &&
		*has.State == *want.State &&
		has.Policy.Overlap == want.Policy.Overlap && has.Policy.CatchupWindow == want.Policy.CatchupWindow &&
		sameTimes(has.Spec, want.Spec, crons)
}

// sameTimes compares times. Temporal returns crons as calendars, in its own words for the same
// sets.
func sameTimes(has, want *client.ScheduleSpec, crons []string) bool {
	var theirs, ours []string
	for _, calendar := range has.Calendars {
		theirs = append(theirs, calendarKey(calendar))
	}
	for _, cron := range crons {
		parsed, err := schedule.ParseCron(cron)
		if err != nil {
			return true // It is of a version with other crons, which Temporal took.
		}
		ours = append(ours, fmt.Sprint([]int{0}, parsed.Minutes, parsed.Hours, parsed.Days, parsed.Months, parsed.Weekdays))
	}
	slices.Sort(theirs)
	slices.Sort(ours)
	return slices.Equal(theirs, ours) && slices.Equal(has.Intervals, want.Intervals) && len(has.Skip) == 0 &&
		has.Jitter == want.Jitter && has.StartAt.Equal(want.StartAt) && has.EndAt.Equal(want.EndAt) &&
		zone(has.TimeZoneName) == zone(want.TimeZoneName)
}

func zone(name string) string {
	if strings.EqualFold(name, "UTC") {
		return ""
	}
	return name
}

// calendarKey writes a calendar as sets of values.
func calendarKey(c client.ScheduleCalendarSpec) string {
	key := fmt.Sprint(
		set(c.Second, 0, 0), set(c.Minute, 0, 0), set(c.Hour, 0, 0), set(c.DayOfMonth, 1, 31), set(c.Month, 1, 12),
		weekdaySet(c.DayOfWeek),
	)
	if len(c.Year) > 0 {
		key += fmt.Sprint(c.Year)
	}
	return key
}

// set returns the values of ranges in order, each once; from first to last without any.
func set(ranges []client.ScheduleRange, first, last int) []int {
	if len(ranges) == 0 {
		ranges = []client.ScheduleRange{{Start: first, End: last}}
	}
	var values []int
	for _, r := range ranges {
		for v := r.Start; v <= max(r.Start, r.End); v += max(1, r.Step) {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	return slices.Compact(values)
}

func weekdaySet(ranges []client.ScheduleRange) []int {
	values := set(ranges, 0, 6)
	for i, v := range values {
		values[i] = v % 7 // Sunday has two numbers.
	}
	slices.Sort(values)
	return slices.Compact(values)
}
