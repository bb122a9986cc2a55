package api_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/faulttest/pgproxy"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// proxied is a server whose database can be taken away, and its database.
func proxied(t *testing.T) (*storetest.Database, *pgproxy.Proxy, string) {
	t.Helper()
	d := storetest.NewDatabase(t)
	address, err := url.Parse(d.URL)
	require.NoError(t, err)
	proxy, err := pgproxy.Start(address.Host)
	require.NoError(t, err)
	t.Cleanup(proxy.Close)
	through, err := proxy.URL(d.URL)
	require.NoError(t, err)
	s, err := store.Open(t.Context(), through, store.Options{
		SetRole: store.AppRole, MaxConns: 4, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	server := httptest.NewServer(newHandler(t, s, slog.New(slog.DiscardHandler)))
	t.Cleanup(server.Close)
	return d, proxy, server.URL
}

// endpoint is a method and a path without parameters.
type endpoint struct{ method, path, accept string }

var pathParameter = regexp.MustCompile(`\{[^}]*\}`)

// endpoints lists every route that the description lists, and the streams.
func endpoints(t *testing.T, server string) (out []endpoint) {
	t.Helper()
	var described struct {
		Paths map[string]map[string]json.RawMessage
	}
	_, _, body := ask(t, server, endpoint{method: http.MethodGet, path: "/openapi.json"}, "")
	require.NoError(t, json.Unmarshal(body, &described))
	for path, methods := range described.Paths {
		path = pathParameter.ReplaceAllString(path, "0197a3c2-7d9e-7cc1-8000-0123456789ab")
		for method := range methods {
			out = append(out, endpoint{strings.ToUpper(method), path, "application/json"})
		}
	}
	require.Greater(t, len(out), 80)
	return append(out,
		endpoint{http.MethodGet, "/v1/events", v1.StreamType},
		endpoint{http.MethodGet, "/v1/runs/0197a3c2-7d9e-7cc1-8000-0123456789ab/events", v1.StreamType})
}

// ask sends a request with the key.
func ask(t *testing.T, server string, e endpoint, key string) (int, http.Header, []byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var body io.Reader
	if e.method != http.MethodGet && e.method != http.MethodDelete {
		body = strings.NewReader("{}")
	}
	req, err := http.NewRequestWithContext(ctx, e.method, server+e.path, body)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Accept", e.accept)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, resp.Header, raw
}

// withoutDatabase are the endpoints that answer as ever without a database. That of sessions refuses what is
// not from a page of its own first.
var withoutDatabase = regexp.MustCompile(`^/(healthz|openapi\.json|docs.*|v1/problems.*|v1/meta|v1/session)$`)

// A database that is silent, on open connections and on new ones, is answered with
// 503 and the time to come back, by every endpoint, however many ask at once.
func TestBlackholedDatabase(t *testing.T) {
	t.Parallel()

	d, proxy, server := proxied(t)
	key := d.Key(t, d.Tenant(t), "*")
	all := endpoints(t, server)
	status, _, body := ask(t, server, endpoint{http.MethodGet, "/v1/tools", ""}, key)
	require.Equal(t, http.StatusOK, status, string(body))

	proxy.Blackhole(true)
	answers := make([]struct {
		answer
		took time.Duration
	}, len(all))
	var asking sync.WaitGroup
	for i, e := range all {
		asking.Go(func() {
			began := time.Now()
			status, header, body := ask(t, server, e, key)
			answers[i].answer, answers[i].took = answer{status, header, body}, time.Since(began)
		})
	}
	asking.Wait()
	var slowest time.Duration
	for i, e := range all {
		got := answers[i]
		slowest = max(slowest, got.took)
		if withoutDatabase.MatchString(e.path) {
			require.Less(t, got.status, http.StatusInternalServerError, "%s %s: %s", e.method, e.path, got.body)
			continue
		}
		requireUnavailable(t, got.status, got.header, got.body)
	}
	t.Logf("%d endpoints at once, the slowest answer after %s", len(all), slowest.Round(time.Millisecond))
	proxy.Blackhole(false)
	require.Eventually(t, func() bool {
		status, _, _ := ask(t, server, endpoint{http.MethodGet, "/v1/tools", ""}, key)
		return status == http.StatusOK
	}, 30*time.Second, 20*time.Millisecond)
}

// requireUnavailable requires 503 and Retry-After, of problems and of health.
func requireUnavailable(t *testing.T, status int, header http.Header, body []byte) {
	t.Helper()
	require.Equal(t, http.StatusServiceUnavailable, status, string(body))
	after, err := strconv.Atoi(header.Get("Retry-After"))
	require.NoError(t, err)
	require.Positive(t, after)
	var p struct {
		Code      tool.Kind
		Retryable bool
	}
	require.NoError(t, json.Unmarshal(body, &p))
	if p.Code != "" {
		require.Equal(t, tool.Unavailable, p.Code)
		require.True(t, p.Retryable)
	}
}

// A database that takes no writes is not ready, and requests are unavailable, not
// defects, until it does.
func TestReadOnlyDatabase(t *testing.T) {
	t.Parallel()

	d, proxy, server := proxied(t)
	key := d.Key(t, d.Tenant(t), "*")
	ready := func() v1.Health {
		_, _, body := ask(t, server, endpoint{http.MethodGet, "/readyz", ""}, key)
		var health v1.Health
		require.NoError(t, json.Unmarshal(body, &health))
		return health
	}
	require.Equal(t, "ok", ready().Checks["writes"].State)
	super := d.Conn(t)
	set := func(value string) {
		_, err := super.Exec(t.Context(), "set default_transaction_read_only = off")
		require.NoError(t, err)
		_, err = super.Exec(
			t.Context(),
			`do $$ begin execute format('alter database %I set default_transaction_read_only = `+value+
				`', current_database()); end $$`,
		)
		require.NoError(t, err)
		proxy.ResetAll() // A failover ends connections; new sessions meet the setting.
	}
	set("on")
	require.Eventually(t, func() bool { return ready().Checks["writes"].State != "ok" }, time.Minute,
		50*time.Millisecond)
	status, header, body := ask(t, server, endpoint{http.MethodPost, "/v1/keys", ""}, key)
	requireUnavailable(t, status, header, body)
	set("off")
	require.Eventually(t, func() bool { return ready().Checks["writes"].State == "ok" }, 30*time.Second,
		50*time.Millisecond)
}
