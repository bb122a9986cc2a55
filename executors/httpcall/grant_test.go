package httpcall_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/middleware"
	"github.com/toolcrib/toolcrib/tool"
)

// TestHostileTokenEndpoints proves that nothing but a bearer token is taken
// for one, that no such call was sent, and that nothing the endpoint writes is
// told.
func TestHostileTokenEndpoints(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		name   string
		status int
		body   string
		kind   tool.Kind // Empty: the token is taken.
		says   string
	}{
		{"no JSON", 200, `access_token=x`, tool.Unavailable, "did not return a bearer token"},
		{"nothing", 200, ``, tool.Unavailable, "did not return a bearer token"},
		{"an array", 200, `["x"]`, tool.Unavailable, "did not return a bearer token"},
		{"no token", 200, `{"token_type": "bearer"}`, tool.Unavailable, "did not return a bearer token"},
		{"empty token", 200, `{"access_token": ""}`, tool.Unavailable, "did not return a bearer token"},
		{"null token", 200, `{"access_token": null}`, tool.Unavailable, "did not return a bearer token"},
		{"number", 200, `{"access_token": 12345}`, tool.Unavailable, "did not return a bearer token"},
		{"object", 200, `{"access_token": {"a": 1}}`, tool.Unavailable, "did not return a bearer token"},
		{"line break", 200, `{"access_token": "a\r\nX-Admin: 1"}`, tool.Unavailable, "did not return a bearer token"},
		{"space", 200, `{"access_token": "a b"}`, tool.Unavailable, "did not return a bearer token"},
		{"not ASCII", 200, `{"access_token": "tök"}`, tool.Unavailable, "did not return a bearer token"},
		{"NUL", 200, `{"access_token": "a\u0000b"}`, tool.Unavailable, "did not return a bearer token"},
		{"a long token", 200, `{"access_token": "` + strings.Repeat("x", 17<<10) + `"}`, tool.Unavailable, "did not return a bearer token"},
		{
			"a long answer", 200, `{"access_token": "x", "more": "` + strings.Repeat("x", 65<<10) + `"}`, tool.Unavailable,
			"did not return a bearer token",
		},
		{"another name", 200, `{"Access_Token": "x"}`, tool.Unavailable, "did not return a bearer token"},
		{"mac", 200, `{"access_token": "x", "token_type": "mac"}`, tool.Unavailable, "did not return a bearer token"},
		{"type of a type", 200, `{"access_token": "x", "token_type": 1}`, tool.Unavailable, "did not return a bearer token"},
		{"lifetime of an object", 200, `{"access_token": "x", "expires_in": {}}`, tool.Unavailable, "did not return a bearer token"},
		{"lifetime of words", 200, `{"access_token": "x", "expires_in": "soon"}`, tool.Unavailable, "did not return a bearer token"},
		{"lifetime of no number", 200, `{"access_token": "x", "expires_in": "NaN"}`, tool.Unavailable, "did not return a bearer token"},
		{"created", 201, `{"access_token": "x"}`, tool.Denied, "201 Created"},
		{
			"no client", 401, `{"error": "invalid_client", "error_description": "s3cr3t-leak"}`, tool.Denied,
			"401 Unauthorized, invalid_client",
		},
		{"no scope", 400, `{"error": "invalid_scope"}`, tool.Denied, "400 Bad Request, invalid_scope"},
		{"odd code", 400, `{"error": "s3cr3t-leak"}`, tool.Denied, "400 Bad Request"},
		{"elsewhere without a place", 302, ``, tool.Denied, "302 Found"},
		{"busy", 429, ``, tool.RateLimited, "429 Too Many Requests"},
		{"down", 503, `{"access_token": "x"}`, tool.Unavailable, "503 Service Unavailable"},
		{"lower case", 200, `{"access_token": "x", "token_type": "bearer"}`, "", ""},
		{"no type", 200, `{"access_token": "x", "token_type": "BEARER", "expires_in": "3600"}`, "", ""},
		{"ended", 200, `{"access_token": "x", "expires_in": -5}`, "", ""},
		{"hardly ends", 200, `{"access_token": "x", "expires_in": 1e300}`, "", ""},
		{"beyond numbers", 200, `{"access_token": "x", "expires_in": 1e999}`, tool.Unavailable, "did not return a bearer token"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			i := &issuer{answer: func(w http.ResponseWriter, _ *http.Request, _ int) {
				w.Header().Set("Retry-After", "7")
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			}}
			b := setup(t, i.ServeHTTP)
			res, err := b.executor.Execute(t.Context(), b.call(oauthConfig, `{}`))
			if tt.kind == "" {
				require.NoError(t, err)
				require.Equal(t, "hello x", res.Content[0].Text)
				return
			}
			e := tool.AsError(err)
			require.Equal(t, tt.kind, e.Kind, "%v", err)
			require.Contains(t, e.Msg, tt.says)
			require.NotContains(t, err.Error(), "leak")
			require.False(t, e.Sent, "the call itself never left")
			require.Equal(t, tt.kind.Retryable(), e.MayRetry(tool.Execution{}))
			if tt.status == 429 || tt.status == 503 {
				require.Equal(t, 7*time.Second, e.RetryAfter)
			}
			for _, r := range b.requests() {
				require.Equal(t, "/token", r.Target)
			}
		})
	}
}

// TestShortTokensServeOnce proves that a token without a future is used and
// not kept.
func TestShortTokensServeOnce(t *testing.T) {
	t.Parallel()

	for _, seconds := range []int{-5, 0, 29} {
		i := &issuer{answer: func(w http.ResponseWriter, _ *http.Request, n int) {
			_, _ = fmt.Fprintf(w, `{"access_token": "t%d", "expires_in": %d}`, n, seconds)
		}}
		b := setup(t, i.ServeHTTP)
		for n := 1; n <= 2; n++ {
			res, err := b.executor.Execute(t.Context(), b.call(oauthConfig, `{}`))
			require.NoError(t, err)
			require.Equal(t, fmt.Sprintf("hello t%d", n), res.Content[0].Text)
		}
	}
}

// TestClientsStayHome proves that a client's secret goes to its hosts alone,
// its token to the host of the tool's URL alone, and neither where the secret
// may not go.
func TestClientsStayHome(t *testing.T) {
	t.Parallel()

	var elsewhere []string
	var mu sync.Mutex
	thief := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		elsewhere = append(elsewhere, r.Header.Get("Authorization")+string(body)+r.URL.RawQuery+r.Header.Get("Cookie"))
		_, _ = io.WriteString(w, `{"access_token": "stolen"}`)
	}))
	t.Cleanup(thief.Close)
	to := func(status int) *issuer {
		return &issuer{
			answer: func(w http.ResponseWriter, r *http.Request, _ int) { http.Redirect(w, r, thief.URL+"/token", status) },
		}
	}
	for _, clientAuth := range []string{"basic", "body"} {
		config := strings.Replace(oauthConfig, `"token_url"`, `"client_auth": "`+clientAuth+`", "token_url"`, 1)
		for _, status := range []int{301, 302, 303, 307, 308} {
			b := setup(t, to(status).ServeHTTP, strings.TrimPrefix(thief.URL, "http://"))
			_, err := b.executor.Execute(t.Context(), b.call(config, `{}`))
			if err == nil { // A token without a secret, for a request without one.
				require.Less(t, status, 307)
			}
		}
		for _, ref := range []string{"elsewhere", "unbound", "absent", "orders"} {
			i := &issuer{}
			b := setup(t, i.ServeHTTP)
			_, err := b.executor.Execute(t.Context(), b.call(strings.Replace(config, `"client"`, `"`+ref+`"`, 1), `{}`))
			require.Equal(t, tool.Denied, tool.KindOf(err), ref)
			require.False(t, tool.AsError(err).Sent)
			require.Empty(t, b.requests(), ref)
		}
		i := &issuer{}
		b := setup(t, i.ServeHTTP)
		_, err := b.executor.Execute(
			t.Context(), b.call(strings.Replace(config, "$URL/o", "https://api.example.com/o", 1), `{}`),
		)
		require.Equal(t, tool.Denied, tool.KindOf(err), "a token of the secret does not go where the secret may not")
		require.Empty(t, b.requests())
	}
	// The tool's own URL redirects to another origin.
	b := setup(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			(&issuer{}).ServeHTTP(w, r)
			return
		}
		http.Redirect(w, r, thief.URL+"/o", http.StatusFound)
	}, strings.TrimPrefix(thief.URL, "http://"))
	_, err := b.executor.Execute(t.Context(), b.call(oauthConfig, `{}`))
	require.NoError(t, err)
	mu.Lock()
	defer mu.Unlock()
	require.NotEmpty(t, elsewhere)
	for _, got := range elsewhere {
		require.Empty(t, got, "a redirect carries nothing along")
	}
}

// TestNoTokenWithoutLeave proves that no token is asked for by a call that
// could not use it.
func TestNoTokenWithoutLeave(t *testing.T) {
	t.Parallel()

	post := strings.Replace(oauthConfig, `"url"`, `"method": "POST", "url"`, 1)
	for _, tt := range []struct {
		class  tool.Egress
		rules  tool.EgressRules
		config string
	}{
		{tool.EgressNone, tool.EgressRules{}, oauthConfig},
		{tool.EgressReadOnly, tool.EgressRules{}, post},
		{tool.EgressWrite, tool.EgressRules{Hosts: []string{"api.example.com"}}, post},
		{tool.EgressWrite, tool.EgressRules{Methods: []string{"GET"}}, post},
	} {
		i := &issuer{}
		b := setup(t, i.ServeHTTP)
		call := b.call(tt.config, `{}`)
		call.Egress, call.EgressRules = tt.class, tt.rules
		_, err := b.executor.Execute(t.Context(), call)
		require.Equal(t, tool.Denied, tool.KindOf(err))
		require.Empty(t, b.requests())
	}
	b := setup(t, (&issuer{}).ServeHTTP)
	call := b.call(oauthConfig, `{}`)
	call.Egress, call.EgressRules = tool.EgressReadOnly, tool.EgressRules{Methods: []string{"GET"}}
	_, err := b.executor.Execute(t.Context(), call)
	require.NoError(t, err, "the token is posted for, though the tool may only read")
}

// TestTokensAreRedacted proves that neither token nor secret comes back, in
// whatever form the upstream quotes them.
func TestTokensAreRedacted(t *testing.T) {
	t.Parallel()

	for _, path := range []string{"/token", "/o"} {
		b := setup(t, func(w http.ResponseWriter, r *http.Request) {
			_ = r.ParseForm()
			quote := fmt.Sprintf("%s %s %v %s", r.Header.Get("Authorization"), url.QueryEscape(r.Header.Get("Authorization")),
				r.Form, "s3cr3t%2Bclient%2F1")
			if r.URL.Path == path {
				http.Error(w, quote, http.StatusBadRequest)
				return
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"access_token": "t0ken-of-the-issuer"})
		})
		for _, clientAuth := range []string{"basic", "body"} {
			call := b.call(strings.Replace(oauthConfig, `"token_url"`, `"client_auth": "`+clientAuth+`", "token_url"`, 1), `{}`)
			res, err := middleware.Redact()(b.executor).Execute(t.Context(), call)
			text := fmt.Sprint(err)
			if err == nil {
				text = res.Content[0].Text
			}
			for _, leak := range []string{"t0ken", "s3cr3t", "czNjcjN0", "client%2F1"} {
				require.NotContains(t, text, leak)
			}
		}
	}
}
