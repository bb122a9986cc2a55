package markdown

import (
	"net/url"
	"strings"

	"golang.org/x/net/idna"
)

// Address returns the address of a link, and where it goes to; false for one that is not a link's: anything
// but http, https and mailto, and what has a name of a user in it, which looks like another host.
func Address(raw string) (address, host string, ok bool) {
	if len(raw) > maxURL || strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\\' }) {
		return "", "", false
	}
	u, err := url.Parse(raw)
	if err != nil || u.User != nil {
		return "", "", false
	}
	switch u.Scheme {
	case "mailto":
		_, host, found := strings.Cut(u.Opaque, "@")
		if !found || host == "" || strings.ContainsAny(host, "@/<>\"") {
			return "", "", false
		}
		return u.String(), host, true
	case "http", "https":
		host, err := idna.Lookup.ToASCII(u.Hostname())
		if err != nil || host == "" {
			return "", "", false
		}
		if port := u.Port(); port != "" {
			u.Host, host = host+":"+port, host+":"+port
		} else {
			u.Host = host
		}
		return u.String(), host, true
	default:
		return "", "", false
	}
}
