package api

import (
	"context"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/toolcrib/toolcrib/internal/telemetry"
	"github.com/toolcrib/toolcrib/tool"
)

// TraceHeader carries the trace id of a request; every response has it. Without
// tracing, a caller may set it in the request.
const TraceHeader = "X-Request-Id"

type recordKey struct{}

// record is the log record of a request. The handlers of the request fill it in.
type record struct {
	traceID string
	tenant  tool.TenantID
	written func() int // The size of the answer so far. May be nil.
}

// bytes returns the size of the answer so far.
func (r *record) bytes() int64 {
	if r.written == nil {
		return 0
	}
	return int64(r.written())
}

var requestIDPattern = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// trace starts the span of each request, as a child of its W3C traceparent, and
// sets the request's trace id. Without tracing, the trace id is the
// traceparent's, or the caller's own, or a new one.
func (s *server) trace(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		parent := telemetry.ParseTraceparent(r.Header.Get("Traceparent"))
		ctx, span := s.startSpan(trace.ContextWithRemoteSpanContext(r.Context(), parent), r)
		defer span.End()
		rec := &record{traceID: nameOf(trace.SpanContextFromContext(ctx), r.Header.Get(TraceHeader))}
		w.Header().Set(TraceHeader, rec.traceID)
		next.ServeHTTP(w, r.WithContext(context.WithValue(ctx, recordKey{}, rec)))
	})
}

// startSpan starts the span of a request, except for probes and metrics.
func (s *server) startSpan(ctx context.Context, r *http.Request) (context.Context, trace.Span) {
	if s.cfg.TracerProvider == nil || orchestration(r) {
		return ctx, trace.SpanFromContext(context.Background())
	}
	return s.cfg.TracerProvider.Tracer(telemetry.Scope).Start(ctx, methodOf(r), trace.WithSpanKind(trace.SpanKindServer))
}

// nameOf returns the trace id of a request.
func nameOf(sc trace.SpanContext, asked string) string {
	switch {
	case sc.HasTraceID():
		return sc.TraceID().String()
	case requestIDPattern.MatchString(asked):
		return asked
	default:
		return strings.ReplaceAll(uuid.NewString(), "-", "")
	}
}

func recordOf(ctx context.Context) *record {
	if rec, ok := ctx.Value(recordKey{}).(*record); ok {
		return rec
	}
	return &record{}
}

func traceID(ctx context.Context) string { return recordOf(ctx).traceID }

// logRequests records the outcome of each request in the log, in its span and in
// the metrics. It records the route template, without the values in the path.
func (s *server) logRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		answer := s.metrics.watch(w, r)
		defer answer.end()
		ww := middleware.NewWrapResponseWriter(answer, r.ProtoMajor)
		recordOf(r.Context()).written = ww.BytesWritten
		next.ServeHTTP(ww, r)
		rec, took, route, status := recordOf(r.Context()), time.Since(began), routeOf(r), max(ww.Status(), http.StatusOK)
		describeSpan(trace.SpanFromContext(r.Context()), r, route, status, rec.tenant)
		if !answer.begun {
			s.metrics.observe(r, route, status, took)
		}
		s.log.LogAttrs(r.Context(), levelOf(r, status), "request",
			slog.String("method", methodOf(r)), slog.String("route", route), slog.Int("status", status),
			slog.Float64("ms", float64(took.Microseconds())/1000), slog.Int("bytes", ww.BytesWritten()),
			slog.String("tenant_id", string(rec.tenant)), slog.String("trace_id", rec.traceID))
	})
}

func describeSpan(span trace.Span, r *http.Request, route string, status int, tenant tool.TenantID) {
	if !span.IsRecording() {
		return
	}
	span.SetName(methodOf(r) + " " + route)
	span.SetAttributes(
		attribute.String("http.request.method", methodOf(r)), attribute.String("http.route", route),
		attribute.Int("http.response.status_code", status), telemetry.TenantKey.String(string(tenant)))
	if asked := r.Header.Get(TraceHeader); requestIDPattern.MatchString(asked) {
		span.SetAttributes(attribute.String("toolcrib.request_id", asked))
	}
	if status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, http.StatusText(status))
	}
}

// levelOf returns the level of a request's line in the log. A server that refuses what is more than
// it can do works as it should: its operator is warned.
func levelOf(r *http.Request, status int) slog.Level {
	switch {
	case status == http.StatusServiceUnavailable, status >= http.StatusInternalServerError && orchestration(r):
		return slog.LevelWarn
	case status >= http.StatusInternalServerError:
		return slog.LevelError
	case orchestration(r):
		return slog.LevelDebug
	default:
		return slog.LevelInfo
	}
}

// orchestration reports whether a request is a probe or a scrape of metrics.
func orchestration(r *http.Request) bool {
	return r.URL.Path == "/healthz" || r.URL.Path == "/readyz" || r.URL.Path == "/metrics"
}

// routeOf returns the template of the requested path, once the router knows it.
func routeOf(r *http.Request) string {
	if c := chi.RouteContext(r.Context()); c != nil && c.RoutePattern() != "" {
		return c.RoutePattern()
	}
	return "none"
}

// methodOf returns a request's method, or "other" for an unknown one.
func methodOf(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions, http.MethodConnect, http.MethodTrace:
		return r.Method
	default:
		return "other"
	}
}
