package egress

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/toolcrib/toolcrib/internal/hostname"
	"github.com/toolcrib/toolcrib/tool"
)

// permitsRules checks egress rules.
func permitsRules(r tool.EgressRules, method string, h http.Header, t target) error {
	if len(r.Methods) > 0 {
		if !r.AllowsMethod(method) {
			return refused(errRules, "the egress rules do not allow this method")
		}
		if name, ok := overridden(h); ok {
			return refused(errRules, "the egress rules list methods: the request must not send "+name+", which names another")
		}
	}
	port, err := strconv.ParseUint(t.port, 10, 16)
	if err != nil || !r.AllowsPort(uint16(port)) {
		return refused(errRules, "the egress rules do not allow this port")
	}
	if len(r.Hosts) > 0 && !slices.ContainsFunc(r.Hosts, func(entry string) bool { return covers(entry, t) }) {
		return refused(errRules, "the egress rules do not allow this host")
	}
	return nil
}

// covers reports whether an entry of a rule's hosts matches t.
func covers(entry string, t target) bool {
	host, port := hostname.Split(entry)
	return (port == "" || port == t.port) && hostname.Matches(host, t.host)
}

// bound returns the smallest of limit and the rules' limits on responses; zero for no
// limit.
func (a Access) bound(limit int64, p Policy) int64 {
	for _, rules := range p.Rules {
		limit = rules.Bound(limit)
	}
	return a.Rules.Bound(tool.EgressRules{MaxBytes: a.MaxBytes}.Bound(limit))
}
