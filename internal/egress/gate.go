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
	// Policy returns an operator's policy for a tenant. It is called for every
	// request and must be fast and safe for concurrent use. Defaults to the zero
	// Policy.
	Policy func(tenant tool.TenantID) Policy
	// Deny lists further blocks that are not public: internet addresses that lead
	// back inside, such as those of a load balancer or a NAT in front of the
	// platform. A mapped or NAT64 address is judged by the IPv4 address inside. A
	// tenant's Policy takes precedence. Defaults to none.
	Deny []netip.Prefix
	// Proxy is an HTTP proxy for all requests. It resolves names, so the guard only
	// checks addresses in URLs. Defaults to none: environment variables are
	// ignored.
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
	// MaxRedirects bounds the redirects followed; negative for none. Defaults to
	// [DefaultMaxRedirects].
	MaxRedirects int
	// OwnAddresses lists the machine's addresses, which are never public.
	// Defaults to those of its interfaces.
	OwnAddresses func() ([]netip.Addr, error)
	// Transport wraps the transport of each request and redirect that passed the
	// guard. It may add headers to the request. Defaults to none.
	Transport func(http.RoundTripper) http.RoundTripper
	// Refused is called for each refusal, with a reason: address, class,
	// credential, port, redirect, rules, size, url. May be nil.
	Refused func(ctx context.Context, reason string)
}

// Gate sends outgoing requests, one per process. It is safe for concurrent use.
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

// Close closes idle connections. Running requests continue.
func (g *Gate) Close() { g.pool.close() }

// Client returns an HTTP client for code that needs one, such as an SDK. Every request
// and redirect is checked like those of [Gate.Do]; bodies are bounded by the rules and
// by the access's MaxBytes alone, where they end with a [*tool.Error]. Its errors wrap
// a [*tool.Error] when a request was refused. Clients are cheap: make one per use.
func (g *Gate) Client(a Access) *http.Client {
	return client(&hop{gate: g, access: a, capped: true})
}

func client(hop *hop) *http.Client {
	return &http.Client{Transport: hop, CheckRedirect: hop.redirect}
}

// lane returns the transports of a tenant, and the policy they apply.
func (g *Gate) lane(tenant tool.TenantID) (*lane, Policy) {
	policy := g.cfg.Policy(tenant)
	l := g.pool.get(tenant, policy.key(), func() *lane {
		return &lane{pooled: g.newTransport(policy, false), once: g.newTransport(policy, true)}
	})
	return l, policy
}
