package calendar

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// layouts are the spellings that [Parse] knows; zoned says whether a layout
// names its own offset.
var layouts = []struct {
	layout string
	zoned  bool
}{
	{"2006-01-02T15:04:05Z07:00", true},
	{"2006-01-02T15:04Z07:00", true},
	{"2006-01-02 15:04:05Z07:00", true},
	{"2006-01-02 15:04:05 Z07:00", true},
	{"2006-01-02 15:04:05 -0700", true},
	{"2006-01-02T15:04:05-0700", true},
	{"20060102T150405Z07:00", true},
	{"2006-01-02T15:04:05", false},
	{"2006-01-02 15:04:05", false},
	{"2006-01-02T15:04", false},
	{"2006-01-02 15:04", false},
	{"2006-01-02", false},
	{"20060102T150405", false},
	{time.RFC1123Z, true},
	{"Mon, 2 Jan 2006 15:04:05 -0700", true},
	{"2 January 2006", false},
	{"January 2, 2006", false},
	{"2 Jan 2006", false},
	{"Jan 2, 2006", false},
}

// ErrUnknownFormat is the answer to a text in none of the spellings of [Parse].
var ErrUnknownFormat = errors.New("not a date and time I know: write it as 2006-01-02T15:04:05+02:00, or give its format")

// Parse reads a date and time: ISO 8601 and RFC 3339, RFC 1123, and dates
// with the month's English name. What has no offset is taken as local time in
// loc, by [Resolve]; what has no time is midnight. The order of 02/03/2024
// can't be known, so such dates need a format.
func Parse(text string, loc *time.Location) (time.Time, Oddity, error) {
	text = strings.TrimSpace(text)
	if rest, ok := strings.CutSuffix(text, " GMT"); ok {
		text = rest + " +0000"
	} else if rest, ok := strings.CutSuffix(text, " UTC"); ok {
		text = rest + " +0000"
	}
	text = upperMarks(text)
	for _, l := range layouts {
		t, err := time.Parse(l.layout, text)
		if err != nil {
			continue
		}
		if !inRange(t) {
			return t, Plain, errors.New("the year is outside 1 to 9999")
		}
		if l.zoned {
			return t.In(loc), Plain, nil
		}
		at, odd := Resolve(t, loc)
		return at, odd, nil
	}
	return time.Time{}, Plain, fmt.Errorf("%.64q is %w", text, ErrUnknownFormat)
}

// upperMarks lets "2024-01-02t03:04:05z" be read, as RFC 3339 allows.
func upperMarks(text string) string {
	if len(text) > 10 && text[10] == 't' {
		text = text[:10] + "T" + text[11:]
	}
	if rest, ok := strings.CutSuffix(text, "z"); ok {
		text = rest + "Z"
	}
	return text
}
