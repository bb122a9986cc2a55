package egress

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/toolcrib/toolcrib/tool"
)

// notAllowed is the message for addresses that are refused, written or resolved, and for
// names that do not exist: callers must not learn which internal names exist. So a name
// that certainly does not exist is Denied like an internal one, and only failures to
// resolve, which may be temporary, are Unavailable.
const notAllowed = "the destination is not allowed, or its name does not exist"

// refusalError is the reason of a refusal, and its metric label.
type refusalError string

const (
	errAddress    refusalError = "address"    // It is not public, or its name does not exist.
	errClass      refusalError = "class"      // The tool's egress class does not allow it.
	errCredential refusalError = "credential" // The credential may not be sent there.
	errPort       refusalError = "port"
	errRedirect   refusalError = "redirect"
	errRules      refusalError = "rules" // The rules of the tool or the tenant do not allow it.
	errSize       refusalError = "size"  // The response is above its limit.
	errURL        refusalError = "url"   // The URL is ambiguous.
)

// Error implements the error interface: the reason is the cause of a refusal.
func (r refusalError) Error() string { return "refused for its " + string(r) }

func refused(why refusalError, msg string) *tool.Error {
	return &tool.Error{Kind: tool.Denied, Op: "egress", Msg: msg, Err: why}
}

// pointed adds the host or port to a refusal, and how to allow it. It is for the caller's
// own URL only: callers must not learn where redirects lead.
func (t target) pointed(err error) error {
	why, ok := errors.AsType[refusalError](err)
	if !ok || why != errAddress && why != errPort {
		return err
	}
	e := *tool.AsError(err)
	at := t.host
	if t.scheme == "https" && t.port != "443" || t.scheme != "https" && t.port != "80" {
		at = net.JoinHostPort(t.host, t.port)
	}
	switch {
	case why != errPort:
		e.Msg = fmt.Sprintf("%s: %s. An operator lets tools reach a host that is not public with --allow-host %s", notAllowed,
			t.host, at)
	case t.addr.IsValid() && !t.addr.Unmap().IsPrivate() && t.addr.IsGlobalUnicast():
		e.Msg = fmt.Sprintf("port %s of %s is not allowed: an operator allows it with --allow-port %s", t.port, t.host,
			t.port)
	case t.addr.IsValid() || t.host == "localhost":
		e.Msg = fmt.Sprintf("%s is not allowed: an operator allows this host and port with --allow-host %s", at, at)
	default:
		e.Msg = fmt.Sprintf("port %s of %s is not allowed: an operator allows it with --allow-port %s, or, where the host "+
			"is not public, both with --allow-host %s", t.port, t.host, t.port, at)
	}
	return &e
}

// tell reports a refusal to [Config].Refused.
func (g *Gate) tell(ctx context.Context, err error) {
	if why, ok := errors.AsType[refusalError](err); ok && g.cfg.Refused != nil {
		g.cfg.Refused(ctx, string(why))
	}
}

// absent reports whether a name server reported that a name does not exist.
func absent(err error) bool {
	e, ok := errors.AsType[*net.DNSError](err)
	return ok && e.IsNotFound
}
