package sandbox

import (
	"math"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

const (
	// usageHalfLife is the half-life of a tenant's processor time.
	usageHalfLife = 10 * time.Second
	// heavyUse is the recent processor time of a tenant above which its programs run
	// at a lower priority.
	heavyUse = time.Second
	// lowestUse is the processor time below which an account is dropped.
	lowestUse = time.Millisecond
)

// account is a lane's state for a tenant, guarded by the lane's lock.
type account struct {
	tenant  tool.TenantID
	running map[*child]bool // Children at work that have started.
	places  int             // Of those at work and those about to start.
	waiting []*waiter       // The first is served first.
	used    time.Duration   // Processor time of ended runs, decayed until at.
	at      time.Time
}

// settled returns the decayed processor time of ended runs.
func (a *account) settled(now time.Time) time.Duration {
	if a.used == 0 {
		return 0
	}
	return time.Duration(float64(a.used) * math.Exp2(-float64(now.Sub(a.at))/float64(usageHalfLife)))
}

// usage returns the tenant's recent processor time, including running programs.
func (a *account) usage(now time.Time) time.Duration {
	sum := a.settled(now)
	for c := range a.running {
		sum += c.used()
	}
	return sum
}

// charge adds the processor time of a run that ended.
func (a *account) charge(now time.Time, used time.Duration) {
	a.used, a.at = a.settled(now)+used, now
}

// forgettable reports whether the account has no state worth keeping.
func (a *account) forgettable(now time.Time) bool {
	return a.places == 0 && len(a.waiting) == 0 && a.settled(now) < lowestUse
}
