package egress_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/egress/egresstest"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

func TestClass(t *testing.T) {
	t.Parallel()

	var calls atomic.Int64
	srv := serve(t, func(http.ResponseWriter, *http.Request) { calls.Add(1) })
	g := egresstest.Gate(t, egress.Config{Policy: allowing(srv.URL)})
	methods := []string{"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PURGE", "get"}
	for class, allowed := range map[tool.Egress]int64{
		tool.EgressNone: 0, "": 0, "all": 0, tool.EgressReadOnly: 3, tool.EgressWrite: int64(len(methods)),
	} {
		calls.Store(0)
		for _, method := range methods {
			access := egress.Access{Tenant: "t1", Class: class}
			_, err := g.Do(t.Context(), access, &egress.Request{Method: method, URL: srv.URL})
			require.Equal(t, err == nil, g.Check(access, method, srv.URL) == nil)
			if err != nil {
				require.Equal(t, tool.Denied, tool.KindOf(err))
				require.False(t, tool.AsError(err).Sent)
			}
		}
		require.Equal(t, allowed, calls.Load(), "class %q", class)
	}
}

func TestCredentialHosts(t *testing.T) {
	t.Parallel()

	var auth atomic.Value
	srv := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		auth.Store(r.Header.Get("X-Key") + r.Header.Get("Authorization"))
	})
	port := srv.URL[strings.LastIndex(srv.URL, ":")+1:]
	g := egresstest.Gate(t, egress.Config{Policy: allowing(srv.URL)})
	for _, tt := range []struct {
		hosts []string
		ok    bool
	}{
		{[]string{"127.0.0.1"}, true},
		{[]string{"a.example", "127.0.0.1:" + port}, true},
		{nil, false},
		{[]string{"127.0.0.1:1"}, false},
		{[]string{"127.0.0.10"}, false},
		{[]string{"api.example"}, false},
		{[]string{"*"}, false},
		{[]string{"*.0.0.1"}, true},
	} {
		auth.Store("")
		_, err := g.Do(t.Context(), egress.Access{Tenant: "t1", Class: tool.EgressWrite, Credential: &egress.Credential{
			Value: secret.NewValue("s3cr3t", tt.hosts...), Scheme: egress.Raw, Header: "X-Key",
		}}, get(srv.URL))
		require.Equal(t, tt.ok, err == nil, "%v", tt.hosts)
		if !tt.ok {
			require.Equal(t, tool.Denied, tool.KindOf(err))
			require.False(t, tool.AsError(err).Sent)
			require.Empty(t, auth.Load())
		}
	}
	bound := egress.Access{
		Class:      tool.EgressReadOnly,
		Credential: &egress.Credential{Value: secret.NewValue("s3cr3t", "*.example.com", "example.org:8443")},
	}
	for target, ok := range map[string]bool{
		"https://api.example.com/": true, "https://a.b.example.com/": true, "https://example.com/": false,
		"https://badexample.com/": false,
		"http://api.example.com/": false, "https://example.org/": false, "https://api.example.com.evil.example/": false,
		"https://api.example.com./": false,
	} {
		require.Equal(t, ok, g.Check(bound, "GET", target) == nil, target)
	}
}

// TestHostsHaveOneSpelling proves that no name which another reading folds to
// the host of a credential, or to one that an operator allowed, is called: the
// name server knows what net/http would have asked for.
func TestHostsHaveOneSpelling(t *testing.T) {
	t.Parallel()

	inside := egresstest.NewCanary(t, "tcp4", "127.0.0.1:0")
	port := strconv.Itoa(int(inside.Port()))
	known := map[string][]netip.Addr{}
	hosts := []string{"api.github.example", "*.github.example"}
	for _, name := range []string{
		"api.xn--gthub-h4a.example", "api.xn--gthub-cza.example", "api.github.example", "api.git\u00adhub.example",
		"xn--strae-oqa.example", "strasse.example",
		"xn--bcher-kva.example", "kelvin.example", "fast.example", "file.example",
	} {
		known[name] = []netip.Addr{netip.MustParseAddr("127.0.0.1")}
		hosts = append(hosts, name)
	}
	hosts = append(hosts, egresstest.Foreign()...)
	resolver, asked := egresstest.NewResolver(known)
	g := egresstest.Gate(t, egress.Config{Resolver: resolver, Policy: func(tool.TenantID) egress.Policy {
		var p egress.Policy
		for _, h := range hosts {
			p.AllowHosts = append(p.AllowHosts, h+":"+port)
		}
		return p
	}})
	access := writer
	access.Credential = &egress.Credential{Value: secret.NewValue("s3cr3t", hosts...)}
	for _, host := range egresstest.Foreign() {
		target := "http://" + host + ":" + port + "/"
		require.Equal(t, tool.Invalid, tool.KindOf(g.Check(access, "GET", target)), host)
		_, err := g.Do(t.Context(), access, get(target))
		require.Equal(t, tool.Invalid, tool.KindOf(err), "%q: %v", host, err)
		require.ErrorContains(t, err, "xn--")
		require.False(t, tool.AsError(err).Sent)
	}
	require.Zero(t, asked.Asked(), "no name is asked for")
	require.Zero(t, inside.Calls())
	require.Equal(t, tool.Invalid, tool.KindOf(egress.Policy{AllowHosts: []string{"api.gİthub.example"}}.Check()))
}

// TestCapitalsAreFolded proves that a host is dialed and sent as it was decided.
func TestCapitalsAreFolded(t *testing.T) {
	t.Parallel()

	var seen atomic.Value
	srv := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		seen.Store(r.Host + " " + r.Header.Get("Authorization"))
	})
	port := srv.URL[strings.LastIndex(srv.URL, ":")+1:]
	resolver, _ := egresstest.NewResolver(map[string][]netip.Addr{
		"api.orders.example": {netip.MustParseAddr("127.0.0.1")},
	})
	g := egresstest.Gate(t, egress.Config{Resolver: resolver, Policy: allowing("Api.ORDERS.example:" + port)})
	access := writer
	access.Credential = &egress.Credential{Value: secret.NewValue("s3cr3t", "API.orders.Example")}
	_, err := g.Do(t.Context(), access, get("http://API.Orders.example:"+port+"/"))
	require.NoError(t, err)
	require.Equal(t, "api.orders.example:"+port+" Bearer s3cr3t", seen.Load())
}

// TestNamesTellNothing proves that a name which leads inward can't be told from
// one that does not exist, and that a failure to find out may be retried.
func TestNamesTellNothing(t *testing.T) {
	t.Parallel()

	resolver, _ := egresstest.NewResolver(map[string][]netip.Addr{
		"inside.test": {netip.MustParseAddr("10.0.0.7")}, "own.test": {netip.MustParseAddr("8.8.8.8")},
		"six.test": {netip.MustParseAddr("fd00::1")},
	})
	g := egresstest.Gate(t, egress.Config{
		Resolver: resolver, Deny: []netip.Prefix{netip.MustParsePrefix("8.8.8.8/32")}, Policy: allowing("orders.internal"),
	})
	told := func(host string) *tool.Error {
		_, err := g.Do(t.Context(), writer, get("https://"+host+"/"))
		e := *tool.AsError(err)
		e.Err = nil                                         // For the log.
		e.Msg = strings.ReplaceAll(e.Msg, host, "the host") // What the caller named, it may hear.
		return &e
	}
	want := told("absent.test")
	require.Equal(t, tool.Denied, want.Kind)
	require.False(t, want.Sent)
	for _, host := range []string{"inside.test", "own.test", "six.test"} {
		require.Equal(t, want, told(host), host)
	}
	require.Equal(t, tool.Unavailable, told("orders.internal").Kind,
		"an operator named it: it is no secret that it should be there")

	broken := egresstest.Gate(t, egress.Config{
		Resolver: &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
			return nil, errors.New("the name server is away")
		}},
	})
	_, err := broken.Do(t.Context(), writer, get("https://absent.test/"))
	require.Equal(t, tool.Unavailable, tool.KindOf(err))
	require.False(t, tool.AsError(err).Sent)
}

// TestEnvironmentProxyIsIgnored can't run in parallel: it sets variables.
func TestEnvironmentProxyIsIgnored(t *testing.T) {
	spy := egresstest.NewCanary(t, "tcp4", "127.0.0.1:0")
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"} {
		t.Setenv(name, "http://"+spy.Addr)
	}
	t.Setenv("NO_PROXY", "")
	srv := serve(t, func(http.ResponseWriter, *http.Request) {})
	g := egresstest.Gate(t, egress.Config{Policy: allowing(srv.URL)})
	_, err := g.Do(t.Context(), writer, get(srv.URL))
	require.NoError(t, err)
	resolver, _ := egresstest.NewResolver(map[string][]netip.Addr{})
	g = egresstest.Gate(t, egress.Config{Resolver: resolver})
	_, err = g.Do(t.Context(), writer, get("http://absent.test/"))
	require.Equal(t, tool.Denied, tool.KindOf(err))
	require.Zero(t, spy.Calls())
}

func TestConfiguredProxy(t *testing.T) {
	t.Parallel()

	var asked atomic.Value
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r.RequestURI)
		_, _ = io.WriteString(w, "by proxy")
	})
	at, err := url.Parse(proxy.URL)
	require.NoError(t, err)
	g := egresstest.Gate(t, egress.Config{Proxy: at})
	resp, err := g.Do(t.Context(), writer, get("http://upstream.example/x"))
	require.NoError(t, err)
	require.Equal(t, "by proxy", string(resp.Body))
	require.Equal(t, "http://upstream.example/x", asked.Load())
	for _, inside := range []string{"http://127.0.0.1/", "http://2130706433/", "http://[::1]/", proxy.URL} {
		_, err = g.Do(t.Context(), writer, get(inside))
		requireRefused(t, err)
	}
	_, err = egress.New(egress.Config{Proxy: &url.URL{Scheme: "socks5", Host: "x"}})
	require.Error(t, err)
}

func TestOwnAndDeniedAddresses(t *testing.T) {
	t.Parallel()

	// 192.88.98.1 stands for a public address; nothing is dialed.
	own := netip.MustParseAddr("11.22.33.44")
	resolver, _ := egresstest.NewResolver(map[string][]netip.Addr{
		"own.test": {own}, "denied.test": {netip.MustParseAddr("11.22.34.5")},
	})
	g := egresstest.Gate(t, egress.Config{
		Resolver:     resolver,
		OwnAddresses: func() ([]netip.Addr, error) { return []netip.Addr{own}, nil },
		Deny:         []netip.Prefix{netip.MustParsePrefix("11.22.34.0/24")},
	})
	for _, name := range []string{
		"own.test", "denied.test", "11.22.33.44", "11.22.34.5", "[::ffff:11.22.33.44]", "[64:ff9b::11.22.34.5]",
	} {
		_, err := g.Do(t.Context(), writer, get("http://"+name+"/"))
		requireRefused(t, err)
	}
}

func TestAnswerIsBounded(t *testing.T) {
	t.Parallel()

	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/exact":
			_, _ = w.Write(bytes.Repeat([]byte("x"), 1000))
		case "/long":
			_, _ = w.Write(bytes.Repeat([]byte("x"), 1001))
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			zeros := make([]byte, 1<<20)
			for range 256 {
				if _, err := z.Write(zeros); err != nil {
					return
				}
			}
			_ = z.Close()
		}
	})
	g := egresstest.Gate(t, egress.Config{Policy: allowing(srv.URL), MaxBytes: 1000})
	for path, truncated := range map[string]bool{"/exact": false, "/long": true, "/bomb": true} {
		resp, err := g.Do(t.Context(), writer, get(srv.URL+path))
		require.NoError(t, err)
		require.Len(t, resp.Body, 1000)
		require.Equal(t, truncated, resp.Truncated, path)
	}
	resp, err := g.Do(t.Context(), writer, &egress.Request{Method: "GET", URL: srv.URL + "/long", MaxBytes: 2000})
	require.NoError(t, err)
	require.Len(t, resp.Body, 1001)
}

// TestPoolsAreApart proves that tenants share no connection, nor a tenant
// before and after a change of its policy.
func TestPoolsAreApart(t *testing.T) {
	t.Parallel()

	srv := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.RemoteAddr) })
	var extra atomic.Uint32
	host := strings.TrimPrefix(srv.URL, "http://")
	g := egresstest.Gate(t, egress.Config{Policy: func(tool.TenantID) egress.Policy {
		return egress.Policy{AllowHosts: []string{host}, AllowPorts: []uint16{uint16(extra.Load())}}
	}})
	from := func(tenant tool.TenantID, repeatable bool) string {
		resp, err := g.Do(t.Context(), egress.Access{Tenant: tenant, Class: tool.EgressWrite},
			&egress.Request{Method: "GET", URL: srv.URL, Repeatable: repeatable})
		require.NoError(t, err)
		return string(resp.Body)
	}
	a := from("a", true)
	require.Equal(t, a, from("a", true), "a tenant's connection is kept")
	require.NotEqual(t, a, from("b", true))
	require.NotEqual(t, a, from("a", false), "a request that may not be repeated has its own")
	extra.Store(8080)
	require.NotEqual(t, a, from("a", true))
}

func TestClient(t *testing.T) {
	t.Parallel()

	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Header.Get("Authorization"))
	})
	g := egresstest.Gate(t, egress.Config{Policy: allowing(srv.URL)})
	access := writer
	access.Credential = &egress.Credential{Value: secret.NewValue("u:p", "127.0.0.1"), Scheme: egress.Basic}
	client := g.Client(access)
	resp, err := client.Get(srv.URL)
	require.NoError(t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, "Basic dTpw", string(body))

	_, err = client.Post("http://127.0.0.2/", "text/plain", strings.NewReader("x"))
	requireRefused(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL, nil)
	require.NoError(t, err)
	req.Host = "metadata.internal"
	_, err = client.Do(req)
	requireRefused(t, err)
}

func TestPolicyCheck(t *testing.T) {
	t.Parallel()

	good := egress.Policy{
		AllowHosts: []string{"a.internal", "A.internal:8080", "10.0.0.7", "[fd12::7]:9", "fd12::7"},
		AllowCIDRs: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
	}
	require.NoError(t, good.Check())
	for i, host := range []string{
		"", "http://x", "x:0", "x:70000", "0x7f.1", "127.1", "bücher.example", "fe80::1%eth0", "a b", "*",
	} {
		err := egress.Policy{AllowHosts: append(make([]string, 0, 2), "ok", host)}.Check()
		require.Equal(t, tool.Invalid, tool.KindOf(err), "%d %q", i, host)
		require.Equal(t, "/allow_hosts/1", tool.AsError(err).Path)
	}
	require.Error(t, egress.Policy{AllowCIDRs: []netip.Prefix{{}}}.Check())
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()

	now := time.Date(2024, 3, 5, 10, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "0": 0, "-5": 0, "7.5": 0, "soon": 0, "3600": time.Hour, "3601": time.Hour,
		"99999999999999999999":          time.Hour,
		"Tue, 05 Mar 2024 10:00:30 GMT": 30 * time.Second, "Tue, 05 Mar 2024 09:00:00 GMT": 0,
		"Tue, 05 Mar 2030 09:00:00 GMT": time.Hour,
	} {
		require.Equal(t, want, egress.RetryAfter(http.Header{"Retry-After": {text}}, now), text)
	}
}

func TestErrorsHideTheURL(t *testing.T) {
	t.Parallel()

	resolver, _ := egresstest.NewResolver(map[string][]netip.Addr{})
	g := egresstest.Gate(t, egress.Config{Resolver: resolver})
	_, err := g.Do(t.Context(), writer, get("http://absent.test/private-argument"))
	require.NotContains(t, err.Error(), "private-argument", "arguments are not logged")
	require.Error(t, errors.Unwrap(err))
}

// A refused host or port is named with the flag that allows it, where the caller
// named it, and not where a redirect led to it.
func TestRefusalsNameWhatAllowsIt(t *testing.T) {
	t.Parallel()

	g := egresstest.Gate(t, egress.Config{})
	for address, want := range map[string]string{
		"http://10.0.0.7/": "does not exist: 10.0.0.7. An operator lets tools reach a host that is not public " +
			"with --allow-host 10.0.0.7",
		"https://api.example.com:8443": "port 8443 of api.example.com is not allowed: an operator allows it with " +
			"--allow-port 8443, or, where the host is not public, both with --allow-host api.example.com:8443",
		"http://127.0.0.1:8791/": "127.0.0.1:8791 is not allowed: an operator allows this host and port with " +
			"--allow-host 127.0.0.1:8791",
		"http://localhost:8791/":     "with --allow-host localhost:8791",
		"http://[::1]:8791/":         "with --allow-host [::1]:8791",
		"http://93.184.215.14:8443/": "an operator allows it with --allow-port 8443",
	} {
		_, err := g.Do(t.Context(), writer, get(address))
		require.Equal(t, tool.Denied, tool.KindOf(err))
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, g.Check(writer, http.MethodGet, address), want)
	}
}
