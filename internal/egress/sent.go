package egress

import (
	"context"
	"crypto/tls"
	"net"
	"net/http/httptrace"
	"sync"
)

// conn counts the bytes written to a connection, and can be sealed against further
// writes. It is below TLS, so a sealed connection is dead.
type conn struct {
	net.Conn

	mu      sync.Mutex
	sealed  bool
	writing int   // Number of writes in progress.
	written int64 // Bytes accepted by the system.
}

// Write implements [net.Conn].
func (c *conn) Write(b []byte) (int, error) {
	c.mu.Lock()
	if c.sealed {
		c.mu.Unlock()
		return 0, net.ErrClosed
	}
	c.writing++
	c.mu.Unlock()

	n, err := c.Conn.Write(b)

	c.mu.Lock()
	c.writing--
	c.written += int64(n)
	c.mu.Unlock()
	return n, err
}

// mark returns the bytes written so far: handshakes and earlier requests.
func (c *conn) mark() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.written
}

// seal stops all writes and reports whether any byte was, or may have been, written
// since mark. After it returned false, none will be.
func (c *conn) seal(mark int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sealed = true
	return c.writing > 0 || c.written > mark
}

// tracker records whether any byte of a request was sent, including redirects and the
// transport's own retries.
type tracker struct {
	mu   sync.Mutex
	conn *conn
	mark int64
	sent bool
}

// watch returns a context whose requests t tracks.
func (t *tracker) watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		// The connection is acquired, its handshake is done and no byte of the
		// request is written.
		GotConn: func(info httptrace.GotConnInfo) { t.use(counted(info.Conn)) },
	})
}

func (t *tracker) use(c *conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.leave()
	if c == nil { // Unreachable: every connection is dialed here.
		t.sent = true
		return
	}
	t.conn, t.mark = c, c.mark()
}

// leave records the result for the current connection, without sealing it: it may
// already serve another request, which also counts as sent.
func (t *tracker) leave() {
	if t.conn == nil {
		return
	}
	t.conn.mu.Lock()
	t.sent = t.sent || t.conn.writing > 0 || t.conn.written > t.mark
	t.conn.mu.Unlock()
	t.conn = nil
}

// wasSent reports whether any byte of a failed request may have been sent. It first
// seals the current connection, so that false stays true.
func (t *tracker) wasSent() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.conn != nil && t.conn.seal(t.mark) {
		t.sent = true
	}
	return t.sent
}

// counted finds the counting connection below c.
func counted(c net.Conn) *conn {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	own, _ := c.(*conn)
	return own
}
