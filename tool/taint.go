package tool

import (
	"fmt"
	"time"
)

// Trust says whether what a tool answers may be acted upon as if its caller had said it.
type Trust string

// Values of [Execution].Trust. Empty means the default of the implementation type.
const (
	Trusted   Trust = "trusted"
	Untrusted Trust = "untrusted" // Others write it: web pages, mail, answers of foreign servers.
)

// Valid reports whether t is one of the values, or empty.
func (t Trust) Valid() bool { return t == "" || t == Trusted || t == Untrusted }

// TaintRule is what a tenant wants done with calls of tainted runs that write outside or use a
// credential.
type TaintRule string

// Rules. They are stored: never rename one.
const (
	TaintOff     TaintRule = "off"
	TaintApprove TaintRule = "approve" // A person approves each. The default of new tenants.
	TaintDeny    TaintRule = "deny"
)

// TaintRules returns all of them, from the mildest to the strictest.
func TaintRules() []TaintRule { return []TaintRule{TaintOff, TaintApprove, TaintDeny} }

// TaintSource says what taints a run. It is stored: never rename one.
type TaintSource string

// Sources. Empty is the result of a call.
const (
	// ByLink is what a visitor of a link wrote: the call that they submitted, which begins the run or one above it, or
	// their answer to a call.
	ByLink TaintSource = "link"
)

// Taint is the first that a run got of an untrusted source, by a call of its own or of a run
// above, below or before it. Nothing takes it from a run.
type Taint struct {
	Source       TaintSource `json:"source,omitempty"`
	RunID        string      `json:"run_id"` // Of the call.
	InvocationID string      `json:"invocation_id"`
	Tool         string      `json:"tool"` // Slug.
	Version      string      `json:"version"`
	Turn         int         `json:"turn"` // Of the tainted run: calls of later turns are affected. Zero where it began so.
	At           time.Time   `json:"at"`
	// Rule is the tenant's, as it was read for a decision. It is not stored.
	Rule TaintRule `json:"rule,omitempty"`
}

// String says what the run has: an untrusted result, or what a visitor of a link wrote.
func (t *Taint) String() string {
	what := "an untrusted result, of"
	if t.Source == ByLink {
		what = "a submission by link, to"
	}
	return fmt.Sprintf("%s %s@%s (call %s, %s)", what, t.Tool, t.Version, t.InvocationID, t.At.UTC().Format(time.RFC3339))
}
