package api_test

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/api"
	"github.com/toolcrib/toolcrib/tool"
)

// hold begins a request and returns once the server reads its body: the request
// has its place by then. Calling end finishes the body and gives the status.
func (b *bundle) hold(t *testing.T, key string) (end func() int) {
	t.Helper()
	body, writer := io.Pipe()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.url+"/v1/apply", body)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	// The body is sent when the handler asks for it, not before.
	req.Header.Set("Expect", "100-continue")
	transport := &http.Transport{ExpectContinueTimeout: time.Minute}
	t.Cleanup(transport.CloseIdleConnections)
	status := make(chan int, 1)
	go func() {
		resp, err := (&http.Client{Transport: transport}).Do(req)
		if err != nil {
			status <- 0
			return
		}
		_ = resp.Body.Close()
		status <- resp.StatusCode
	}()
	_, err = writer.Write([]byte(`{"definitions":`))
	require.NoError(t, err)
	return func() int {
		_, _ = writer.Write([]byte(`[]}`))
		_ = writer.Close()
		return <-status
	}
}

// Requests beyond the process's limit get 503 with Retry-After before they are
// read; probes and streams are answered.
func TestRequestsAreBounded(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.MaxRequests = 1 })
	end := b.hold(t, b.key)
	refused := b.do(t, http.MethodGet, "/v1/tools", "")
	require.Equal(t, http.StatusServiceUnavailable, refused.status)
	require.NotEmpty(t, refused.header.Get("Retry-After"))
	require.Equal(t, tool.Unavailable, refused.problem(t).Code)
	require.True(t, refused.problem(t).Retryable)
	require.Equal(t, http.StatusOK, b.do(t, http.MethodGet, "/healthz", "").status)
	run := b.record(t)
	b.stream(t, events(run), nil).event()

	end()
	require.Eventually(t, func() bool {
		return b.do(t, http.MethodGet, "/v1/tools", "").status == http.StatusOK
	}, time.Minute, 20*time.Millisecond)
}

// A tenant, with however many keys, has so many requests served at once, and
// leaves the others their places.
func TestRequestsOfATenantAreBounded(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.MaxTenantRequests = 1 })
	end := b.hold(t, b.key)
	refused := b.do(t, http.MethodGet, "/v1/tools", "", b.Key(t, b.tenant, "*"))
	require.Equal(t, http.StatusTooManyRequests, refused.status)
	require.NotEmpty(t, refused.header.Get("Retry-After"))
	require.Equal(t, tool.RateLimited, refused.problem(t).Code)
	require.Equal(t, http.StatusOK, b.do(t, http.MethodGet, "/v1/tools", "", b.Key(t, b.Tenant(t), "*")).status)

	end()
	require.Eventually(t, func() bool {
		return b.do(t, http.MethodGet, "/v1/tools", "").status == http.StatusOK
	}, time.Minute, 20*time.Millisecond)
}
