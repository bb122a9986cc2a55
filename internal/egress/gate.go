package egress

import (
	"context"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Defaults of [Config].
const (
	DefaultUserAgent    = "toolcrib"
	DefaultTimeout      = 30 * time.Second
	DefaultMaxBytes     = 1 << 20
	DefaultMaxRedirects = 5
)

// Config configures a [Gate]. The zero Config reaches the public internet.
type Config struct {
	// Policy returns what an operator allows a tenant. It is asked at every
	// request and must be fast and safe for concurrent use. Defaults to
	// allowing nothing beyond the public internet.
	Policy func(tenant tool.TenantID) Policy
	// Deny lists further blocks that are not public: addresses of the internet
	// that lead back inside and that no interface of this machine has, such as
	// those of a load balancer or a NAT in front of the platform. A mapped or
	// NAT64 address is judged by the IPv4 address inside. What a tenant's
	// Policy allows, by name or by block, comes before it. Defaults to none.
	Deny []netip.Prefix
	// Proxy is an HTTP proxy that all requests go through. It then decides
	// about resolved names; only addresses that stand in the URL are judged
	// here. Defaults to none: the environment is never read.
	Proxy *url.URL
	// Resolver resolves names. Defaults to the system's.
	Resolver *net.Resolver
	// RootCAs are the authorities trusted over TLS. Defaults to the system's.
	RootCAs *x509.CertPool
	// UserAgent is sent where a request names none. Defaults to [DefaultUserAgent].
	UserAgent string
	// Timeout bounds a request of [Gate.Do] whose context has no deadline.
	// Defaults to [DefaultTimeout].
	Timeout time.Duration
	// MaxBytes bounds the body that [Gate.Do] reads, after decompression.
	// Defaults to [DefaultMaxBytes].
	MaxBytes int64
	// MaxRedirects is how many redirects are followed; negative for none.
	// Defaults to [DefaultMaxRedirects].
	MaxRedirects int
	// OwnAddresses lists the machine's addresses, which are never public.
	// Defaults to those of its interfaces.
	OwnAddresses func() ([]netip.Addr, error)
	// Transport is put around the transport of each request and redirect that
	// the guard lets out. It may add headers to the request, which is its own.
	// Defaults to nothing.
	Transport func(http.RoundTripper) http.RoundTripper
	// Refused is called for each refusal, with one of a few reasons: address,
	// class, credential, port, redirect, rules, size, url. May be nil.
	Refused func(ctx context.Context, reason string)
}

// Gate is the way out. It is safe for concurrent use; one serves a process.
type Gate struct {
	cfg       Config
	guard     *guard
	pool      pool
	proxyAddr string
}

// New returns a gate. The caller closes it.
func New(cfg Config) (*Gate, error) {
	if cfg.Policy == nil {
		cfg.Policy = func(tool.TenantID) Policy { return Policy{} }
	}
	if cfg.UserAgent == "" {
		cfg.UserAgent = DefaultUserAgent
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = DefaultTimeout
	}
	if cfg.MaxBytes <= 0 {
		cfg.MaxBytes = DefaultMaxBytes
	}
	if cfg.MaxRedirects == 0 {
		cfg.MaxRedirects = DefaultMaxRedirects
	}
	if cfg.OwnAddresses == nil {
		cfg.OwnAddresses = interfaceAddresses
	}
	g := &Gate{
		cfg:   cfg,
		guard: &guard{deny: cfg.Deny, own: ownAddresses{list: cfg.OwnAddresses}},
		pool:  pool{tenants: make(map[tool.TenantID]*lane)},
	}
	if cfg.Proxy != nil {
		if (cfg.Proxy.Scheme != "http" && cfg.Proxy.Scheme != "https") || cfg.Proxy.Hostname() == "" {
			return nil, fmt.Errorf("configuring egress: proxy %q: want http://host:port or https://host:port",
				cfg.Proxy.Redacted())
		}
		port := cfg.Proxy.Port()
		if port == "" {
			port = map[string]string{"http": "80", "https": "443"}[cfg.Proxy.Scheme]
		}
		g.proxyAddr = net.JoinHostPort(cfg.Proxy.Hostname(), port)
	}
	return g, nil
}

// Close closes idle connections. Requests under way go on.
func (g *Gate) Close() { g.pool.close() }

// Client returns an HTTP client for code that needs one, such as a provider's
// SDK. Every request and redirect it makes is decided like those of
// [Gate.Do]; bodies are bounded by the rules and by MaxBytes of the access
// alone, and end with a [*tool.Error] there. Its errors wrap a [*tool.Error]
// when a request was refused. Clients are cheap: make one per use.
func (g *Gate) Client(a Access) *http.Client {
	return client(&hop{gate: g, access: a, capped: true})
}

func client(hop *hop) *http.Client {
	return &http.Client{Transport: hop, CheckRedirect: hop.redirect}
}

// lane returns the transports of a tenant, and the policy they keep.
func (g *Gate) lane(tenant tool.TenantID) (*lane, Policy) {
	policy := g.cfg.Policy(tenant)
	l := g.pool.get(tenant, policy.key(), func() *lane {
		return &lane{pooled: g.newTransport(policy, false), once: g.newTransport(policy, true)}
	})
	return l, policy
}
