package calendar

import (
	"errors"
	"fmt"
	"time"
)

// result combines the parsed parts.
func (s *scanner) result(loc *time.Location) (time.Time, Oddity, error) {
	if s.seen[partUnix] {
		return s.sinceEpoch(loc)
	}
	if s.twelve != s.seen[partHalf] {
		return time.Time{}, Plain, errors.New("the format wants %I and %p together: a 12-hour clock, and AM or PM")
	}
	hour := s.hour
	if s.twelve {
		if hour %= 12; s.pm {
			hour += 12
		}
	}
	date, err := s.date()
	if err != nil {
		return time.Time{}, Plain, err
	}
	if !inRange(date) {
		return time.Time{}, Plain, errRange
	}
	wall := time.Date(date.Year(), date.Month(), date.Day(), hour, s.minute, s.second, s.nano, time.UTC)
	if s.seen[partOffset] {
		return wall.Add(-time.Duration(s.offset) * time.Second).In(loc), Plain, nil
	}
	t, odd := Resolve(wall, loc)
	return t, odd, nil
}

func (s *scanner) sinceEpoch(loc *time.Location) (time.Time, Oddity, error) {
	for p := range s.seen {
		if p != partUnix && p != partFraction {
			return time.Time{}, Plain, fmt.Errorf("the format names the time in two ways: seconds since 1970, and a %s", p)
		}
	}
	t := time.Unix(s.unix, int64(s.nano))
	if s.minus {
		t = time.Unix(-s.unix, -int64(s.nano))
	}
	if !inRange(t.UTC()) {
		return t, Plain, errRange
	}
	return t.In(loc), Plain, nil
}

// date returns the day at midnight, in UTC.
func (s *scanner) date() (time.Time, error) {
	byMonth := s.seen[partMonth] || s.seen[partDay]
	byWeek := s.seen[partISOYear] || s.seen[partISOWeek]
	switch {
	case byWeek && (byMonth || s.seen[partYear] || s.seen[partYearDay]), s.seen[partYearDay] && byMonth:
		return time.Time{}, errors.New("the format names the day in two ways")
	case byWeek:
		return s.dateOfWeek()
	case !s.seen[partYear]:
		return time.Time{}, errors.New("the format has no year")
	}
	date := time.Date(s.year, time.Month(s.month), s.day, 0, 0, 0, 0, time.UTC)
	if s.seen[partYearDay] {
		if date = time.Date(s.year, 1, s.yearDay, 0, 0, 0, 0, time.UTC); date.Year() != s.year {
			return date, fmt.Errorf("the year %d has no day %d", s.year, s.yearDay)
		}
	} else if s.day > DaysIn(s.year, time.Month(s.month)) {
		return date, fmt.Errorf("%s %d has no day %d", time.Month(s.month), s.year, s.day)
	}
	if s.seen[partWeekday] && date.Weekday() != s.weekday {
		return date, fmt.Errorf("%s is a %s, no %s", date.Format(time.DateOnly), date.Weekday(), s.weekday)
	}
	return date, nil
}

// dateOfWeek returns the day of an ISO week, its Monday by default. Week 1 contains January 4.
func (s *scanner) dateOfWeek() (time.Time, error) {
	if !s.seen[partISOYear] || !s.seen[partISOWeek] {
		return time.Time{}, errors.New("the format wants %G and %V together: an ISO week and the year it counts in")
	}
	fourth := time.Date(s.isoYear, time.January, 4, 0, 0, 0, 0, time.UTC)
	date := fourth.AddDate(0, 0, (s.isoWeek-1)*7+sinceMonday(s.weekday)-sinceMonday(fourth.Weekday()))
	if year, _ := date.ISOWeek(); year != s.isoYear {
		return date, fmt.Errorf("the year %d has no week %d", s.isoYear, s.isoWeek)
	}
	return date, nil
}

func sinceMonday(d time.Weekday) int { return (int(d) + 6) % 7 }
