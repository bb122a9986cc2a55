package activities

import (
	"context"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/tool"
)

// shortLimit is a rate limit for which the first attempt waits rather than ask a fallback model: the
// agent's own model is soon back.
const shortLimit = 5 * time.Second

// askInOrder asks the agent's model and, where it is unavailable, its fallback models, and returns which
// one answered, as "provider/name". A model is unavailable where it fails in a way that may be repeated:
// it limits the rate, fails by itself, is overloaded or not reached, or does not answer in time. Where it
// refuses the request, the key or the content, no other one is asked: the failure is to be seen.
//
// The models share the time of the attempt. The error is that of the agent's model, and names the
// causes of all.
func (a *Activities) askInOrder(
	ctx context.Context, attempt *modelTurn, definition agent.Definition, open agent.OpenTurn, kit *kit,
	provided []agent.ProviderTool,
) (*agent.ModelResponse, string, error) {
	models := append([]agent.FallbackModel{{Model: definition.Model, ModelOptions: definition.ModelOptions}},
		definition.FallbackModels...)
	whole, cancel := bounded(ctx)
	defer cancel()
	var failed []*tool.Error
	for i, m := range models {
		definition.Model, definition.ModelOptions = m.Model, m.ModelOptions
		share, release := shared(whole, len(models)-i)
		var patience time.Duration
		if i+1 < len(models) {
			patience = shortLimit
		}
		resp, err := a.ask(share, attempt, (attempt.attempt-1)*len(models)+i+1, patience, definition, open, kit,
			offeredBy(provided, m))
		err = late(ctx, share, err)
		release()
		if err == nil {
			return resp, m.Model, nil
		}
		e := tool.AsError(failure.Decode(err))
		if i == 0 && (!attempt.mayFallBack(e) || len(models) == 1) || ctx.Err() != nil {
			return nil, "", err
		}
		failed = append(failed, e)
		if i+1 < len(models) {
			a.fellBack(ctx, attempt, m.Model, models[i+1].Model, e)
		}
	}
	return nil, "", noneAnswered(models, failed)
}

// mayFallBack reports whether a fallback model is asked after e.
func (t *modelTurn) mayFallBack(e *tool.Error) bool {
	short := e.Kind == tool.RateLimited && e.RetryAfter > 0 && e.RetryAfter <= shortLimit
	return e.Retryable() && (!short || t.attempt > 1)
}

// shared returns a context with an equal share of the time that models have left.
func shared(ctx context.Context, models int) (context.Context, context.CancelFunc) {
	at, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(at)/time.Duration(models))
}

// offeredBy returns the tools that the provider of a model runs.
func offeredBy(provided []agent.ProviderTool, m agent.FallbackModel) []agent.ProviderTool {
	provider, _, _ := strings.Cut(m.Model, "/")
	return slices.DeleteFunc(slices.Clone(provided), func(t agent.ProviderTool) bool { return t.Provider != provider })
}

// fellBack records that a fallback model is asked.
func (a *Activities) fellBack(ctx context.Context, t *modelTurn, model, next string, e *tool.Error) {
	activity.GetLogger(ctx).Warn("a model is unavailable; its fallback is asked", "tenant_id", t.principal.Tenant,
		"run_id", t.runID, "turn", t.turn, "attempt", t.attempt, "model", model, "next_model", next, "kind", e.Kind)
	a.recordRetry(ctx, t, agent.ModelRetry{
		Turn: t.turn, Attempt: t.attempt, MaxAttempts: t.attempts, Model: model, NextModel: next, Kind: e.Kind,
		Cause: causeOf(e), RetryAt: time.Now().UTC(), TurnID: t.key,
	})
}

// noneAnswered returns the failure of an attempt in which no model answered. It is that of the agent's own
// model, to be repeated when the first of the models may be back.
func noneAnswered(models []agent.FallbackModel, failed []*tool.Error) *tool.Error {
	out := *failed[0]
	causes := make([]string, len(failed))
	for i, e := range failed {
		causes[i] = models[i].Model + ": " + causeOf(e)
		if e.Retryable() && e.RetryAfter < out.RetryAfter {
			out.RetryAfter = e.RetryAfter
		}
	}
	out.Msg = strings.Join(causes, "; ")
	out.Err = failed[0]
	return &out
}
