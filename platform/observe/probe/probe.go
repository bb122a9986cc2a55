// Package probe checks the dependencies of a process, for health and readiness
// checks. Its report holds no address, no name and no error text: it is served
// without authentication.
package probe

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"go.temporal.io/sdk/client"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/store"
)

const (
	timeout = 3 * time.Second
	// fresh is how long a finding is repeated instead of looking again, however
	// many ask.
	fresh = time.Second
)

// Check is the check of one dependency.
type Check struct {
	Name string
	// Look fails if the dependency does not work.
	Look func(ctx context.Context) error
	// Fault is the reported state after a failure, such as "not answering".
	Fault string
}

// Database checks a store: its connection, its schema, and whether it accepts
// writes.
func Database(s *store.Store) []Check {
	return []Check{
		{Name: "database", Look: s.Ping, Fault: "not answering"},
		{Name: "schema", Look: s.CheckSchema, Fault: "older than this binary, or not readable"},
		{Name: "writes", Look: s.CheckWrites, Fault: "refused or not answering"},
	}
}

// Temporal checks a client's server.
func Temporal(c client.Client) Check {
	return Check{Name: "temporal", Fault: "not answering", Look: func(ctx context.Context) error {
		_, err := c.CheckHealth(ctx, &client.CheckHealthRequest{})
		return err
	}}
}

// Prober runs checks, and records since when each has had the same state. It is
// safe for concurrent use.
type Prober struct {
	checks []Check

	mu     sync.Mutex
	looked time.Time
	found  []finding
}

// finding is the state that a check found, and since when.
type finding struct {
	state string
	since time.Time
}

const ok = "ok"

// New returns a prober of the given checks.
func New(checks ...Check) *Prober {
	return &Prober{checks: checks, found: make([]finding, len(checks))}
}

// Ready runs the checks concurrently, or returns the cached findings.
func (p *Prober) Ready(ctx context.Context) v1.Health {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); now.Sub(p.looked) >= fresh {
		p.look(ctx)
		p.looked = time.Now()
	}
	out := v1.Health{Status: ok, Checks: make(map[string]v1.Check, len(p.checks))}
	for i, c := range p.checks {
		if p.found[i].state != ok {
			out.Status = "unavailable"
		}
		out.Checks[c.Name] = v1.Check{State: p.found[i].state, AgeS: time.Since(p.found[i].since).Seconds()}
	}
	return out
}

// look runs the checks. They continue for other callers when one is cancelled.
func (p *Prober) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	var wg sync.WaitGroup
	for i, c := range p.checks {
		wg.Go(func() {
			state := ok
			if c.Look(ctx) != nil {
				state = c.Fault
			}
			if p.found[i].state != state {
				p.found[i] = finding{state: state, since: time.Now()}
			}
		})
	}
	wg.Wait()
}

// StatusOf returns the HTTP status for a result.
func StatusOf(h v1.Health) int {
	if h.Status == ok {
		return http.StatusOK
	}
	return http.StatusServiceUnavailable
}

// RetryAfter returns the header Retry-After for a result, in seconds; empty for
// none.
func RetryAfter(h v1.Health) string {
	if h.Status == ok {
		return ""
	}
	return "1" // The time for which a finding is cached.
}

// Alive answers that the process runs.
func Alive() v1.Health { return v1.Health{Status: ok} }

// Register serves /healthz and /readyz, for processes that have no API.
func (p *Prober) Register(mux *http.ServeMux) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { write(w, Alive()) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) { write(w, p.Ready(r.Context())) })
}

func write(w http.ResponseWriter, h v1.Health) {
	w.Header().Set("Content-Type", "application/json")
	if after := RetryAfter(h); after != "" {
		w.Header().Set("Retry-After", after)
	}
	w.WriteHeader(StatusOf(h))
	_ = json.NewEncoder(w).Encode(h) // An error cannot be reported any more.
}
