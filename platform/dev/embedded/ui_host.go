package embedded

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/labstack/echo/v4"
)

// onlyLocalNames refuses requests whose Host header names another host than
// this machine (DNS rebinding). A site that is open in the browser can have its
// own name resolve to this address: the browser then treats the UI as part of
// that site, and only the Host header shows it.
func onlyLocalNames(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if !localName(c.Request().Host) {
			return echo.NewHTTPError(http.StatusForbidden, "this address is reached as localhost only")
		}
		return next(c)
	}
}

// localName reports whether a Host header names this machine: localhost, a name
// below it, which no site can have, or a loopback address.
func localName(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && addr.Unmap().IsLoopback()
}
