package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"

	"github.com/toolcrib/toolcrib/internal/telemetry"
	"github.com/toolcrib/toolcrib/internal/telemetry/telemetrytest"
	"github.com/toolcrib/toolcrib/tool"
)

const planted = "tc-planted-value-91ab"

// aCall is a call whose argument must not be told.
func aCall() *tool.Call {
	return &tool.Call{
		CallIdentity: tool.CallIdentity{
			CallID:    "call_1",
			EffectID:  "e1",
			RunID:     "r1",
			Principal: tool.Principal{Tenant: "t1"},
		},
		Attempt:   2,
		Arguments: json.RawMessage(`{"q":"` + planted + `"}`),
		Version: &tool.Version{
			Slug: "search", Number: "1.2.0", Snapshot: tool.Snapshot{Definition: tool.Definition{Implementation: tool.HTTP}},
		},
	}
}

func newTelemetry(tb testing.TB, log *slog.Logger) *telemetry.Telemetry {
	tb.Helper()
	tel, err := telemetry.New(nil, log, []tool.Implementation{tool.HTTP})
	require.NoError(tb, err)
	return tel
}

// begun returns a context inside a span of a recorder.
func begun(t *testing.T) (context.Context, *telemetrytest.Recorder, trace.Span) {
	t.Helper()
	r := &telemetrytest.Recorder{}
	ctx, span := r.Tracer("").Start(t.Context(), "parent")
	return ctx, r, span
}

func TestSpanOfAnAttemptSaysWhoAndWhatAndNoValue(t *testing.T) {
	t.Parallel()

	ctx, recorder, parent := begun(t)
	failing := tool.ExecutorFunc(func(context.Context, *tool.Call) (*tool.Result, error) {
		return nil, &tool.Error{Kind: tool.Unavailable, Msg: planted, Err: errors.New(planted)}
	})
	_, err := newTelemetry(t, nil).Middleware()(failing).Execute(ctx, aCall())
	require.Error(t, err)

	spans := recorder.Spans()
	require.Len(t, spans, 1)
	s := spans[0]
	require.Equal(t, parent.SpanContext(), s.Parent)
	require.Equal(t, "t1", s.Attributes[telemetry.TenantKey].AsString())
	require.Equal(t, "r1", s.Attributes[telemetry.RunKey].AsString())
	require.Equal(t, "call_1", s.Attributes[telemetry.CallKey].AsString())
	require.Equal(t, "search@1.2.0", s.Attributes[telemetry.ToolKey].AsString())
	require.Equal(t, "http", s.Attributes[telemetry.ImplementationKey].AsString())
	require.EqualValues(t, 2, s.Attributes[telemetry.AttemptKey].AsInt64())
	require.Equal(t, "e1", s.Attributes[telemetry.EffectKey].AsString())
	require.Equal(t, "unavailable", s.Attributes[telemetry.KindKey].AsString())
	require.Equal(t, "unavailable", s.Failure)
	for key, v := range s.Attributes {
		require.NotContains(t, v.String(), planted, key)
	}
}

// Where nobody records, there is no span, and the parent stays open.
func TestNothingIsStartedBelowASpanThatIsNotRecorded(t *testing.T) {
	t.Parallel()

	sc := trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2},
	}).WithRemote(true)
	ctx := trace.ContextWithRemoteSpanContext(t.Context(), sc)
	var inside trace.SpanContext
	answering := tool.ExecutorFunc(func(ctx context.Context, _ *tool.Call) (*tool.Result, error) {
		inside = trace.SpanContextFromContext(ctx)
		return &tool.Result{}, nil
	})
	_, err := newTelemetry(t, nil).Middleware()(answering).Execute(ctx, aCall())
	require.NoError(t, err)
	require.Equal(t, sc, inside)
}

func TestLineOfAnAttemptHasTheFixedAttributesAndNoValue(t *testing.T) {
	t.Parallel()

	var log bytes.Buffer
	ctx, _, parent := begun(t)
	answering := tool.ExecutorFunc(func(context.Context, *tool.Call) (*tool.Result, error) {
		return &tool.Result{Structured: json.RawMessage(`"` + planted + `"`), IsError: true}, nil
	})
	logger := slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	_, err := newTelemetry(t, logger).Middleware()(answering).Execute(ctx, aCall())
	require.NoError(t, err)

	var line map[string]any
	require.NoError(t, json.Unmarshal(log.Bytes(), &line))
	for key, want := range map[string]any{
		"tenant_id": "t1", "run_id": "r1", "call_id": "call_1", "tool": "search", "version": "1.2.0", "kind": "",
		"outcome": "said_no", "attempt": 2.0, "trace_id": parent.SpanContext().TraceID().String(),
	} {
		require.Equal(t, want, line[key], key)
	}
	require.NotContains(t, log.String(), planted)
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A request gets the traceparent of its own span, and nothing else that its
// caller's context holds.
func TestRequestsLeaveWithTraceparentAlone(t *testing.T) {
	t.Parallel()

	ctx, recorder, parent := begun(t)
	var sent http.Header
	through := newTelemetry(t, nil).Transport(roundTrip(func(r *http.Request) (*http.Response, error) {
		sent = r.Header.Clone()
		return &http.Response{StatusCode: http.StatusTeapot, Body: http.NoBody}, nil
	}))
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://orders.example/"+planted, http.NoBody)
	require.NoError(t, err)
	resp, err := through.RoundTrip(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())

	spans := recorder.Spans()
	require.Len(t, spans, 1)
	require.Equal(t, parent.SpanContext(), spans[0].Parent)
	require.Equal(t, http.Header{"Traceparent": {telemetry.Traceparent(spans[0].Context)}}, sent)
	require.Equal(t, spans[0].Context.TraceID(), telemetry.ParseTraceparent(sent.Get("Traceparent")).TraceID())
	require.EqualValues(t, http.StatusTeapot, spans[0].Attributes["http.response.status_code"].AsInt64())
	for key, v := range spans[0].Attributes {
		require.NotContains(t, v.String(), planted, key)
	}
}

func TestMalformedTraceparentNamesNoSpan(t *testing.T) {
	t.Parallel()

	for _, text := range []string{
		"", "x", "00-0-0-01", "00-00000000000000000000000000000000-0000000000000001-01",
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
		"ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		"00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", "0-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1",
	} {
		require.False(t, telemetry.ParseTraceparent(text).IsValid(), text)
	}
	require.Empty(t, telemetry.Traceparent(trace.SpanContext{}))
}
