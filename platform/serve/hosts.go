package serve

import (
	"net"
	"net/http"
	"net/url"

	"github.com/toolcrib/toolcrib/platform/api"
)

// Hosts says by which names a server is reached.
type Hosts struct {
	// Names are host names, without a port. With one, requests by any other are refused, wherever the server listens.
	Names []string
	// Own are addresses of the server, whose hosts are among the names. Empty ones are left out.
	Own []string
	// Setting is what an operator changes to add a name, for who is refused.
	Setting string
}

// Guard refuses requests by names that are none of the server's. Without names, that is so of a listener that this
// machine alone reaches: beyond it, what is in front of the server may use any name.
func (h Hosts) Guard(l net.Listener, handler http.Handler) http.Handler {
	if len(h.Names) == 0 && !Local(l) {
		return handler
	}
	names := append([]string{}, h.Names...)
	for _, own := range h.Own {
		if u, err := url.Parse(own); err == nil && u.Hostname() != "" {
			names = append(names, u.Hostname())
		}
	}
	return api.OnlyHosts(names, h.Setting, handler)
}
