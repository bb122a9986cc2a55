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

// TraceparentHeader is the header, in HTTP and elsewhere, that continues a trace.
const TraceparentHeader = "traceparent"

// startSpan starts a span below the context's, with its provider. Where that
// one is not recorded, or there is none, there is nothing to start.
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

// notRecorded stands for the span that was not started, so that ending it does
// not end its parent.
var notRecorded = trace.SpanFromContext(context.Background())

// Failed marks a span as failed with a kind. Nothing else is said of the error:
// its text may quote what spans must not hold.
func Failed(span trace.Span, kind tool.Kind) {
	span.SetAttributes(KindKey.String(string(kind)))
	span.SetStatus(codes.Error, string(kind))
}

// Traceparent returns the W3C traceparent of a span, and nothing for none.
func Traceparent(sc trace.SpanContext) string {
	if !sc.IsValid() {
		return ""
	}
	return "00-" + sc.TraceID().String() + "-" + sc.SpanID().String() + "-" +
		(sc.TraceFlags() & trace.FlagsSampled).String()
}

// ParseTraceparent returns the span that a traceparent names, as one of another
// process. What is malformed names none. Later versions of the format may have
// more after its four fields.
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
