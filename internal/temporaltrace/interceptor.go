package temporaltrace

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/internal/telemetry"
	"github.com/toolcrib/toolcrib/tool"
)

// Attributes of spans, as Temporal's SDKs call them.
const (
	workflowIDKey = attribute.Key("temporalWorkflowID")
	runIDKey      = attribute.Key("temporalRunID")
)

// New returns the interceptor for a client and its workers, which creates spans with the
// provider.
func New(provider trace.TracerProvider) interceptor.Interceptor {
	return &tracing{tracer: provider.Tracer(telemetry.Scope)}
}

type tracing struct {
	interceptor.InterceptorBase
	tracer trace.Tracer
}

// InterceptClient implements [interceptor.ClientInterceptor].
func (t *tracing) InterceptClient(next interceptor.ClientOutboundInterceptor) interceptor.ClientOutboundInterceptor {
	out := &outbound{tracing: t}
	out.Next = next
	return out
}

// InterceptWorkflow implements [interceptor.WorkerInterceptor].
func (t *tracing) InterceptWorkflow(
	_ workflow.Context, next interceptor.WorkflowInboundInterceptor,
) interceptor.WorkflowInboundInterceptor {
	in := &workflowInbound{tracing: t}
	in.Next = next
	return in
}

// InterceptActivity implements [interceptor.WorkerInterceptor].
func (t *tracing) InterceptActivity(
	_ context.Context, next interceptor.ActivityInboundInterceptor,
) interceptor.ActivityInboundInterceptor {
	in := &activityInbound{tracing: t}
	in.Next = next
	return in
}

// outbound creates a span for each workflow that a client starts.
type outbound struct {
	interceptor.ClientOutboundInterceptorBase
	*tracing
}

// ExecuteWorkflow implements [interceptor.ClientOutboundInterceptor].
func (o *outbound) ExecuteWorkflow(
	ctx context.Context, in *interceptor.ClientExecuteWorkflowInput,
) (client.WorkflowRun, error) {
	ctx, span := o.start(ctx, in.WorkflowType, in.Options.ID)
	defer span.End()
	run, err := o.Next.ExecuteWorkflow(ctx, in)
	note(span, err)
	return run, err
}

// SignalWithStartWorkflow implements [interceptor.ClientOutboundInterceptor].
func (o *outbound) SignalWithStartWorkflow(
	ctx context.Context, in *interceptor.ClientSignalWithStartWorkflowInput,
) (client.WorkflowRun, error) {
	ctx, span := o.start(ctx, in.WorkflowType, in.Options.ID)
	defer span.End()
	run, err := o.Next.SignalWithStartWorkflow(ctx, in)
	note(span, err)
	return run, err
}

func (o *outbound) start(ctx context.Context, workflowType, id string) (context.Context, trace.Span) {
	ctx, span := o.tracer.Start(ctx, "start "+workflowType,
		trace.WithSpanKind(trace.SpanKindProducer), trace.WithAttributes(workflowIDKey.String(id)))
	write(interceptor.Header(ctx), span.SpanContext())
	return ctx, span
}

// note marks a span as failed with the kind of an error, if there is one.
func note(span trace.Span, err error) {
	if err != nil {
		telemetry.Failed(span, tool.KindOf(failure.Decode(err)))
	}
}
