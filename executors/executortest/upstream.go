package executortest

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
)

// Upstream is a server over HTTP that behaves as a case of the suite wants.
type Upstream struct {
	behaviour Behaviour
	over      chan struct{}

	mu   sync.Mutex
	keys []string
}

// NewUpstream returns the upstream of a case, which ends with its test.
func NewUpstream(t *testing.T, b Behaviour) *Upstream {
	t.Helper()
	return &Upstream{behaviour: b, over: make(chan struct{})}
}

// Start serves requests with handler, and returns the server's address, host and
// port. Nothing listens there in the case [Unreachable].
func (u *Upstream) Start(t *testing.T, handler http.Handler) string {
	t.Helper()
	if u.behaviour == Unreachable {
		ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", "127.0.0.1:0")
		require.NoError(t, err)
		require.NoError(t, ln.Close())
		return ln.Addr().String()
	}
	srv := httptest.NewServer(handler)
	t.Cleanup(func() { close(u.over); srv.Close() })
	return srv.Listener.Addr().String()
}

// Fault records the idempotency key of a request, and handles the request in the
// cases that are the same for every protocol. It reports whether it has.
func (u *Upstream) Fault(w http.ResponseWriter, r *http.Request) bool {
	u.mu.Lock()
	u.keys = append(u.keys, r.Header.Get("Idempotency-Key"))
	u.mu.Unlock()
	if !slices.Contains([]Behaviour{Refuses, Saturated, Fails, BreaksOff, Hangs}, u.behaviour) {
		return false
	}
	// A server sees that a client leaves when it has read the request.
	_, _ = io.Copy(io.Discard, r.Body)
	switch u.behaviour { //nolint:exhaustive // The others depend on the protocol.
	case Refuses:
		w.WriteHeader(http.StatusForbidden)
	case Saturated:
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
	case Fails:
		w.WriteHeader(http.StatusInternalServerError)
	case BreaksOff:
		panic(http.ErrAbortHandler)
	case Hangs:
		select {
		case <-u.over:
		case <-r.Context().Done():
		}
	}
	return true
}

// Subject returns what the suite tests: executor, with calls of version.
func (u *Upstream) Subject(executor tool.Executor, version *tool.Version, arguments string) Subject {
	return Subject{
		Executor: executor,
		Call: func(effectID string) *tool.Call {
			return &tool.Call{
				CallIdentity: tool.CallIdentity{
					CallID: "call_1", EffectID: effectID, Principal: tool.Principal{Tenant: "t1"},
				},
				Attempt: 1, Egress: tool.EgressWrite, Version: version, Arguments: json.RawMessage(arguments),
			}
		},
		Keys: func() []string { u.mu.Lock(); defer u.mu.Unlock(); return slices.Clone(u.keys) },
	}
}
