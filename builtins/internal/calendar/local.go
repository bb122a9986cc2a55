package calendar

import (
	"slices"
	"time"
)

// Oddity is the effect of a clock change on a local time.
type Oddity int

// Oddities.
const (
	Plain Oddity = iota
	Gap          // Skipped by the clock: moved forward by the gap.
	Fold         // Ambiguous: the first is taken.
)

// Resolve returns the instant at which clocks in loc show the wall time of naive, whose own
// zone is ignored. A skipped time is moved forward by the length of the gap, so that 02:30
// becomes 03:30; for an ambiguous time, the first is taken. This is the behaviour of java.time
// and of Python's fold=0, and unlike that of [time.Date] it is specified.
func Resolve(naive time.Time, loc *time.Location) (time.Time, Oddity) {
	y, m, d := naive.Date()
	wall := time.Date(y, m, d, naive.Hour(), naive.Minute(), naive.Second(), naive.Nanosecond(), time.UTC)
	near := time.Date(y, m, d, naive.Hour(), naive.Minute(), naive.Second(), naive.Nanosecond(), loc)

	start, end := near.ZoneBounds()
	offsets := []time.Duration{offsetOf(near)}
	if !start.IsZero() {
		offsets = append(offsets, offsetOf(start.Add(-1)))
	}
	if !end.IsZero() {
		offsets = append(offsets, offsetOf(end))
	}
	var first time.Time
	matches := 0
	for i, offset := range offsets {
		at := wall.Add(-offset).In(loc)
		if offsetOf(at) != offset || slices.Contains(offsets[:i], offset) {
			continue
		}
		if matches++; matches == 1 || at.Before(first) {
			first = at
		}
	}
	switch matches {
	case 0:
		return afterGap(wall, start, end, loc), Gap
	case 1:
		return first, Plain
	default:
		return first, Fold
	}
}

// afterGap converts a skipped wall time by the offset before the transition that skipped it,
// which is start or end.
func afterGap(wall, start, end time.Time, loc *time.Location) time.Time {
	for _, transition := range []time.Time{start, end} {
		if transition.IsZero() {
			continue
		}
		before, after := offsetOf(transition.Add(-1)), offsetOf(transition)
		skippedFrom, skippedTo := transition.UTC().Add(before), transition.UTC().Add(after)
		if !wall.Before(skippedFrom) && wall.Before(skippedTo) {
			return wall.Add(-before).In(loc)
		}
	}
	return wall.Add(-offsetOf(start)).In(loc) // Unreachable: a skipped time has a transition.
}

func offsetOf(t time.Time) time.Duration {
	_, seconds := t.Zone()
	return time.Duration(seconds) * time.Second
}
