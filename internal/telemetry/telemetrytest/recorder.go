package telemetrytest

import (
	"context"
	"encoding/binary"
	"slices"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// Recorder is a tracer provider that keeps ended spans. It is safe for concurrent use.
type Recorder struct {
	noop.TracerProvider

	mu    sync.Mutex
	last  uint64
	ended []Span
}

// Span is a span that ended.
type Span struct {
	Name       string
	Context    trace.SpanContext
	Parent     trace.SpanContext // Invalid for a root.
	Attributes map[attribute.Key]attribute.Value
	Failure    string // The description of an error status.
}

// Tracer implements [trace.TracerProvider].
func (r *Recorder) Tracer(string, ...trace.TracerOption) trace.Tracer { return tracer{recorder: r} }

// Spans returns the spans that ended, in the order of their ends.
func (r *Recorder) Spans() []Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.ended)
}

type tracer struct {
	noop.Tracer
	recorder *Recorder
}

// Start implements [trace.Tracer].
func (t tracer) Start(ctx context.Context, name string, opts ...trace.SpanStartOption) (context.Context, trace.Span) {
	parent := trace.SpanContextFromContext(ctx)
	r := t.recorder
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	var id trace.SpanID
	binary.BigEndian.PutUint64(id[:], r.last)
	own := trace.SpanContextConfig{TraceID: parent.TraceID(), SpanID: id, TraceFlags: trace.FlagsSampled}
	if !parent.IsValid() {
		binary.BigEndian.PutUint64(own.TraceID[:], r.last)
	}
	s := &span{recorder: r, of: Span{
		Name: name, Context: trace.NewSpanContext(own), Parent: parent, Attributes: make(map[attribute.Key]attribute.Value),
	}}
	start := trace.NewSpanStartConfig(opts...)
	s.set(start.Attributes())
	return trace.ContextWithSpan(ctx, s), s
}

type span struct {
	noop.Span
	of       Span
	recorder *Recorder
}

// IsRecording and the others implement [trace.Span].
func (s *span) IsRecording() bool                    { return true }
func (s *span) SpanContext() trace.SpanContext       { return s.of.Context }
func (s *span) TracerProvider() trace.TracerProvider { return s.recorder }
func (s *span) SetAttributes(attrs ...attribute.KeyValue) {
	s.recorder.mu.Lock()
	defer s.recorder.mu.Unlock()
	s.set(attrs)
}

func (s *span) set(attrs []attribute.KeyValue) {
	for _, a := range attrs {
		s.of.Attributes[a.Key] = a.Value
	}
}

func (s *span) SetStatus(code codes.Code, description string) {
	if code == codes.Error {
		s.recorder.mu.Lock()
		defer s.recorder.mu.Unlock()
		s.of.Failure = description
	}
}

func (s *span) End(...trace.SpanEndOption) {
	s.recorder.mu.Lock()
	defer s.recorder.mu.Unlock()
	s.recorder.ended = append(s.recorder.ended, s.of)
}
