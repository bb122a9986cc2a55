package schedule

import (
	"slices"
	"time"
)

// horizon bounds the search for times, as that of a window of a schedule.
const horizon = 10 * 366 * 24 * time.Hour

// Next returns the next times after a moment, at most limit, within ten years: without jitter, in the
// zone of the crons, and without those that a change of clocks leaves out. Of the hour that clocks go
// through twice it has each time once, where Temporal starts hourly runs in both. It fails with
// tool.Invalid for times that no schedule can have.
func (t Times) Next(after time.Time, limit int) ([]time.Time, error) {
	t.Crons = slices.Clone(t.Crons)
	if err := t.check(); err != nil {
		return nil, err
	}
	zone, err := time.LoadLocation(t.Zone)
	if err != nil {
		return nil, invalid("/time_zone", "%.80q is no time zone", t.Zone)
	}
	until := after.Add(horizon)
	if t.StartAt != nil && t.StartAt.After(after) {
		after = t.StartAt.Add(-time.Nanosecond)
	}
	if t.EndAt != nil && t.EndAt.Before(until) {
		until = *t.EndAt
	}
	if t.Every > 0 {
		return t.multiples(after, until, limit, zone), nil
	}
	var all []time.Time
	for _, cron := range t.Crons {
		parsed, err := ParseCron(cron)
		if err != nil {
			return nil, invalid("/crons", "%s", err)
		}
		all = append(all, parsed.next(after.In(zone), until, limit)...)
	}
	slices.SortFunc(all, time.Time.Compare)
	all = slices.CompactFunc(all, time.Time.Equal)
	return all[:min(len(all), limit)], nil
}

// multiples are the times of an interval.
func (t *Times) multiples(after, until time.Time, limit int, zone *time.Location) []time.Time {
	every, offset := int64(t.Every/time.Second), int64(t.Offset/time.Second)
	n := (after.Unix()-offset)/every + 1
	var out []time.Time
	for ; len(out) < limit; n++ {
		at := time.Unix(n*every+offset, 0).In(zone)
		if at.After(until) {
			break
		}
		if at.After(after) {
			out = append(out, at)
		}
	}
	return out
}

// next returns the times of an expression after a moment, day by day, in the moment's zone.
func (c *Cron) next(after, until time.Time, limit int) []time.Time {
	var out []time.Time
	zone := after.Location()
	for day := after; !day.After(until.AddDate(0, 0, 1)) && len(out) < limit; day = noon(day).AddDate(0, 0, 1) {
		if !slices.Contains(c.Months, int(day.Month())) || !slices.Contains(c.Days, day.Day()) ||
			!slices.Contains(c.Weekdays, int(day.Weekday())) {
			continue
		}
		for _, hour := range c.Hours {
			for _, minute := range c.Minutes {
				at := time.Date(day.Year(), day.Month(), day.Day(), hour, minute, 0, 0, zone)
				skipped := at.Hour() != hour || at.Minute() != minute
				if !skipped && at.After(after) && !at.After(until) {
					out = append(out, at)
				}
			}
		}
	}
	return out[:min(len(out), limit)]
}

// noon is on every day, whatever clocks do at night.
func noon(day time.Time) time.Time {
	return time.Date(day.Year(), day.Month(), day.Day(), 12, 0, 0, 0, day.Location())
}
