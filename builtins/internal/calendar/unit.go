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

// StartOf returns the first instant of the unit that t is in, on the calendar
// of t's zone. A week begins on weekStart. A day whose midnight the clock
// skips begins after the gap.
func StartOf(t time.Time, unit Unit, weekStart time.Weekday) (time.Time, error) {
	y, m, d := t.Date()
	intoMinute := time.Duration(t.Second())*time.Second + time.Duration(t.Nanosecond())
	switch unit {
	case Second:
		return t.Add(-time.Duration(t.Nanosecond())), nil
	case Minute:
		return t.Add(-intoMinute), nil
	case Hour: // Not by wall time, which may be shown twice.
		return t.Add(-intoMinute - time.Duration(t.Minute())*time.Minute), nil
	case Day:
	case Week:
		d -= (int(t.Weekday()) - int(weekStart) + 7) % 7
	case Month:
		d = 1
	case Quarter:
		m, d = (m-1)/3*3+1, 1
	case Year:
		m, d = time.January, 1
	default:
		return t, fmt.Errorf("unknown unit %q", unit)
	}
	start, _ := Resolve(time.Date(y, m, d, 0, 0, 0, 0, time.UTC), t.Location())
	return start, nil
}

// EndOf returns the last nanosecond of the unit that t is in.
func EndOf(t time.Time, unit Unit, weekStart time.Weekday) (time.Time, error) {
	start, err := StartOf(t, unit, weekStart)
	if err != nil {
		return t, err
	}
	if unit == Second || unit == Minute || unit == Hour {
		next, _, err := Add(start, amountOf(unit, 1))
		return next.Add(-1), err
	}
	// From the nominal midnight, which start may have been moved from.
	y, m, d := start.Date()
	switch unit {
	case Day:
		d++
	case Week:
		d += 7
	case Month:
		m++
	case Quarter:
		m += 3
	case Year:
		y++
	case Second, Minute, Hour:
	}
	next, _ := Resolve(time.Date(y, m, d, 0, 0, 0, 0, time.UTC), t.Location())
	return next.Add(-1), nil
}
