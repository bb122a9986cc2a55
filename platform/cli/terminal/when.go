package terminal

import (
	"fmt"
	"time"
)

// ago says how long something is past, or how far ahead: what is more than a
// month away by its date.
func ago(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	apart := now.Sub(t)
	format := "%s ago"
	if apart < 0 {
		apart, format = -apart, "in %s"
	}
	switch {
	case apart < 5*time.Second:
		return "now"
	case apart < time.Minute:
		return fmt.Sprintf(format, fmt.Sprintf("%ds", apart/time.Second))
	case apart < time.Hour:
		return fmt.Sprintf(format, fmt.Sprintf("%dm", apart/time.Minute))
	case apart < 24*time.Hour:
		return fmt.Sprintf(format, fmt.Sprintf("%dh", apart/time.Hour))
	case apart < 30*24*time.Hour:
		return fmt.Sprintf(format, fmt.Sprintf("%dd", apart/(24*time.Hour)))
	default:
		return t.Local().Format(time.DateOnly)
	}
}

// Since says how long something is past.
func Since(t time.Time) string { return ago(t, time.Now()) }

// Until says how long it is until a time; one that is past is now.
func Until(t time.Time) string {
	now := time.Now()
	if t.Before(now) {
		t = now
	}
	return ago(t, now)
}

// SinceOf is [Since] of what may not have been.
func SinceOf(t *time.Time) string {
	if t == nil {
		return ""
	}
	return Since(*t)
}

// StampSince is a point in time with how long it is past.
func StampSince(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return Stamp(t) + " (" + Since(t) + ")"
}

// StampSinceOf is [StampSince] of what may not have been.
func StampSinceOf(t *time.Time) string {
	if t == nil {
		return ""
	}
	return StampSince(*t)
}
