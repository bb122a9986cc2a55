package telemetry

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/toolcrib/toolcrib/tool"
)

// Outcomes of attempts with a result; failed ones have their kind.
const (
	answered = "answered"
	saidNo   = "said_no"
)

// Middleware records each attempt at a call. It must be the outermost middleware, to record
// the final outcome.
func (t *Telemetry) Middleware() tool.Middleware {
	return func(next tool.Executor) tool.Executor {
		return tool.ExecutorFunc(func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
			impl := t.metrics.implementationOf(call.Version.Snapshot.ImplementationType())
			began := time.Now()
			ctx, span := startSpan(ctx, "call", trace.SpanKindInternal, func() []attribute.KeyValue {
				return callAttributes(call, impl)
			})
			defer span.End()
			t.enter(ctx, impl, 1)
			defer t.enter(ctx, impl, -1)
			result, err := next.Execute(ctx, call)
			took, outcome, kind := time.Since(began), outcomeOf(result), tool.Kind("")
			if err != nil {
				kind = tool.AsError(err).Kind
				outcome = string(kind)
				Failed(span, kind)
				t.drifted(ctx, call, impl, err)
			} else if span.IsRecording() {
				span.SetAttributes(StatusKey.String(outcome))
			}
			t.metrics.add(ctx, t.metrics.attempts, 1, labels{{implementationLabel, impl}, {outcomeLabel, outcome}})
			t.metrics.observe(ctx, t.metrics.duration, took, labels{{implementationLabel, impl}})
			t.logAttempt(ctx, call, outcome, kind, took)
			return result, err
		})
	}
}

func (t *Telemetry) enter(ctx context.Context, impl string, n int64) {
	if !t.metrics.off {
		t.metrics.running.Add(ctx, n, t.metrics.with(labels{{implementationLabel, impl}}))
	}
}

func outcomeOf(r *tool.Result) string {
	if r != nil && r.IsError {
		return saidNo
	}
	return answered
}

func callAttributes(call *tool.Call, impl string) []attribute.KeyValue {
	return []attribute.KeyValue{
		TenantKey.String(string(call.Principal.Tenant)), RunKey.String(call.RunID), CallKey.String(call.CallID),
		ToolKey.String(call.Version.String()), ImplementationKey.String(impl),
		AttemptKey.Int(call.Attempt), EffectKey.String(call.EffectID),
	}
}

// logAttempt logs an attempt, with the attributes of every line about a call, and no argument
// or result.
func (t *Telemetry) logAttempt(
	ctx context.Context, call *tool.Call, outcome string, kind tool.Kind, took time.Duration,
) {
	if t.log == nil || !t.log.Enabled(ctx, slog.LevelDebug) {
		return
	}
	attrs := append(callAttrs(call), slog.String("kind", string(kind)), slog.Int("attempt", call.Attempt),
		slog.String("outcome", outcome), slog.Duration("took", took))
	if sc := trace.SpanContextFromContext(ctx); sc.IsValid() {
		attrs = append(attrs, slog.String("trace_id", sc.TraceID().String()))
	}
	t.log.LogAttrs(ctx, slog.LevelDebug, "attempt ended", attrs...)
}

func callAttrs(call *tool.Call) []slog.Attr {
	return []slog.Attr{
		slog.String("tenant_id", string(call.Principal.Tenant)),
		slog.String("run_id", call.RunID),
		slog.String("call_id", call.CallID),
		slog.String("tool", call.Version.Slug),
		slog.String("version", call.Version.Number),
	}
}
