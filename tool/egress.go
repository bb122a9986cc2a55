package tool

import (
	"fmt"
	"slices"
)

// EgressRules restrict the requests of a tool's calls, within its class and what the operator
// allows. They never allow more. They are authority, like the rest of a [Policy], and never
// pinned.
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

// IsZero reports whether r has no restrictions.
func (r EgressRules) IsZero() bool {
	return len(r.Hosts) == 0 && len(r.Methods) == 0 && len(r.Ports) == 0 && r.MaxBytes == 0
}

// AllowsMethod reports whether r allows a method, in upper case.
func (r EgressRules) AllowsMethod(method string) bool {
	return len(r.Methods) == 0 || slices.Contains(r.Methods, method)
}

// AllowsPort reports whether r allows a port.
func (r EgressRules) AllowsPort(port uint16) bool {
	return len(r.Ports) == 0 || slices.Contains(r.Ports, port)
}

// Bound returns the smaller of limit and r's own, where zero is none.
func (r EgressRules) Bound(limit int64) int64 {
	if limit <= 0 || r.MaxBytes > 0 && r.MaxBytes < limit {
		return r.MaxBytes
	}
	return limit
}

// DriftError is the cause of an [Error] for a call that exceeds its tool's declared egress
// class: the definition has drifted. Find it with [errors.As].
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
