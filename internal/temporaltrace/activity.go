package temporaltrace

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/log"

	"github.com/toolcrib/toolcrib/internal/telemetry"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// activityInbound creates a span for each attempt of an activity.
type activityInbound struct {
	interceptor.ActivityInboundInterceptorBase
	*tracing
}

// Init implements [interceptor.ActivityInboundInterceptor].
func (a *activityInbound) Init(next interceptor.ActivityOutboundInterceptor) error {
	out := &activityOutbound{}
	out.Next = next
	return a.Next.Init(out)
}

// ExecuteActivity implements [interceptor.ActivityInboundInterceptor].
func (a *activityInbound) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	info := activity.GetInfo(ctx)
	ctx = trace.ContextWithRemoteSpanContext(ctx, read(interceptor.Header(ctx)))
	ctx, span := a.tracer.Start(
		ctx,
		info.ActivityType.Name,
		trace.WithSpanKind(trace.SpanKindConsumer),
		trace.WithAttributes(
			workflowIDKey.String(info.WorkflowExecution.ID),
			runIDKey.String(info.WorkflowExecution.RunID),
		),
	)
	defer span.End()
	if span.IsRecording() {
		span.SetAttributes(telemetry.AttemptKey.Int(int(info.Attempt)))
		for _, arg := range in.Args {
			span.SetAttributes(asked(arg)...)
		}
	}
	out, err := a.Next.ExecuteActivity(ctx, in)
	if span.IsRecording() {
		span.SetAttributes(ended(out)...)
		note(span, err)
	}
	return out, err
}

type activityOutbound struct {
	interceptor.ActivityOutboundInterceptorBase
}

// GetLogger implements [interceptor.ActivityOutboundInterceptor].
func (a *activityOutbound) GetLogger(ctx context.Context) log.Logger {
	return named(a.Next.GetLogger(ctx), trace.SpanContextFromContext(ctx))
}

// asked returns the attributes of an activity's input about its tenant and call. The inputs of
// hosts' own activities have none.
func asked(input any) []attribute.KeyValue {
	switch in := input.(type) {
	case wire.InvokeInput:
		return call(in)
	case *wire.InvokeInput:
		return call(*in)
	case wire.SettleInput:
		return append(call(in.Invoke), telemetry.StatusKey.String(string(in.Status)),
			telemetry.KindKey.String(string(in.Kind)))
	case wire.LoadPlanInput:
		return run(in.Principal, in.RunID)
	case wire.AdvanceInput:
		return run(in.Principal, in.RunID)
	case wire.FinishRunInput:
		return append(run(in.Principal, in.RunID), telemetry.StatusKey.String(string(in.Status)))
	default:
		return nil
	}
}

func run(p tool.Principal, id string) []attribute.KeyValue {
	return []attribute.KeyValue{telemetry.TenantKey.String(string(p.Tenant)), telemetry.RunKey.String(id)}
}

func call(in wire.InvokeInput) []attribute.KeyValue {
	return append(run(in.Principal, in.RunID),
		telemetry.TurnKey.Int(in.Turn), telemetry.PositionKey.Int(in.Position), telemetry.CallKey.String(in.CallID),
		telemetry.ToolKey.String(in.Pin.String()), telemetry.ImplementationKey.String(string(in.Pin.Implementation)),
		telemetry.EffectKey.String(in.EffectID))
}

// ended returns the attributes of an activity's output about the outcome of the call.
func ended(output any) []attribute.KeyValue {
	var out wire.InvokeOutput
	switch o := output.(type) {
	case wire.InvokeOutput:
		out = o
	case *wire.InvokeOutput:
		if o != nil {
			out = *o
		}
	}
	if out.Status == "" {
		return nil
	}
	return []attribute.KeyValue{
		telemetry.StatusKey.String(string(out.Status)),
		telemetry.KindKey.String(string(out.Kind)),
	}
}
