package chaos_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// upstream is what the tools reach. It keeps a record of every request.
type upstream struct {
	*httptest.Server

	mu       sync.Mutex
	requests map[string][]request // By idempotency key.
	total    int
	down     bool // Answers 503 to what may be repeated.
}

// request is a request as the upstream saw it.
type request struct{ slug, version string }

func newUpstream(t *testing.T) *upstream {
	t.Helper()
	u := &upstream{requests: make(map[string][]request)}
	u.Server = httptest.NewServer(http.HandlerFunc(u.serve))
	t.Cleanup(u.Close)
	return u
}

// setDown makes every request fail whose tool may repeat it.
func (u *upstream) setDown(down bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.down = down
}

// serve answers after a moment. At times it fails in a way that passes, and at
// times it resets the connection once the request is recorded, so that a call
// that must not be repeated ends unknown.
func (u *upstream) serve(w http.ResponseWriter, req *http.Request) {
	key, slug := req.Header.Get("Idempotency-Key"), strings.TrimPrefix(req.URL.Path, "/")
	u.mu.Lock()
	u.total++
	n, down := u.total, u.down
	u.requests[key] = append(u.requests[key], request{slug, req.URL.Query().Get("v")})
	u.mu.Unlock()
	select {
	case <-time.After(time.Duration(n%7) * 15 * time.Millisecond):
	case <-req.Context().Done():
		return
	}
	if n%17 == 0 {
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = conn.Close()
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	if slug != "sendIt" && (down || n%11 == 0) {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_, _ = fmt.Fprintf(w, `{"n":%d}`, n)
}

// received returns a copy of all requests by key, and their number.
func (u *upstream) received() (byKey map[string][]request, total int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	byKey = make(map[string][]request, len(u.requests))
	for key, of := range u.requests {
		byKey[key] = append([]request(nil), of...)
	}
	return byKey, u.total
}
