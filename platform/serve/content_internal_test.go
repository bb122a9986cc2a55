package serve

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/appframe"
)

// The content origin has the page of apps and nothing else: no API, no console, no cookie.
func TestTheContentOriginHasOnePage(t *testing.T) {
	t.Parallel()

	rest := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	h := withContent(HandlerConfig{
		PublicURL: "https://tools.example.com/a", ContentOrigin: "https://Content.example.com:8443",
	}, rest)
	ask := func(address string) *http.Response {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, address, nil))
		return w.Result()
	}
	for _, path := range []string{"/", "/login", "/t/acme", "/v1/tools", "/healthz", "/_a/x/assets/main.js", "/r/x"} {
		require.Equal(t, http.StatusNotFound, ask("https://content.example.com:8443"+path).StatusCode, path)
	}
	got := ask("https://content.example.com:8443" + appframe.Path)
	require.Equal(t, http.StatusOK, got.StatusCode)
	require.Contains(t, got.Header.Get("Content-Security-Policy"), "frame-ancestors https://tools.example.com;")
	require.Equal(t, http.StatusTeapot, ask("https://tools.example.com/v1/tools").StatusCode)
	require.Equal(t, http.StatusTeapot, ask("https://tools.example.com"+appframe.Path).StatusCode, "the console decides")

	_, err := Handler(t.Context(), HandlerConfig{ContentOrigin: "https://content.example.com"})
	require.ErrorIs(t, err, errIncomplete)
}
