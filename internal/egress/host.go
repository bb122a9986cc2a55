package egress

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// target is where a request goes, in the one spelling that policies and
// credentials are compared with, and that is dialed and sent.
type target struct {
	scheme string
	host   string // As [secret.HostForm] has it, without brackets.
	port   string // Always set.
	addr   netip.Addr
}

// origin returns what two requests of one origin have in common.
func (t target) origin() string { return t.scheme + "://" + t.host + ":" + t.port }

// hostport returns the host as it stands in a URL, with the port that u names.
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

// CheckURL reports whether u is a URL that a request may go to in principle:
// http or https, without user information, with a host in a canonical
// spelling. It does not resolve names. It fails with [tool.Invalid] or
// [tool.Denied].
func CheckURL(u *url.URL) error {
	_, err := targetOf(u)
	return err
}

func targetOf(u *url.URL) (target, error) {
	if u == nil {
		return target{}, invalid("the request has no URL")
	}
	t := target{scheme: strings.ToLower(u.Scheme), host: secret.HostForm(u.Hostname()), port: u.Port()}
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
	} else if n, err := strconv.ParseUint(t.port, 10, 16); err != nil || n == 0 || strconv.FormatUint(n, 10) != t.port {
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

// parseHost checks the spelling of a host and returns its address when it is
// one. IPv4 addresses have four decimal numbers without leading zeros: the
// other spellings that resolvers take for an address (0x7f.1, 017700000001,
// 2130706433, 127.1) are refused before anything is resolved, and so are
// zones.
//
// Names are ASCII. There is no one way to turn other letters into it: what
// Unicode's lower case, net/http and a registry make of İ, ẞ or a full-width
// letter are different names, and a credential could go to one by leave of
// another.
func parseHost(host string) (netip.Addr, error) {
	if !isASCII(host) {
		return netip.Addr{}, invalid("the URL's host is not written in ASCII: write its xn-- form")
	}
	if strings.ContainsRune(host, ':') {
		addr, err := netip.ParseAddr(host)
		if err != nil || addr.Zone() != "" {
			return netip.Addr{}, refused(errURL, "the URL's host is not a plain IPv6 address")
		}
		return addr, nil
	}
	name := strings.TrimSuffix(host, ".")
	if name == "" || len(name) > 253 {
		return netip.Addr{}, invalid("the URL has no usable host")
	}
	labels := strings.Split(name, ".")
	for _, label := range labels {
		if !validLabel(label) {
			return netip.Addr{}, refused(errURL, "the URL's host is not a host name")
		}
	}
	if !numeric(labels[len(labels)-1]) {
		return netip.Addr{}, nil
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Addr{}, refused(errURL, "the URL's host is an unusual spelling of an IPv4 address: write four decimal numbers")
	}
	return addr, nil
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func validLabel(label string) bool {
	return label != "" && len(label) <= 63 && strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

// numeric reports whether a label may be read as a number, as the last label
// of an address is.
func numeric(label string) bool {
	if digits, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(digits, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

func invalid(msg string) *tool.Error {
	return &tool.Error{Kind: tool.Invalid, Op: "egress", Msg: msg}
}
