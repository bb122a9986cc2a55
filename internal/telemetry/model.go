package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// Models wraps models, keyed by their providers, to record their turns.
func (t *Telemetry) Models(models map[string]agent.Model) map[string]agent.Model {
	out := make(map[string]agent.Model, len(models))
	for provider, m := range models {
		out[provider] = t.model(provider, m)
	}
	return out
}

func (t *Telemetry) model(provider string, next agent.Model) agent.Model {
	return agent.ModelFunc(func(ctx context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
		began := time.Now()
		ctx, span := startSpan(ctx, "model turn", trace.SpanKindInternal, func() []attribute.KeyValue {
			return []attribute.KeyValue{
				TenantKey.String(string(req.Tenant)), TurnKey.Int(req.Turn), ProviderKey.String(provider),
			}
		})
		defer span.End()
		resp, err := next.Generate(ctx, req)
		outcome := answered
		if err != nil {
			kind := tool.AsError(err).Kind
			outcome = string(kind)
			Failed(span, kind)
		}
		t.metrics.observe(ctx, t.metrics.turns, time.Since(began), labels{{providerLabel, provider}, {outcomeLabel, outcome}})
		if resp != nil {
			if resp.Waited > 0 {
				t.metrics.observe(ctx, t.metrics.paced, resp.Waited, labels{{providerLabel, provider}})
			}
			t.metrics.add(ctx, t.metrics.tokens, int64(resp.Usage.InputTokens), labels{
				{providerLabel, provider}, {directionLabel, "input"},
			})
			t.metrics.add(ctx, t.metrics.tokens, int64(resp.Usage.OutputTokens), labels{
				{providerLabel, provider}, {directionLabel, "output"},
			})
		}
		return resp, err
	})
}
