package activities

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/policy"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// Admit opens the effect of a call that must not be repeated, in an activity
// of its own, so that its admission may be retried freely.
func (a *Activities) Admit(ctx context.Context, in wire.InvokeInput) (wire.AdmitOutput, error) {
	if err := checkTenant(ctx, in.Principal.Tenant); err != nil {
		return wire.AdmitOutput{}, failure.Encode(err)
	}
	var ticket ledger.Ticket
	err := a.complete(ctx, &in)
	if err == nil {
		ticket, err = a.admit(ctx, &in)
	}
	if asks, ok := errors.AsType[*asksError](err); ok {
		return wire.AdmitOutput{Asks: &asks.why}, nil
	}
	if err != nil {
		logFailure(ctx, "admission refused", err, callAttrs(&in)...)
		if tool.AsError(err).RetryAfter > failure.MaxRetryDelay {
			return wire.AdmitOutput{}, failure.EncodeFinal(err)
		}
		return wire.AdmitOutput{}, encode(ctx, err)
	}
	if ticket.Done != nil {
		done := output(*ticket.Done, &in)
		return wire.AdmitOutput{Done: &done}, nil
	}
	return wire.AdmitOutput{
		Fence: ticket.Fence, Execution: activity.GetInfo(ctx).WorkflowExecution.RunID,
		Egress: ticket.Policy.EgressClass, EgressRules: ticket.Policy.EgressRules, Followed: ticket.Followed,
		Slots:  profileSlots(in.Pin.ToolID, ticket.Policy.Profiles),
		Edited: ticket.Approved != "",
	}, nil
}

// Invoke runs one attempt of a call: admission, the tool, settlement.
//
// A retryable failure is returned for Temporal to retry; any other end is
// settled first, and its error is marked as settled.
func (a *Activities) Invoke(ctx context.Context, in wire.InvokeInput) (wire.InvokeOutput, error) {
	if err := checkTenant(ctx, in.Principal.Tenant); err != nil {
		return wire.InvokeOutput{}, failure.Encode(err)
	}
	// The heartbeat lasts from before the admission until after the settlement.
	var report progressReport
	report.start(ctx)
	stop := heartbeat(ctx, report.get)
	defer stop()
	t := &attempt{a: a, in: &in, number: in.Tried + int(activity.GetInfo(ctx).Attempt), began: time.Now()}
	t.alive = report.alive
	ctx, watch, release := a.controlled(ctx, in.Principal.Tenant, in.RunID)
	defer release()
	outcome, err := t.run(tool.WithProgress(ctx, report.set))
	if err != nil {
		return wire.InvokeOutput{}, err
	}
	if t.asks != nil {
		return wire.InvokeOutput{InvocationID: outcome.InvocationID, Status: outcome.Status, Asks: t.asks}, nil
	}
	if t.waits != nil {
		return wire.InvokeOutput{InvocationID: outcome.InvocationID, Status: outcome.Status, Waits: t.waits}, nil
	}
	if t.opened != nil && in.Compose {
		if outcome, err = t.compose(ctx, outcome, watch); err != nil {
			return wire.InvokeOutput{}, err
		}
	}
	if t.opened != nil {
		return wire.InvokeOutput{InvocationID: outcome.InvocationID, Status: outcome.Status, Opened: t.opened}, nil
	}
	if err := outcome.Err(); err != nil {
		e := *tool.AsError(err)
		e.Acted = acted(outcome, &in)
		return wire.InvokeOutput{}, failure.EncodeSettled(&e)
	}
	out := output(outcome, &in)
	if activity.GetInfo(ctx).IsLocalActivity && size(out.Result) > maxMarkerResult {
		return wire.InvokeOutput{}, failure.Encode(&tool.Error{
			Kind: tool.Unavailable, Op: "activities.Invoke", RetryAfter: time.Millisecond,
			Msg: "the result is too large for the fast lane; the regular activity reads it from the ledger",
		})
	}
	return out, nil
}

// compose makes the steps of a composition that the attempt opened, and returns its
// outcome. What is not made here is the workflow's: the call stays open.
func (t *attempt) compose(ctx context.Context, opened ledger.Outcome, w *watch) (ledger.Outcome, error) {
	slice := wire.AdvanceSlice
	if activity.GetInfo(ctx).IsLocalActivity {
		slice = tool.MaxFastTimeout
	}
	began := time.Now()
	end := t.a.compose(ctx, t, opened.InvocationID, func(ctx context.Context) wire.Handover {
		return resting(ctx, time.Since(began) > slice, w)
	})
	t.opened.Pause = w.pause()
	switch {
	case end.retry != nil:
		t.opened.Tried, t.opened.RetryIn, t.opened.Reached = end.tried, retryIn(end.retry), end.reached
	case end.asks != nil:
		t.opened.Reached = end.reached
	}
	if !end.over() {
		return opened, end.err
	}
	t.opened = nil
	return end.outcome, nil
}

// admit asks the ledger for admission, then evaluates the policy that it returned.
func (a *Activities) admit(ctx context.Context, in *wire.InvokeInput) (ledger.Ticket, error) {
	ticket, err := a.Ledger.Admit(ctx, request(in))
	if err != nil || ticket.Done != nil {
		return ticket, err
	}
	return ticket, a.judge(ctx, in, ticket)
}

// request asks for the admission of an attempt.
func request(in *wire.InvokeInput) ledger.AdmitRequest {
	x := in.Pin.Execution
	return ledger.AdmitRequest{
		Entry: in.Entry(), Repeatable: x.Repeatable(), Send: x.Pure && !in.Pin.Nested() && !in.Pin.Confirms,
		Assigned: in.Pin.Assigned, Secret: in.Pin.Secret,
	}
}

// judge evaluates the policy that an admission returned. It fails with an [asksError]
// where the call needs an approval, and has none, or one of something else.
func (a *Activities) judge(ctx context.Context, in *wire.InvokeInput, ticket ledger.Ticket) error {
	why, message, err := a.confirmsCall(ctx, in, ticket.Arguments)
	if err != nil {
		return err
	}
	asks, refused := judged(policy.Input{
		Principal: in.Principal,
		Policy:    ticket.Policy,
		Test:      policyTest(in.Test, in.Pin, a.traits(in.Pin.Implementation)),
		Confirm:   why,
		Taint:     ticket.Taint,
		Secret:    in.Pin.Secret,
	})
	if asks != nil && a.Approvals == nil {
		refused = unasked(asks.Reasons)
	}
	switch {
	case refused != nil:
		return &tool.Error{Kind: refused.Kind, Op: "activities.Admit", Msg: refused.Msg}
	case asks == nil:
		return nil
	}
	asks.Message = message
	return a.approved(ctx, in, ticket, *asks)
}
