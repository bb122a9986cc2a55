package egress_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/egress/egresstest"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

const planted = "s3cr3t & more/+="

// seen keeps what passes an operator's transport.
type seen struct {
	mu   sync.Mutex
	next http.RoundTripper
	text []string
}

func (s *seen) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	s.text = append(s.text, r.URL.String()+" "+r.Header.Get("Cookie")+" "+r.Header.Get("Authorization"))
	s.mu.Unlock()
	return s.next.RoundTrip(r)
}

// TestQueryAndCookie proves how these credentials are written, that they take
// the place of what a tool wrote under their name, and that only the upstream
// sees them.
func TestQueryAndCookie(t *testing.T) {
	t.Parallel()

	type arrival struct{ uri, cookie, referer string }
	arrivals := make(chan arrival, 8)
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		arrivals <- arrival{r.URL.RequestURI(), r.Header.Get("Cookie"), r.Referer()}
		if r.URL.Path == "/again" {
			http.Redirect(w, r, "/end?"+r.URL.RawQuery, http.StatusFound) // Echoes the credential.
		}
	})
	spy := &seen{}
	g := egresstest.Gate(t, egress.Config{
		Policy: allowing(srv.URL), Transport: func(next http.RoundTripper) http.RoundTripper {
			spy.next = next
			return spy
		},
	})
	access := func(scheme egress.Scheme, value string) egress.Access {
		a := writer
		a.Credential = &egress.Credential{Value: secret.NewValue(value, "127.0.0.1"), Scheme: scheme, Name: "api key"}
		if scheme == egress.Cookie {
			a.Credential.Name = "sid"
		}
		return a
	}
	escaped := url.QueryEscape(planted)
	for _, tt := range []struct {
		scheme egress.Scheme
		value  string
		path   string
		cookie string
		want   []arrival
	}{
		{egress.Query, planted, "/", "", []arrival{{"/?api+key=" + escaped, "", ""}}},
		{egress.Query, planted, "/?b=2&api%20key=mine&a=1&&api+key", "", []arrival{{"/?b=2&a=1&api+key=" + escaped, "", ""}}},
		{egress.Query, planted, "/again?a=%2f", "", []arrival{
			{"/again?a=%2f&api+key=" + escaped, "", ""}, {"/end?a=%2f&api+key=" + escaped, "", srv.URL + "/again?a=%2f"},
		}},
		{egress.Cookie, "abc.def", "/", "a=1; sid=mine; b=2", []arrival{{"/", "a=1; b=2; sid=abc.def", ""}}},
		{egress.Cookie, "abc.def", "/", "", []arrival{{"/", "sid=abc.def", ""}}},
	} {
		request := &egress.Request{Method: "GET", URL: srv.URL + tt.path, Header: http.Header{}}
		if tt.cookie != "" {
			request.Header.Set("Cookie", tt.cookie)
		}
		_, err := g.Do(t.Context(), access(tt.scheme, tt.value), request)
		require.NoError(t, err)
		for _, want := range tt.want {
			require.Equal(t, want, <-arrivals)
		}
		require.Equal(t, tt.cookie, request.Header.Get("Cookie"), "the caller's request is its own")
	}
	for _, text := range spy.text {
		require.NotContains(t, text, escaped)
		require.NotContains(t, text, "abc.def")
	}
	resp, err := g.Client(access(egress.Query, planted)).Get(srv.URL + "/again?x=1")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.NotContains(t, resp.Request.URL.String(), escaped, "SDKs log what they asked for")
}

// TestUnfitCredentialsAreNotSent proves that one value can't become two.
func TestUnfitCredentialsAreNotSent(t *testing.T) {
	t.Parallel()

	srv := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("nothing may arrive") })
	g := egresstest.Gate(t, egress.Config{Policy: allowing(srv.URL)})
	for name, c := range map[string]egress.Credential{
		"line break":         {Value: secret.NewValue("a\r\nX: y", "127.0.0.1")},
		"raw line break":     {Value: secret.NewValue("a\nb", "127.0.0.1"), Scheme: egress.Raw, Header: "X-Key"},
		"two cookies":        {Value: secret.NewValue("a; admin=1", "127.0.0.1"), Scheme: egress.Cookie, Name: "sid"},
		"cookie's name":      {Value: secret.NewValue("abcd", "127.0.0.1"), Scheme: egress.Cookie, Name: "a=b"},
		"cookie, no name":    {Value: secret.NewValue("abcd", "127.0.0.1"), Scheme: egress.Cookie},
		"parameter, no name": {Value: secret.NewValue("abcd", "127.0.0.1"), Scheme: egress.Query},
	} {
		access := writer
		access.Credential = &c
		_, err := g.Do(t.Context(), access, get(srv.URL))
		require.Equal(t, tool.Denied, tool.KindOf(err), name)
		require.NotContains(t, err.Error(), c.Value.Reveal(), name)
	}
}

// TestCredentialsCrossNoOrigin proves it of those that an upstream writes into
// the address to which it redirects.
func TestCredentialsCrossNoOrigin(t *testing.T) {
	t.Parallel()

	var away *url.URL
	other := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.RawQuery+r.Header.Get("Cookie"), "s3cr3t") {
			t.Errorf("the credential arrived: %s", r.URL.RawQuery)
		}
	})
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		target := *away
		switch r.URL.Path {
		case "/query":
			target.RawQuery = r.URL.RawQuery
		case "/path":
			target.Path = "/" + r.URL.Query().Get("key")
		case "/encoded":
			target.RawQuery = "k=czNjcjN0" // The credential in base64.
		}
		http.Redirect(w, r, target.String(), http.StatusFound)
	})
	away, err := url.Parse(other.URL)
	require.NoError(t, err)
	g := egresstest.Gate(t, egress.Config{Policy: allowing(srv.URL, other.URL)})
	access := writer
	access.Credential = &egress.Credential{
		Value: secret.NewValue("s3cr3t", "127.0.0.1"), Scheme: egress.Query, Name: "key",
	}
	for path, ok := range map[string]bool{"/plain": true, "/query": false, "/path": false, "/encoded": false} {
		_, err := g.Do(t.Context(), access, get(srv.URL+path))
		require.Equal(t, ok, err == nil, "%s: %v", path, err)
		if !ok {
			requireRefused(t, err)
			require.NotContains(t, err.Error(), "s3cr3t")
		}
	}
	access.Credential.Value = secret.NewValue("s3", "127.0.0.1") // Too short to be looked for everywhere.
	_, err = g.Do(t.Context(), access, get(srv.URL+"/query"))
	requireRefused(t, err)
}

// A redirect to another origin whose address spells a secret of the call, by
// whatever encoder, is not followed.
func TestSecretsInRedirectsCrossNoOrigin(t *testing.T) {
	t.Parallel()

	const key, other = "k3y/of(the)stock's+42", "another&opened/secret"
	percent := func(s, kept string) string {
		var out strings.Builder
		for _, b := range []byte(s) {
			if b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || strings.IndexByte(kept, b) >= 0 {
				out.WriteByte(b)
				continue
			}
			fmt.Fprintf(&out, "%%%02x", b)
		}
		return out.String()
	}
	addresses := map[string]string{
		"none": "/?a=1", "path.Escape": "/" + url.PathEscape(key), "query.Escape": "/?a=" + url.QueryEscape(key),
		"slash kept": "/?a=" + percent(key, "/"), "JavaScript": "/?a=" + percent(key, "!'()*"),
		"lower case": "/?a=" + percent(key, ""),
		"twice":      "/?a=" + url.QueryEscape(percent(key, "")), "another": "/?a=" + percent(other, "/"),
		"fragment":    "/#" + percent(key, "'"),
		"hexadecimal": "/" + fmt.Sprintf("%X", other), "base64": "/" + base64.URLEncoding.EncodeToString([]byte("u:"+key)),
	}
	var arrived atomic.Int64
	away := serve(t, func(http.ResponseWriter, *http.Request) { arrived.Add(1) })
	for name, address := range addresses {
		srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", away.URL+address)
			w.WriteHeader(http.StatusFound)
		})
		g := egresstest.Gate(t, egress.Config{Policy: allowing(srv.URL, away.URL)})
		access := writer
		access.Credential = &egress.Credential{Value: secret.NewValue(key, "127.0.0.1")}
		ctx := secret.WithRedactor(t.Context(), secret.NewRedactor(secret.NewValue(other)))
		_, err := g.Do(ctx, access, get(srv.URL))
		if name == "none" {
			require.NoError(t, err)
			require.EqualValues(t, 1, arrived.Swap(0))
			continue
		}
		requireRefused(t, err)
		require.NotContains(t, err.Error(), address[1:])
		require.Zero(t, arrived.Load(), name)
	}
}

// TestErrorsHideTheCredential proves it of requests that fail on their way.
func TestErrorsHideTheCredential(t *testing.T) {
	t.Parallel()

	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	})
	g := egresstest.Gate(t, egress.Config{Policy: allowing(srv.URL)})
	access := writer
	access.Credential = &egress.Credential{Value: secret.NewValue(planted, "127.0.0.1"), Scheme: egress.Query, Name: "key"}
	_, err := g.Do(t.Context(), access, get(srv.URL))
	require.Error(t, err)
	_, clientErr := g.Client(access).Get(srv.URL)
	require.Error(t, clientErr)
	for _, text := range []string{err.Error(), clientErr.Error()} {
		require.NotContains(t, text, planted)
		require.NotContains(t, text, url.QueryEscape(planted))
	}
}

// TestUnboundCredentialSaysWhatToDo proves that the refusal names the host of
// the request, and none of those that the credential is bound to.
func TestUnboundCredentialSaysWhatToDo(t *testing.T) {
	t.Parallel()

	g := egresstest.Gate(t, egress.Config{})
	for _, hosts := range [][]string{nil, {"vault.internal", "*.partner.example"}} {
		access := writer
		access.Credential = &egress.Credential{Value: secret.NewValue("s3cr3t", hosts...)}
		_, err := g.Do(t.Context(), access, get("https://api.example.com/orders"))
		e, ok := errors.AsType[*tool.Error](err)
		require.True(t, ok)
		require.Equal(t, tool.Denied, e.Kind)
		for _, want := range []string{"api.example.com", "--host api.example.com", "_HOSTS"} {
			require.Contains(t, e.Msg, want)
		}
		for _, leak := range []string{"vault.internal", "partner", "s3cr3t", "orders"} {
			require.NotContains(t, err.Error(), leak)
		}
	}
}
