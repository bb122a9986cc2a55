package httpcall_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
		{
			"pair", `"credentials_ref": "pair", "client_auth": "basic"`, "Basic Y3JpYjpzM2NyM3QtcGFpcg==",
			"grant_type=client_credentials",
		},
		{
			"body", `"credentials_ref": "client", "client_auth": "body"`, "",
			"client_id=crib&client_secret=s3cr3t%2Bclient%2F1&grant_type=client_credentials",
		},
		{
			"scopes and audience",
			`"credentials_ref": "pair", "scopes": ["orders:read", "a/b"], "audience": "https://api.example.com"`,
			"Basic Y3JpYjpzM2NyM3QtcGFpcg==",
			"audience=https%3A%2F%2Fapi.example.com&grant_type=client_credentials&scope=orders%3Aread+a%2Fb",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t, (&issuer{}).ServeHTTP)
			call := b.call(
				`{"url": "$URL/o", "answer": "text", "auth": {"type": "oauth2_client_credentials", "token_url": "$URL/token?v=2", `+
					tt.auth+`}}`,
				`{}`,
			)
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
	require.Equal(
		t, "hello token-3",
		says(b.call(strings.Replace(oauthConfig, `"token_url"`, `"scopes": ["a"], "token_url"`, 1), `{}`)),
	)
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
