package api_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// Streams are limited per tenant, however many keys it has. Other tenants are
// not affected, and a closed stream makes room for another one.
func TestStreamsOfATenantAreBounded(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.Streams.PerTenant = 2 })
	run := b.record(t)
	first := b.stream(t, events(run), nil)
	first.event()
	b.stream(t, "/v1/events", nil, b.Key(t, b.tenant, "runs.read")).event()

	resp, _ := b.openStream(t, events(run), nil)
	require.Equal(t, http.StatusTooManyRequests, resp.StatusCode)
	require.NotEmpty(t, resp.Header.Get("Retry-After"))
	var p v1.Problem
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&p))
	require.Equal(t, tool.RateLimited, p.Code)
	require.NotEmpty(t, p.TraceID)

	other := *b
	other.tenant = b.Tenant(t)
	other.record(t)
	b.stream(t, "/v1/events", nil, b.Key(t, other.tenant, "*")).event()

	first.close()
	require.Eventually(t, func() bool {
		resp, leave := b.openStream(t, events(run), nil)
		leave()
		return resp.StatusCode == http.StatusOK
	}, time.Minute, 20*time.Millisecond)
}

// The stream of a test has its place before the test is made: Temporal is down
// here, so that a test that was begun fails otherwise. One that did not begin
// gives its place back.
func TestNoTestIsMadeThatNobodyMayFollow(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.Streams.PerTenant = 1 })
	b.apply(t, echo("echo"))
	run := b.record(t)
	first := b.stream(t, events(run), nil)
	first.event()
	require.Equal(t, tool.RateLimited, b.do(t, http.MethodPost, "/v1/tools/echo/test/stream", "{}").problem(t).Code)
	first.close()
	require.Eventually(t, func() bool {
		return b.do(t, http.MethodPost, "/v1/tools/echo/test/stream", "{}").status == http.StatusServiceUnavailable
	}, time.Minute, 20*time.Millisecond)
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodPost, "/v1/tools/absent/test/stream", "{}").status)
	b.stream(t, events(run), nil).event()
}
