package fuzz_test

import (
	"io"
	"log/slog"
	"net"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"github.com/toolcrib/toolcrib/platform/api"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/store"
)

// While Temporal or the database is away, whatever needs it is answered as
// described: 503 or 504, and never as a defect. When it is back, so is the API.
func TestOutage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	temporal, err := client.NewLazyClient(client.Options{
		HostPort: "127.0.0.1:1", Logger: sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})
	require.NoError(t, err)
	t.Cleanup(temporal.Close)

	address, err := url.Parse(s.db.URL)
	require.NoError(t, err)
	line := &proxy{to: address.Host}
	address.Host = line.open(t)
	db, err := store.Open(t.Context(), address.String(), store.Options{
		Logger: slog.New(slog.DiscardHandler), MaxConns: 4, SetRole: store.AppRole,
	})
	require.NoError(t, err)
	t.Cleanup(db.Close)
	resolve := resolver.New(db, resolver.Options{})
	handler, err := api.New(api.Config{
		Store: db, Resolver: resolve, Registry: registry.New(db, registry.Options{Resolver: resolve}),
		Temporal: temporal, TaskQueue: s.queue, RequestTimeout: time.Second,
		Logger: slog.New(slog.NewJSONHandler(s.log, nil)),
	})
	require.NoError(t, err)
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)

	p := newSession(s, 1)
	p.furnish(t)
	p.host, p.judge.outage = strings.TrimPrefix(server.URL, "http://"), true
	p.askForEach(t) // Without Temporal.
	line.cut()
	failed := 0
	for range 2 {
		for _, o := range s.doc.operations {
			if got := p.ask(t, p.compose(o, s.actors[ann], 0)); got.status >= 500 {
				failed++
			}
		}
	}
	require.Greater(t, failed, len(s.doc.operations), "nothing noticed that the database is away")
	line.mend()
	require.Eventually(t, func() bool {
		list := p.compose(s.doc.operationsNamed("listTools")[0], s.actors[ann], 0)
		return p.ask(t, list).status == 200
	}, patience, 50*time.Millisecond, "the API does not come back")
	for _, failure := range p.failures {
		t.Error(failure)
	}
	require.Empty(t, s.log.overheard())
}

// proxy is a line to a server that can be cut.
type proxy struct {
	to    string
	mu    sync.Mutex
	dead  bool
	conns []net.Conn
}

// open listens until the test ends and returns the address.
func (p *proxy) open(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = listener.Close()
		p.cut()
	})
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			p.join(conn)
		}
	}()
	return listener.Addr().String()
}

// join connects one that called, unless the line is cut.
func (p *proxy) join(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	far, err := net.Dial("tcp", p.to)
	if err != nil || p.dead {
		_ = conn.Close()
		if err == nil {
			_ = far.Close()
		}
		return
	}
	p.conns = append(p.conns, conn, far)
	for _, way := range [][2]net.Conn{{conn, far}, {far, conn}} {
		go func() {
			_, _ = io.Copy(way[0], way[1])
			_, _ = way[0].Close(), way[1].Close()
		}()
	}
}

func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dead = true
	for _, conn := range p.conns {
		_ = conn.Close()
	}
	p.conns = nil
}

func (p *proxy) mend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dead = false
}
