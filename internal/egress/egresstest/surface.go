package egresstest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/tool"
)

// Call makes a surface call a URL under a guard's configuration, and returns its error. A
// surface may add to the configuration, but must keep Resolver and Policy.
type Call func(ctx context.Context, cfg egress.Config, url string) error

// patience bounds a single call, which normally fails at once.
const patience = time.Minute

// outside stands for a public address: loopback as well, but without canaries, and
// allowed by the policy of a [Surface].
var outside = netip.MustParseAddr("127.77.0.1")

// rebound is a name that is public in the first query, and internal afterwards.
const rebound = "rebound.test"

// Surface tests that call reaches no internal address, whatever URL it is given.
func Surface(t *testing.T, name string, call Call) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		t.Run("spellings", func(t *testing.T) { t.Parallel(); spellings(t, call) })
		t.Run("redirects", func(t *testing.T) { t.Parallel(); redirects(t, call) })
		t.Run("rebinding", func(t *testing.T) { t.Parallel(); rebinding(t, call) })
	})
}

// URLs returns the corpus of internal URLs, with every host on each of the ports.
func URLs(ports ...uint16) []string {
	urls := Spelled()
	for _, port := range ports {
		at := ":" + strconv.Itoa(int(port))
		for _, host := range Foreign() {
			urls = append(urls, "http://"+host+at+"/")
		}
		for _, host := range Inward() {
			urls = append(urls, "http://"+host+at+"/", "https://"+host+at+"/x?y#z")
		}
	}
	return urls
}

// Gate returns a gate, which is closed with the test.
func Gate(tb testing.TB, cfg egress.Config) *egress.Gate {
	tb.Helper()
	g, err := egress.New(cfg)
	require.NoError(tb, err)
	tb.Cleanup(g.Close)
	return g
}

func spellings(t *testing.T, call Call) {
	t.Helper()
	canaries := []*Canary{NewCanary(t, "tcp4", "127.0.0.1:0"), NewCanary(t, "tcp", ":0")}
	resolver, _ := NewResolver(Names())
	ports := []uint16{canaries[0].Port(), canaries[1].Port()}
	cfg := egress.Config{Resolver: resolver, Policy: allowingPorts(ports...)}
	urls := URLs(ports...)
	require.GreaterOrEqual(t, len(urls), 150)
	for _, u := range urls {
		refuses(t, cfg, u, call)
	}
	for _, c := range canaries {
		require.Zero(t, c.Calls(), "an internal address was reached")
	}
}

// redirects calls a public server that redirects to internal addresses.
func redirects(t *testing.T, call Call) {
	t.Helper()
	inside := NewCanary(t, "tcp4", "127.0.0.1:0")
	var targets []string
	for _, u := range URLs(inside.Port()) {
		if !strings.ContainsFunc(u, func(r rune) bool { return r < ' ' || r == 0x7f }) && strings.Contains(u, "://") {
			targets = append(targets, u)
		}
	}
	server := serve(t, listenOutside(t), func(w http.ResponseWriter, r *http.Request) {
		n, status, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		at, err := strconv.Atoi(n)
		code, codeErr := strconv.Atoi(status)
		if err != nil || codeErr != nil || at < 0 || at >= len(targets) {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Location", targets[at])
		w.WriteHeader(code)
	})
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	require.NoError(t, err)
	n, err := strconv.ParseUint(port, 10, 16)
	require.NoError(t, err)
	resolver, _ := NewResolver(Names())
	cfg := egress.Config{Resolver: resolver, Policy: allowingOutside(inside.Port(), uint16(n))}
	for i := range targets {
		status := []int{301, 302, 303, 307, 308}[i%5]
		refuses(t, cfg, fmt.Sprintf("%s/%d/%d", server.URL, i, status), call)
	}
	require.Zero(t, inside.Calls(), "a redirect to an internal address was followed")
}

// rebinding changes the address of a name between two calls.
func rebinding(t *testing.T, call Call) {
	t.Helper()
	inside := twins(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusNotFound)
	})
	resolver, asked := NewResolver(map[string][]netip.Addr{rebound: {outside, netip.MustParseAddr("127.0.0.1")}})
	cfg := egress.Config{Resolver: resolver, Policy: allowingOutside(inside.Port())}
	target := fmt.Sprintf("http://%s:%d/", rebound, inside.Port())
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_ = call(ctx, cfg, target) // Reaches the public server; the response does not matter.
	require.Positive(t, asked.Asked(), "the surface uses the resolver of its configuration")
	for range 3 {
		refuses(t, cfg, target, call)
	}
	require.Zero(t, inside.Calls(), "a stale address was used")
}

// refuses requires that a call fails without disclosing internal addresses.
func refuses(t *testing.T, cfg egress.Config, url string, call Call) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	err := call(ctx, cfg, url)
	require.Error(t, err, "%q", url)
	require.NoError(t, ctx.Err(), "%q: a refusal takes no time", url)
	for name := range Names() {
		if strings.Contains(url, name) {
			for _, leak := range []string{"127.0.0.1", "169.254", "::1", "0.0.0.0"} {
				require.NotContains(t, tool.AsError(err).Msg, leak, "%q: the message discloses internal names", url)
			}
		}
	}
}

// twins returns a canary with a public server on the same port.
func twins(t *testing.T, h http.HandlerFunc) *Canary {
	t.Helper()
	_ = listenOutside(t).Close()
	for range 50 {
		inside := NewCanary(t, "tcp4", "127.0.0.1:0")
		ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", netip.AddrPortFrom(outside, inside.Port()).String())
		if err == nil {
			serve(t, ln, h)
			return inside
		}
	}
	t.Fatal("no port is free on both addresses")
	return nil
}

// listenOutside listens on a free port of the public address.
func listenOutside(t *testing.T) net.Listener {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", netip.AddrPortFrom(outside, 0).String())
	if err != nil {
		t.Skipf("this machine has no second loopback address: %v", err)
	}
	return ln
}

func serve(t *testing.T, ln net.Listener, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(h)
	_ = server.Listener.Close()
	server.Listener = ln
	server.Start()
	t.Cleanup(server.Close)
	return server
}

func allowingPorts(ports ...uint16) func(tool.TenantID) egress.Policy {
	return func(tool.TenantID) egress.Policy { return egress.Policy{AllowPorts: ports} }
}

func allowingOutside(ports ...uint16) func(tool.TenantID) egress.Policy {
	return func(tool.TenantID) egress.Policy {
		return egress.Policy{AllowPorts: ports, AllowCIDRs: []netip.Prefix{netip.PrefixFrom(outside, outside.BitLen())}}
	}
}
