package api

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// OnlyHosts refuses requests that reach the server by a name that is none of its own, with 421 and a problem: a site
// that is open in a browser can have its own name resolve to the server's address (DNS rebinding), and its pages are
// then pages of the server to that browser. The names of this machine itself are always among the server's: no site can
// have them. Ports do not matter. setting names what an operator changes to add a name.
//
// Probes of the process's health are let through: they use addresses, and learn nothing.
func OnlyHosts(names []string, setting string, next http.Handler) http.Handler {
	own := make(map[string]bool, len(names))
	for _, name := range names {
		own[hostname(name)] = true
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := hostname(r.Host)
		if own[name] || thisMachine(name) || r.URL.Path == "/healthz" || r.URL.Path == "/readyz" {
			next.ServeHTTP(w, r)
			return
		}
		writeProblem(w, r, refusal(v1.Misdirected, fmt.Sprintf(
			"the server is not reached as %q: open it by one of its own names, or name that one with %s",
			tool.Clip(name, 253), setting)))
	})
}

// hostname returns the name of a Host header or an address, without a port, as it is compared.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// thisMachine reports whether a name is localhost or a loopback address.
func thisMachine(name string) bool {
	addr, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && addr.Unmap().IsLoopback()
}
