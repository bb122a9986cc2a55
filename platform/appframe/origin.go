package appframe

import (
	"net/http"
	"strings"
)

// Origin serves the page alone at a host, such as content.example.com:8443, and the rest at all others. The page is
// all there is of the platform at that host: no API, no console, no cookie.
func Origin(host string, o Options, rest http.Handler) http.Handler {
	page := Handler(o)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !strings.EqualFold(r.Host, host):
			rest.ServeHTTP(w, r)
		case r.URL.Path == Path:
			page.ServeHTTP(w, r)
		default:
			http.NotFound(w, r)
		}
	})
}
