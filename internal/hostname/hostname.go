// Package hostname defines the normal form and the comparison of hosts, for all lists of
// hosts: of tools, operators and secrets. It resolves nothing.
package hostname

import (
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/tool"
)

// Form returns the normal form of a host for comparisons: without surrounding spaces, ASCII
// letters in lower case. Other letters are unchanged: Unicode's lower case maps U+0130 to
// an ASCII i and U+212A to a k, so that a name would match that resolves differently.
func Form(host string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, strings.Trim(host, " \t\r\n"))
}

// Parse checks the spelling of a host in the form of [Form], without brackets, and returns
// its address if it is one. IPv4 addresses have four decimal numbers without leading
// zeros: other spellings that resolvers accept (0x7f.1, 017700000001, 2130706433, 127.1)
// and zones are refused.
//
// Names are ASCII. There is no unique conversion of other letters: Unicode's lower case,
// net/http and a registry convert İ, ẞ or a full-width letter to different names, and a
// credential could be sent to one that was allowed for another.
//
// It fails with a [*tool.Error]: Denied for ambiguous spellings, and Invalid for the rest.
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

// Split splits an entry of a list of hosts, "host:port", "[v6]:port", "v6" or "host", and
// returns its parts in the form of [Form], addresses in canonical form. port is empty where
// the entry has none.
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

// Matches reports whether a pattern matches a host, both in the form of [Form]: they are
// equal, or the pattern is "*.example.com" and the host is below example.com.
func Matches(pattern, host string) bool {
	if pattern == host {
		return true
	}
	below, ok := strings.CutPrefix(pattern, "*")
	return ok && strings.HasPrefix(below, ".") && strings.HasSuffix(host, below) && len(host) > len(below)
}

// ValidEntry reports whether an entry of a list of hosts is valid: a host or host:port in
// ASCII and, with wildcard, "*.example.com".
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
