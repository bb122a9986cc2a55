package runs

import (
	"sync"

	"github.com/toolcrib/toolcrib/agent"
)

// Subjects of what [Service.DispatchUntil] makes up for.
const (
	OverdueStart    = "start"    // A run that was recorded, and whose workflow had not been started.
	OverdueExpiry   = "expiry"   // A request that was not answered in time, and whose workflow did not end it.
	OverdueDelivery = "delivery" // A decision or result that its workflow had not been given.
	OverdueWake     = "wake"     // Messages of a space that had not woken an agent.
)

// OverdueStat is what this process found overdue of a subject, since it started.
type OverdueStat struct {
	Subject  string
	Found    int64 // Each time that it was found.
	Closed   int64 // Of that, what was made up for.
	Failures int64 // Rounds that failed.
}

// overdueStats are the statistics of a service. The zero value is ready to use.
type overdueStats struct {
	mu      sync.Mutex
	of      map[string]OverdueStat
	backlog agent.StartBacklog
}

// OverdueStats returns the statistics of every subject.
func (s *Service) OverdueStats() []OverdueStat {
	s.overdue.mu.Lock()
	defer s.overdue.mu.Unlock()
	var out []OverdueStat
	for _, subject := range []string{OverdueStart, OverdueExpiry, OverdueDelivery, OverdueWake} {
		stat := s.overdue.of[subject]
		stat.Subject = subject
		out = append(out, stat)
	}
	return out
}

// Backlog returns the starts that Temporal had not confirmed when [Service.Dispatch] looked last.
func (s *Service) Backlog() agent.StartBacklog {
	s.overdue.mu.Lock()
	defer s.overdue.mu.Unlock()
	return s.overdue.backlog
}

func (o *overdueStats) saw(b agent.StartBacklog) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.backlog = b
}

// count adds what a round over a subject found, and what of it was made up for.
func (o *overdueStats) count(subject string, found, closed int) {
	o.change(subject, func(stat *OverdueStat) {
		stat.Found += int64(found)
		stat.Closed += int64(closed)
	})
}

func (o *overdueStats) failed(subject string) {
	o.change(subject, func(stat *OverdueStat) { stat.Failures++ })
}

func (o *overdueStats) change(subject string, change func(*OverdueStat)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.of == nil {
		o.of = map[string]OverdueStat{}
	}
	stat := o.of[subject]
	change(&stat)
	o.of[subject] = stat
}
