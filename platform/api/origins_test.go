package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/api"
)

// The pages of allowed origins may call the API from a browser; those of others may not.
func TestOrigins(t *testing.T) {
	t.Parallel()

	const page = "https://app.example.com"
	b := setup(t, func(c *api.Config) { c.AllowedOrigins = []string{page} })
	ask := func(method, origin string) *http.Response {
		req, err := http.NewRequestWithContext(t.Context(), method, b.url+"/v1/tools", nil)
		require.NoError(t, err)
		req.Header.Set("Origin", origin)
		req.Header.Set("Authorization", "Bearer "+b.key)
		if method == http.MethodOptions {
			req.Header.Set("Access-Control-Request-Method", http.MethodGet)
			req.Header.Set("Access-Control-Request-Headers", "authorization")
		}
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return resp
	}
	for _, method := range []string{http.MethodOptions, http.MethodGet} {
		require.Equal(t, page, ask(method, page).Header.Get("Access-Control-Allow-Origin"), method)
		require.Empty(t, ask(method, page).Header.Get("Access-Control-Allow-Credentials"), method)
		require.Empty(t, ask(method, "https://evil.example.com").Header.Get("Access-Control-Allow-Origin"), method)
	}
	closed := setup(t)
	b.url = closed.url
	require.Empty(t, ask(http.MethodGet, page).Header.Get("Access-Control-Allow-Origin"), "none is allowed by default")
	for _, wrong := range []string{
		"*", "app.example.com", "https://app.example.com/", "ftp://x", "https://*.example.com",
	} {
		_, err := api.New(api.Config{AllowedOrigins: []string{wrong}})
		require.ErrorContains(t, err, "expected the scheme and the host of a page", wrong)
	}
}
