package builtins_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/builtins"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// fetcher is http_request with an upstream on loopback, which the policy of
// the tenant "t1" allows and nobody else's.
type fetcher struct {
	run tool.Executor
	url string
}

func newFetcher(t *testing.T, h http.HandlerFunc) fetcher {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	gate, err := egress.New(egress.Config{Policy: func(tenant tool.TenantID) egress.Policy {
		if tenant != "t1" {
			return egress.Policy{}
		}
		return egress.Policy{AllowHosts: []string{strings.TrimPrefix(srv.URL, "http://")}}
	}})
	require.NoError(t, err)
	t.Cleanup(gate.Close)
	run, ok := builtins.New(builtins.Config{Gate: gate}).Lookup("http_request")
	require.True(t, ok)
	return fetcher{run: run, url: srv.URL}
}

func (f fetcher) do(t *testing.T, tenant tool.TenantID, args string) (*tool.Result, error) {
	t.Helper()
	return f.run.Execute(t.Context(), &tool.Call{
		CallIdentity: tool.CallIdentity{EffectID: "effect-1", Principal: tool.Principal{Tenant: tenant}},
		Egress:       tool.EgressReadOnly,
		Arguments:    json.RawMessage(strings.ReplaceAll(args, "$URL", f.url)),
	})
}

func TestHTTPRequestReads(t *testing.T) {
	t.Parallel()

	f := newFetcher(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/json":
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			_, _ = io.WriteString(w, `{"n": 1.10, "accept": "`+r.Header.Get("Accept")+`"}`)
		case "/text":
			w.Header().Set("Content-Type", "text/plain")
			_, _ = io.WriteString(w, strings.Repeat("é", 10))
		case "/png":
			w.Header().Set("Content-Type", "image/png")
			_, _ = io.WriteString(w, "\x89PNG\r\n\x1a\n")
		}
	})
	res, err := f.do(t, "t1", `{"url": "$URL/json", "headers": {"Accept": "application/json"}}`)
	require.NoError(t, err)
	require.Contains(t, string(res.Structured), `"n":1.10`)
	require.Contains(t, string(res.Structured), `"accept":"application/json"`)

	res, err = f.do(t, "t1", `{"url": "$URL/text", "max_bytes": 5}`)
	require.NoError(t, err)
	require.Contains(t, string(res.Structured), `"text":"éé","truncated":true`, "cut between characters")

	res, err = f.do(t, "t1", `{"url": "$URL/text", "method": "HEAD"}`)
	require.NoError(t, err)
	require.Contains(t, string(res.Structured), `"content-length":"20"`)

	res, err = f.do(t, "t1", `{"url": "$URL/png"}`)
	require.NoError(t, err)
	require.Equal(t, tool.ContentImage, res.Content[1].Type)
}

func TestHTTPRequestRefuses(t *testing.T) {
	t.Parallel()

	f := newFetcher(t, func(http.ResponseWriter, *http.Request) { t.Error("nothing may be sent") })
	for args, want := range map[string]string{
		`{"url": "$URL", "method": "TRACE"}`:                        "want one of",
		`{"url": "$URL", "headers": {"Authorization": "Bearer x"}}`: "credentials",
		`{"url": "$URL", "headers": {"x-api-key": "x"}}`:            "credentials",
		`{"url": "$URL", "headers": {"host": "x"}}`:                 "set by the platform",
		`{"url": "$URL", "headers": {"X-A": "a\r\nX-B: b"}}`:        "line break",
	} {
		res, err := f.do(t, "t1", args)
		require.NoError(t, err, args)
		require.True(t, res.IsError, args)
		require.Contains(t, res.Content[0].Text, want)
	}
	for _, args := range []string{
		`{"url": "$URL", "method": "POST"}`, `{"url": "$URL", "method": "DELETE"}`,
		`{"url": "$URL", "headers": {"x-http-method-override": "DELETE"}}`,
	} {
		_, err := f.do(t, "t1", args)
		require.Equal(t, tool.Denied, tool.KindOf(err), args)
		_, drift := errors.AsType[*tool.DriftError](err)
		require.True(t, drift, args)
	}
	for _, url := range []string{
		"$URL", "http://127.1/", "http://169.254.169.254/latest/meta-data", "file:///etc/passwd", "http://[::1]/",
	} {
		_, err := f.do(t, "t2", `{"url": "`+url+`"}`)
		require.Equal(t, tool.Denied, tool.KindOf(err), url)
		require.False(t, tool.AsError(err).Sent)
	}
}

func TestHTTPRequestStatuses(t *testing.T) {
	t.Parallel()

	f := newFetcher(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "7")
		switch r.URL.Path {
		case "/403":
			http.Error(w, "members only", http.StatusForbidden)
		case "/429":
			w.WriteHeader(http.StatusTooManyRequests)
		case "/500":
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	res, err := f.do(t, "t1", `{"url": "$URL/403"}`)
	require.NoError(t, err)
	require.Equal(t, tool.ErrorResult("the upstream answered 403 Forbidden: members only"), res)
	for path, want := range map[string]tool.Kind{"/429": tool.RateLimited, "/500": tool.Unavailable} {
		_, err := f.do(t, "t1", `{"url": "$URL`+path+`"}`)
		require.Equal(t, want, tool.KindOf(err))
		require.Equal(t, 7*time.Second, tool.AsError(err).RetryAfter)
		require.True(t, tool.AsError(err).Sent)
	}
}

// Where an answer is cut, a model chooses: what is left of a credential that an
// upstream quotes is left out.
func TestHTTPRequestLeavesNoPartOfACredential(t *testing.T) {
	t.Parallel()

	const key = "synthetic-key-0123456789-abcdefghij"
	b := newBench(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Etag", strings.Repeat("x", 980)+r.Header.Get("X-Shop"))
		if r.URL.Path == "/404" {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = fmt.Fprint(w, "you sent "+r.Header.Get("X-Shop")+" and more")
	})
	cfg := builtins.Config{
		Secrets: secret.ResolverFunc(func(context.Context, tool.TenantID, string) (secret.Value, error) {
			return secret.NewValue(key, b.host), nil
		}),
	}
	own := b.configured(
		`{"builtin": "http_request", "auth": {"type": "header", "header": "X-Shop", "credentials_ref": "shop"}}`,
	)
	for _, status := range []string{"200", "404"} {
		for cut := len("you sent ") + 5; cut < len("you sent ")+len(key); cut += 5 {
			res, err := b.run(t, cfg, "http_request", fmt.Sprintf(`{"url": "$URL/%s", "max_bytes": %d}`, status, cut), own)
			require.NoError(t, err)
			raw, err := json.Marshal(res)
			require.NoError(t, err)
			require.Contains(t, string(raw), "you sent")
			require.NotContains(t, string(raw), key[:5])
		}
	}
}
