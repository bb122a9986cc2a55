package observe_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/api"
)

// exercise makes calls that end in every way, with values that must not be
// disclosed.
func exercise(t *testing.T) {
	t.Helper()
	for slug, status := range map[string]int{
		"fetch": http.StatusOK, "fetchOnce": http.StatusOK, "refuse": http.StatusOK, "broken": http.StatusServiceUnavailable,
		"inside": http.StatusForbidden, "panic": http.StatusBadGateway,
	} {
		resp, body := shared.call(t, slug, nil)
		require.Equal(t, status, resp.StatusCode, "%s: %s", slug, body)
	}
	shared.runAgent(t)
	for _, body := range []string{
		`{"arguments":{"q":{"in":"` + plantedArgument + `"}}}`, `{"arguments":{"` + plantedArgument + `":1}}`,
		`{"arguments":"` + plantedArgument,
	} {
		resp, _ := shared.request(t, http.MethodPost, "/v1/tools/fetch/call", body, nil)
		require.GreaterOrEqual(t, resp.StatusCode, http.StatusBadRequest)
	}
	resp, _ := shared.request(t, http.MethodGet, "/v1/nothing/"+plantedArgument+"?q="+plantedArgument, "", nil)
	require.Equal(t, http.StatusNotFound, resp.StatusCode)
}

// Whatever a call was made and answered with, and however it ended: no log line
// of any level and no span holds it.
func TestValuesStayOutOfLogsAndSpans(t *testing.T) {
	t.Parallel()

	exercise(t)
	traceID, header := caller()
	shared.call(t, "fetch", header)
	await(t, traceID, "HTTP GET")

	lines := bufio.NewScanner(strings.NewReader(shared.log.String()))
	lines.Buffer(nil, 1<<20)
	calls := 0
	for lines.Scan() {
		require.NotContains(t, lines.Text(), plantedArgument)
		require.NotContains(t, lines.Text(), plantedResult)
		var line map[string]any
		require.NoError(t, json.Unmarshal(lines.Bytes(), &line))
		require.NotContains(t, line, "path", "raw paths hold ids, and whatever a caller wrote")
		if line["msg"] == "attempt ended" {
			calls++
			for _, key := range []string{"tenant_id", "run_id", "call_id", "tool", "version", "kind", "trace_id"} {
				require.Contains(t, line, key)
			}
		}
	}
	require.NoError(t, lines.Err())
	require.GreaterOrEqual(t, calls, 7, "the log is that of the calls, at the level that tells most")
	require.NotContains(t, shared.collector.sent(), plantedArgument)
	require.NotContains(t, shared.collector.sent(), plantedResult)
}

// The access log holds the route, the caller, the outcome and the duration of
// each request.
func TestAccessLog(t *testing.T) {
	t.Parallel()

	traceID, header := caller()
	resp, _ := shared.call(t, "nothingLikeIt", header)
	require.Equal(t, traceID, resp.Header.Get(api.TraceHeader))
	var line map[string]any
	require.Eventually(t, func() bool {
		for text := range strings.Lines(shared.log.String()) {
			if strings.Contains(text, traceID) && json.Unmarshal([]byte(text), &line) == nil && line["msg"] == "request" {
				return true
			}
		}
		return false
	}, patience, 20*time.Millisecond)
	require.Equal(t, "POST", line["method"])
	require.Equal(t, "/v1/tools/{tool}/call", line["route"])
	require.EqualValues(t, http.StatusNotFound, line["status"])
	require.Equal(t, string(shared.Tenant().ID), line["tenant_id"])
	require.Equal(t, traceID, line["trace_id"])
	require.Positive(t, line["ms"])
}
