package tool

import "time"

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

// Taint is the first result of an untrusted source that a run got, by a call of its own or of a run
// above, below or before it. Nothing takes it from a run.
type Taint struct {
	RunID        string    `json:"run_id"` // Of the call.
	InvocationID string    `json:"invocation_id"`
	Tool         string    `json:"tool"` // Slug.
	Version      string    `json:"version"`
	Turn         int       `json:"turn"` // Of the tainted run: calls of later turns are affected. Zero where it began so.
	At           time.Time `json:"at"`
	// Rule is the tenant's, as it was read for a decision. It is not stored.
	Rule TaintRule `json:"rule,omitempty"`
}
