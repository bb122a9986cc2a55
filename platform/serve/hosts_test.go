package serve_test

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/serve"
)

// listener listens at an address, and on nothing.
type listener struct {
	net.Listener

	at string
}

func (l listener) Addr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(l.at), Port: 8080} }

// A server that this machine alone reaches is reached by this machine's names and those that are set; another one is by
// any, unless names are set. That holds of every path but those of probes.
func TestHosts(t *testing.T) {
	t.Parallel()

	const public, content = "https://Tools.example.com", "https://content.example.com:8443"
	local := []string{"localhost", "LOCALHOST:8080", "localhost.", "127.0.0.1", "127.0.0.1:1", "[::1]", "[::1]:8080"}
	own := []string{"tools.example.com", "tools.example.com.", "TOOLS.example.com:9", "content.example.com:8443"}
	foreign := []string{
		"evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil.example", "evil-localhost",
		"10.0.0.1:8080",
		"[2001:db8::1]:8080", "tools.example.com.evil.example", "", "127.0.0.1@evil.example",
	}
	for name, tt := range map[string]struct {
		at               string
		hosts            serve.Hosts
		allowed, refused []string
	}{
		"OnLoopback":           {"127.0.0.1", serve.Hosts{}, local, slices.Concat(own, foreign)},
		"OnLoopbackOfVersion6": {"::1", serve.Hosts{}, local, foreign},
		"OnLoopbackWithAnAddress": {
			"127.0.0.1", serve.Hosts{Own: []string{public, content, ""}}, slices.Concat(own, local), foreign,
		},
		"BeyondLoopback": {
			"0.0.0.0", serve.Hosts{Own: []string{public}}, slices.Concat(own, local, foreign), nil,
		},
		"BeyondLoopbackByNames": {
			"0.0.0.0",
			serve.Hosts{Names: []string{"api.internal"}, Own: []string{public, content}},
			slices.Concat(own, local, []string{"api.internal", "api.internal:80"}), foreign,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.hosts.Setting = "--public-host"
			h := tt.hosts.Guard(listener{at: tt.at}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusTeapot)
			}))
			ask := func(host, path string) *httptest.ResponseRecorder {
				w := httptest.NewRecorder()
				r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, nil)
				r.Host = host
				h.ServeHTTP(w, r)
				return w
			}
			for _, host := range tt.allowed {
				require.Equal(t, http.StatusTeapot, ask(host, "/mcp").Code, host)
			}
			for _, host := range tt.refused {
				for _, path := range []string{"/", "/mcp", "/v1/tools", "/t/acme", "/r/x", "/v/x", "/f/x", "/healthz/x"} {
					got := ask(host, path)
					require.Equal(t, http.StatusMisdirectedRequest, got.Code, "%s%s", host, path)
					var p v1.Problem
					require.NoError(t, json.Unmarshal(got.Body.Bytes(), &p))
					require.Equal(t, v1.ProblemType, got.Header().Get("Content-Type"))
					require.Equal(t, "/v1/problems/misdirected_request", p.Type)
					require.Contains(t, p.Detail, "--public-host")
					require.False(t, p.Retryable)
				}
				for _, path := range []string{"/healthz", "/readyz"} {
					require.Equal(t, http.StatusTeapot, ask(host, path).Code)
				}
			}
		})
	}
}
