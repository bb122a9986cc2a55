package egress_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/egress/egresstest"
	"github.com/toolcrib/toolcrib/tool"
)

// TestRulesNarrow proves that the rules of a tool and of each policy take away,
// and that none of them opens anything.
func TestRulesNarrow(t *testing.T) {
	t.Parallel()

	var calls atomic.Int64
	srv := serve(t, func(http.ResponseWriter, *http.Request) { calls.Add(1) })
	host := strings.TrimPrefix(srv.URL, "http://")
	n, err := strconv.ParseUint(host[strings.LastIndex(host, ":")+1:], 10, 16)
	require.NoError(t, err)
	port := uint16(n)
	resolver, _ := egresstest.NewResolver(map[string][]netip.Addr{
		"api.orders.test": {netip.MustParseAddr("127.0.0.1")}, "orders.test": {netip.MustParseAddr("127.0.0.1")},
	})
	open := []string{"api.orders.test:" + strconv.Itoa(int(port)), "orders.test:" + strconv.Itoa(int(port)), host}
	at := func(name string) string { return "http://" + name + ":" + strconv.Itoa(int(port)) + "/" }
	type rules = tool.EgressRules
	for name, tt := range map[string]struct {
		rules  rules
		method string
		url    string
		ok     bool
	}{
		"nothing":             {rules{}, "GET", at("orders.test"), true},
		"exact host":          {rules{Hosts: []string{"Orders.Test"}}, "GET", at("orders.test"), true},
		"another host":        {rules{Hosts: []string{"orders.test"}}, "GET", at("api.orders.test"), false},
		"below a host":        {rules{Hosts: []string{"*.orders.test"}}, "GET", at("api.orders.test"), true},
		"not the host itself": {rules{Hosts: []string{"*.orders.test"}}, "GET", at("orders.test"), false},
		"host and port": {
			rules{Hosts: []string{"orders.test:" + strconv.Itoa(int(port))}}, "GET", at("orders.test"), true,
		},
		"host, another port": {rules{Hosts: []string{"orders.test:1"}}, "GET", at("orders.test"), false},
		"one of several":     {rules{Hosts: []string{"a.test", "orders.test"}}, "GET", at("orders.test"), true},
		"an address":         {rules{Hosts: []string{"127.0.0.1"}}, "GET", srv.URL, true},
		"a mapped address":   {rules{Hosts: []string{"127.0.0.1"}}, "GET", at("[::ffff:127.0.0.1]"), false},
		"method":             {rules{Methods: []string{"GET"}}, "GET", at("orders.test"), true},
		"another method":     {rules{Methods: []string{"GET"}}, "DELETE", at("orders.test"), false},
		"port":               {rules{Ports: []uint16{port}}, "GET", at("orders.test"), true},
		"another port":       {rules{Ports: []uint16{443}}, "GET", at("orders.test"), false},
		"all, and all hold": {
			rules{Hosts: []string{"orders.test"}, Methods: []string{"GET"}, Ports: []uint16{port}},
			"GET", at("orders.test"),
			true,
		},
		"opens no private one": {rules{Hosts: []string{"10.0.0.7"}, Ports: []uint16{80}}, "GET", "http://10.0.0.7/", false},
		"opens no port":        {rules{Hosts: []string{"8.8.8.8"}, Ports: []uint16{22}}, "GET", "http://8.8.8.8:22/", false},
	} {
		for where, g := range map[string]*egress.Gate{
			"tool": egresstest.Gate(t, egress.Config{Resolver: resolver, Policy: allowing(append([]string(nil), open...)...)}),
			"tenant": egresstest.Gate(t, egress.Config{Resolver: resolver, Policy: func(tool.TenantID) egress.Policy {
				return egress.Policy{AllowHosts: open, Rules: []tool.EgressRules{{}, tt.rules}}
			}}),
		} {
			access := writer
			if where == "tool" {
				access.Rules = tt.rules
			}
			before := calls.Load()
			_, err := g.Do(t.Context(), access, &egress.Request{Method: tt.method, URL: tt.url})
			require.Equal(t, tt.ok, err == nil, "%s, %s: %v", name, where, err)
			require.Equal(t, tt.ok, calls.Load() > before, "%s, %s", name, where)
			require.Equal(t, tt.ok, g.Check(access, tt.method, tt.url) == nil, "%s, %s", name, where)
			if err != nil {
				require.Equal(t, tool.Denied, tool.KindOf(err))
				require.False(t, tool.AsError(err).Sent)
				_, drift := errors.AsType[*tool.DriftError](err)
				require.False(t, drift, "to be narrowed is no drift")
			}
		}
	}
}

// TestRulesHoldAcrossRedirects proves that a host which the rules do not list
// is not reached through one that they do.
func TestRulesHoldAcrossRedirects(t *testing.T) {
	t.Parallel()

	var reached atomic.Int64
	other := serve(t, func(http.ResponseWriter, *http.Request) { reached.Add(1) })
	listed := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, http.StatusFound) })
	g := egresstest.Gate(t, egress.Config{Policy: allowing(listed.URL, other.URL)})
	access := writer
	_, err := g.Do(t.Context(), access, get(listed.URL))
	require.NoError(t, err)
	require.EqualValues(t, 1, reached.Load())

	access.Rules.Hosts = []string{strings.TrimPrefix(listed.URL, "http://")}
	_, err = g.Do(t.Context(), access, get(listed.URL))
	requireRefused(t, err)
	require.ErrorContains(t, err, "egress rules")
	require.EqualValues(t, 1, reached.Load())
}

// TestDrift proves that whatever asks for more than the class is refused before
// it leaves, and tells what was declared and attempted.
func TestDrift(t *testing.T) {
	t.Parallel()

	srv := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("nothing may arrive") })
	g := egresstest.Gate(t, egress.Config{Policy: allowing(srv.URL)})
	attempt := func(class tool.Egress, r *egress.Request) (*tool.Error, *tool.DriftError) {
		r.URL = srv.URL
		_, err := g.Do(t.Context(), egress.Access{Tenant: "t1", Class: class}, r)
		requireRefused(t, err)
		drift, ok := errors.AsType[*tool.DriftError](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, class, drift.Declared)
		return tool.AsError(err), drift
	}
	for _, method := range []string{
		"POST", "PUT", "PATCH", "DELETE", "QUERY", "PURGE", "TRACE", "CONNECT", "LOCK", "get", "Post", "X",
	} {
		e, drift := attempt(tool.EgressReadOnly, &egress.Request{Method: method})
		require.Equal(t, method, drift.Attempted)
		require.Contains(t, e.Msg, "set its egress_class to write")
		require.False(t, e.Sent)
	}
	for _, header := range []string{"X-HTTP-Method-Override", "X-Http-Method", "x-method-override"} {
		e, drift := attempt(tool.EgressReadOnly, &egress.Request{Method: "GET", Header: http.Header{header: {"DELETE"}}})
		require.Equal(t, http.CanonicalHeaderKey(header), drift.Attempted)
		require.Contains(t, e.Msg, http.CanonicalHeaderKey(header))
	}
	e, drift := attempt(tool.EgressNone, &egress.Request{Method: "GET"})
	require.Equal(t, "GET", drift.Attempted)
	require.Contains(t, e.Msg, "read_only or write")
	_, drift = attempt(tool.EgressReadOnly, &egress.Request{Method: strings.Repeat("A", 100)})
	require.Len(t, drift.Attempted, 32)
}

// TestDeclaredPostReads proves that a declaration lets POST pass under
// read_only, and nothing else: no other method, no header that names another,
// and nothing under the class none.
func TestDeclaredPostReads(t *testing.T) {
	t.Parallel()

	var arrived atomic.Int64
	srv := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			t.Errorf("%s arrived", r.Method)
		}
		arrived.Add(1)
	})
	g := egresstest.Gate(t, egress.Config{Policy: allowing(srv.URL)})
	access := egress.Access{Tenant: "t1", Class: tool.EgressReadOnly, PostReads: true}
	_, err := g.Do(t.Context(), access, &egress.Request{Method: "POST", URL: srv.URL, Body: []byte(`{}`)})
	require.NoError(t, err)
	for _, method := range []string{"PUT", "PATCH", "DELETE", "QUERY", "post", "PURGE"} {
		_, err := g.Do(t.Context(), access, &egress.Request{Method: method, URL: srv.URL})
		requireRefused(t, err)
		require.ErrorContains(t, err, "it may send GET, HEAD, OPTIONS and POST only")
	}
	for _, header := range []string{"X-HTTP-Method-Override", "X-Http-Method", "x-method-override"} {
		_, err := g.Do(
			t.Context(), access, &egress.Request{Method: "POST", URL: srv.URL, Header: http.Header{header: {"DELETE"}}},
		)
		requireRefused(t, err)
	}
	access.Class = tool.EgressNone
	_, err = g.Do(t.Context(), access, &egress.Request{Method: "POST", URL: srv.URL})
	requireRefused(t, err)
	require.EqualValues(t, 1, arrived.Load())
}

// TestOverridesCountWhereMethodsAreListed proves that a list of methods can't
// be talked around by a header.
func TestOverridesCountWhereMethodsAreListed(t *testing.T) {
	t.Parallel()

	srv := serve(t, func(http.ResponseWriter, *http.Request) {})
	g := egresstest.Gate(t, egress.Config{Policy: allowing(srv.URL)})
	request := &egress.Request{Method: "POST", URL: srv.URL, Header: http.Header{"X-Http-Method-Override": {"DELETE"}}}
	_, err := g.Do(t.Context(), writer, request)
	require.NoError(t, err, "a tool that may write may say what it likes")
	access := writer
	access.Rules.Methods = []string{"POST"}
	_, err = g.Do(t.Context(), access, request)
	requireRefused(t, err)
}

// TestAnswersAreBoundedByTheLeast proves it of everything that has a say.
func TestAnswersAreBoundedByTheLeast(t *testing.T) {
	t.Parallel()

	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", 600))
		_ = http.NewResponseController(w).Flush() // A stream, whose length nobody says.
		_, _ = io.WriteString(w, strings.Repeat("x", 400))
	})
	for name, tt := range map[string]struct {
		gate, request, access, rules, tenant int64
		want                                 int
	}{
		"gate":      {100, 0, 0, 0, 0, 100},
		"request":   {100, 200, 0, 0, 0, 200},
		"access":    {0, 500, 50, 0, 0, 50},
		"rules":     {0, 500, 0, 40, 0, 40},
		"tenant":    {0, 500, 60, 50, 30, 30},
		"all large": {0, 5000, 5000, 5000, 5000, 1000},
	} {
		g := egresstest.Gate(t, egress.Config{MaxBytes: tt.gate, Policy: func(tool.TenantID) egress.Policy {
			return egress.Policy{
				AllowHosts: []string{strings.TrimPrefix(srv.URL, "http://")}, Rules: []tool.EgressRules{{MaxBytes: tt.tenant}},
			}
		}})
		access := egress.Access{
			Tenant: "t1", Class: tool.EgressReadOnly, MaxBytes: tt.access, Rules: tool.EgressRules{MaxBytes: tt.rules},
		}
		resp, err := g.Do(t.Context(), access, &egress.Request{Method: "GET", URL: srv.URL, MaxBytes: tt.request})
		require.NoError(t, err)
		require.Len(t, resp.Body, tt.want, name)
		require.Equal(t, tt.want < 1000, resp.Truncated, name)
	}
}

// TestClientBodiesEndAtTheBound proves that an SDK which reads on is told, and
// gets what may be read before.
func TestClientBodiesEndAtTheBound(t *testing.T) {
	t.Parallel()

	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		for range 10 {
			_, _ = io.WriteString(w, strings.Repeat("x", 100))
			_ = http.NewResponseController(w).Flush()
		}
	})
	var reasons atomic.Value
	g := egresstest.Gate(t, egress.Config{
		Policy: allowing(srv.URL), Refused: func(_ context.Context, reason string) { reasons.Store(reason) },
	})
	read := func(limit int64) ([]byte, error) {
		access := writer
		access.MaxBytes = limit
		resp, err := g.Client(access).Get(srv.URL)
		require.NoError(t, err)
		defer func() { require.NoError(t, resp.Body.Close()) }()
		return io.ReadAll(resp.Body)
	}
	for _, limit := range []int64{0, 1000, 1001} {
		body, err := read(limit)
		require.NoError(t, err, limit)
		require.Len(t, body, 1000, limit)
	}
	for _, limit := range []int64{1, 100, 101, 999} {
		body, err := read(limit)
		require.Len(t, body, int(limit))
		e := tool.AsError(err)
		require.Equal(t, tool.Denied, e.Kind)
		require.True(t, e.Sent && e.Answered, "the upstream did answer")
		require.Contains(t, e.Msg, "limit of "+strconv.FormatInt(limit, 10))
		require.Equal(t, "size", reasons.Load())
	}
}

// TestHandshake proves that a protocol may post for a tool that only reads, and
// nowhere that the tool may not go.
func TestHandshake(t *testing.T) {
	t.Parallel()

	srv := serve(t, func(http.ResponseWriter, *http.Request) {})
	g := egresstest.Gate(t, egress.Config{Policy: allowing(srv.URL)})
	post := func(a egress.Access) error {
		_, err := g.Do(t.Context(), a, &egress.Request{Method: "POST", URL: srv.URL})
		return err
	}
	reader := egress.Access{
		Tenant: "t1", Class: tool.EgressReadOnly, Rules: tool.EgressRules{Methods: []string{"GET"}},
		Credential: &egress.Credential{},
	}
	require.Error(t, post(reader))
	require.NoError(t, post(reader.Handshake(nil)))
	reader.Rules.Hosts = []string{"id.example.com"}
	requireRefused(t, post(reader.Handshake(nil)))
	for _, class := range []tool.Egress{tool.EgressNone, ""} {
		requireRefused(t, post(egress.Access{Tenant: "t1", Class: class}.Handshake(nil)))
	}
}
