package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/internal/redact"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

const (
	// modelMargin is the time before Temporal's timeout at which the model is cancelled,
	// to record the failure.
	modelMargin = 30 * time.Second
	// modelTime bounds an attempt of a model. It is longer than the models' own timeouts
	// (platform/models), so that they report their failures.
	modelTime = 11*time.Minute - modelMargin
	// retryPatience bounds the recording of a failed attempt. It is for display: the next
	// attempt does not wait longer for it.
	retryPatience = 2 * time.Second
	// maxCauseBytes bounds the cause of a failed attempt in its event.
	maxCauseBytes = 1 << 10
)

// lostAttempt is the cause of an attempt that did not record one.
const lostAttempt = "the attempt ended without an answer: its worker stopped, or lost the connection to Temporal"

// modelTurn is an attempt of a model turn.
type modelTurn struct {
	question

	key      string // Identifies the turn; equal for its attempts.
	model    string // "provider/name".
	context  string // Follows the agent's own instructions.
	attempt  int
	attempts int // Maximum attempts.
	policy   retryPolicy
	began    time.Time // When it was scheduled or, for a retry, started.
}

// retryPolicy is Temporal's retry policy of an activity.
type retryPolicy struct {
	initial, most time.Duration
	coefficient   float64
}

func newModelTurn(ctx context.Context, q question, key string) *modelTurn {
	info := activity.GetInfo(ctx)
	t := &modelTurn{
		question: q, key: key, attempt: q.tried + 1, attempts: wire.ModelAttempts, began: info.StartedTime,
		policy: retryPolicy{
			initial: wire.ModelRetryInterval, most: wire.ModelRetryMaximum, coefficient: wire.ModelRetryCoefficient,
		},
	}
	if !q.own {
		return t
	}
	// The attempts and the policy, which an operator may change, are those of an activity.
	t.attempt = q.tried + int(info.Attempt)
	if p := info.RetryPolicy; p != nil {
		t.policy = retryPolicy{p.InitialInterval, p.MaximumInterval, p.BackoffCoefficient}
		if t.attempts = q.tried + int(p.MaximumAttempts); p.MaximumAttempts == 0 {
			t.attempts = 0
		}
	}
	return t
}

// again reports whether another attempt follows one that failed with e.
func (t *modelTurn) again(e *tool.Error) bool {
	return e.Retryable() && (t.attempts == 0 || t.attempt < t.attempts)
}

// delay returns how long Temporal waits before the attempt after e.
func (t *modelTurn) delay(e *tool.Error) time.Duration {
	if e.RetryAfter > 0 {
		return e.RetryAfter
	}
	delay := float64(t.policy.initial)
	for range t.attempt - t.tried - 1 {
		delay *= max(t.policy.coefficient, 1)
		if most := float64(t.policy.most); most > 0 && delay >= most {
			return t.policy.most
		}
	}
	return time.Duration(delay)
}

// modelFailed records a failed attempt if another follows, and returns the error for Temporal's UI:
// with the attempt and the time of the next one.
func (a *Activities) modelFailed(ctx context.Context, t *modelTurn, err error) error {
	e := tool.AsError(failure.Decode(err))
	if ctx.Err() != nil && !cancelled(ctx) { // The worker is stopping; another continues.
		e = &tool.Error{Kind: tool.Unavailable, Op: "activities.Advance", Msg: "the attempt was interrupted", Err: err}
	}
	if cancelled(ctx) || !t.again(e) {
		return err
	}
	delay := t.delay(e)
	a.recordRetry(ctx, t, agent.ModelRetry{
		Turn: t.turn, Attempt: t.attempt, MaxAttempts: t.attempts, Model: t.model, Kind: e.Kind, Cause: causeOf(e),
		RetryAt: time.Now().Add(delay).UTC(), TurnID: t.key,
	})
	out := *e
	out.Err = err
	out.Msg = fmt.Sprintf("%s (attempt %d of %d; the next in %s)", causeOf(e), t.attempt, t.attempts,
		delay.Round(100*time.Millisecond))
	return &out
}

// modelLost records the previous attempt, unless it did so itself.
func (a *Activities) modelLost(ctx context.Context, t *modelTurn) {
	if t.attempt <= 1 {
		return
	}
	a.recordRetry(ctx, t, agent.ModelRetry{
		Turn: t.turn, Attempt: t.attempt - 1, MaxAttempts: t.attempts, Model: t.model,
		Kind: tool.Unavailable, Cause: lostAttempt, RetryAt: t.began.UTC(), TurnID: t.key,
	})
}

// recordRetry writes the event of a failed attempt. It is best effort.
func (a *Activities) recordRetry(ctx context.Context, t *modelTurn, retry agent.ModelRetry) {
	write, cancel := context.WithTimeout(context.WithoutCancel(ctx), retryPatience)
	defer cancel()
	if err := a.Runs.RecordModelRetry(write, t.principal.Tenant, t.runID, retry); err != nil {
		activity.GetLogger(ctx).Warn("recording a failed attempt of a model failed",
			slog.String("tenant_id", string(t.principal.Tenant)),
			slog.String("run_id", t.runID), slog.Int("turn", t.turn), slog.Int("attempt", retry.Attempt),
			slog.Any("error", err))
	}
}

// causeOf returns why an attempt failed, redacted and without the error's own cause, which may
// contain a secret.
func causeOf(e *tool.Error) string {
	return tool.Clip(redact.Text(cmp.Or(e.Msg, string(e.Kind))), maxCauseBytes)
}

// bounded returns a context that ends with the time of an attempt of a model, and before
// Temporal's timeout of the activity.
func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	at := time.Now().Add(modelTime)
	deadline := activity.GetInfo(ctx).Deadline
	if left := time.Until(deadline); !deadline.IsZero() && left > 2*modelMargin && deadline.Add(-modelMargin).Before(at) {
		at = deadline.Add(-modelMargin)
	}
	return context.WithDeadline(ctx, at)
}

// late converts an error of a model after its deadline to a timeout, unless the model did so.
func late(outer, inner context.Context, err error) error {
	_, classified := errors.AsType[*tool.Error](err)
	if err == nil || classified || outer.Err() != nil || !errors.Is(inner.Err(), context.DeadlineExceeded) {
		return err
	}
	return &tool.Error{
		Kind: tool.Timeout, Op: "activities.Advance", Msg: "the model did not answer in time", Sent: true, Err: err,
	}
}
