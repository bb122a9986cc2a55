package egress_test

import (
	"bufio"
	"context"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/egress/egresstest"
	"github.com/toolcrib/toolcrib/tool"
)

func certPool(srv *httptest.Server) *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(srv.Certificate())
	return pool
}

// tcp serves each connection with handle.
func tcp(t *testing.T, handle func(net.Conn)) string {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer func() { _ = c.Close() }()
				handle(c)
			})
		}
	})
	t.Cleanup(func() { _ = ln.Close(); wg.Wait() })
	return "http://" + ln.Addr().String()
}

// reset closes a connection so that the peer gets an RST.
func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}

// TestSentIsTruthful breaks a request at each stage.
func TestSentIsTruthful(t *testing.T) {
	t.Parallel()

	readHead := func(c net.Conn) { _, _ = http.ReadRequest(bufio.NewReader(c)) }
	closed := func() string {
		ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", "127.0.0.1:0")
		require.NoError(t, err)
		defer func() { _ = ln.Close() }()
		return "http://" + ln.Addr().String()
	}()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)
	secure.Config.ErrorLog = nil

	tests := []struct {
		name    string
		url     string
		timeout time.Duration
		kind    tool.Kind
		sent    bool
	}{
		{"name does not exist", "http://absent.test/", 0, tool.Denied, false},
		{"connection refused", closed, 0, tool.Unavailable, false},
		{"certificate not trusted", secure.URL, 0, tool.Unavailable, false},
		{"reset in the handshake", strings.Replace(tcp(t, reset), "http:", "https:", 1), 0, tool.Unavailable, false},
		{
			"no handshake in time",
			strings.Replace(tcp(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }), "http:", "https:", 1),
			50 * time.Millisecond, tool.Timeout, false,
		},
		{"reset after the request", tcp(t, func(c net.Conn) { readHead(c); reset(c) }), 0, tool.Unavailable, true},
		{"closed after the request", tcp(t, readHead), 0, tool.Unavailable, true},
		{"silence", tcp(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }), 50 * time.Millisecond, tool.Timeout, true},
		{
			"no HTTP", tcp(t, func(c net.Conn) { readHead(c); _, _ = io.WriteString(c, "220 smtp\r\n") }), 0, tool.Unavailable,
			true,
		},
		{"half a body", tcp(t, func(c net.Conn) {
			readHead(c)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
		}), 0, tool.Unavailable, true},
		{"slow body", tcp(t, func(c net.Conn) {
			readHead(c)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
			_, _ = io.Copy(io.Discard, c)
		}), 50 * time.Millisecond, tool.Timeout, true},
		{"endless headers", tcp(t, func(c net.Conn) {
			readHead(c)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n")
			for {
				if _, err := io.WriteString(c, "X-More: "+strings.Repeat("x", 1000)+"\r\n"); err != nil {
					return
				}
			}
		}), 0, tool.Unavailable, true},
	}
	resolver, _ := egresstest.NewResolver(map[string][]netip.Addr{})
	for _, tt := range tests {
		for _, repeatable := range []bool{false, true} {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()

				g := egresstest.Gate(t, egress.Config{Policy: allowing(tt.url), Resolver: resolver})
				ctx := t.Context()
				if tt.timeout > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.timeout)
					defer cancel()
				}
				_, err := g.Do(ctx, writer, &egress.Request{Method: "POST", URL: tt.url, Body: []byte("x"), Repeatable: repeatable})
				var e *tool.Error
				require.ErrorAs(t, err, &e)
				require.Equal(t, tt.kind, e.Kind, "%v", err)
				require.Equal(t, tt.sent, e.Sent, "%v", err)
				require.NotContains(t, e.Msg, "127.0.0.1")
			})
		}
	}
}

func TestCancelIsPrompt(t *testing.T) {
	t.Parallel()

	arrived := make(chan struct{})
	url := tcp(t, func(c net.Conn) {
		_, _ = http.ReadRequest(bufio.NewReader(c))
		close(arrived)
		_, _ = io.Copy(io.Discard, c)
	})
	g := egresstest.Gate(t, egress.Config{Policy: allowing(url)})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-arrived; cancel() }()
	_, err := g.Do(ctx, writer, get(url))
	require.Equal(t, tool.Cancelled, tool.KindOf(err))
	require.True(t, tool.AsError(err).Sent)

	_, err = g.Do(ctx, writer, get(url))
	require.Equal(t, tool.Cancelled, tool.KindOf(err))
	require.False(t, tool.AsError(err).Sent, "nothing was tried")
}

// TestCancelRacesTheRequest cancels at random moments and proves that whoever
// was told "not sent" was told the truth.
func TestCancelRacesTheRequest(t *testing.T) {
	t.Parallel()

	var got atomic.Int64
	url := tcp(t, func(c net.Conn) {
		if n, _ := c.Read(make([]byte, 1)); n > 0 {
			got.Add(1)
		}
	})
	g := egresstest.Gate(t, egress.Config{Policy: allowing(url)})
	unsent, rounds := int64(0), int64(400)
	for i := range rounds {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%40)*10*time.Microsecond)
		_, err := g.Do(ctx, writer, get(url))
		cancel()
		require.Error(t, err)
		if !tool.AsError(err).Sent {
			unsent++
		}
	}
	require.Never(t, func() bool { return got.Load() > rounds-unsent }, 100*time.Millisecond, 20*time.Millisecond)
}

// TestWrittenOnce proves that a request that may not be repeated is written
// once, even with an idempotency key and a connection that breaks: net/http
// would otherwise send it again.
func TestWrittenOnce(t *testing.T) {
	t.Parallel()

	var requests atomic.Int64
	url := tcp(t, func(c net.Conn) {
		r := bufio.NewReader(c)
		for i := 0; ; i++ {
			if _, err := http.ReadRequest(r); err != nil {
				return
			}
			requests.Add(1)
			if i > 0 {
				return // Take a second request on a connection, and break off.
			}
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		}
	})
	g := egresstest.Gate(t, egress.Config{Policy: allowing(url)})
	request := &egress.Request{Method: "POST", URL: url, Header: http.Header{"Idempotency-Key": {"k"}}}
	for range 5 {
		_, err := g.Do(t.Context(), writer, request)
		require.NoError(t, err)
	}
	require.EqualValues(t, 5, requests.Swap(0))

	// The same requests, when they may be repeated, share a connection and
	// are sent again when it breaks.
	request.Repeatable = true
	for range 2 {
		_, err := g.Do(t.Context(), writer, request)
		require.NoError(t, err)
	}
	require.EqualValues(t, 3, requests.Load())
}
