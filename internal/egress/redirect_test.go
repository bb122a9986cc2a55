package egress_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/egress/egresstest"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv
}

// TestEveryRedirectIsDecided proves that an allowed upstream can't send a
// request on to where it could not have gone itself.
func TestEveryRedirectIsDecided(t *testing.T) {
	t.Parallel()

	inside := egresstest.NewCanary(t, "tcp4", "127.0.0.1:0")
	port := strconv.Itoa(int(inside.Port()))
	for _, location := range []string{
		"http://" + inside.Addr + "/", "http://127.1:" + port + "/", "http://0x7f000001:" + port + "/",
		"http://[::ffff:127.0.0.1]:" + port + "/", "//" + inside.Addr + "/", "http://169.254.169.254/latest/meta-data/",
		"file:///etc/passwd", "gopher://" + inside.Addr + "/", "http://user:pass@example.com/", "http://example.com:22/",
		"http://[fe80::1%25eth0]/", "https://10.0.0.1/", "http://api.gİthub.example/", "http://127\u30020.0.1:" + port + "/",
		"http://api.g%C4%B0thub.example/",
	} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", location)
				w.WriteHeader(status)
			})
			g := egresstest.Gate(t, egress.Config{Policy: func(tool.TenantID) egress.Policy {
				return egress.Policy{AllowHosts: []string{strings.TrimPrefix(srv.URL, "http://")}}
			}})
			_, err := g.Do(t.Context(), writer, get(srv.URL))
			requireRefused(t, err)
			require.True(t, tool.AsError(err).Sent, "the first request went")
		}
	}
	require.Zero(t, inside.Calls())
}

func TestRedirectLimit(t *testing.T) {
	t.Parallel()

	var hops atomic.Int64
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
		hops.Add(1)
		if n > 0 {
			http.Redirect(w, r, fmt.Sprintf("/%d", n-1), http.StatusFound)
		}
	})
	g := egresstest.Gate(t, egress.Config{Policy: allowing(srv.URL)})
	resp, err := g.Do(t.Context(), writer, get(srv.URL+"/5"))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.Status)
	require.EqualValues(t, 6, hops.Swap(0))

	_, err = g.Do(t.Context(), writer, get(srv.URL+"/6"))
	require.ErrorContains(t, err, "more than 5 times")
	require.EqualValues(t, 6, hops.Swap(0))

	none := egresstest.Gate(t, egress.Config{Policy: allowing(srv.URL), MaxRedirects: -1})
	resp, err = none.Do(t.Context(), writer, get(srv.URL+"/1"))
	require.NoError(t, err)
	require.Equal(t, http.StatusFound, resp.Status)
}

// TestNothingPersonalCrossesOrigins proves that neither the credential nor any
// header of the tool follows a redirect to another origin, nor comes back from
// there.
func TestNothingPersonalCrossesOrigins(t *testing.T) {
	t.Parallel()

	type visit struct{ path, auth, custom, key, referer string }
	visits := make(chan visit, 8)
	note := func(r *http.Request) {
		visits <- visit{
			r.URL.Path, r.Header.Get("Authorization"), r.Header.Get("X-Custom"), r.Header.Get("Idempotency-Key"), r.Referer(),
		}
	}
	var home *httptest.Server
	away := serve(t, func(w http.ResponseWriter, r *http.Request) {
		note(r)
		http.Redirect(w, r, home.URL+"/end", http.StatusFound)
	})
	home = serve(t, func(w http.ResponseWriter, r *http.Request) {
		note(r)
		switch r.URL.Path {
		case "/start":
			http.Redirect(w, r, "/same", http.StatusFound)
		case "/same":
			http.Redirect(w, r, away.URL+"/away", http.StatusFound)
		}
	})
	g := egresstest.Gate(t, egress.Config{Policy: allowing(home.URL, away.URL)})
	access := writer
	access.Credential = &egress.Credential{Value: secret.NewValue("s3cr3t", "127.0.0.1")}
	header := http.Header{"X-Custom": {"mine"}, "Idempotency-Key": {"k"}}
	_, err := g.Do(t.Context(), access, &egress.Request{Method: "GET", URL: home.URL + "/start", Header: header})
	require.NoError(t, err)
	close(visits)
	var seen []visit
	for v := range visits {
		if v.path == "/same" {
			v.referer = ""
		}
		seen = append(seen, v)
	}
	require.Equal(t, []visit{
		{"/start", "Bearer s3cr3t", "mine", "k", ""},
		{"/same", "Bearer s3cr3t", "mine", "k", ""},
		{"/away", "", "", "", ""},
		{"/end", "", "", "", ""},
	}, seen)
}

func TestBodiesStayHome(t *testing.T) {
	t.Parallel()

	var away atomic.Int64
	other := serve(t, func(http.ResponseWriter, *http.Request) { away.Add(1) })
	var bodies atomic.Value
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		bodies.Store(r.Method + string(raw))
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		case "/same":
			http.Redirect(w, r, "/end", http.StatusPermanentRedirect)
		case "/see":
			http.Redirect(w, r, "/end", http.StatusSeeOther)
		}
	})
	g := egresstest.Gate(t, egress.Config{Policy: allowing(srv.URL, other.URL)})
	post := func(path string) error {
		_, err := g.Do(t.Context(), writer, &egress.Request{Method: "POST", URL: srv.URL + path, Body: []byte("data")})
		return err
	}
	requireRefused(t, post("/away"))
	require.Zero(t, away.Load())
	require.NoError(t, post("/same"))
	require.Equal(t, "POSTdata", bodies.Load())
	require.NoError(t, post("/see"))
	require.Equal(t, "GET", bodies.Load())
}

func TestNoDowngrade(t *testing.T) {
	t.Parallel()

	plain := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the plain upstream may not be called") })
	tls := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, plain.URL, http.StatusFound)
	}))
	t.Cleanup(tls.Close)
	g := egresstest.Gate(t, egress.Config{RootCAs: certPool(tls), Policy: allowing(plain.URL, tls.URL)})
	_, err := g.Do(t.Context(), writer, get(tls.URL))
	requireRefused(t, err)
	require.ErrorContains(t, err, "from https to http")
}

// TestAllowedNameAndCIDR proves that an operator's permission opens what it
// names and nothing beside it.
func TestAllowedNameAndCIDR(t *testing.T) {
	t.Parallel()

	srv := serve(t, func(http.ResponseWriter, *http.Request) {})
	host := strings.TrimPrefix(srv.URL, "http://")
	port := host[strings.LastIndex(host, ":")+1:]
	n, err := strconv.ParseUint(port, 10, 16)
	require.NoError(t, err)
	loopback := netip.MustParseAddr("127.0.0.1")
	resolver, _ := egresstest.NewResolver(map[string][]netip.Addr{
		"orders.internal": {loopback}, "other.internal": {loopback},
	})
	policies := map[tool.TenantID]egress.Policy{
		"named":  {AllowHosts: []string{"Orders.internal:" + port}},
		"cidr":   {AllowCIDRs: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, AllowPorts: []uint16{uint16(n)}},
		"noport": {AllowCIDRs: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}},
		"host":   {AllowHosts: []string{"orders.internal"}},
	}
	g := egresstest.Gate(t, egress.Config{
		Resolver: resolver, Policy: func(id tool.TenantID) egress.Policy { return policies[id] },
	})
	for tenant, reach := range map[tool.TenantID]map[string]bool{
		"named":   {"orders.internal": true, "other.internal": false, "127.0.0.1": false},
		"cidr":    {"orders.internal": true, "other.internal": true, "127.0.0.1": true},
		"noport":  {"orders.internal": false, "127.0.0.1": false},
		"host":    {"orders.internal": false},
		"nothing": {"orders.internal": false, "127.0.0.1": false},
	} {
		for name, want := range reach {
			_, err := g.Do(t.Context(), egress.Access{Tenant: tenant, Class: tool.EgressWrite}, get("http://"+name+":"+port+"/"))
			require.Equal(t, want, err == nil, "%s %s: %v", tenant, name, err)
		}
	}
}
