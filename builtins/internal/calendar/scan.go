package calendar

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ParseFormat parses text by a format of [Named] or a strftime pattern. A time without an offset
// is local in loc, by [Resolve]; missing parts are those of January 1 (of an ISO week, Monday)
// at midnight, but the year is required.
//
// It is lenient about leading zeros of all numbers except the year, the case and length of names,
// and spaces around the text. Two digits of a year are 1969 to 2068. A part that the format names
// twice or in two ways, 12 hours without AM or PM, and a wrong weekday are refused.
func ParseFormat(text, format string, loc *time.Location) (time.Time, Oddity, error) {
	pattern, err := patternOf(format)
	if err != nil {
		return time.Time{}, Plain, err
	}
	s := newScanner(strings.TrimSpace(text))
	if err := walk(strings.TrimSpace(pattern), s.literal, s.directive); err != nil {
		return time.Time{}, Plain, err
	}
	if s.rest != "" {
		return time.Time{}, Plain, fmt.Errorf("%.32q is left over after the format", s.rest)
	}
	return s.result(loc)
}

// part is the part of a date that a directive parses.
type part string

const (
	partYear     part = "year"
	partMonth    part = "month"
	partDay      part = "day of the month"
	partYearDay  part = "day of the year"
	partISOYear  part = "year of the ISO week"
	partISOWeek  part = "ISO week"
	partWeekday  part = "weekday"
	partHour     part = "hour"
	partHalf     part = "AM or PM"
	partMinute   part = "minute"
	partSecond   part = "second"
	partFraction part = "fraction"
	partOffset   part = "offset"
	partUnix     part = "seconds since 1970"
)

var parts = map[string]part{
	"Y": partYear, "y": partYear, "m": partMonth, "b": partMonth, "B": partMonth, "d": partDay, "e": partDay,
	"j": partYearDay,
	"G": partISOYear, "V": partISOWeek, "u": partWeekday, "a": partWeekday, "A": partWeekday,
	"H": partHour, "I": partHour, "p": partHalf, "M": partMinute, "S": partSecond, "f": partFraction, "L": partFraction,
	"z": partOffset, ":z": partOffset, "Z": partOffset, "s": partUnix,
}

// scanner is the state of parsing.
type scanner struct {
	rest    string
	seen    map[part]bool
	twelve  bool // The hour is on a 12-hour clock.
	pm      bool
	minus   bool // The seconds since 1970 are negative.
	weekday time.Weekday
	unix    int64
	offset  int

	year, month, day, yearDay, isoYear, isoWeek, hour, minute, second, nano int
}

func newScanner(text string) *scanner {
	return &scanner{rest: text, seen: make(map[part]bool), month: 1, day: 1, weekday: time.Monday}
}

func (s *scanner) literal(c byte) error {
	if s.rest == "" || s.rest[0] != c {
		return fmt.Errorf("want %q before %.32q", string(c), s.rest)
	}
	s.rest = s.rest[1:]
	return nil
}

func (s *scanner) directive(d string) error {
	if p, ok := parts[d]; ok {
		if s.seen[p] {
			return fmt.Errorf("the format names the %s twice", p)
		}
		s.seen[p] = true
	}
	var err error
	switch d {
	case "%":
		return s.literal('%')
	case "Y":
		s.year, err = s.wholeYear()
	case "G":
		s.isoYear, err = s.wholeYear()
	case "y":
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
	case "V":
		s.isoWeek, err = s.number(2, 1, 53)
	case "u":
		var n int
		n, err = s.number(1, 1, 7)
		s.weekday = time.Weekday(n % 7)
	case "H":
		s.hour, err = s.number(2, 0, 23)
	case "I":
		s.twelve = true
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
		var n int
		n, err = s.name(7, func(i int) string { return time.Weekday(i).String() })
		s.weekday = time.Weekday(n)
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

// wholeYear parses a year of four digits.
func (s *scanner) wholeYear() (int, error) {
	if s.digits(4) < 4 {
		return 0, fmt.Errorf("want a year of four digits at %.32q", s.rest)
	}
	return s.number(4, 1, 9999)
}

// number parses up to width digits.
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
	s.nano = nanos(s.rest[:n])
	s.rest = s.rest[n:]
	return nil
}

// nanos returns the nanoseconds of up to nine digits after the point.
func nanos(digits string) int {
	n, _ := strconv.Atoi((digits + "000000000")[:9]) // Digits.
	return n
}

func (s *scanner) seconds() error {
	rest, minus := strings.CutPrefix(s.rest, "-")
	s.rest, s.minus = rest, minus
	n := s.digits(12)
	v, err := strconv.ParseInt(s.rest[:n], 10, 64)
	if err != nil {
		return fmt.Errorf("want seconds since 1970 at %.32q", s.rest)
	}
	s.rest, s.unix = s.rest[n:], v
	return nil
}

// name parses one of n English names, in full or its first three letters.
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
			s.rest = rest
			return nil
		}
	}
	end := strings.IndexFunc(s.rest, func(r rune) bool { return r != '+' && r != '-' && r != ':' && (r < '0' || r > '9') })
	if end < 0 {
		end = len(s.rest)
	}
	seconds, ok := readOffset(s.rest[:end])
	if !ok {
		return fmt.Errorf("want an offset such as +02:00, of at most 18 hours, at %.32q", s.rest)
	}
	s.offset, s.rest = seconds, s.rest[end:]
	return nil
}
