package mcpserver

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// CheckPlace fails for a request of a page that may not call the server. Browsers say which page a request
// comes from; programs do not. origins are those of pages that may, beside the server's own. A server that
// listens on this machine alone is not its own by just any name: a page can have its name point here (DNS
// rebinding). public is the address by which people reach the server; empty for none.
func CheckPlace(r *http.Request, origins []string, public string) error {
	sent, name := r.Header.Get("Origin"), hostOf(public)
	if sent == "" && r.Header.Get("Sec-Fetch-Site") == "" || slices.Contains(origins, sent) {
		return nil
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	ours := strings.EqualFold(r.Host, name) || local == nil || !loopback(local.String()) || loopback(r.Host)
	page := hostOf(sent)
	if ours && (sent == "" || page != "" && (strings.EqualFold(page, r.Host) || strings.EqualFold(page, name))) {
		return nil
	}
	return fmt.Errorf("pages of the origin %q may not call this server as %q: an operator allows origins", sent, r.Host)
}

// hostOf returns host and port of a URL; empty where it is none.
func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Host
}

// loopback reports whether an address, with or without a port, is this machine's own.
func loopback(address string) bool {
	host := address
	if h, _, err := net.SplitHostPort(address); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
