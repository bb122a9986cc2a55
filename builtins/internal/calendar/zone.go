package calendar

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // The same zones on every machine that has none of its own.
)

var offsetPattern = regexp.MustCompile(`^(?:UTC|GMT)?([+-])(\d{1,2})(?::?([0-5]\d))?$`)

// Zone returns a time zone by its IANA name, such as "Europe/Zurich", or its
// offset, such as "+02:00" or "UTC-5". The empty name is UTC. The machine's
// own zone has no name here.
func Zone(name string) (*time.Location, error) {
	switch strings.ToLower(name) {
	case "", "utc", "z", "gmt":
		return time.UTC, nil
	case "local", "localtime", "posixrules":
		return nil, fmt.Errorf("unknown time zone %q: want an IANA name or an offset like +02:00", name)
	}
	if m := offsetPattern.FindStringSubmatch(strings.ToUpper(name)); m != nil {
		hours, _ := strconv.Atoi(m[2]) // Digits.
		minutes, _ := strconv.Atoi("0" + m[3])
		seconds := hours*3600 + minutes*60
		if hours > 18 || hours == 18 && minutes > 0 {
			return nil, fmt.Errorf("time zone offset %q is more than 18 hours", name)
		}
		if m[1] == "-" {
			seconds = -seconds
		}
		return time.FixedZone(fixedName(seconds), seconds), nil
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("unknown time zone %.64q: want an IANA name such as Europe/Zurich, or an offset like +02:00", name)
	}
	return loc, nil
}

func fixedName(seconds int) string {
	sign := '+'
	if seconds < 0 {
		sign, seconds = '-', -seconds
	}
	return fmt.Sprintf("%c%02d:%02d", sign, seconds/3600, seconds/60%60)
}
