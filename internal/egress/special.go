package egress

import "net/netip"

// special lists the blocks that need an operator's permission: IANA's special-purpose
// registries for IPv4 and IPv6 (RFC 6890 and its successors), and addresses of cloud
// metadata services.
var special = parsePrefixes(
	"0.0.0.0/8",         // This network, RFC 791.
	"10.0.0.0/8",        // Private, RFC 1918.
	"100.64.0.0/10",     // Carrier-grade NAT, RFC 6598; a cloud's metadata at 100.100.100.200.
	"127.0.0.0/8",       // Loopback, RFC 1122.
	"168.63.129.16/32",  // Azure's platform services.
	"169.254.0.0/16",    // Link-local, RFC 3927; most clouds' metadata.
	"172.16.0.0/12",     // Private, RFC 1918.
	"192.0.0.0/24",      // IETF protocol assignments, RFC 6890.
	"192.0.2.0/24",      // Documentation, RFC 5737.
	"192.31.196.0/24",   // AS112, RFC 7535.
	"192.52.193.0/24",   // Automatic multicast tunneling, RFC 7450.
	"192.88.99.0/24",    // 6to4 relays, deprecated by RFC 7526.
	"192.168.0.0/16",    // Private, RFC 1918.
	"192.175.48.0/24",   // AS112, RFC 7534.
	"198.18.0.0/15",     // Benchmarks, RFC 2544.
	"198.51.100.0/24",   // Documentation, RFC 5737.
	"203.0.113.0/24",    // Documentation, RFC 5737.
	"224.0.0.0/4",       // Multicast, RFC 5771.
	"240.0.0.0/4",       // Reserved, RFC 1112; limited broadcast, RFC 919.
	"2001::/23",         // IETF protocol assignments, RFC 2928; Teredo, ORCHID, benchmarks.
	"2001:db8::/32",     // Documentation, RFC 3849.
	"2002::/16",         // 6to4, RFC 3056.
	"2620:4f:8000::/48", // AS112, RFC 7534.
	"3ffe::/16",         // The former 6bone, returned by RFC 3701.
	"3fff::/20",         // Documentation, RFC 9637.
	"fd00:ec2::/32",     // Amazon's instance metadata; outside 2000::/3 in any case.
	"fd20:ce::/32",      // Google's instance metadata; likewise.
	"64:ff9b:1::/48",    // Local-use NAT64, RFC 8215: hides an address of the network's own.
)

var (
	globalUnicast6 = netip.MustParsePrefix("2000::/3")     // RFC 4291, as far as IANA has allocated.
	nat64          = netip.MustParsePrefix("64:ff9b::/96") // Well-known NAT64 prefix, RFC 6052.
)

func parsePrefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, 0, len(list))
	for _, s := range list {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}
