package calendar

import (
	"fmt"
	"time"
)

// Unit is a unit of calendar or clock.
type Unit string

// Units.
const (
	Second  Unit = "second"
	Minute  Unit = "minute"
	Hour    Unit = "hour"
	Day     Unit = "day"
	Week    Unit = "week"
	Month   Unit = "month"
	Quarter Unit = "quarter"
	Year    Unit = "year"
)

// length returns the length of a unit of the clock.
func (u Unit) length() (time.Duration, bool) {
	switch u {
	case Second:
		return time.Second, true
	case Minute:
		return time.Minute, true
	case Hour:
		return time.Hour, true
	case Day, Week, Month, Quarter, Year:
	}
	return 0, false
}

// StartOf returns the first instant of t's unit, on the calendar of t's zone. It is never after t.
// A week begins on weekStart. A day whose midnight is skipped begins after the gap, one with two
// midnights at the first. An hour or minute that a clock change cuts begins at the change.
func StartOf(t time.Time, unit Unit, weekStart time.Weekday) (time.Time, error) {
	if length, ok := unit.length(); ok {
		start := t.Add(-into(t, length))
		if change, _ := t.ZoneBounds(); start.Before(change) && offsetOf(change.Add(-1)) != offsetOf(t) {
			start = change.In(t.Location())
		}
		return start, nil
	}
	first, _, err := days(t, unit, weekStart)
	if err != nil {
		return t, err
	}
	return firstFrom(first, t.Location()), nil
}

// EndOf returns the last nanosecond of t's unit. It is never before t: where the clock goes back
// over midnight into a day that had ended, that day ends at its second midnight.
func EndOf(t time.Time, unit Unit, weekStart time.Weekday) (time.Time, error) {
	if length, ok := unit.length(); ok {
		next := t.Add(length - into(t, length))
		if _, change := t.ZoneBounds(); !change.IsZero() && next.After(change) && offsetOf(change) != offsetOf(t) {
			next = change.In(t.Location())
		}
		return next.Add(-1), nil
	}
	_, last, err := days(t, unit, weekStart)
	if err != nil {
		return t, err
	}
	next := firstFrom(last, t.Location())
	if !next.After(t) {
		next = last.Add(-offsetOf(t)).In(t.Location())
	}
	return next.Add(-1), nil
}

// into returns the time since the start of t's clock unit of a length.
func into(t time.Time, length time.Duration) time.Duration {
	clock := time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second + time.Duration(t.Nanosecond())
	return clock % length
}

// days returns the midnights, as wall times, of the first day of t's unit and of the next one.
func days(t time.Time, unit Unit, weekStart time.Weekday) (first, last time.Time, err error) {
	y, m, d := t.Date()
	next := [3]int{}
	switch unit {
	case Day:
		next[2] = 1
	case Week:
		d -= (int(t.Weekday()) - int(weekStart) + 7) % 7
		next[2] = 7
	case Month:
		d, next[1] = 1, 1
	case Quarter:
		m, d, next[1] = (m-1)/3*3+1, 1, 3
	case Year:
		m, d, next[0] = time.January, 1, 1
	case Second, Minute, Hour:
		fallthrough
	default:
		return first, last, fmt.Errorf("unknown unit %q", unit)
	}
	first = time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	return first, first.AddDate(next[0], next[1], next[2]), nil
}

// firstFrom returns the first instant at which clocks in loc show wall or, if they skip it, the
// instant after the gap.
func firstFrom(wall time.Time, loc *time.Location) time.Time {
	at, odd := Resolve(wall, loc)
	if odd != Gap {
		return at
	}
	change, _ := at.ZoneBounds()
	return change.In(loc)
}
