package calendar

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// The parts of spellings. A group's name is the directive that reads it.
const (
	clock = `(?P<H>\d\d):(?P<M>\d\d)(?::(?P<S>\d\d)(?:[.,](?P<f>\d{1,9}))?)?(?: ?(?P<z>[Zz]|UTC|GMT|[+-]\d\d(?::?\d\d)?))?`
	names = `(?P<b>[A-Za-z]{3,9})`
)

// spellings are the formats that [Parse] supports.
var spellings = []*regexp.Regexp{
	regexp.MustCompile(`^(?P<Y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)(?:[Tt ]` + clock + `)?$`),
	regexp.MustCompile(`^(?P<Y>\d{4})-(?P<j>\d{3})(?:[Tt ]` + clock + `)?$`),
	regexp.MustCompile(`^(?P<G>\d{4})-W(?P<V>\d\d)-(?P<u>\d)(?:[Tt ]` + clock + `)?$`),
	regexp.MustCompile(`^(?P<Y>\d{4})(?P<m>\d\d)(?P<d>\d\d)T(?P<H>\d\d)(?P<M>\d\d)(?P<S>\d\d)(?:[.,](?P<f>\d{1,9}))?(?P<z>Z|[+-]\d{4})?$`),
	regexp.MustCompile(`^(?:(?P<a>[A-Za-z]{3,9}), )?(?P<d>\d{1,2}) ` + names + ` (?P<Y>\d{4})(?: ` + clock + `)?$`),
	regexp.MustCompile(`^(?:(?P<a>[A-Za-z]{3,9}), )?` + names + ` (?P<d>\d{1,2}), (?P<Y>\d{4})(?: ` + clock + `)?$`),
}

// maxText is longer than any date and time.
const maxText = 128

// unclear are ambiguous texts, with advice.
var unclear = []struct {
	pattern *regexp.Regexp
	advice  string
}{
	{
		regexp.MustCompile(`^(\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}|\d{4}[/.]\d{1,2}[/.]\d{1,2})\b`),
		"could be several dates: give its format, such as %d/%m/%Y or %m/%d/%Y",
	},
	{
		regexp.MustCompile(`^[+-]?\d+([.,]\d+)?$`),
		"could be seconds or a date: give seconds since 1970 as a number, or a date with its format, such as %Y%m%d",
	},
	{regexp.MustCompile(`(?i)\d ?[ap]m$`), "has an hour of twelve: give its format, such as %Y-%m-%d %I:%M %p"},
	{
		regexp.MustCompile(`:\d\d ?[A-Za-z]{1,5}$`),
		"ends in letters that name no time zone for certain: give an offset, or the argument timezone",
	},
}

var errUnknownFormat = errors.New("not a known date and time format: write it as 2006-01-02T15:04:05+02:00, or give " +
	"its format")

// Parse reads a date and time:
//
//   - 2006-01-02, by ISO week 2006-W01-1, or by day of the year 2006-002, each
//     with a time after T or a space: 15:04, with seconds 15:04:05, and a
//     fraction of up to nine digits after a point or comma;
//   - 20060102T150405;
//   - Mon, 2 January 2006 15:04:05 and January 2, 2006, where the weekday and
//     the time may be missing, and names are English, whole or of three letters.
//
// An offset may follow a time: Z, UTC, GMT, +02, +0200 or +02:00. Without one, the time is
// local in loc, by [Resolve]; without a time, it is midnight. Spaces around the text are
// ignored. Everything else is refused: ambiguous dates, letters for zones, hour 24, second 60,
// a wrong weekday, years outside 1 to 9999.
func Parse(text string, loc *time.Location) (time.Time, Oddity, error) {
	text = strings.TrimSpace(text)
	if len(text) > maxText {
		return time.Time{}, Plain, fmt.Errorf("%.32q… is %w", text, errUnknownFormat)
	}
	for _, spelling := range spellings {
		found := spelling.FindStringSubmatch(text)
		if found == nil {
			continue
		}
		s := newScanner("")
		for i, directive := range spelling.SubexpNames() {
			if directive == "" || found[i] == "" {
				continue
			}
			s.rest = found[i]
			if err := s.directive(directive); err != nil {
				return time.Time{}, Plain, fmt.Errorf("%q: %w", text, err)
			}
			if s.rest != "" {
				return time.Time{}, Plain, fmt.Errorf("%q is %w", text, errUnknownFormat)
			}
		}
		t, odd, err := s.result(loc)
		if err != nil {
			return t, odd, fmt.Errorf("%q: %w", text, err)
		}
		return t, odd, nil
	}
	for _, u := range unclear {
		if u.pattern.MatchString(text) {
			return time.Time{}, Plain, fmt.Errorf("%.64q %s", text, u.advice)
		}
	}
	return time.Time{}, Plain, fmt.Errorf("%.64q is %w", text, errUnknownFormat)
}
