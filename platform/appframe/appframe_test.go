package appframe_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/appframe"
)

const least = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; " +
	"font-src data:; media-src data:; connect-src 'none'; frame-src 'none'; worker-src 'none'; object-src 'none'; " +
	"base-uri 'none'; form-action 'none'"

// An app loads nothing unless an origin is named, and nothing but an origin can be.
func TestPolicy(t *testing.T) {
	t.Parallel()

	require.Equal(t, least, appframe.Policy(nil, nil))
	require.Equal(t, least, appframe.Policy([]string{"*", "https:", "http://a.example", "https://a.example; script-src *"},
		[]string{"'self'", "'unsafe-eval'", "https://a.example 'unsafe-eval'", "data:", "https://a.example,"}))
	got := appframe.Policy([]string{"https://api.example.com", "wss://api.example.com"},
		[]string{"https://*.cdn.example.com/"})
	require.Contains(t, got, "connect-src https://api.example.com wss://api.example.com;")
	require.Contains(t, got, "script-src 'unsafe-inline' https://*.cdn.example.com;")
	require.Contains(t, got, "img-src data: https://*.cdn.example.com;")
	require.NotContains(t, got, "'self'")
}

func page(t *testing.T, o appframe.Options, method, query string) *http.Response {
	t.Helper()
	w := httptest.NewRecorder()
	appframe.Handler(o).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, appframe.Path+query, nil))
	return w.Result()
}

// The page has no origin however it is opened, and the console's alone may have it in a frame.
func TestThePage(t *testing.T) {
	t.Parallel()

	r := page(t, appframe.Options{}, http.MethodGet, "")
	require.Equal(t, least+"; frame-ancestors 'self'; sandbox allow-scripts", r.Header.Get("Content-Security-Policy"))
	for name, value := range map[string]string{
		"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
		"Content-Type": "text/html; charset=utf-8", "Strict-Transport-Security": "",
	} {
		require.Equal(t, value, r.Header.Get(name), name)
	}
	q := url.Values{
		appframe.ParamConnect:  {"https://api.example.com", "https://x.example; frame-ancestors *"},
		appframe.ParamResource: {"https://cdn.example.com\r\nX-Y: z"},
	}
	r = page(t, appframe.Options{Around: "https://tools.example.com", TLS: true}, http.MethodGet, "?"+q.Encode())
	policy := r.Header.Get("Content-Security-Policy")
	require.Contains(t, policy, "connect-src https://api.example.com;")
	const last = "; frame-ancestors https://tools.example.com; sandbox allow-scripts"
	require.True(t, strings.HasSuffix(policy, last), policy)
	require.NotContains(t, policy, "cdn.example.com")
	require.NotEmpty(t, r.Header.Get("Strict-Transport-Security"))
	require.Empty(t, r.Header.Get("X-Y"))
	require.Equal(t, http.StatusMethodNotAllowed, page(t, appframe.Options{}, http.MethodPost, "").StatusCode)
}
