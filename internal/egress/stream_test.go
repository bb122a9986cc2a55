package egress_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/tool"
)

// TestStreamsAreReadWhileTheyAreMade checks that the first piece comes before
// the last is made, and how a stream ends that breaks off.
func TestStreamsAreReadWhileTheyAreMade(t *testing.T) {
	t.Parallel()

	read := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "http://10.0.0.1/inside", http.StatusTemporaryRedirect)
			return
		}
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/", http.StatusTemporaryRedirect)
			return
		}
		if r.URL.Path == "/changed" {
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		}
		_, _ = io.WriteString(w, "first")
		_ = http.NewResponseController(w).Flush()
		<-read
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(srv.Close)
	host := strings.TrimPrefix(srv.URL, "http://")
	gate, err := egress.New(egress.Config{
		Policy: func(tool.TenantID) egress.Policy { return egress.Policy{AllowHosts: []string{host}} },
	})
	require.NoError(t, err)
	t.Cleanup(gate.Close)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	stream := func(path string) *http.Response {
		t.Helper()
		resp, err := gate.Stream(ctx, egress.Access{Tenant: "t1", Class: tool.EgressWrite},
			&egress.Request{Method: http.MethodPost, URL: srv.URL + path, Body: []byte("x")})
		require.NoError(t, err)
		t.Cleanup(func() { _ = resp.Body.Close() })
		return resp
	}
	require.Equal(t, http.StatusTemporaryRedirect, stream("/away").StatusCode, "another origin is not followed")
	require.Equal(t, http.StatusSeeOther, stream("/changed").StatusCode, "nor is another method")

	resp := stream("/moved")
	first := make([]byte, len("first"))
	_, err = io.ReadFull(resp.Body, first)
	require.NoError(t, err)
	require.Equal(t, "first", string(first))
	close(read)
	_, err = io.ReadAll(resp.Body)
	var failed *tool.Error
	require.ErrorAs(t, err, &failed)
	require.Equal(t, tool.Unavailable, failed.Kind)
	require.True(t, failed.Sent)

	_, err = gate.Stream(ctx, egress.Access{Tenant: "t1", Class: tool.EgressWrite},
		&egress.Request{Method: http.MethodPost, URL: "http://10.0.0.1/", Body: []byte("x")})
	require.ErrorAs(t, err, &failed)
	require.Equal(t, tool.Denied, failed.Kind)
	require.False(t, failed.Sent)
}
