// Package appframe serves the page in which the console shows apps: HTML that MCP servers give for the results of
// their tools. The page has no origin, a policy of its own, and takes the HTML from the page around it alone.
package appframe

import (
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/hostname"
)

// maxDomains bounds the origins of each kind.
const maxDomains = 32

// Policy returns the Content-Security-Policy of an app that may connect to some origins, and load scripts, styles,
// fonts and media from others: as the specification of MCP Apps has it, without 'self', which is the platform here.
// Those that are no origins of https or wss are left out.
func Policy(connect, resource []string) string {
	connect, resource = origins(connect), origins(resource)
	list := func(directive string, keywords, from []string) string {
		all := slices.Concat(keywords, from)
		if len(all) == 0 {
			all = []string{"'none'"}
		}
		return directive + " " + strings.Join(all, " ")
	}
	inline, data := []string{"'unsafe-inline'"}, []string{"data:"}
	return strings.Join([]string{
		"default-src 'none'", list("script-src", inline, resource), list("style-src", inline, resource),
		list("img-src", data, resource), list("font-src", data, resource), list("media-src", data, resource),
		list("connect-src", nil, connect), "frame-src 'none'", "worker-src 'none'", "object-src 'none'",
		"base-uri 'none'", "form-action 'none'",
	}, "; ")
}

func origins(declared []string) []string {
	var out []string
	for _, d := range declared {
		if s, ok := hostname.ParseSource(d); ok && len(out) < maxDomains && !slices.Contains(out, s.String()) {
			out = append(out, s.String())
		}
	}
	return out
}
