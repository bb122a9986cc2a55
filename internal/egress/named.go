package egress

import (
	"slices"

	"github.com/toolcrib/toolcrib/internal/hostname"
	"github.com/toolcrib/toolcrib/tool"
)

// Names reports whether a list that allows the tenant hosts names that of a source: an operator's hosts, or the rules
// of the operator or of the tool. Browsers load from there for the tenant's people, past this guard; so a host is
// named or it is none, and being public is not enough. Where there are several lists of rules, each has to name it.
func (g *Gate) Names(tenant tool.TenantID, rules tool.EgressRules, s hostname.Source) bool {
	p := g.cfg.Policy(tenant)
	port := s.Port
	if port == "" {
		port = "443"
	}
	denied := slices.ContainsFunc(p.DenyHosts, func(entry string) bool {
		host, only := hostname.Split(entry)
		return (only == "" || only == port) && (hostname.Matches(host, s.Host) || hostname.Matches(s.Host, host))
	})
	if denied {
		return false
	}
	named, _ := p.allowsHost(s.Host, port)
	for _, list := range append(slices.Clip(p.Rules), rules) {
		if len(list.Hosts) == 0 {
			continue
		}
		if !slices.ContainsFunc(list.Hosts, func(entry string) bool {
			return covers(entry, target{scheme: "https", host: s.Host, port: port})
		}) {
			return false
		}
		named = true
	}
	return named && (port == "443" || p.allowsPort(s.Host, port))
}
