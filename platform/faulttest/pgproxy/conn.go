package pgproxy

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// Frame types of the protocol that the proxy looks at.
const (
	frameParse = 'P' // From the client: name, SQL text.
	frameBind  = 'B' // From the client: portal, name of the statement.
	frameQuery = 'Q' // From the client: SQL text.
	frameReady = 'Z' // From the server: the batch is over.
)

// maxFrame bounds a frame (PostgreSQL's own limit is 1 GiB).
const maxFrame = 1 << 30

// Codes in place of a protocol version that are followed by another startup
// packet, or by nothing.
const (
	codeCancel = 80877102
	codeSSL    = 80877103
	codeGSS    = 80877104
)

var errFrame = errors.New("malformed frame")

// conn is a pair of connections.
type conn struct {
	proxy          *Proxy
	client, server net.Conn

	statements map[string]string // SQL text by the name of the prepared statement; of one goroutine.
	answer     atomic.Value      // The effect on the answer of the batch under way.

	once sync.Once
	done chan struct{}
}

// run forwards until either side ends.
func (c *conn) run() {
	var wg sync.WaitGroup
	wg.Go(func() {
		defer c.end()
		_ = c.forward()
	})
	wg.Go(func() {
		defer c.end()
		_ = c.back()
	})
	wg.Wait()
}

// end closes both sides in order; reset aborts them.
func (c *conn) end() {
	c.once.Do(func() {
		close(c.done)
		_ = c.client.Close()
		_ = c.server.Close()
	})
}

func (c *conn) reset() {
	c.once.Do(func() {
		close(c.done)
		abort(c.client)
		abort(c.server)
	})
}

// forward carries what the client says to the server.
func (c *conn) forward() error {
	r := bufio.NewReaderSize(c.client, 64<<10)
	if err := c.startup(r); err != nil {
		return err
	}
	for {
		kind, frame, err := readFrame(r)
		if err != nil {
			return err
		}
		if !c.proxy.wait(c) {
			return net.ErrClosed
		}
		switch effect := c.effect(kind, frame[5:]); effect {
		case ResetBefore:
			c.reset()
			return net.ErrClosed
		case ResetAfter, SilentAfter:
			c.answer.Store(effect)
		}
		if _, err := c.server.Write(frame); err != nil {
			return err
		}
	}
}

// startup forwards the packets in front of the first frame, which have no type.
func (c *conn) startup(r *bufio.Reader) error {
	for {
		head, err := r.Peek(8)
		if err != nil {
			return err
		}
		size, code := binary.BigEndian.Uint32(head), binary.BigEndian.Uint32(head[4:])
		if size < 8 || size > 1<<16 {
			return errFrame
		}
		packet := make([]byte, size)
		if _, err := io.ReadFull(r, packet); err != nil {
			return err
		}
		if !c.proxy.wait(c) {
			return net.ErrClosed
		}
		if code == codeSSL || code == codeGSS {
			if _, err := c.client.Write([]byte{'N'}); err != nil { // No encryption here.
				return err
			}
			continue
		}
		if _, err := c.server.Write(packet); err != nil {
			return err
		}
		if code == codeCancel {
			_, err = io.Copy(io.Discard, r)
			return err
		}
		return nil
	}
}

// effect returns what happens to a frame of the client.
func (c *conn) effect(kind byte, body []byte) Effect {
	switch kind {
	case frameQuery:
		sql, _, _ := bytes.Cut(body, []byte{0})
		return c.proxy.strike(string(sql))
	case frameParse:
		name, rest, _ := bytes.Cut(body, []byte{0})
		sql, _, _ := bytes.Cut(rest, []byte{0})
		c.statements[string(name)] = string(sql)
	case frameBind:
		_, rest, _ := bytes.Cut(body, []byte{0})
		name, _, _ := bytes.Cut(rest, []byte{0})
		return c.proxy.strike(c.statements[string(name)])
	}
	return ""
}

// back carries what the server says to the client.
func (c *conn) back() error {
	r := bufio.NewReaderSize(c.server, 64<<10)
	w := bufio.NewWriterSize(c.client, 64<<10)
	for {
		kind, frame, err := readFrame(r)
		if err != nil {
			return err
		}
		if !c.proxy.wait(c) {
			return net.ErrClosed
		}
		effect, _ := c.answer.Load().(Effect)
		switch {
		case effect == "":
			if _, err := w.Write(frame); err != nil {
				return err
			}
		case effect == ResetAfter && kind == frameReady:
			c.reset()
			return net.ErrClosed
		}
		if r.Buffered() == 0 {
			if err := w.Flush(); err != nil {
				return err
			}
		}
	}
}

// readFrame reads a frame whole, with its type and length in front.
func readFrame(r *bufio.Reader) (kind byte, frame []byte, err error) {
	head, err := r.Peek(5)
	if err != nil {
		return 0, nil, err
	}
	size := binary.BigEndian.Uint32(head[1:])
	if size < 4 || size > maxFrame {
		return 0, nil, errFrame
	}
	frame = make([]byte, 1+int(size))
	_, err = io.ReadFull(r, frame)
	return frame[0], frame, err
}
