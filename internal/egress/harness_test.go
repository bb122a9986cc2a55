package egress_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// canary listens on a loopback address and counts who comes.
type canary struct {
	addr  string
	calls atomic.Int64
}

func newCanary(t *testing.T, network, addr string) *canary {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), network, addr)
	if err != nil {
		t.Skipf("this machine has no %s: %v", addr, err)
	}
	c := &canary{addr: ln.Addr().String()}
	var done sync.WaitGroup
	done.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			c.calls.Add(1)
			_ = conn.Close()
		}
	})
	t.Cleanup(func() { _ = ln.Close(); done.Wait() })
	return c
}

func (c *canary) port() string {
	return netip.MustParseAddrPort(c.addr).String()[strings.LastIndex(c.addr, ":")+1:]
}

func newGate(t *testing.T, cfg egress.Config) *egress.Gate {
	t.Helper()
	g, err := egress.New(cfg)
	require.NoError(t, err)
	t.Cleanup(g.Close)
	return g
}

// allowing returns a policy that lets every tenant reach hosts.
func allowing(hosts ...string) func(tool.TenantID) egress.Policy {
	for i, h := range hosts {
		hosts[i] = strings.TrimPrefix(strings.TrimPrefix(h, "http://"), "https://")
	}
	return func(tool.TenantID) egress.Policy { return egress.Policy{AllowHosts: hosts} }
}

var writer = egress.Access{Tenant: "t1", Class: tool.EgressWrite}

func get(url string) *egress.Request { return &egress.Request{Method: http.MethodGet, URL: url} }

func requireRefused(t *testing.T, err error) {
	t.Helper()
	var e *tool.Error
	require.ErrorAs(t, err, &e)
	require.Contains(t, []tool.Kind{tool.Denied, tool.Invalid}, e.Kind, "%v", err)
}

// answers is a name server of one's own: each name has a list of answers, and
// each question takes the next, the last one staying.
type answers struct {
	mu    sync.Mutex
	names map[string][]netip.Addr
	asked map[string]int
}

func resolving(names map[string][]netip.Addr) (*net.Resolver, *answers) {
	a := &answers{names: names, asked: make(map[string]int)}
	return &net.Resolver{PreferGo: true, Dial: a.dial}, a
}

func (a *answers) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	go func() {
		defer func() { _ = server.Close() }()
		for err := error(nil); err == nil; {
			err = a.serve(server)
		}
	}()
	return client, nil // Not a PacketConn, so that questions are framed as over TCP.
}

const typeA, typeAAAA = 1, 28

// serve answers one question in the format of RFC 1035.
func (a *answers) serve(c net.Conn) error {
	var size [2]byte
	if _, err := io.ReadFull(c, size[:]); err != nil {
		return err
	}
	q := make([]byte, binary.BigEndian.Uint16(size[:]))
	if _, err := io.ReadFull(c, q); err != nil {
		return err
	}
	var labels []string
	i := 12
	for q[i] != 0 {
		labels = append(labels, string(q[i+1:i+1+int(q[i])]))
		i += 1 + int(q[i])
	}
	kind := binary.BigEndian.Uint16(q[i+1:])
	question := q[12 : i+5]

	msg := append([]byte(nil), q[:2]...)
	addr, known := a.next(strings.ToLower(strings.Join(labels, ".")), kind)
	rcode := byte(0)
	if !known {
		rcode = 3
	}
	count := byte(0)
	var record []byte
	if addr.IsValid() {
		raw := addr.AsSlice()
		count = 1
		record = append([]byte{0xc0, 12, 0, byte(kind), 0, 1, 0, 0, 0, 0, 0, byte(len(raw))}, raw...)
	}
	msg = append(msg, 0x81, 0x80|rcode, 0, 1, 0, count, 0, 0, 0, 0)
	msg = append(append(msg, question...), record...)
	_, err := c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(msg))), msg...))
	return err
}

func (a *answers) next(name string, kind uint16) (netip.Addr, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	list, ok := a.names[name]
	if !ok {
		return netip.Addr{}, false
	}
	at := list[min(a.asked[name], len(list)-1)]
	if (kind == typeA) != at.Is4() || kind != typeA && kind != typeAAAA {
		return netip.Addr{}, true
	}
	a.asked[name]++
	return at, true
}
