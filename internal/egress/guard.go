package egress

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"time"
)

// dialing is the state of a connection being dialed.
type dialing struct {
	host, port string
	policy     Policy
	proxy      bool // The operator's proxy, which is exempt.
}

type dialingKey struct{}

// guard checks resolved addresses. Own has the machine's addresses, which may be public
// and still lead inward.
type guard struct {
	deny []netip.Prefix
	own  ownAddresses
}

// control is the dialer's control function: it runs for every address of
// every dial, after resolution and before connect.
func (g *guard) control(ctx context.Context, network, address string, _ syscall.RawConn) error {
	d, ok := ctx.Value(dialingKey{}).(dialing)
	if !ok {
		return refused(errAddress, "a connection without a request")
	}
	if network != "tcp4" && network != "tcp6" {
		return refused(errAddress, "only TCP is allowed")
	}
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return refused(errAddress, notAllowed)
	}
	if d.proxy {
		return nil
	}
	if !g.allows(at.Addr(), d) {
		return refused(errAddress, notAllowed)
	}
	return nil
}

func (g *guard) allows(addr netip.Addr, d dialing) bool {
	if d.policy.deniesAddr(addr) {
		return false
	}
	if named, _ := d.policy.allowsHost(d.host, d.port); named {
		return true
	}
	if d.policy.allowsAddr(addr) {
		return true
	}
	inner := unwrap(addr)
	denied := func(p netip.Prefix) bool { return p.Contains(inner) }
	return Public(addr) && !slices.ContainsFunc(g.deny, denied) && !g.own.contains(inner)
}

// ownAddresses caches the addresses of the machine's interfaces.
type ownAddresses struct {
	list func() ([]netip.Addr, error)

	mu    sync.Mutex
	addrs []netip.Addr
	read  time.Time
}

const ownAddressesAge = 10 * time.Second

// contains reports whether addr is one of the machine's own. If they cannot be read, the
// last known ones are used.
func (o *ownAddresses) contains(addr netip.Addr) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if time.Since(o.read) > ownAddressesAge {
		if addrs, err := o.list(); err == nil {
			o.addrs = addrs
		}
		o.read = time.Now()
	}
	return slices.Contains(o.addrs, addr)
}

func interfaceAddresses() ([]netip.Addr, error) {
	list, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	var out []netip.Addr
	for _, a := range list {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			out = append(out, p.Addr().Unmap())
		}
	}
	return out, nil
}
