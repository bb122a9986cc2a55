package egress

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	"github.com/toolcrib/toolcrib/internal/hostname"
	"github.com/toolcrib/toolcrib/tool"
)

// Policy is what an operator allows a tenant beyond the public internet. The zero
// Policy allows nothing more.
type Policy struct {
	// AllowHosts lists hosts ("orders.internal", "10.0.0.7", "[fd12::7]") that may
	// have any address, optionally with the port ("orders:8080"). Names are ASCII,
	// and match exactly except for case; loopback needs this or AllowCIDRs.
	AllowHosts []string `json:"allow_hosts,omitempty"`
	// AllowCIDRs lists blocks of addresses that may be reached.
	AllowCIDRs []netip.Prefix `json:"allow_cidrs,omitempty"`
	// AllowPorts lists ports that are allowed besides 80 and 443, on any host.
	AllowPorts []uint16 `json:"allow_ports,omitempty"`
	// DenyHosts lists hosts ("ads.example", "*.internal.example", optionally with a
	// port) that are always refused.
	DenyHosts []string `json:"deny_hosts,omitempty"`
	// DenyCIDRs lists blocks of addresses that are always refused. A mapped or NAT64
	// address is judged by the IPv4 address inside. Behind a proxy, which resolves
	// names, they apply to addresses in URLs only.
	DenyCIDRs []netip.Prefix `json:"deny_cidrs,omitempty"`
	// Rules restrict each of the tenant's requests, in addition to the rules of an
	// [Access].
	Rules []tool.EgressRules `json:"rules,omitempty"`
}

// Check validates p. It fails with [tool.Invalid] and the JSON Pointer of the fault.
func (p Policy) Check() error {
	for i, entry := range p.AllowHosts {
		if !hostname.ValidEntry(entry, false) {
			return &tool.Error{
				Kind: tool.Invalid, Op: "egress.Policy", Path: fmt.Sprintf("/allow_hosts/%d", i),
				Msg: fmt.Sprintf("%q is not a host or host:port in ASCII", entry),
			}
		}
	}
	for i, entry := range p.DenyHosts {
		if !hostname.ValidEntry(entry, true) {
			return &tool.Error{
				Kind: tool.Invalid, Op: "egress.Policy", Path: fmt.Sprintf("/deny_hosts/%d", i),
				Msg: fmt.Sprintf("%q is not a host, host:port or *.host in ASCII", entry),
			}
		}
	}
	for name, prefixes := range map[string][]netip.Prefix{"allow_cidrs": p.AllowCIDRs, "deny_cidrs": p.DenyCIDRs} {
		for i, prefix := range prefixes {
			if !prefix.IsValid() {
				return &tool.Error{
					Kind: tool.Invalid, Op: "egress.Policy", Path: fmt.Sprintf("/%s/%d", name, i), Msg: "not a block of addresses",
				}
			}
		}
	}
	for i, rules := range p.Rules {
		if err := hostname.CheckRules(rules, "", false); err != nil {
			e := *tool.AsError(err)
			e.Path = fmt.Sprintf("/rules/%d%s", i, e.Path)
			return &e
		}
	}
	return nil
}

// deniesHost reports whether an operator denied the host of t.
func (p Policy) deniesHost(t target) bool {
	return slices.ContainsFunc(p.DenyHosts, func(entry string) bool { return covers(entry, t) })
}

// deniesAddr reports whether an operator denied an address.
func (p Policy) deniesAddr(addr netip.Addr) bool {
	inner := unwrap(addr)
	return slices.ContainsFunc(p.DenyCIDRs, func(block netip.Prefix) bool {
		return block.Contains(inner) || block.Contains(addr.Unmap())
	})
}

// allowsHost reports whether an operator allowed the host of t, and whether with its
// port.
func (p Policy) allowsHost(host, port string) (named, withPort bool) {
	for _, entry := range p.AllowHosts {
		h, onlyPort := hostname.Split(entry)
		if h != host || onlyPort != "" && onlyPort != port {
			continue
		}
		named = true
		withPort = withPort || onlyPort != ""
	}
	return named, withPort
}

func (p Policy) allowsPort(host, port string) bool {
	if port == "80" || port == "443" {
		return true
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err == nil && slices.Contains(p.AllowPorts, uint16(n)) {
		return true
	}
	_, withPort := p.allowsHost(host, port)
	return withPort
}

func (p Policy) allowsAddr(addr netip.Addr) bool {
	return slices.ContainsFunc(p.AllowCIDRs, func(c netip.Prefix) bool { return c.Contains(addr.Unmap()) })
}

// key identifies a policy, so that connections are not reused under another policy.
func (p Policy) key() string {
	raw, err := json.Marshal(p)
	if err != nil {
		return "invalid" // Unreachable: Check refuses policies that do not encode.
	}
	return string(raw)
}
