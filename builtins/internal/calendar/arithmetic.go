package calendar

import (
	"errors"
	"fmt"
	"time"
)

// Amount is a length of time in the units of a calendar and a clock.
type Amount struct {
	Years, Months, Weeks, Days, Hours, Minutes, Seconds, Nanos int64
}

var errRange = errors.New("the result is outside the years 1 to 9999")

// maxAmount keeps every sum far from overflow.
const maxAmount = 4e11

// Add returns t plus a. Years and months come first, with the day clamped to
// the month's last (January 31 plus a month is February 28 or 29), then weeks
// and days, both on the calendar of t's zone, with [Resolve]'s answer for
// impossible times; then hours, minutes and seconds, which are exact.
func Add(t time.Time, a Amount) (time.Time, Oddity, error) {
	if err := a.check(); err != nil {
		return t, Plain, err
	}
	odd := Plain
	months, days := a.Years*12+a.Months, a.Weeks*7+a.Days
	if months != 0 || days != 0 {
		y, m, d := t.Date()
		index := int64(y)*12 + int64(m) - 1 + months
		y, m = int(floorDiv(index, 12)), time.Month(index-floorDiv(index, 12)*12+1)
		d = min(d, DaysIn(y, m))
		wall := time.Date(y, m, d+int(days), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
		if !inRange(wall) {
			return t, Plain, errRange
		}
		t, odd = Resolve(wall, t.Location())
	}
	seconds, nanos := a.exact()
	t = time.Unix(t.Unix()+seconds, int64(t.Nanosecond())+nanos).In(t.Location())
	if !inRange(t) {
		return t, odd, errRange
	}
	return t, odd, nil
}

// check refuses an amount that leads outside the supported years from any date.
func (a Amount) check() error {
	for _, n := range []int64{a.Years, a.Months, a.Weeks, a.Days, a.Hours, a.Minutes, a.Seconds} {
		if n > maxAmount || n < -maxAmount {
			return fmt.Errorf("an amount of %d is out of range", n)
		}
	}
	months, days := a.Years*12+a.Months, a.Weeks*7+a.Days
	seconds, _ := a.exact()
	if max(months, -months) > 12*20000 || max(days, -days) > 366*20000 || max(seconds, -seconds) > maxAmount {
		return errRange
	}
	return nil
}

// DaysIn returns the number of days of a month.
func DaysIn(year int, month time.Month) int {
	return time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

func inRange(t time.Time) bool { return t.Year() >= 1 && t.Year() <= 9999 }

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// Between returns the whole units from start to end, truncated towards zero.
// Seconds, minutes and hours are exact; days, weeks, months, quarters and
// years count on the calendar of start's zone, as [Add] does.
func Between(start, end time.Time, unit Unit) (int64, error) {
	elapsed, _ := Elapsed(start, end).exact()
	switch unit {
	case Second:
		return elapsed, nil
	case Minute:
		return elapsed / 60, nil
	case Hour:
		return elapsed / 3600, nil
	case Day, Week, Month, Quarter, Year:
	default:
		return 0, fmt.Errorf("unknown unit %q", unit)
	}
	sign := int64(1)
	if end.Before(start) {
		sign = -1
	}
	return betweenCalendar(start, end, Amount{}, unit, sign), nil
}

// betweenCalendar returns the n furthest from zero, in the direction of sign, for which n
// units plus the months of base from start do not pass end.
func betweenCalendar(start, end time.Time, base Amount, unit Unit, sign int64) int64 {
	length := map[Unit]float64{Day: 1, Week: 7, Month: 30.436875, Quarter: 91.310625, Year: 365.2425}[unit]
	from, _, _ := Add(start, base) // Validated by betweenCalendar.
	days := float64(end.Unix()-from.Unix()) / 86400 * float64(sign)
	n := max(0, int64(days/length)-2)
	for {
		a := amountOf(unit, sign*(n+1))
		a.Months += base.Months
		next, _, err := Add(start, a)
		if err != nil || sign > 0 && next.After(end) || sign < 0 && next.Before(end) {
			return sign * n
		}
		n++
	}
}

func amountOf(unit Unit, n int64) Amount {
	switch unit {
	case Year:
		return Amount{Years: n}
	case Quarter:
		return Amount{Months: 3 * n}
	case Month:
		return Amount{Months: n}
	case Week:
		return Amount{Weeks: n}
	case Day:
		return Amount{Days: n}
	case Hour:
		return Amount{Hours: n}
	case Minute:
		return Amount{Minutes: n}
	case Second:
		return Amount{Seconds: n}
	default:
		return Amount{}
	}
}
