package egress

import (
	"net/http"
	"slices"

	"github.com/toolcrib/toolcrib/internal/hostname"
	"github.com/toolcrib/toolcrib/tool"
)

// Access says for whom a request leaves and what it may do. Requests for a
// tool's call are made with what the call was admitted under: its Egress as
// Class and its EgressRules as Rules.
type Access struct {
	Tenant     tool.TenantID
	Class      tool.Egress      // None may not call at all; read_only may GET, HEAD and OPTIONS.
	PostReads  bool             // Under read_only, POST too: it is declared to change nothing.
	Rules      tool.EgressRules // Narrow the class; the zero value does not.
	Credential *Credential      // Added to the request; nil for none.
	// MaxBytes bounds each answer's body that a client of [Gate.Client] reads,
	// after decompression and over the whole of a stream. A body that is longer
	// ends with an error. Zero for the limits of Rules and of the tenant's
	// [Policy] alone. [Gate.Do] is bounded by these too, and cuts.
	MaxBytes int64
}

// Handshake returns the access for what a protocol must post before a call can
// be made, such as asking a token endpoint for a token, with another
// credential: nothing of the call leaves by it. It may go only where a may, but
// the class and methods of the tool say nothing about it, unless the class is
// none.
func (a Access) Handshake(c *Credential) Access {
	if a.Class == tool.EgressReadOnly {
		a.Class = tool.EgressWrite
	}
	a.Rules.Methods = nil
	a.Credential = c
	return a
}

// overrides are headers that make an upstream take a request for one of
// another method.
var overrides = []string{"X-Http-Method-Override", "X-Http-Method", "X-Method-Override"}

// permits decides what can be decided of a hop before it is dialed.
func (a Access) permits(method string, h http.Header, t target, p Policy) error {
	if err := a.permitsMethod(method, h); err != nil {
		return err
	}
	for _, rules := range append(slices.Clip(p.Rules), a.Rules) {
		if err := permitsRules(rules, method, h, t); err != nil {
			return err
		}
	}
	if !p.allowsPort(t.host, t.port) {
		return refused(errPort, "the destination's port is not allowed")
	}
	named, _ := p.allowsHost(t.host, t.port)
	if t.addr.IsValid() && !named && !p.allowsAddr(t.addr) && !Public(t.addr) {
		return refused(errAddress, notAllowed)
	}
	return nil
}

// permitsMethod decides by the class.
func (a Access) permitsMethod(method string, h http.Header) error {
	switch a.Class {
	case tool.EgressWrite:
		return nil
	case tool.EgressReadOnly:
		if !slices.Contains(hostname.ReadMethods(a.PostReads), method) {
			return drifted(a.Class, method, "the tool's egress class is read_only: it may send "+
				hostname.ReadMethodNames(a.PostReads)+" only; where it is meant to change something, set its egress_class to write")
		}
		if name, ok := overridden(h); ok {
			return drifted(a.Class, name, "the tool's egress class is read_only: it may not send "+name+
				", which names another method; where it is meant to change something, set its egress_class to write")
		}
		return nil
	case tool.EgressNone:
		return drifted(a.Class, method, "the tool's egress class is none: it may not call out; "+
			"where it is meant to, set its egress_class to read_only or write")
	default:
		return refused(errClass, "the tool has no egress class: it may not call out")
	}
}

// MayLeave refuses what would leave the process for a tool's call, other than by a
// client of this package, where its egress class allows no such thing: what says
// where it goes, such as "a model provider".
func MayLeave(class tool.Egress, what string) error {
	if class == tool.EgressReadOnly || class == tool.EgressWrite {
		return nil
	}
	return drifted(class, what, "the tool's egress class is none, and its arguments would go to "+what+
		"; where they are meant to, set its egress_class to read_only")
}

func drifted(class tool.Egress, attempted, msg string) *tool.Error {
	err := refused(errClass, msg)
	err.Err = &tool.DriftError{Declared: class, Attempted: shortMethod(attempted), Err: errClass}
	return err
}

// shortMethod truncates the method that a request named, for error messages.
func shortMethod(method string) string { return method[:min(len(method), 32)] }

// overridden returns the name of a header by which h asks for another method.
func overridden(h http.Header) (string, bool) {
	for name := range h {
		if slices.Contains(overrides, http.CanonicalHeaderKey(name)) {
			return http.CanonicalHeaderKey(name), true
		}
	}
	return "", false
}
