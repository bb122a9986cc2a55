package temporaltrace

import (
	"go.opentelemetry.io/otel/trace"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"

	"github.com/toolcrib/toolcrib/internal/telemetry"
)

// headerKey names the header, a JSON object that holds a traceparent.
const headerKey = "_tracer-data"

// write puts a span into a header. No header is written for no span.
func write(header map[string]*commonpb.Payload, sc trace.SpanContext) {
	parent := telemetry.Traceparent(sc)
	if parent == "" || header == nil {
		return
	}
	payload, err := converter.GetDefaultDataConverter().ToPayload(map[string]string{telemetry.TraceparentHeader: parent})
	if err != nil {
		return // A map of strings always is JSON; and a trace is not worth failing for.
	}
	header[headerKey] = payload
}

// read returns the span that a header names. A header that can't be read names
// none: what others wrote must not stop a workflow.
func read(header map[string]*commonpb.Payload) trace.SpanContext {
	payload := header[headerKey]
	if payload == nil {
		return trace.SpanContext{}
	}
	var fields map[string]string
	if err := converter.GetDefaultDataConverter().FromPayload(payload, &fields); err != nil {
		return trace.SpanContext{}
	}
	return telemetry.ParseTraceparent(fields[telemetry.TraceparentHeader])
}
