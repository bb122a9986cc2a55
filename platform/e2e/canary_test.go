package e2e_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// canary is an upstream that records every request and its key. It is what
// says whether an effect happened once, twice or never.
type canary struct {
	*httptest.Server
	mu       sync.Mutex
	requests []string       // Idempotency keys, in order of arrival.
	effects  map[string]int // Effects by key: an idempotent upstream has one for each.
	inFlight int
	peak     int
	answer   func(n int, w http.ResponseWriter, r *http.Request) // Nil answers {"ok":true} after delay.
	delay    time.Duration
}

func newCanary(t *testing.T) *canary {
	t.Helper()
	c := &canary{effects: make(map[string]int)}
	c.Server = httptest.NewServer(http.HandlerFunc(c.serve))
	t.Cleanup(c.Close)
	return c
}

func (c *canary) serve(w http.ResponseWriter, r *http.Request) {
	key := r.Header.Get("Idempotency-Key")
	c.mu.Lock()
	c.requests = append(c.requests, key)
	n := len(c.requests)
	c.effects[key]++
	c.inFlight++
	c.peak = max(c.peak, c.inFlight)
	answer := c.answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.inFlight--
		c.mu.Unlock()
	}()
	if answer != nil {
		answer(n, w, r)
		return
	}
	select {
	case <-time.After(c.delay):
	case <-r.Context().Done():
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"ok":true,"request":%d}`, n)
}

// count returns how many requests came, and under how many different keys.
func (c *canary) count() (requests, keys int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.requests), len(c.effects)
}
