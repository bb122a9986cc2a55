package egress_test

import (
	"context"
	"net/http"
	"net/netip"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/egress/egresstest"
	"github.com/toolcrib/toolcrib/tool"
)

// Whatever the guard refuses is told once, with its reason; what it lets out
// passes through the operator's transport, redirects too.
func TestRefusalsAndRequestsAreTold(t *testing.T) {
	t.Parallel()

	var mu sync.Mutex
	var reasons, paths []string
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/around":
			http.Redirect(w, r, "/around", http.StatusFound)
		case "/away":
			http.Redirect(w, r, "http://inside.test/", http.StatusFound)
		}
	})
	names, _ := egresstest.NewResolver(map[string][]netip.Addr{"inside.test": {netip.MustParseAddr("10.0.0.1")}})
	g := egresstest.Gate(t, egress.Config{
		Policy: allowing(srv.URL), Resolver: names, MaxRedirects: 2,
		Refused: func(_ context.Context, reason string) {
			mu.Lock()
			defer mu.Unlock()
			reasons = append(reasons, reason)
		},
		Transport: func(next http.RoundTripper) http.RoundTripper {
			return roundTrip(func(r *http.Request) (*http.Response, error) {
				mu.Lock()
				defer mu.Unlock()
				paths = append(paths, r.URL.Path)
				return next.RoundTrip(r)
			})
		},
	})
	for _, tt := range []struct {
		name, url string
		class     tool.Egress
		reasons   []string
		paths     []string
	}{
		{"Allowed", srv.URL + "/", tool.EgressWrite, nil, []string{"/"}},
		{"Class", srv.URL + "/", tool.EgressNone, []string{"class"}, nil},
		{"Port", "http://inside.test:9/", tool.EgressWrite, []string{"port"}, nil},
		{"URL", "ftp://inside.test/", tool.EgressWrite, []string{"url"}, nil},
		{"Address", "http://inside.test/", tool.EgressWrite, []string{"address"}, []string{"/"}},
		{"AbsentName", "http://nothing.test/", tool.EgressWrite, []string{"address"}, []string{"/"}},
		{"Redirects", srv.URL + "/around", tool.EgressWrite, []string{"redirect"}, []string{"/around", "/around", "/around"}},
		{"RedirectInside", srv.URL + "/away", tool.EgressWrite, []string{"address"}, []string{"/away", "/"}},
	} {
		reasons, paths = nil, nil
		_, err := g.Do(t.Context(), egress.Access{Tenant: "t1", Class: tt.class}, get(tt.url))
		require.Equal(t, tt.reasons == nil, err == nil, "%s: %v", tt.name, err)
		require.Equal(t, tt.reasons, reasons, tt.name)
		require.Equal(t, tt.paths, paths, tt.name)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
