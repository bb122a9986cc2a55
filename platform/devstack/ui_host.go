package devstack

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/labstack/echo/v4"
)

// onlyLocalNames refuses requests that name another host than this machine. A
// site that is open in the browser can have its own name lead here: then the
// browser takes the UI for a part of that site, and only the name tells.
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
