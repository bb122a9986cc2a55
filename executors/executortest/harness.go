package executortest

import (
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Behaviour is what the thing behind an executor does with a call.
type Behaviour string

// Behaviours.
const (
	Answers      Behaviour = "answers"             // With any JSON value.
	SaysNo       Behaviour = "says no"             // For a reason that the caller can mend; the text holds [Reason].
	Refuses      Behaviour = "refuses"             // Our credential.
	Saturated    Behaviour = "is saturated"        // And asks to come back after [RetryAfter].
	Fails        Behaviour = "fails"               // On its own account, once it has the call.
	Unreachable  Behaviour = "is unreachable"      // Nothing ever gets there.
	BreaksOff    Behaviour = "breaks off"          // After it has the call.
	Hangs        Behaviour = "hangs"               // Until the call or the test ends.
	Overflows    Behaviour = "answers too much"    // Twice [MaxBytes] at least.
	QuotesSecret Behaviour = "quotes its secret"   // In an answer: [Secret], which the executor opened by secret.Open.
	NoSecret     Behaviour = "quotes it in a 'no'" // Likewise, in the answer "no".
	Panics       Behaviour = "panics"              // In the executor's process.
)

// What behaviours are about.
const (
	Reason     = "the order is closed"
	RetryAfter = 7 * time.Second
	MaxBytes   = 64 << 10
	Secret     = "s3cr3t-conformance-42"
)

// Subject is an executor with something behind it.
type Subject struct {
	Executor tool.Executor
	// Call makes a call that the executor can run, with the given effect id.
	// Each has memory of its own.
	Call func(effectID string) *tool.Call
	// Keys returns the idempotency keys that arrived, in order. Nil when the
	// type has no place for one.
	Keys func() []string
}

// Harness makes subjects.
type Harness struct {
	// New returns a subject with the given behaviour. What it starts, it stops
	// by t.Cleanup.
	New func(t *testing.T, b Behaviour) Subject
	// Lacks lists the behaviours that nothing behind this type can have, each
	// with the reason.
	Lacks map[Behaviour]string
	// Inside says that nothing of a call ever leaves the platform, whatever
	// becomes of it: no failure is one of a request that was sent.
	Inside bool
}

func (h Harness) subject(t *testing.T, b Behaviour) Subject {
	t.Helper()
	if reason, ok := h.Lacks[b]; ok {
		t.Skipf("nothing behind this type %s: %s", b, reason)
	}
	return h.New(t, b)
}
