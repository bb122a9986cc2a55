package egress

import (
	"net/netip"
	"slices"
)

// Public reports whether an address is public: global unicast and in no special
// block. IPv6 forms of an IPv4 address (mapped, and NAT64's well-known prefix) are
// judged by the address inside. Forms in a special block (6to4, Teredo,
// IPv4-compatible, translated, local-use NAT64), ISATAP, and addresses with a zone
// are never public.
func Public(addr netip.Addr) bool {
	if !addr.IsValid() || addr.Zone() != "" {
		return false
	}
	addr = unwrap(addr)
	if addr.Is6() && (!globalUnicast6.Contains(addr) || isISATAP(addr)) {
		return false
	}
	return !slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// unwrap returns the IPv4 address inside a mapped or NAT64 address, and other
// addresses unchanged.
func unwrap(addr netip.Addr) netip.Addr {
	addr = addr.Unmap()
	if nat64.Contains(addr) {
		b := addr.As16()
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return addr
}

// isISATAP reports whether the interface id of addr is that of an intra-site
// tunnel, RFC 5214: it ends at an IPv4 address of the local site.
func isISATAP(addr netip.Addr) bool {
	b := addr.As16()
	return (b[8] == 0 || b[8] == 2) && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
}
