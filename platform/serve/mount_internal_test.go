package serve

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

// A server under a path answers whether the proxy passes the path on or takes it off, and its redirects stay below.
func TestAServerUnderAPath(t *testing.T) {
	t.Parallel()

	var seen string
	inner := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r.URL.EscapedPath()
		w.Header().Set("Location", r.Header.Get("To"))
		w.WriteHeader(http.StatusSeeOther)
		w.(http.Flusher).Flush() //nolint:forcetypeassert,errcheck // It streams.
	})
	h := mounted("/a/b", inner)
	ask := func(path, to string) *http.Response {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		r.Header.Set("To", to)
		h.ServeHTTP(w, r)
		return w.Result()
	}
	for path, want := range map[string]string{
		"/a/b/v1/tools": "/v1/tools", "/v1/tools": "/v1/tools", "/a/bc": "/a/bc", "/a/b/i/x%2Fy": "/i/x%2Fy", "/a/b/": "/",
	} {
		ask(path, "")
		require.Equal(t, want, seen, path)
	}
	for to, want := range map[string]string{
		"/v1/tools/x": "/a/b/v1/tools/x", "//other.example/x": "//other.example/x", "../x": "../x",
		"https://other.example/": "https://other.example/", "": "",
	} {
		require.Equal(t, want, ask("/a/b/v1/tools", to).Header.Get("Location"), to)
	}
	seen = ""
	require.Equal(t, "/a/b/", ask("/a/b", "").Header.Get("Location"))
	require.Empty(t, seen)

	w := httptest.NewRecorder()
	under("/a/b", inner).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/t/x%2Fy", nil))
	require.Equal(t, "/a/b/t/x%2Fy", seen)
	for address, want := range map[string][3]string{
		"https://tools.example.com/a/b/": {"tools.example.com", "https://tools.example.com", "/a/b"},
		"https://Tools.example.com:8443": {"tools.example.com:8443", "https://Tools.example.com:8443", ""}, "": {},
	} {
		parts := [3]string{host(address), origin(address), prefixOf(address)}
		require.Equal(t, want, parts, address)
	}
}
