package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
)

// Only calls that a worker runs can be limited across the runs of a tenant.
func TestTenantMaxConcurrencyIsForWorkers(t *testing.T) {
	t.Parallel()

	b := setup(t)
	const path = "/execution/tenant_max_concurrency"
	p := b.do(t, http.MethodPost, "/v1/tools", `{"slug":"pickSeat","description":"Picks a seat.","implementation_type":"client",
		"input_schema":{"type":"object","properties":{}},"execution":{"tenant_max_concurrency":2}}`).problem(t)
	require.Equal(t, tool.Invalid, p.Code, p.Detail)
	require.Equal(t, path, p.Path, p.Detail)
	got := b.do(t, http.MethodPost, "/v1/tools", `{"slug":"sendMail","description":"Sends a mail.","implementation_type":"internal",
		"input_schema":{"type":"object","properties":{}},"execution":{"tenant_max_concurrency":2}}`)
	require.Equal(t, http.StatusCreated, got.status, string(got.body))
	require.Contains(t, string(got.body), `"tenant_max_concurrency":2`)
}
