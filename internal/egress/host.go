package egress

import (
	"net/netip"
	"net/url"
	"strings"

	"github.com/toolcrib/toolcrib/internal/hostname"
	"github.com/toolcrib/toolcrib/tool"
)

// target is the destination of a request, in the normal form that is compared with
// policies and credentials, and that is dialed and sent.
type target struct {
	scheme string
	host   string // In the form of [hostname.Form], without brackets.
	port   string // Always set.
	addr   netip.Addr
}

// origin returns the scheme, host and port.
func (t target) origin() string { return t.scheme + "://" + t.host + ":" + t.port }

// hostport returns the host as written in a URL, with u's port.
func (t target) hostport(u *url.URL) string {
	host := t.host
	if strings.ContainsRune(host, ':') {
		host = "[" + host + "]"
	}
	if u.Port() != "" {
		host += ":" + t.port
	}
	return host
}

// CheckURL checks whether a request may be sent to u in principle: http or https,
// without user information, with a host in canonical spelling. It does not resolve
// names. It fails with [tool.Invalid] or [tool.Denied].
func CheckURL(u *url.URL) error {
	_, err := targetOf(u)
	return err
}

func targetOf(u *url.URL) (target, error) {
	if u == nil {
		return target{}, invalid("the request has no URL")
	}
	t := target{scheme: strings.ToLower(u.Scheme), host: hostname.Form(u.Hostname()), port: u.Port()}
	switch {
	case t.scheme != "http" && t.scheme != "https":
		return target{}, refused(errURL, "only http and https URLs may be called")
	case u.Opaque != "":
		return target{}, invalid("the URL has no // before its host")
	case u.User != nil:
		return target{}, refused(errURL, "a URL may not carry a user name or password")
	}
	if t.port == "" {
		t.port = map[string]string{"http": "80", "https": "443"}[t.scheme]
	} else if !hostname.ValidPort(t.port) {
		return target{}, invalid("the URL's port is not a number from 1 to 65535")
	}
	addr, err := parseHost(t.host)
	if err != nil {
		return target{}, err
	}
	t.addr = addr
	if addr.IsValid() {
		t.host = addr.String()
	}
	return t, nil
}

// parseHost is [hostname.Parse] with a refusal as its error.
func parseHost(host string) (netip.Addr, error) {
	addr, err := hostname.Parse(host)
	if err == nil {
		return addr, nil
	}
	e := tool.AsError(err)
	if e.Kind == tool.Denied {
		return netip.Addr{}, refused(errURL, e.Msg)
	}
	return netip.Addr{}, invalid(e.Msg)
}

func invalid(msg string) *tool.Error {
	return &tool.Error{Kind: tool.Invalid, Op: "egress", Msg: msg}
}
