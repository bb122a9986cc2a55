package sandbox

import (
	"math"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

const (
	// usageHalfLife is how long it takes until half of a tenant's processor
	// time no longer counts.
	usageHalfLife = 10 * time.Second
	// heavyUse is the recent processor time of a tenant beyond which its
	// programs run at a lower priority than others'.
	heavyUse = time.Second
	// lowestUse is what is not worth remembering.
	lowestUse = time.Millisecond
)

// account is what a lane knows of a tenant. The lane's lock guards it.
type account struct {
	tenant  tool.TenantID
	running map[*child]bool // Children at work that have started.
	places  int             // Of those at work and those about to start.
	waiting []*waiter       // The first is served first.
	used    time.Duration   // Processor time of ended runs, decayed until at.
	at      time.Time
}

// settled returns what the runs that ended used, as of now.
func (a *account) settled(now time.Time) time.Duration {
	if a.used == 0 {
		return 0
	}
	return time.Duration(float64(a.used) * math.Exp2(-float64(now.Sub(a.at))/float64(usageHalfLife)))
}

// usage returns the tenant's recent processor time, with that of programs which
// run now.
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

// forgettable reports whether nothing of the account matters any more.
func (a *account) forgettable(now time.Time) bool {
	return a.places == 0 && len(a.waiting) == 0 && a.settled(now) < lowestUse
}
