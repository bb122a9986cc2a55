package pgproxy

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"sync"
)

// Proxy forwards connections to one PostgreSQL server. Its methods may be
// called concurrently.
type Proxy struct {
	listener net.Listener
	wg       sync.WaitGroup

	mu      sync.Mutex
	target  string
	refuse  bool
	flowing chan struct{} // Closed while data flows; replaced by an open one for a blackhole.
	conns   map[*conn]struct{}
	faults  []*Injection
	closed  bool
}

// Start listens on a free loopback port and forwards to target, a host and port.
func Start(target string) (*Proxy, error) {
	var lc net.ListenConfig
	listener, err := lc.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening: %w", err)
	}
	p := &Proxy{listener: listener, target: target, flowing: make(chan struct{}), conns: make(map[*conn]struct{})}
	close(p.flowing)
	p.wg.Go(p.accept)
	return p, nil
}

// Address returns the host and port that clients connect to.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// URL returns a database URL that leads through the proxy, unencrypted.
func (p *Proxy) URL(database string) (string, error) {
	u, err := url.Parse(database)
	if err != nil {
		return "", fmt.Errorf("parsing the database URL: %w", err)
	}
	q := u.Query()
	q.Set("sslmode", "disable")
	u.Host, u.RawQuery = p.Address(), q.Encode()
	return u.String(), nil
}

// Close stops listening, resets every connection and waits for them.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	_ = p.listener.Close()
	p.ResetAll()
	p.wg.Wait()
}

// Refuse makes new connections end at once with a reset, as a server that is
// not running does; established ones stay. Off lets them through again.
func (p *Proxy) Refuse(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse = on
}

// Blackhole stops all data in both directions without closing anything: new
// connections are accepted and then silent. Off lets what was held up flow on,
// as after a network partition.
func (p *Proxy) Blackhole(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.flowing:
		if on {
			p.flowing = make(chan struct{})
		}
	default:
		if !on {
			close(p.flowing)
		}
	}
}

// ResetAll resets every established connection, on both sides.
func (p *Proxy) ResetAll() {
	p.mu.Lock()
	conns := make([]*conn, 0, len(p.conns))
	for c := range p.conns {
		conns = append(conns, c)
	}
	p.mu.Unlock()
	for _, c := range conns {
		c.reset()
	}
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.wg.Go(func() { p.serve(client) })
	}
}

func (p *Proxy) serve(client net.Conn) {
	p.mu.Lock()
	refuse, target := p.refuse || p.closed, p.target
	p.mu.Unlock()
	if refuse {
		abort(client)
		return
	}
	var d net.Dialer
	server, err := d.DialContext(context.Background(), "tcp", target)
	if err != nil {
		abort(client)
		return
	}
	c := &conn{proxy: p, client: client, server: server, statements: make(map[string]string), done: make(chan struct{})}
	p.mu.Lock()
	p.conns[c] = struct{}{}
	closed := p.closed
	p.mu.Unlock()
	if closed {
		c.reset()
	}
	c.run()
	p.mu.Lock()
	delete(p.conns, c)
	p.mu.Unlock()
}

// wait blocks while the proxy is a blackhole, and reports whether the
// connection is still open.
func (p *Proxy) wait(c *conn) bool {
	p.mu.Lock()
	flowing := p.flowing
	p.mu.Unlock()
	select {
	case <-flowing:
		return true
	case <-c.done:
		return false
	}
}

// abort closes a connection with a reset instead of an orderly end.
func abort(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // The close below resets.
	}
	_ = c.Close()
}
