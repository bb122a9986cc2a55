package telemetry

import (
	"context"
	"encoding/hex"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/toolcrib/toolcrib/tool"
)

// TraceparentHeader is the header that continues a trace, in HTTP and elsewhere.
const TraceparentHeader = "traceparent"

// startSpan starts a span below the context's span, with its provider, if that is recording.
func startSpan(
	ctx context.Context, name string, kind trace.SpanKind, attrs func() []attribute.KeyValue,
) (context.Context, trace.Span) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, notRecorded
	}
	return parent.TracerProvider().Tracer(Scope).Start(ctx, name, trace.WithSpanKind(kind),
		trace.WithAttributes(attrs()...))
}

// notRecorded is returned where no span was started, so that ending it does not end the
// parent.
var notRecorded = trace.SpanFromContext(context.Background())

// Failed marks a span as failed with a kind. The text of the error is left out: it may quote
// arguments or secrets.
func Failed(span trace.Span, kind tool.Kind) {
	span.SetAttributes(KindKey.String(string(kind)))
	span.SetStatus(codes.Error, string(kind))
}

// Traceparent returns the W3C traceparent of a span; empty for none.
func Traceparent(sc trace.SpanContext) string {
	if !sc.IsValid() {
		return ""
	}
	return "00-" + sc.TraceID().String() + "-" + sc.SpanID().String() + "-" +
		(sc.TraceFlags() & trace.FlagsSampled).String()
}

// ParseTraceparent returns the span of a traceparent, as a remote one; invalid for a malformed
// text. Later versions of the format may have more than four fields.
func ParseTraceparent(text string) trace.SpanContext {
	fields := strings.Split(text, "-")
	if len(fields) < 4 || fields[0] == "00" && len(fields) > 4 || fields[0] == "ff" {
		return trace.SpanContext{}
	}
	traceID, err := trace.TraceIDFromHex(fields[1])
	if err != nil {
		return trace.SpanContext{}
	}
	spanID, err := trace.SpanIDFromHex(fields[2])
	if err != nil {
		return trace.SpanContext{}
	}
	version, versionErr := hex.DecodeString(fields[0])
	flags, flagsErr := hex.DecodeString(fields[3])
	if versionErr != nil || flagsErr != nil || len(version) != 1 || len(flags) != 1 {
		return trace.SpanContext{}
	}
	return trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: traceID, SpanID: spanID, TraceFlags: trace.TraceFlags(flags[0]) & trace.FlagsSampled, Remote: true,
	})
}
