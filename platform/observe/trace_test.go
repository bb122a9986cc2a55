package observe_test

import (
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// callerSpan is the span that the tests' requests come from.
const callerSpan = "b7ad6b7169203331"

// caller returns the headers of a request that belongs to a new trace.
func caller() (traceID string, header http.Header) {
	id := uuid.New()
	traceID = hex.EncodeToString(id[:])
	header = http.Header{}
	header.Set("Traceparent", "00-"+traceID+"-"+callerSpan+"-01")
	header.Set("Tracestate", "vendor=another-tenants")
	header.Set("Baggage", "customer=another-tenants")
	return traceID, header
}

// await returns the spans of a trace when those named have come.
func await(t *testing.T, traceID string, names ...string) map[string]span {
	t.Helper()
	found := make(map[string]span)
	require.Eventually(t, func() bool {
		clear(found)
		for _, s := range shared.collector.trace(traceID) {
			found[s.name] = s
		}
		for _, name := range names {
			if _, ok := found[name]; !ok {
				return false
			}
		}
		return true
	}, patience, 50*time.Millisecond, "spans of the trace: %v", found)
	return found
}

// One call is one trace: from the caller's span over the API, the workflow and
// its activities to the request that the tool's server gets.
func TestOneCallIsOneTrace(t *testing.T) {
	t.Parallel()

	for _, slug := range []string{"fetch", "fetchOnce"} {
		traceID, header := caller()
		resp, body := shared.call(t, slug, header)
		require.Equal(t, http.StatusOK, resp.StatusCode, string(body))
		require.Equal(t, traceID, resp.Header.Get("X-Request-Id"))
		var called v1.Call
		require.NoError(t, json.Unmarshal(body, &called))

		const request = "POST /v1/tools/{tool}/call"
		invoke := wire.InvokeActivity(tool.HTTP)
		start := "start " + wire.ToolCallWorkflow
		parents := map[string]string{
			request: "", start: request, wire.ToolCallWorkflow: start, wire.LoadPlanActivity: start, invoke: start,
			wire.FinishRunActivity: start, "call": invoke, "HTTP GET": "call",
		}
		if slug == "fetchOnce" {
			parents[wire.AdmitActivity] = start
		}
		names := make([]string, 0, len(parents))
		for name := range parents {
			names = append(names, name)
		}
		spans := await(t, traceID, names...)
		require.Len(t, shared.collector.trace(traceID), len(parents), "each span once, and no other")
		for name, parent := range parents {
			want := callerSpan
			if parent != "" {
				want = spans[parent].id
			}
			require.Equal(t, want, spans[name].parent, "the parent of %q", name)
			require.False(t, spans[name].failed, name)
		}

		call := spans["call"].attributes
		require.Equal(t, string(shared.Tenant().ID), call["toolcrib.tenant_id"])
		require.Equal(t, called.RunID, call["toolcrib.run_id"])
		require.Equal(t, slug+"@1.0.0", call["toolcrib.tool"])
		require.Equal(t, "http", call["toolcrib.implementation"])
		require.Equal(t, "call", call["toolcrib.call_id"])
		require.NotEmpty(t, call["toolcrib.effect_id"])
		require.Equal(t, call["toolcrib.effect_id"], spans[invoke].attributes["toolcrib.effect_id"])
		require.Equal(t, "completed", spans[invoke].attributes["toolcrib.status"])

		sent := shared.upstream.ofTrace(traceID)
		require.Len(t, sent, 1)
		require.Equal(t, "00-"+traceID+"-"+spans["HTTP GET"].id+"-01", sent[0].Get("Traceparent"))
		require.Empty(t, sent[0].Get("Tracestate"))
		require.Empty(t, sent[0].Get("Baggage"))

		workflow, err := shared.Temporal().DescribeWorkflowExecution(t.Context(),
			wire.NamedWorkflowID(
				wire.TenantSegment(shared.Tenant().ID, shared.Tenant().Slug), slug, called.RunID), "")
		require.NoError(t, err)
		var remembered string
		memo := workflow.GetWorkflowExecutionInfo().GetMemo().GetFields()["toolcrib_trace"]
		require.NoError(t, converter.GetDefaultDataConverter().FromPayload(memo, &remembered))
		require.Equal(t, traceID, remembered)
	}
}

// A refusal names the trace that has it.
func TestProblemNamesItsTrace(t *testing.T) {
	t.Parallel()

	traceID, header := caller()
	resp, body := shared.call(t, "nothingLikeIt", header)
	require.Equal(t, http.StatusNotFound, resp.StatusCode)
	var problem v1.Problem
	require.NoError(t, json.Unmarshal(body, &problem))
	require.Equal(t, traceID, problem.TraceID)
	spans := await(t, traceID, "POST /v1/tools/{tool}/call")
	require.Len(t, spans, 1)
	require.Equal(t, callerSpan, spans["POST /v1/tools/{tool}/call"].parent)
}

// A request that belongs to no trace begins one, and the answer names it.
func TestRequestWithoutTraceBeginsOne(t *testing.T) {
	t.Parallel()

	resp, _ := shared.request(t, http.MethodGet, "/v1/tools", "", http.Header{"X-Request-Id": {"mine"}})
	traceID := resp.Header.Get("X-Request-Id")
	require.Len(t, traceID, 32)
	s := await(t, traceID, "GET /v1/tools")["GET /v1/tools"]
	require.Empty(t, strings.Trim(s.parent, "0"))
	require.Equal(t, "mine", s.attributes["toolcrib.request_id"])
}
