package httpcall_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/tool"
)

// issuer is a token endpoint at /token, and a resource everywhere else.
type issuer struct {
	mu       sync.Mutex
	issued   int
	rejected map[string]bool // Tokens that the resource does not accept.
	// answer writes the answer to the nth request for a token; by default a
	// token of an hour, "token-1" and so on.
	answer func(w http.ResponseWriter, r *http.Request, n int)
}

func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/token" {
		i.mu.Lock()
		i.issued++
		n := i.issued
		i.mu.Unlock()
		if i.answer != nil {
			i.answer(w, r, n)
			return
		}
		_, _ = fmt.Fprintf(w, `{"access_token": "token-%d", "token_type": "Bearer", "expires_in": 3600}`, n)
		return
	}
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	i.mu.Lock()
	defer i.mu.Unlock()
	if token == "" || i.rejected[token] {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	_, _ = fmt.Fprintf(w, "hello %s", token)
}

func (i *issuer) count() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.issued
}

const oauthConfig = `{"url": "$URL/o", "answer": "text", "auth": {"type": "oauth2_client_credentials", "credentials_ref": "client", "token_url": "$URL/token"}}`

func TestTokenRequest(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct{ name, auth, authorization, body string }{
		{"basic", `"credentials_ref": "client"`, "Basic Y3JpYjpzM2NyM3QlMkJjbGllbnQlMkYx", "grant_type=client_credentials"},
		{"pair", `"credentials_ref": "pair", "client_auth": "basic"`, "Basic Y3JpYjpzM2NyM3QtcGFpcg==", "grant_type=client_credentials"},
		{"body", `"credentials_ref": "client", "client_auth": "body"`, "", "client_id=crib&client_secret=s3cr3t%2Bclient%2F1&grant_type=client_credentials"},
		{
			"scopes and audience", `"credentials_ref": "pair", "scopes": ["orders:read", "a/b"], "audience": "https://api.example.com"`, "Basic Y3JpYjpzM2NyM3QtcGFpcg==",
			"audience=https%3A%2F%2Fapi.example.com&grant_type=client_credentials&scope=orders%3Aread+a%2Fb",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t, (&issuer{}).ServeHTTP)
			call := b.call(`{"url": "$URL/o", "answer": "text", "auth": {"type": "oauth2_client_credentials", "token_url": "$URL/token?v=2", `+tt.auth+`}}`, `{}`)
			call.Egress = tool.EgressReadOnly
			res, err := b.executor.Execute(t.Context(), call)
			require.NoError(t, err)
			require.Equal(t, "hello token-1", res.Content[0].Text)
			seen := b.requests()
			require.Len(t, seen, 2)
			require.Equal(t, "POST", seen[0].Method)
			require.Equal(t, "/token?v=2", seen[0].Target)
			require.Equal(t, tt.authorization, seen[0].Header.Get("Authorization"))
			require.Equal(t, tt.body, seen[0].Body)
			require.Equal(t, "application/x-www-form-urlencoded", seen[0].Header.Get("Content-Type"))
			require.Empty(t, seen[0].Header.Get("Idempotency-Key"), "nothing of the call goes with it")
		})
	}
}

// TestTokensAreKept proves that a token serves until shortly before its end,
// one tenant, and one set of scopes.
func TestTokensAreKept(t *testing.T) {
	t.Parallel()

	i := &issuer{}
	b := setup(t, i.ServeHTTP)
	var mu sync.Mutex
	now := time.Unix(1_000_000, 0)
	pass := func(d time.Duration) { mu.Lock(); defer mu.Unlock(); now = now.Add(d) }
	b.executor.SetClock(func() time.Time { mu.Lock(); defer mu.Unlock(); return now })
	says := func(call *tool.Call) string {
		res, err := b.executor.Execute(t.Context(), call)
		require.NoError(t, err)
		return res.Content[0].Text
	}
	require.Equal(t, "hello token-1", says(b.call(oauthConfig, `{}`)))
	pass(59 * time.Minute)
	require.Equal(t, "hello token-1", says(b.call(oauthConfig, `{"other": 1}`)))
	other := b.call(oauthConfig, `{}`)
	other.Principal.Tenant = "t2"
	require.Equal(t, "hello token-2", says(other))
	require.Equal(t, "hello token-3", says(b.call(strings.Replace(oauthConfig, `"token_url"`, `"scopes": ["a"], "token_url"`, 1), `{}`)))
	pass(31 * time.Second)
	require.Equal(t, "hello token-4", says(b.call(oauthConfig, `{}`)), "half a minute before its end a token is not used")
	require.Equal(t, "hello token-2", says(other))
}

func TestTokensAreBounded(t *testing.T) {
	t.Parallel()

	i := &issuer{}
	b := setup(t, i.ServeHTTP)
	for n := range 8 {
		call := b.call(strings.Replace(oauthConfig, `"token_url"`, fmt.Sprintf(`"audience": "%d", "token_url"`, n), 1), `{}`)
		_, err := b.executor.Execute(t.Context(), call)
		require.NoError(t, err)
	}
	require.Equal(t, 8, b.executor.KeptTokens())
	b.executor.FillTokens()
	_, err := b.executor.Execute(t.Context(), b.call(oauthConfig, `{}`))
	require.NoError(t, err)
	require.LessOrEqual(t, b.executor.KeptTokens(), b.executor.MaxTokens())
}

// TestTokensAreAskedForOnce proves that calls which need the same token at
// once ask once, for good or bad.
func TestTokensAreAskedForOnce(t *testing.T) {
	t.Parallel()

	const calls = 16
	for _, status := range []int{200, 400} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			t.Parallel()

			arrived := make(chan struct{})
			i := &issuer{answer: func(w http.ResponseWriter, _ *http.Request, _ int) {
				<-arrived
				w.WriteHeader(status)
				_, _ = io.WriteString(w, `{"access_token": "one", "error": "invalid_client"}`)
			}}
			b := setup(t, i.ServeHTTP)
			b.executor.OnWait(calls-1, func() { close(arrived) })
			var wg sync.WaitGroup
			errs := make(chan error, calls)
			for range calls {
				wg.Go(func() {
					_, err := b.executor.Execute(t.Context(), b.call(oauthConfig, `{}`))
					errs <- err
				})
			}
			wg.Wait()
			require.Equal(t, 1, i.count())
			for range calls {
				if err := <-errs; status == 200 {
					require.NoError(t, err)
				} else {
					require.Equal(t, tool.Denied, tool.KindOf(err))
				}
			}
		})
	}
}

// TestWaitingForATokenEnds proves that a call which waits for the token of
// another ends with its own time, and that one which gives up takes nobody
// with it.
func TestWaitingForATokenEnds(t *testing.T) {
	t.Parallel()

	asked := make(chan struct{}, 2)
	i := &issuer{answer: func(w http.ResponseWriter, r *http.Request, n int) {
		asked <- struct{}{}
		if n == 1 {
			<-r.Context().Done()
			return
		}
		_, _ = io.WriteString(w, `{"access_token": "second"}`)
	}}
	b := setup(t, i.ServeHTTP)
	first, giveUp := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	var gaveUp error
	wg.Go(func() { _, gaveUp = b.executor.Execute(first, b.call(oauthConfig, `{}`)) })
	<-asked
	late, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := b.executor.Execute(late, b.call(oauthConfig, `{}`))
	require.Equal(t, tool.Timeout, tool.KindOf(err))
	require.False(t, tool.AsError(err).Sent)

	b.executor.OnWait(1, giveUp)
	res, err := b.executor.Execute(t.Context(), b.call(oauthConfig, `{}`))
	require.NoError(t, err)
	require.Equal(t, "hello second", res.Content[0].Text)
	wg.Wait()
	require.Equal(t, tool.Cancelled, tool.KindOf(gaveUp))
	require.False(t, tool.AsError(gaveUp).Sent)
}

// TestRefusedTokens proves that a token which is not accepted is forgotten,
// and that only a call that may be repeated goes on with another.
func TestRefusedTokens(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		name      string
		execution tool.Execution
		rejected  map[string]bool
		says      string // Empty: the call is denied.
		issued    int    // Once the second call is over.
		requests  int
	}{
		{"pure", tool.Execution{Pure: true}, map[string]bool{"token-1": true}, "hello token-2", 2, 2},
		{"idempotent", tool.Execution{Idempotent: true}, map[string]bool{"token-1": true}, "hello token-2", 2, 2},
		{"neither", tool.Execution{}, map[string]bool{"token-1": true}, "", 2, 1},
		{"never accepted", tool.Execution{Pure: true}, map[string]bool{"token-1": true, "token-2": true}, "", 3, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			i := &issuer{rejected: tt.rejected}
			b := setup(t, i.ServeHTTP)
			call := b.call(oauthConfig, `{}`)
			call.Version.Snapshot.Execution = tt.execution
			res, err := b.executor.Execute(t.Context(), call)
			resources := 0
			for _, r := range b.requests() {
				if r.Target == "/o" {
					resources++
				}
			}
			require.Equal(t, tt.requests, resources)
			if tt.says == "" {
				require.Equal(t, tool.Denied, tool.KindOf(err))
				require.True(t, tool.AsError(err).Sent)
			} else {
				require.NoError(t, err)
				require.Equal(t, tt.says, res.Content[0].Text)
			}
			i.mu.Lock()
			i.rejected = nil
			i.mu.Unlock()
			_, err = b.executor.Execute(t.Context(), call)
			require.NoError(t, err, "the next call asks for another token")
			require.Equal(t, tt.issued, i.count())
		})
	}
}

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
		{"no JSON", 200, `access_token=x`, tool.Unavailable, "no bearer token"},
		{"nothing", 200, ``, tool.Unavailable, "no bearer token"},
		{"an array", 200, `["x"]`, tool.Unavailable, "no bearer token"},
		{"no token", 200, `{"token_type": "bearer"}`, tool.Unavailable, "no bearer token"},
		{"empty token", 200, `{"access_token": ""}`, tool.Unavailable, "no bearer token"},
		{"null token", 200, `{"access_token": null}`, tool.Unavailable, "no bearer token"},
		{"number", 200, `{"access_token": 12345}`, tool.Unavailable, "no bearer token"},
		{"object", 200, `{"access_token": {"a": 1}}`, tool.Unavailable, "no bearer token"},
		{"line break", 200, `{"access_token": "a\r\nX-Admin: 1"}`, tool.Unavailable, "no bearer token"},
		{"space", 200, `{"access_token": "a b"}`, tool.Unavailable, "no bearer token"},
		{"not ASCII", 200, `{"access_token": "tök"}`, tool.Unavailable, "no bearer token"},
		{"NUL", 200, `{"access_token": "a\u0000b"}`, tool.Unavailable, "no bearer token"},
		{"a long token", 200, `{"access_token": "` + strings.Repeat("x", 17<<10) + `"}`, tool.Unavailable, "no bearer token"},
		{"a long answer", 200, `{"access_token": "x", "more": "` + strings.Repeat("x", 65<<10) + `"}`, tool.Unavailable, "no bearer token"},
		{"another name", 200, `{"Access_Token": "x"}`, tool.Unavailable, "no bearer token"},
		{"mac", 200, `{"access_token": "x", "token_type": "mac"}`, tool.Unavailable, "no bearer token"},
		{"type of a type", 200, `{"access_token": "x", "token_type": 1}`, tool.Unavailable, "no bearer token"},
		{"lifetime of an object", 200, `{"access_token": "x", "expires_in": {}}`, tool.Unavailable, "no bearer token"},
		{"lifetime of words", 200, `{"access_token": "x", "expires_in": "soon"}`, tool.Unavailable, "no bearer token"},
		{"lifetime of no number", 200, `{"access_token": "x", "expires_in": "NaN"}`, tool.Unavailable, "no bearer token"},
		{"created", 201, `{"access_token": "x"}`, tool.Denied, "201 Created"},
		{"no client", 401, `{"error": "invalid_client", "error_description": "s3cr3t-leak"}`, tool.Denied, "401 Unauthorized, invalid_client"},
		{"no scope", 400, `{"error": "invalid_scope"}`, tool.Denied, "400 Bad Request, invalid_scope"},
		{"odd code", 400, `{"error": "s3cr3t-leak"}`, tool.Denied, "400 Bad Request"},
		{"elsewhere without a place", 302, ``, tool.Denied, "302 Found"},
		{"busy", 429, ``, tool.RateLimited, "429 Too Many Requests"},
		{"down", 503, `{"access_token": "x"}`, tool.Unavailable, "503 Service Unavailable"},
		{"lower case", 200, `{"access_token": "x", "token_type": "bearer"}`, "", ""},
		{"no type", 200, `{"access_token": "x", "token_type": "BEARER", "expires_in": "3600"}`, "", ""},
		{"ended", 200, `{"access_token": "x", "expires_in": -5}`, "", ""},
		{"hardly ends", 200, `{"access_token": "x", "expires_in": 1e300}`, "", ""},
		{"beyond numbers", 200, `{"access_token": "x", "expires_in": 1e999}`, tool.Unavailable, "no bearer token"},
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
		return &issuer{answer: func(w http.ResponseWriter, r *http.Request, _ int) { http.Redirect(w, r, thief.URL+"/token", status) }}
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
		_, err := b.executor.Execute(t.Context(), b.call(strings.Replace(config, "$URL/o", "https://api.example.com/o", 1), `{}`))
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
			quote := fmt.Sprintf("%s %s %v %s", r.Header.Get("Authorization"), url.QueryEscape(r.Header.Get("Authorization")), r.Form, "s3cr3t%2Bclient%2F1")
			if r.URL.Path == path {
				http.Error(w, quote, http.StatusBadRequest)
				return
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"access_token": "t0ken-of-the-issuer"})
		})
		for _, clientAuth := range []string{"basic", "body"} {
			call := b.call(strings.Replace(oauthConfig, `"token_url"`, `"client_auth": "`+clientAuth+`", "token_url"`, 1), `{}`)
			res, err := executors.Redact()(b.executor).Execute(t.Context(), call)
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
