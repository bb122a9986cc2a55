package telemetry

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Transport traces the requests sent through next, and adds the traceparent of the span to
// each. The span names neither host nor path, which may contain arguments.
func (t *Telemetry) Transport(next http.RoundTripper) http.RoundTripper {
	return transport{next}
}

type transport struct{ next http.RoundTripper }

// RoundTrip implements [http.RoundTripper]. The request is its caller's copy.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, span := startSpan(req.Context(), "HTTP "+req.Method, trace.SpanKindClient, func() []attribute.KeyValue {
		return []attribute.KeyValue{
			attribute.String("http.request.method", req.Method), attribute.String("url.scheme", req.URL.Scheme),
		}
	})
	defer span.End()
	if parent := Traceparent(trace.SpanContextFromContext(ctx)); parent != "" {
		req = req.WithContext(ctx)
		req.Header.Set(TraceparentHeader, parent)
	}
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		span.SetStatus(codes.Error, "no answer")
		return resp, err
	}
	if span.IsRecording() {
		span.SetAttributes(attribute.Int("http.response.status_code", resp.StatusCode))
	}
	return resp, nil
}

// Refused counts a request that the egress guard refused.
func (t *Telemetry) Refused(ctx context.Context, reason string) {
	t.metrics.add(ctx, t.metrics.refusals, 1, labels{{reasonLabel, reason}})
}
