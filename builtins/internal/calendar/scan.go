package calendar

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ParseFormat reads text by a format of [Named] or a strftime pattern. What
// has no offset is local time in loc, by [Resolve]; missing parts are those of
// January 1 at midnight, but the year must be given.
func ParseFormat(text, pattern string, loc *time.Location) (time.Time, Oddity, error) {
	if p, ok := Named[strings.ToLower(pattern)]; ok {
		pattern = p
	}
	s := &scanner{rest: strings.TrimSpace(text), month: 1, day: 1}
	if err := walk(pattern, s.literal, s.directive); err != nil {
		return time.Time{}, Plain, err
	}
	if s.rest != "" {
		return time.Time{}, Plain, fmt.Errorf("%.32q is left over after the format", s.rest)
	}
	return s.result(loc)
}

// scanner holds what was read so far.
type scanner struct {
	rest                                         string
	year, month, day, hour, minute, second, nano int
	yearDay                                      int
	hasYear, hasHalf, pm, hasUnix, hasOffset     bool
	unix                                         int64
	offset                                       int
}

func (s *scanner) literal(c byte) error {
	if s.rest == "" || s.rest[0] != c {
		return fmt.Errorf("want %q before %.32q", string(c), s.rest)
	}
	s.rest = s.rest[1:]
	return nil
}

func (s *scanner) directive(d string) error {
	var err error
	switch d {
	case "%":
		return s.literal('%')
	case "Y":
		s.hasYear = true
		s.year, err = s.number(4, 1, 9999)
	case "y":
		s.hasYear = true
		s.year, err = s.number(2, 0, 99)
		if s.year += 1900; s.year < 1969 { // As POSIX has it.
			s.year += 100
		}
	case "m":
		s.month, err = s.number(2, 1, 12)
	case "d", "e":
		s.rest = strings.TrimLeft(s.rest, " ")
		s.day, err = s.number(2, 1, 31)
	case "j":
		s.yearDay, err = s.number(3, 1, 366)
	case "H":
		s.hour, err = s.number(2, 0, 23)
	case "I":
		s.hasHalf = true
		s.hour, err = s.number(2, 1, 12)
	case "M":
		s.minute, err = s.number(2, 0, 59)
	case "S":
		s.second, err = s.number(2, 0, 59)
	case "f", "L":
		err = s.fraction()
	case "s":
		err = s.seconds()
	case "b", "B":
		s.month, err = s.name(12, func(i int) string { return time.Month(i + 1).String() })
		s.month++
	case "a", "A":
		_, err = s.name(7, func(i int) string { return time.Weekday(i).String() })
	case "p":
		var half int
		half, err = s.name(2, func(i int) string { return []string{"AM", "PM"}[i] })
		s.pm = half == 1
	case "z", ":z", "Z":
		err = s.zone()
	case "F":
		return walk("%Y-%m-%d", s.literal, s.directive)
	case "T":
		return walk("%H:%M:%S", s.literal, s.directive)
	case "R":
		return walk("%H:%M", s.literal, s.directive)
	case "n", "t":
		s.rest = strings.TrimLeft(s.rest, " \t\n")
	default:
		return unknownDirective(d)
	}
	return err
}

// number reads up to width digits.
func (s *scanner) number(width, low, high int) (int, error) {
	n := s.digits(width)
	v, err := strconv.Atoi(s.rest[:n])
	if err != nil || v < low || v > high {
		return 0, fmt.Errorf("want a number from %d to %d at %.32q", low, high, s.rest)
	}
	s.rest = s.rest[n:]
	return v, nil
}

func (s *scanner) digits(limit int) int {
	n := 0
	for n < len(s.rest) && n < limit && s.rest[n] >= '0' && s.rest[n] <= '9' {
		n++
	}
	return n
}

func (s *scanner) fraction() error {
	n := s.digits(9)
	if n == 0 {
		return fmt.Errorf("want digits at %.32q", s.rest)
	}
	s.nano, _ = strconv.Atoi((s.rest[:n] + "00000000")[:9]) // Digits.
	s.rest = s.rest[n:]
	return nil
}

func (s *scanner) seconds() error {
	sign := 0
	if strings.HasPrefix(s.rest, "-") {
		sign = 1
	}
	n := sign
	for n < len(s.rest) && s.rest[n] >= '0' && s.rest[n] <= '9' {
		n++
	}
	v, err := strconv.ParseInt(s.rest[:n], 10, 64)
	if err != nil {
		return fmt.Errorf("want seconds since 1970 at %.32q", s.rest)
	}
	s.rest, s.unix, s.hasUnix = s.rest[n:], v, true
	return nil
}

// name reads one of n English names, in full or its first three letters.
func (s *scanner) name(n int, name func(int) string) (int, error) {
	for _, short := range []bool{false, true} {
		for i := range n {
			want := name(i)
			if short && len(want) > 3 {
				want = want[:3]
			}
			if len(s.rest) >= len(want) && strings.EqualFold(s.rest[:len(want)], want) {
				s.rest = s.rest[len(want):]
				return i, nil
			}
		}
	}
	return 0, fmt.Errorf("want a name such as %q at %.32q", name(0), s.rest)
}

func (s *scanner) zone() error {
	for _, utc := range []string{"UTC", "GMT", "Z", "z"} {
		if rest, ok := strings.CutPrefix(s.rest, utc); ok {
			s.rest, s.hasOffset = rest, true
			return nil
		}
	}
	end := strings.IndexFunc(s.rest, func(r rune) bool { return r != '+' && r != '-' && r != ':' && (r < '0' || r > '9') })
	if end < 0 {
		end = len(s.rest)
	}
	loc, err := Zone(s.rest[:end])
	if err != nil || end == 0 {
		return fmt.Errorf("want an offset such as +02:00 at %.32q", s.rest)
	}
	_, s.offset = time.Unix(0, 0).In(loc).Zone()
	s.rest, s.hasOffset = s.rest[end:], true
	return nil
}

func (s *scanner) result(loc *time.Location) (time.Time, Oddity, error) {
	if s.hasUnix {
		t := time.Unix(s.unix, int64(s.nano)).In(loc)
		if !inRange(t.UTC()) {
			return t, Plain, fmt.Errorf("%d seconds since 1970 is outside the years 1 to 9999", s.unix)
		}
		return t, Plain, nil
	}
	if !s.hasYear {
		return time.Time{}, Plain, errors.New("the format has no year")
	}
	if s.hasHalf {
		s.hour %= 12
		if s.pm {
			s.hour += 12
		}
	}
	if s.yearDay > 0 {
		d := time.Date(s.year, 1, s.yearDay, 0, 0, 0, 0, time.UTC)
		s.month, s.day = int(d.Month()), d.Day()
		if d.Year() != s.year {
			return time.Time{}, Plain, fmt.Errorf("the year %d has no day %d", s.year, s.yearDay)
		}
	}
	if s.day > DaysIn(s.year, time.Month(s.month)) {
		return time.Time{}, Plain, fmt.Errorf("%s %d has no day %d", time.Month(s.month), s.year, s.day)
	}
	wall := time.Date(s.year, time.Month(s.month), s.day, s.hour, s.minute, s.second, s.nano, time.UTC)
	if s.hasOffset {
		return wall.Add(-time.Duration(s.offset) * time.Second).In(loc), Plain, nil
	}
	t, odd := Resolve(wall, loc)
	return t, odd, nil
}
