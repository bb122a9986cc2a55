package egress

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Limits of every connection.
const (
	dialTimeout         = 10 * time.Second
	keepAlive           = 30 * time.Second
	tlsTimeout          = 10 * time.Second
	idleTimeout         = 60 * time.Second
	maxIdlePerHost      = 8
	maxIdle             = 32
	maxHeaderBytes      = 64 << 10
	expectContinueDelay = time.Second
)

// newTransport returns a transport whose connections pass the guard under policy. With
// once, every request has a connection of its own: net/http retries a request only when
// a reused connection breaks.
func (g *Gate) newTransport(policy Policy, once bool) *http.Transport {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	t := &http.Transport{
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			return g.dial(ctx, network, addr, policy)
		},
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: g.cfg.RootCAs},
		TLSHandshakeTimeout:    tlsTimeout,
		DisableKeepAlives:      once,
		MaxIdleConns:           maxIdle,
		MaxIdleConnsPerHost:    maxIdlePerHost,
		IdleConnTimeout:        idleTimeout,
		ExpectContinueTimeout:  expectContinueDelay,
		MaxResponseHeaderBytes: maxHeaderBytes,
		Protocols:              &protocols,
	}
	if g.cfg.Proxy != nil {
		t.Proxy = http.ProxyURL(g.cfg.Proxy)
	}
	return t
}

func (g *Gate) dial(ctx context.Context, network, addr string, policy Policy) (net.Conn, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("reading address to dial: %w", err)
	}
	d := dialing{host: host, port: port, policy: policy, proxy: addr == g.proxyAddr}
	if !d.proxy {
		// Check the host again as net/http has parsed it.
		if _, err := parseHost(host); err != nil {
			return nil, err
		}
	}
	dialer := net.Dialer{
		Timeout:        dialTimeout,
		KeepAlive:      keepAlive,
		Resolver:       g.cfg.Resolver,
		ControlContext: g.guard.control,
	}
	c, err := dialer.DialContext(context.WithValue(ctx, dialingKey{}, d), network, addr)
	if named, _ := policy.allowsHost(host, port); absent(err) && !named && !d.proxy {
		return nil, &tool.Error{Kind: tool.Denied, Op: "egress", Msg: notAllowed, Err: fmt.Errorf("%w: %w", errAddress, err)}
	}
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c}, nil
}
