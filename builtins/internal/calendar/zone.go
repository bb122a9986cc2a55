package calendar

import (
	_ "embed"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // Fallback for machines without a tz database.
)

// zoneList are the names of the tz database, one a line. A test rewrites it.
//
//go:embed zones.txt
var zoneList string

// zoneNames are the names of the tz database by their spelling in lower case.
var zoneNames = sync.OnceValue(func() map[string]string {
	names := make(map[string]string, 600)
	for name := range strings.Lines(zoneList) {
		name = strings.TrimSpace(name)
		names[strings.ToLower(name)] = name
	}
	return names
})

// Zone returns a time zone by its IANA name, such as "Europe/Zurich", or its offset, such as
// "+02:00" or "UTC-5", of at most 18 hours. The empty name is UTC; UTC, GMT and Z match in any
// case, all other names exactly.
//
// Names are from a fixed list: they are never used as a path, and the machine's local zone has
// none. The rules are those of the machine's tz database, or else the embedded one.
func Zone(name string) (*time.Location, error) {
	switch strings.ToUpper(name) {
	case "", "UTC", "Z", "GMT":
		return time.UTC, nil
	}
	if seconds, ok := readOffset(name); ok {
		return time.FixedZone(fixedName(seconds), seconds), nil
	}
	switch known, ok := zoneNames()[strings.ToLower(name)]; {
	case !ok:
		return nil, fmt.Errorf(
			"unknown time zone %.64q: want an IANA name such as Europe/Zurich, or an offset like +02:00 of at most 18 hours",
			name,
		)
	case known != name:
		return nil, fmt.Errorf("unknown time zone %q: it is spelled %s", name, known)
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("time zone %s is not in this machine's tz database: %w", name, err)
	}
	return loc, nil
}

var offsetPattern = regexp.MustCompile(`^(?:UTC|GMT)?([+-])(?:(\d{1,2})|(\d{1,2}):([0-5]\d)|(\d\d)([0-5]\d))$`)

// readOffset parses an offset from UTC, and returns its seconds.
func readOffset(text string) (int, bool) {
	m := offsetPattern.FindStringSubmatch(strings.ToUpper(text))
	if m == nil {
		return 0, false
	}
	hours, _ := strconv.Atoi(m[2] + m[3] + m[5])  // Digits of one of them.
	minutes, _ := strconv.Atoi("0" + m[4] + m[6]) // Digits, or none.
	seconds := hours*3600 + minutes*60
	if m[1] == "-" {
		seconds = -seconds
	}
	return seconds, seconds <= 18*3600 && seconds >= -18*3600
}

func fixedName(seconds int) string {
	sign := '+'
	if seconds < 0 {
		sign, seconds = '-', -seconds
	}
	return fmt.Sprintf("%c%02d:%02d", sign, seconds/3600, seconds/60%60)
}
