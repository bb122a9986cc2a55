package calendar

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Named are the named formats.
var Named = map[string]string{
	"iso8601":  "%Y-%m-%dT%H:%M:%S%:z",
	"rfc3339":  "%Y-%m-%dT%H:%M:%S%:z",
	"rfc1123":  "%a, %d %b %Y %H:%M:%S %z",
	"date":     "%Y-%m-%d",
	"time":     "%H:%M:%S",
	"datetime": "%Y-%m-%d %H:%M:%S",
	"iso_week": "%G-W%V-%u",
	"unix":     "%s",
}

// maxPattern bounds the length of a format.
const maxPattern = 256

// patternOf returns the pattern of a format, which may be a name.
func patternOf(format string) (string, error) {
	if len(format) > maxPattern {
		return "", fmt.Errorf("the format has %d bytes: at most %d", len(format), maxPattern)
	}
	if p, ok := Named[strings.ToLower(format)]; ok {
		return p, nil
	}
	return format, nil
}

// Format formats t by a format of [Named] or a strftime pattern, with English names. It fails
// for an unknown directive.
func Format(t time.Time, format string) (string, error) {
	pattern, err := patternOf(format)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = walk(pattern, func(literal byte) error { return b.WriteByte(literal) }, func(directive string) error {
		s, err := write(t, directive)
		b.WriteString(s)
		return err
	})
	return b.String(), err
}

// walk splits a pattern into literal bytes and directives.
func walk(pattern string, literal func(byte) error, directive func(string) error) error {
	for i := 0; i < len(pattern); i++ {
		if pattern[i] != '%' {
			if err := literal(pattern[i]); err != nil {
				return err
			}
			continue
		}
		if i++; i == len(pattern) {
			return fmt.Errorf("the format %q ends in %%", pattern)
		}
		d := pattern[i : i+1]
		if d == ":" && strings.HasPrefix(pattern[i:], ":z") {
			d, i = ":z", i+1
		}
		if err := directive(d); err != nil {
			return err
		}
	}
	return nil
}

func write(t time.Time, directive string) (string, error) {
	isoYear, isoWeek := t.ISOWeek()
	switch directive {
	case "%":
		return "%", nil
	case "Y":
		return fmt.Sprintf("%04d", t.Year()), nil
	case "G":
		return fmt.Sprintf("%04d", isoYear), nil
	case "V":
		return fmt.Sprintf("%02d", isoWeek), nil
	case "y", "m", "d", "H", "I", "M", "S", "b", "B", "a", "A", "p", "z", ":z", "e":
		return t.Format(goLayouts[directive]), nil
	case "j":
		return fmt.Sprintf("%03d", t.YearDay()), nil
	case "u":
		return strconv.Itoa(sinceMonday(t.Weekday()) + 1), nil
	case "w":
		return strconv.Itoa(int(t.Weekday())), nil
	case "f":
		return fmt.Sprintf("%06d", t.Nanosecond()/1000), nil
	case "L":
		return fmt.Sprintf("%03d", t.Nanosecond()/1e6), nil
	case "s":
		return strconv.FormatInt(t.Unix(), 10), nil
	case "Z":
		return t.Format("MST"), nil
	case "F":
		return t.Format("2006-01-02"), nil
	case "T":
		return t.Format("15:04:05"), nil
	case "R":
		return t.Format("15:04"), nil
	case "n":
		return "\n", nil
	case "t":
		return "\t", nil
	default:
		return "", unknownDirective(directive)
	}
}

var goLayouts = map[string]string{
	"y": "06", "m": "01", "d": "02", "e": "_2", "H": "15", "I": "03", "M": "04", "S": "05",
	"b": "Jan", "B": "January", "a": "Mon", "A": "Monday", "p": "PM", "z": "-0700", ":z": "-07:00",
}

func unknownDirective(d string) error {
	return fmt.Errorf("unknown format directive %%%s: want strftime's, such as %%Y-%%m-%%d %%H:%%M:%%S", d)
}
