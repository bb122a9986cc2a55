package store

import (
	"math"
	"time"

	"github.com/toolcrib/toolcrib/internal/uuid7"
	"github.com/toolcrib/toolcrib/tool"
)

// idTime returns the time that ids are compared with: to the millisecond, and
// not before 1970, which ids cannot represent. It is nil for the zero time.
func idTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	if epoch := time.Unix(0, 0); t.Before(epoch) {
		return &epoch
	}
	t = t.Truncate(time.Millisecond)
	return &t
}

// idOrNew returns id, or a new one if it is empty.
func idOrNew(id string) (string, error) {
	if id != "" {
		return id, nil
	}
	return uuid7.New()
}

// checkIDs refuses malformed ids. Empty ids are allowed.
func checkIDs(op string, ids ...string) error {
	for _, id := range ids {
		if id != "" && !tool.ValidID(id) {
			return notFound(op, "not found: an id is not a UUID in its canonical form")
		}
	}
	return nil
}

// number converts a count to its column's type.
func number(n int) int32 {
	return int32(max(math.MinInt32, min(n, math.MaxInt32)))
}

// Page sizes.
const (
	defaultLimit = 100
	maxLimit     = 1000
)

// pageSize returns how many rows a page may have: 100 for zero, 1000 at most.
func pageSize(limit int) int32 {
	if limit <= 0 {
		return defaultLimit
	}
	return number(min(limit, maxLimit))
}
