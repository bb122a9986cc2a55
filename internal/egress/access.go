package egress

import (
	"net/http"
	"slices"

	"github.com/toolcrib/toolcrib/internal/hostname"
	"github.com/toolcrib/toolcrib/tool"
)

// Access is the principal of a request and its permissions. Requests for a tool's
// call take them from the call's admission: its Egress as Class and its EgressRules
// as Rules.
type Access struct {
	Tenant     tool.TenantID
	Class      tool.Egress      // None forbids requests; read_only allows GET, HEAD and OPTIONS.
	PostReads  bool             // Allows POST under read_only: the tool declares it read-only.
	Rules      tool.EgressRules // Restrict the class further; zero for no rules.
	Credential *Credential      // Added to the request; nil for none.
	// MaxBytes bounds the body of each response read by a client of
	// [Gate.Client], after decompression and over the whole of a stream. A longer
	// body ends with an error. Zero for the limits of Rules and of the tenant's
	// [Policy] alone. [Gate.Do] applies these too, and truncates.
	MaxBytes int64
}

// Handshake returns the access for requests that a protocol needs before a call,
// such as requesting a token, with another credential. They contain no part of the
// call. They may go to the same hosts, but the tool's class and methods do not apply,
// unless the class is none.
func (a Access) Handshake(c *Credential) Access {
	if a.Class == tool.EgressReadOnly {
		a.Class = tool.EgressWrite
	}
	a.Rules.Methods = nil
	a.Credential = c
	return a
}

// overrides are headers that make an upstream handle a request as another method.
var overrides = []string{"X-Http-Method-Override", "X-Http-Method", "X-Method-Override"}

// permits checks a hop, as far as possible before dialing.
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

// permitsMethod checks the class.
func (a Access) permitsMethod(method string, h http.Header) error {
	switch a.Class {
	case tool.EgressWrite:
		return nil
	case tool.EgressReadOnly:
		if !slices.Contains(hostname.ReadMethods(a.PostReads), method) {
			return drifted(a.Class, method, "the tool's egress class is read_only: it may send "+
				hostname.ReadMethodNames(a.PostReads)+" only; if it is meant to write, set its egress_class to write")
		}
		if name, ok := overridden(h); ok {
			return drifted(a.Class, name, "the tool's egress class is read_only: it may not send "+name+
				", which names another method; if it is meant to write, set its egress_class to write")
		}
		return nil
	case tool.EgressNone:
		return drifted(a.Class, method, "the tool's egress class is none: it may not call out; "+
			"where it is meant to, set its egress_class to read_only or write")
	default:
		return refused(errClass, "the tool has no egress class: it may not call out")
	}
}

// MayLeave refuses requests of a tool's call that leave the process without a client
// of this package, if the tool's egress class forbids them. What names the
// destination, such as "a model provider".
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

// overridden returns the header in h that overrides the method, if any.
func overridden(h http.Header) (string, bool) {
	for name := range h {
		if slices.Contains(overrides, http.CanonicalHeaderKey(name)) {
			return http.CanonicalHeaderKey(name), true
		}
	}
	return "", false
}
