package temporaltrace

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/workflow"
)

// workflowInbound reads a workflow's header and passes it on to what the workflow starts. All
// of it except for the span at the end is deterministic.
type workflowInbound struct {
	interceptor.WorkflowInboundInterceptorBase
	*tracing
	parent trace.SpanContext
}

// Init implements [interceptor.WorkflowInboundInterceptor].
func (w *workflowInbound) Init(next interceptor.WorkflowOutboundInterceptor) error {
	out := &workflowOutbound{inbound: w}
	out.Next = next
	return w.Next.Init(out)
}

// ExecuteWorkflow implements [interceptor.WorkflowInboundInterceptor].
func (w *workflowInbound) ExecuteWorkflow(ctx workflow.Context, in *interceptor.ExecuteWorkflowInput) (any, error) {
	w.parent = read(interceptor.WorkflowHeader(ctx))
	out, err := w.Next.ExecuteWorkflow(ctx, in)
	if !workflow.IsReplaying(ctx) {
		w.tell(ctx, err)
	}
	return out, err
}

// tell creates the span of an ended workflow.
func (w *workflowInbound) tell(ctx workflow.Context, err error) {
	info := workflow.GetInfo(ctx)
	_, span := w.tracer.Start(trace.ContextWithRemoteSpanContext(context.Background(), w.parent), info.WorkflowType.Name,
		trace.WithTimestamp(info.WorkflowStartTime), trace.WithSpanKind(trace.SpanKindInternal),
		trace.WithAttributes(workflowIDKey.String(info.WorkflowExecution.ID), runIDKey.String(info.WorkflowExecution.RunID)))
	if _, again := errors.AsType[*workflow.ContinueAsNewError](err); !again {
		note(span, err)
	}
	span.End()
}

type workflowOutbound struct {
	interceptor.WorkflowOutboundInterceptorBase
	inbound *workflowInbound
}

// ExecuteActivity implements [interceptor.WorkflowOutboundInterceptor].
func (w *workflowOutbound) ExecuteActivity(ctx workflow.Context, name string, args ...any) workflow.Future {
	w.pass(ctx)
	return w.Next.ExecuteActivity(ctx, name, args...)
}

// ExecuteLocalActivity implements [interceptor.WorkflowOutboundInterceptor].
func (w *workflowOutbound) ExecuteLocalActivity(ctx workflow.Context, name string, args ...any) workflow.Future {
	w.pass(ctx)
	return w.Next.ExecuteLocalActivity(ctx, name, args...)
}

// ExecuteChildWorkflow implements [interceptor.WorkflowOutboundInterceptor].
func (w *workflowOutbound) ExecuteChildWorkflow(
	ctx workflow.Context, name string, args ...any,
) workflow.ChildWorkflowFuture {
	w.pass(ctx)
	return w.Next.ExecuteChildWorkflow(ctx, name, args...)
}

// NewContinueAsNewError implements [interceptor.WorkflowOutboundInterceptor].
func (w *workflowOutbound) NewContinueAsNewError(ctx workflow.Context, fn any, args ...any) error {
	w.pass(ctx)
	return w.Next.NewContinueAsNewError(ctx, fn, args...)
}

// GetLogger implements [interceptor.WorkflowOutboundInterceptor].
func (w *workflowOutbound) GetLogger(ctx workflow.Context) log.Logger {
	return named(w.Next.GetLogger(ctx), w.inbound.parent)
}

func (w *workflowOutbound) pass(ctx workflow.Context) {
	write(interceptor.WorkflowHeader(ctx), w.inbound.parent)
}

// named adds the trace id to every line of a logger.
func named(l log.Logger, sc trace.SpanContext) log.Logger {
	if !sc.IsValid() {
		return l
	}
	return log.With(l, "trace_id", sc.TraceID().String())
}
