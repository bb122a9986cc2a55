// Package hostname defines how hosts are written and compared, in all lists of
// hosts: what a tool may call, what an operator allows, where a secret may be
// sent. It resolves nothing.
package hostname

import (
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/tool"
)

// Form returns a host in the normal form that hosts are compared in: without
// spaces around it, its ASCII letters in lower case. All other letters stay as
// they are: Unicode's lower case maps U+0130 to an ASCII i and U+212A to a k,
// so that a name would match that resolves differently when dialed.
func Form(host string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, strings.Trim(host, " \t\r\n"))
}

// Parse checks the spelling of a host in the form of [Form], without brackets,
// and returns its address when it is one. IPv4 addresses have four decimal
// numbers without leading zeros: the other spellings that resolvers take for an
// address (0x7f.1, 017700000001, 2130706433, 127.1) are refused before anything
// is resolved, and so are zones.
//
// Names are ASCII. There is no one way to turn other letters into it: what
// Unicode's lower case, net/http and a registry make of İ, ẞ or a full-width
// letter are different names, and a credential could go to one by leave of
// another.
//
// It fails with a [*tool.Error]: Denied for what may mean two things, and
// Invalid for the rest.
func Parse(host string) (netip.Addr, error) {
	if !isASCII(host) {
		return netip.Addr{}, fault(tool.Invalid, "the URL's host is not written in ASCII: write its xn-- form")
	}
	if strings.ContainsRune(host, ':') {
		addr, err := netip.ParseAddr(host)
		if err != nil || addr.Zone() != "" {
			return netip.Addr{}, fault(tool.Denied, "the URL's host is not a plain IPv6 address")
		}
		return addr, nil
	}
	name := strings.TrimSuffix(host, ".")
	if name == "" || len(name) > 253 {
		return netip.Addr{}, fault(tool.Invalid, "the URL has no usable host")
	}
	labels := strings.Split(name, ".")
	for _, label := range labels {
		if !validLabel(label) {
			return netip.Addr{}, fault(tool.Denied, "the URL's host is not a host name")
		}
	}
	if !numeric(labels[len(labels)-1]) {
		return netip.Addr{}, nil
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Addr{}, fault(
			tool.Denied, "the URL's host is an unusual spelling of an IPv4 address: write four decimal numbers",
		)
	}
	return addr, nil
}

// Split takes an entry of a list of hosts apart, "host:port", "[v6]:port", "v6"
// or "host", in the form of [Form] and with addresses as they are written best.
// port is empty where the entry names none.
func Split(entry string) (host, port string) {
	host = Form(entry)
	if rest, ok := strings.CutPrefix(host, "["); ok {
		host, port, _ = strings.Cut(rest, "]")
		port = strings.TrimPrefix(port, ":")
	} else if strings.Count(host, ":") == 1 {
		host, port, _ = strings.Cut(host, ":")
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		host = addr.String()
	}
	return host, port
}

// Matches reports whether pattern, both in the form of [Form], names a host: it
// is the same, or "*.example.com" and the host is below example.com.
func Matches(pattern, host string) bool {
	if pattern == host {
		return true
	}
	below, ok := strings.CutPrefix(pattern, "*")
	return ok && strings.HasPrefix(below, ".") && strings.HasSuffix(host, below) && len(host) > len(below)
}

// ValidEntry reports whether an entry of a list of hosts is one that something
// can match: a host or host:port in ASCII, "*.example.com" too where wildcards
// count.
func ValidEntry(entry string, wildcard bool) bool {
	host, port := Split(entry)
	if wildcard {
		if below, ok := strings.CutPrefix(host, "*."); ok {
			if addr, err := Parse(below); err == nil && addr.IsValid() {
				return false
			}
			host = below
		}
	}
	if _, err := Parse(host); err != nil || !isASCII(entry) || strings.HasSuffix(Form(entry), ":") {
		return false
	}
	return port == "" || ValidPort(port)
}

// ValidPort reports whether a port is written as a number from 1 to 65535.
func ValidPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0 && strconv.FormatUint(n, 10) == port
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

func fault(kind tool.Kind, msg string) *tool.Error {
	return &tool.Error{Kind: kind, Op: "hostname.Parse", Msg: msg}
}
