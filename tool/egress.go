package tool

import (
	"fmt"
	"slices"
)

// EgressRules narrow where the calls of a tool may go, within its class and
// what the operator allows: they never open anything. The zero value narrows
// nothing. They are authority, like the rest of a [Policy], and never pinned.
type EgressRules struct {
	// Hosts are the only ones that may be called, redirects included: names or
	// addresses, exactly or "*.example.com" for all names below one,
	// optionally with ":port". International names are in their xn-- form.
	// Empty for all.
	Hosts []string `json:"hosts,omitempty"`
	// Methods are the only ones that may be sent, in upper case. Empty for all
	// that the class allows.
	Methods []string `json:"methods,omitempty"`
	// Ports are the only ones that may be called. Empty for all that the
	// operator allows.
	Ports []uint16 `json:"ports,omitempty"`
	// MaxBytes bounds an answer's body after decompression; zero for the
	// limits of executor and operator alone.
	MaxBytes int64 `json:"max_bytes,omitempty"`
}

// IsZero reports whether r narrows nothing.
func (r EgressRules) IsZero() bool {
	return len(r.Hosts) == 0 && len(r.Methods) == 0 && len(r.Ports) == 0 && r.MaxBytes == 0
}

// AllowsMethod reports whether r lets a method pass, spelled as it is sent.
func (r EgressRules) AllowsMethod(method string) bool {
	return len(r.Methods) == 0 || slices.Contains(r.Methods, method)
}

// AllowsPort reports whether r lets calls to a port pass.
func (r EgressRules) AllowsPort(port uint16) bool {
	return len(r.Ports) == 0 || slices.Contains(r.Ports, port)
}

// Bound returns the lesser of limit and r's own, where zero is none.
func (r EgressRules) Bound(limit int64) int64 {
	if limit <= 0 || r.MaxBytes > 0 && r.MaxBytes < limit {
		return r.MaxBytes
	}
	return limit
}

// DriftError is the cause of an [Error] that refused a call because it would
// have done more than its tool declares: the definition has drifted from its
// declared egress class. Find it with [errors.As].
type DriftError struct {
	Declared  Egress
	Attempted string // Such as a method, "POST".
	Err       error  // Why it was refused; may be nil.
}

// Error implements the error interface.
func (e *DriftError) Error() string {
	return fmt.Sprintf("egress drift: declared %s, attempted %s", e.Declared, e.Attempted)
}

// Unwrap returns why it was refused.
func (e *DriftError) Unwrap() error { return e.Err }
