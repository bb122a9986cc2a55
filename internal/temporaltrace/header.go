package temporaltrace

import (
	"go.opentelemetry.io/otel/trace"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"

	"github.com/toolcrib/toolcrib/internal/telemetry"
)

// headerKey is the key of the header, a JSON object with a traceparent.
const headerKey = "_tracer-data"

// write puts a span into a header, if it is valid.
func write(header map[string]*commonpb.Payload, sc trace.SpanContext) {
	parent := telemetry.Traceparent(sc)
	if parent == "" || header == nil {
		return
	}
	payload, err := converter.GetDefaultDataConverter().ToPayload(map[string]string{telemetry.TraceparentHeader: parent})
	if err != nil {
		return // Unreachable; and a trace is not worth a failure.
	}
	header[headerKey] = payload
}

// read returns the span in a header; invalid for a malformed one, which must not fail a
// workflow.
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
