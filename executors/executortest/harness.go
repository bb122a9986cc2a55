package executortest

import (
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Behaviour is how the backend of an executor handles a call.
type Behaviour string

// Behaviours.
const (
	Answers      Behaviour = "answers"             // With any JSON value.
	SaysNo       Behaviour = "says no"             // For a reason that the caller can fix; the text holds [Reason].
	Refuses      Behaviour = "refuses"             // Our credential.
	Saturated    Behaviour = "is saturated"        // Retry after [RetryAfter].
	Fails        Behaviour = "fails"               // After it received the call.
	Unreachable  Behaviour = "is unreachable"      // The connection fails.
	BreaksOff    Behaviour = "breaks off"          // The connection drops after it received the call.
	Hangs        Behaviour = "hangs"               // Until the call or the test ends.
	Overflows    Behaviour = "answers too much"    // At least twice [MaxBytes].
	QuotesSecret Behaviour = "quotes its secret"   // In an answer: [Secret], which the executor opened by secret.Open.
	NoSecret     Behaviour = "quotes it in a 'no'" // Likewise, in the answer "no".
	Panics       Behaviour = "panics"              // In the executor's process.
)

// Values used by the behaviours.
const (
	Reason     = "the order is closed"
	RetryAfter = 7 * time.Second
	MaxBytes   = 64 << 10
	Secret     = "s3cr3t-conformance-42"
)

// Subject is an executor with its backend.
type Subject struct {
	Executor tool.Executor
	// Call makes a call that the executor can run, with the given effect id.
	// Calls share no memory.
	Call func(effectID string) *tool.Call
	// Keys returns the idempotency keys received, in order. Nil when the type
	// sends none.
	Keys func() []string
}

// Harness makes subjects.
type Harness struct {
	// New returns a subject with the given behaviour, and cleans up by
	// t.Cleanup.
	New func(t *testing.T, b Behaviour) Subject
	// Lacks lists the behaviours that the backend of this type cannot show, each
	// with the reason.
	Lacks map[Behaviour]string
	// Inside means that calls have no effects outside the platform: no failure
	// has Sent set.
	Inside bool
}

func (h Harness) subject(t *testing.T, b Behaviour) Subject {
	t.Helper()
	if reason, ok := h.Lacks[b]; ok {
		t.Skipf("no backend of this type %s: %s", b, reason)
	}
	return h.New(t, b)
}
