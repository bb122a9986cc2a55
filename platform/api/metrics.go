package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/toolcrib/toolcrib/internal/telemetry"
)

// requestBounds are the histogram buckets of request durations, in seconds. They
// include requests that wait for a call.
var requestBounds = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 75}

// metrics counts requests.
type metrics struct {
	duration metric.Float64Histogram
	streams  metric.Int64UpDownCounter
}

func newMetrics(provider metric.MeterProvider) (*metrics, error) {
	if provider == nil {
		provider = noop.NewMeterProvider()
	}
	meter := provider.Meter(telemetry.Scope)
	duration, err := meter.Float64Histogram("toolcrib.http.request.duration", metric.WithUnit("s"),
		metric.WithDescription("Duration of requests, without event streams."),
		metric.WithExplicitBucketBoundaries(requestBounds...))
	streams, streamsErr := meter.Int64UpDownCounter("toolcrib.http.streams",
		metric.WithDescription("Open event streams."))
	if err := errors.Join(err, streamsErr); err != nil {
		return nil, fmt.Errorf("making metrics: %w", err)
	}
	streams.Add(context.Background(), 0) // Shown before the first is opened.
	return &metrics{duration: duration, streams: streams}, nil
}

func (m *metrics) observe(r *http.Request, route string, status int, took time.Duration) {
	m.duration.Record(r.Context(), took.Seconds(), metric.WithAttributes(
		attribute.String("method", methodOf(r)), attribute.String("route", route), attribute.Int("status", status)))
}

// watch returns a writer that detects whether the response is an event stream.
func (m *metrics) watch(w http.ResponseWriter, r *http.Request) *watched {
	return &watched{ResponseWriter: w, ctx: r.Context(), open: m.streams}
}

// watched is the writer of a response that may be an event stream.
type watched struct {
	http.ResponseWriter
	ctx   context.Context //nolint:containedctx // It lives as long as its request.
	open  metric.Int64UpDownCounter
	wrote bool
	begun bool // It is an event stream.
}

func (s *watched) look() {
	if s.wrote {
		return
	}
	s.wrote = true
	if strings.HasPrefix(s.Header().Get("Content-Type"), "text/event-stream") {
		s.begun = true
		s.open.Add(s.ctx, 1)
	}
}

func (s *watched) end() {
	if s.begun {
		s.open.Add(s.ctx, -1)
	}
}

// WriteHeader implements [http.ResponseWriter].
func (s *watched) WriteHeader(status int) {
	s.look()
	s.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (s *watched) Write(p []byte) (int, error) {
	s.look()
	return s.ResponseWriter.Write(p)
}

// Flush implements [http.Flusher].
func (s *watched) Flush() {
	s.look()
	_ = http.NewResponseController(s.ResponseWriter).Flush() // Without support for flushing, nothing happens.
}

// Unwrap is for [http.ResponseController].
func (s *watched) Unwrap() http.ResponseWriter { return s.ResponseWriter }
