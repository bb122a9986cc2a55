package schedule

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// Bounds of times.
const (
	MaxCrons    = 10
	MinInterval = time.Minute
	MaxInterval = 366 * 24 * time.Hour
	MaxJitter   = 24 * time.Hour
)

// Times says when a schedule starts runs: by cron expressions in a time zone, or at an interval.
type Times struct {
	// Crons are cron expressions of five fields, as [CheckCron] takes them, or macros such as
	// "@daily". A time that several of them mean is one.
	Crons []string
	// Zone is the IANA time zone of the crons, such as "Europe/Berlin". Defaults to "UTC".
	Zone string

	// Every is an interval, instead of crons; zero for none. Times are its multiples since
	// 1970-01-01T00:00:00Z, plus Offset.
	Every, Offset time.Duration

	StartAt, EndAt *time.Time    // No time before, and none after, is meant. Nil for no bound.
	Jitter         time.Duration // Each start is delayed by a random time below this.
}

func (t *Times) check() error {
	t.Zone = cmp.Or(t.Zone, "UTC")
	switch {
	case len(t.Crons) == 0 && t.Every == 0:
		return invalid("/crons", "a schedule needs cron expressions, such as 0 9 * * mon-fri, or an interval in every_s")
	case len(t.Crons) > 0 && (t.Every != 0 || t.Offset != 0):
		return invalid("/every_s", "a schedule has cron expressions or an interval, not both: make two schedules")
	case len(t.Crons) > MaxCrons:
		return invalid("/crons", "a schedule has at most %d cron expressions", MaxCrons)
	}
	for i, cron := range t.Crons {
		if err := CheckCron(cron); err != nil {
			return invalid(fmt.Sprintf("/crons/%d", i), "%s", err)
		}
		t.Crons[i] = strings.Join(strings.Fields(cron), " ")
	}
	if err := checkZone(t.Zone); err != nil {
		return err
	}
	switch {
	case t.Every != 0 && (t.Every < MinInterval || t.Every > MaxInterval):
		return invalid("/every_s", "the interval is %d seconds: want %d to %d", int64(t.Every.Seconds()),
			int(MinInterval.Seconds()), int(MaxInterval.Seconds()))
	case t.Every%time.Second != 0 || t.Offset%time.Second != 0 || t.Jitter%time.Second != 0:
		return invalid("/every_s", "want whole seconds")
	case t.Offset < 0 || t.Every > 0 && t.Offset >= t.Every:
		return invalid("/offset_s", "the offset is less than the interval, and not negative")
	case t.Jitter < 0 || t.Jitter > MaxJitter:
		return invalid("/jitter_s", "want 0 to %d seconds", int(MaxJitter.Seconds()))
	case t.StartAt != nil && t.EndAt != nil && !t.EndAt.After(*t.StartAt):
		return invalid("/end_at", "the end is not after the start")
	}
	return nil
}

// checkZone refuses zones that are not in the IANA database. "Local" would be the server's.
func checkZone(zone string) error {
	if _, err := time.LoadLocation(zone); err != nil || strings.EqualFold(zone, "local") {
		return invalid("/time_zone", "%.80q is no time zone: want a name of the IANA database, such as Europe/Berlin or UTC",
			zone)
	}
	return nil
}
